import { isWebAddress } from '../../domain/field.ts'
import { type Cell, type RowAccess, isBlank, shownText } from '../cells/cell.ts'

/** Returns a reader of a website: the cell's text if that is an address, else the address that the cell links to. */
export function linkedCell<Row>(cell: (row: Row) => Cell, access: Pick<RowAccess<Row>, 'link'>): (row: Row) => Cell {
  const link = access.link?.bind(access)
  if (link === undefined) return cell
  return (row) => {
    const shown = cell(row)
    const address = link(row)
    if (address === null || isBlank(shown)) return shown
    const text = shownText(shown)
    return text === null || isWebAddress(text) ? shown : address
  }
}
