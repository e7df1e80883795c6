import { trimWhiteSpace } from '../../domain/white-space.ts'
import { type Cell, type RowAccess, isBlank, shownText } from './cell.ts'

/** Tells whether a text is the address of a web page, and nothing else. */
export function isWebAddress(text: string): boolean {
  return /^https?:\/\/\S+$/i.test(trimWhiteSpace(text))
}

/** The cell of a website: the address that it links to, unless what it shows is one itself. */
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
