import type { ColumnSource } from '../../config/crm/sources.ts'
import { type Cell, type RowAccess, DecimalText, isBlank, isList, plainText, shownText } from '../cells/cell.ts'
import { partChecks } from './conditions.ts'
import { isWebAddress } from '../../domain/field.ts'

/**
 * Returns a reader of a column's cell: its label if configured, one value of several cells with `pick`, and blank in
 * rows that `onlyWhere` excludes.
 */
export function columnCell<Row>(
  field: string,
  { column, label, pick, onlyWhere = [] }: ColumnSource,
  access: RowAccess<Row>,
): (row: Row) => Cell {
  const plain = label ? access.label(column) : access.cell(column)
  const cell = field === 'Website' ? linkedCell(plain, access) : plain
  const picked = pick === undefined ? cell : (row: Row) => pickedFrom(cell(row), pick)
  if (onlyWhere.length === 0) return picked
  const checks = partChecks(onlyWhere, access, 'inactive')
  return (row) => (checks.every((check) => check(row) === null) ? picked(row) : null)
}

function pickedFrom(cell: Cell, pick: NonNullable<ColumnSource['pick']>): Cell {
  const cells = flat(cell).filter((one) => !isBlank(one))
  if (pick === 'count') return cells.length
  if (pick === 'first' || cells.length < 2) return cells[0] ?? null
  if (pick === 'sum') return sumOf(cells)
  const sign = pick === 'least' ? 1 : -1
  return cells.reduce((best, one) => (order(one, best) * sign < 0 ? one : best))
}

function flat(cell: Cell): readonly Cell[] {
  return isList(cell) ? cell.flatMap(flat) : [cell]
}

/** Orders numbers by value, and texts such as dates as they are written. */
function order(left: Cell, right: Cell): number {
  const [one, other] = [plainText(left) ?? '', plainText(right) ?? '']
  const difference = Number(one) - Number(other)
  return Number.isNaN(difference) ? (one < other ? -1 : Number(one > other)) : difference
}

/**
 * Returns the exact sum, which a float would round. If a cell is not a number, returns that cell: the fault shows it.
 */
function sumOf(cells: readonly Cell[]): Cell {
  let [units, places] = [0n, 0]
  for (const cell of cells) {
    const match = /^(-?\d+)(?:\.(\d+))?$/.exec(plainText(cell)?.trim() ?? '')
    if (match === null) return cell
    const [, whole = '', fraction = ''] = match
    const more = Math.max(0, fraction.length - places)
    places += more
    units = units * 10n ** BigInt(more) + BigInt(whole + fraction.padEnd(places, '0'))
  }
  const digits = String(units < 0n ? -units : units).padStart(places + 1, '0')
  const text = places === 0 ? digits : `${digits.slice(0, -places)}.${digits.slice(-places)}`
  return new DecimalText(units < 0n ? `-${text}` : text)
}

/** Returns a reader of a website: the cell's text if that is an address, else the address that the cell links to. */
function linkedCell<Row>(cell: (row: Row) => Cell, access: Pick<RowAccess<Row>, 'link'>): (row: Row) => Cell {
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
