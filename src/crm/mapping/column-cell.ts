import type { ColumnSource } from '../../config/crm/sources.ts'
import {
  type Cell,
  type CellObject,
  DecimalText,
  SHEET,
  cellAt,
  isBlank,
  isList,
  labelColumn,
  plainText,
  shownText,
} from '../cells/cell.ts'
import type { Amount } from './amounts.ts'
import { translation } from './conversions.ts'
import { holdsIn } from './conditions.ts'
import { encodeAddress, isWebAddress } from '../../domain/field.ts'

/** What a field's type says about the cells of its column. */
export interface CellUse {
  /** Finds the numbers in a cell; absent if the field is not a number. */
  readonly amountsIn?: (cell: Cell) => readonly Amount[]
  /** Whether the conversion translates the values, after it has taken the cell apart. */
  readonly translatesLater?: boolean
  /** Whether the field is a text, which is what people see. */
  readonly isText?: boolean
  /** Whether the address that a cell links to is the field's value. */
  readonly isAddress?: boolean
}

/**
 * Returns a reader of a column's cell: its label if configured, other values in place of those of `values`, one value
 * of several cells with `pick`, and blank in rows that `onlyWhere` excludes.
 */
export function columnCell(
  { column, label, values, html, prefix, pick, onlyWhere = [] }: ColumnSource,
  { amountsIn, translatesLater = html === true, isText = false, isAddress = false }: CellUse = {},
): (row: CellObject) => Cell {
  const plain = label ? cellAt(labelColumn(column)) : isText ? seenCell(column) : cellAt(column)
  const linked = isAddress ? linkedCell(column, plain) : plain
  const translate = translatesLater || values === undefined ? null : translation(values, amountsIn !== undefined)
  const cell = translate === null ? linked : (row: CellObject) => translate(linked(row))
  const one = pick === undefined ? cell : (row: CellObject) => pickedFrom(cell(row), pick, amountsIn)
  const picked = prefix === undefined ? one : (row: CellObject) => prefixed(one(row), prefix)
  if (onlyWhere.length === 0) return picked
  const holds = holdsIn(onlyWhere)
  return (row) => (holds(row) ? picked(row) : null)
}

function pickedFrom(cell: Cell, pick: NonNullable<ColumnSource['pick']>, amountsIn: CellUse['amountsIn']): Cell {
  const cells = flat(cell).filter((one) => !isBlank(one))
  const [first] = cells
  if (pick === 'count') return cells.length
  if (first === undefined || pick === 'first') return first ?? null
  if (pick === 'sum') return cells.length === 1 ? first : sumOf(cells)
  const sign = pick === 'least' ? 1 : -1
  if (amountsIn === undefined) return cells.reduce((best, one) => (order(one, best) * sign < 0 ? one : best))
  let picked: Amount | null = null
  for (const one of cells) {
    const amounts = amountsIn(one)
    // The fault shows the cell.
    if (amounts.length === 0) return one
    for (const amount of amounts) if (picked === null || (amount.value - picked.value) * sign < 0) picked = amount
  }
  return picked?.cell ?? first
}

/** Puts a prefix before a text that is neither blank nor an absolute address, with one slash between them. */
function prefixed(cell: Cell, prefix: string): Cell {
  const text = isBlank(cell) ? null : shownText(cell)?.trim()
  if (text === null || text === undefined || /^(?:[a-z][\w+.-]*:)?\/\//i.test(text)) return cell
  return encodeAddress(prefix.endsWith('/') ? prefix + text.replace(/^\/+/, '') : prefix + text)
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

/** Returns a reader of a column's cell as people see it. */
function seenCell(column: string): (row: CellObject) => Cell {
  const cell = cellAt(column)
  return (row) => row[SHEET]?.shownAt(column) ?? cell(row)
}

/** Returns a reader of an address: the cell's text if that is one, else the address that the cell links to. */
function linkedCell(column: string, cell: (row: CellObject) => Cell): (row: CellObject) => Cell {
  return (row) => {
    const shown = cell(row)
    const address = row[SHEET]?.linkAt(column) ?? null
    if (address === null || isBlank(shown)) return shown
    const text = shownText(shown)
    return text === null || isWebAddress(text) ? shown : address
  }
}
