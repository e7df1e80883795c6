// The cells of a row, as a CRM's bytes give them. In: JSON, or the cells of a connector. Out: cells that keep the
// source's digits, or the position of a fault; and digests, which show whether a row has changed.

import type { Expected, RowFault } from '../../domain/withheld.ts'
import { trimWhiteSpace } from '../../domain/white-space.ts'

/** One uninterpreted value of a CRM row. Dates are texts, because no connector may round them. */
export type Cell = null | boolean | string | number | DecimalText | LateTime | ErrorCell | readonly Cell[] | CellObject

export interface CellObject {
  readonly [name: string]: Cell
  readonly [SHEET]?: SheetDetails
  readonly [UNMAPPED]?: UnmappedCells
}

/** Under this key, a row of a workbook has what the sheet knows of it besides its cells. No column has such a name. */
export const SHEET: unique symbol = Symbol('sheet')

/** Under this key, a row of a table has the cells that the list does not read. No column has such a name. */
export const UNMAPPED: unique symbol = Symbol('unmapped')

interface UnmappedCells {
  readonly columns: readonly { readonly column: string; readonly place: number }[]
  /** The cells of the row, by their places. */
  readonly cells: readonly (Cell | undefined)[]
}

interface SheetDetails {
  /** Whether the row is hidden from people. */
  readonly isHidden: boolean
  /** The web address that the cell in a column links to. */
  linkAt(column: string): string | null
  /** The text that people see of a number or date in a column; `null` if that is the cell. */
  shownAt(column: string): string | null
}

/** A number as its source wrote it, for digits that a float would lose; a plain `number` is always a safe integer. */
export class DecimalText {
  readonly source: string

  constructor(source: string) {
    this.source = source
  }
}

/**
 * An integer that a workbook shows with zeros or signs around its digits: a number in number fields, the text shown in
 * all others: `01067`, `D-01067`.
 */
export class CodeNumber extends DecimalText {
  readonly #show: () => string

  constructor(source: string, show: () => string) {
    super(source)
    this.#show = show
  }

  get shown(): string {
    return this.#show()
  }
}

/** A time after the end of its day, as spreadsheets count: 25:30 is 01:30 of the next day. */
export class LateTime {
  /** The time of day, after the day if one is joined to it: `01:30`. */
  readonly text: string
  /** The time as the workbook shows it: `25:30`. */
  readonly shown: string
  readonly days: number

  constructor(text: string, shown: string, days: number) {
    this.text = text
    this.shown = shown
    this.days = days
  }
}

/** A workbook cell that is not blank but holds no usable value, for example an error. */
export class ErrorCell {
  /** What the workbook shows: `the error #REF!`. */
  readonly what: string
  /** The expectation of the cell's fault, whatever the field's type. */
  readonly expected: Expected

  constructor(what: string, expected: Expected) {
    this.what = what
    this.expected = expected
  }
}

export function isObject(cell: Cell): cell is CellObject {
  if (typeof cell !== 'object' || cell === null || isList(cell)) return false
  return !(cell instanceof DecimalText) && !(cell instanceof LateTime) && !(cell instanceof ErrorCell)
}

export function isList(cell: Cell): cell is readonly Cell[] {
  return Array.isArray(cell)
}

export function isBlank(cell: Cell): boolean {
  return cell === null || (typeof cell === 'string' && trimWhiteSpace(cell) === '')
}

/** The digits of a number as its source wrote them; `null` if the cell is not a number. */
export function sourceDigits(cell: Cell): string | null {
  if (typeof cell === 'number') return String(cell)
  return cell instanceof DecimalText ? cell.source : null
}

/** A text unchanged, or a number by its digits; `null` for anything else. */
export function plainText(cell: Cell): string | null {
  if (typeof cell === 'string') return cell
  return cell instanceof LateTime ? cell.shown : sourceDigits(cell)
}

/** As `plainText`, but for texts and ids: an integer keeps the zeros and signs that the workbook shows. */
export function shownText(cell: Cell): string | null {
  return cell instanceof CodeNumber ? cell.shown : plainText(cell)
}

const LONGEST = 80

/**
 * Returns a cell as JSON for people, cut to 80 characters. The time it takes does not depend on the cell's size or
 * depth.
 */
export function showCell(cell: Cell): string {
  let text = ''
  for (const piece of piecesOf(cell)) {
    text += piece
    if (text.length > LONGEST) return cut(text)
  }
  return text
}

/** Each level yields a character before it descends, so the length that is shown limits the depth too. */
function* piecesOf(cell: Cell): Generator<string, void> {
  if (cell === null || typeof cell === 'boolean' || typeof cell === 'number') yield String(cell)
  else if (typeof cell === 'string') yield JSON.stringify(cell.slice(0, LONGEST + 1))
  else if (cell instanceof DecimalText) yield cell.source
  else if (cell instanceof ErrorCell) yield cell.what
  else if (cell instanceof LateTime) yield JSON.stringify(cell.shown)
  else if (isList(cell)) {
    yield '['
    for (const [index, item] of cell.entries()) {
      if (index > 0) yield ','
      yield* piecesOf(item)
    }
    yield ']'
  } else {
    yield '{'
    for (const [index, [name, inner]] of Object.entries(cell).entries()) {
      yield `${index > 0 ? ',' : ''}${JSON.stringify(name.slice(0, LONGEST))}:`
      yield* piecesOf(inner)
    }
    yield '}'
  }
}

function cut(text: string): string {
  // Do not cut a surrogate pair in half.
  return `${text.slice(0, LONGEST - 1).replace(/[\ud800-\udbff]$/, '')}…`
}

/** The column of a row, by which a connector gives the labels of the codes in another column. */
export function labelColumn(column: string): string {
  return `${column}@label`
}

/** Reads one value of a row, or returns why the row cannot be served. */
export type Reader<Value> = (row: CellObject) => Value | RowFault

/** A cell that is not a valid value of its field. */
export class CellFault {
  readonly expected: Expected
  readonly found: string

  constructor(expected: Expected, cell: Cell) {
    this.expected = cell instanceof ErrorCell ? cell.expected : expected
    this.found = showCell(cell)
  }
}

/**
 * Returns the cell of a path such as `place.id` or `geo.0`; null if there is none. `categories.*.name` is the list of
 * what every item of a list has there, without blanks.
 */
export function cellAt(path: string): (row: CellObject) => Cell {
  const steps = path.split('.')
  // A name such as `constructor` must not find an inherited property. For other names the check for an own property is
  // omitted: it would cost as much as everything else here.
  if (steps.length === 1 && !(path in Object.prototype)) return (row) => row[path] ?? null
  return (row) => (Object.hasOwn(row, path) ? (row[path] ?? null) : cellOf(row, steps))
}

function cellOf(from: Cell, steps: readonly string[]): Cell {
  let cell = from
  for (const [at, step] of steps.entries()) {
    if (step === '*') {
      const rest = steps.slice(at + 1)
      return isList(cell) ? cell.map((item) => cellOf(item, rest)).filter((item) => item !== null) : null
    }
    cell = inside(cell, step)
  }
  return cell
}

function inside(cell: Cell, step: string): Cell {
  if (isList(cell)) return /^\d{1,6}$/.test(step) ? (cell[Number(step)] ?? null) : null
  return isObject(cell) && Object.hasOwn(cell, step) ? (cell[step] ?? null) : null
}

/** Returns true if a row has the column at all, blank or not. */
export function hasColumn(row: CellObject, column: string): boolean {
  return whereIs(row, column) !== 'nowhere'
}

/**
 * Returns whether a row has a path; `unknown` if a part of the path is null, or an item of a list that is too short.
 */
export function whereIs(row: CellObject, path: string): 'there' | 'unknown' | 'nowhere' {
  if (Object.hasOwn(row, path)) return 'there'
  return whereBelow(row, path.split('.'))
}

function whereBelow(cell: Cell, [step, ...rest]: readonly string[]): 'there' | 'unknown' | 'nowhere' {
  if (step === undefined) return 'there'
  if (cell === null) return 'unknown'
  if (isList(cell)) {
    const found = (step === '*' ? cell : cell.slice(Number(step), Number(step) + 1)).map((item) =>
      whereBelow(item, rest),
    )
    if (found.includes('there')) return 'there'
    return found.includes('unknown') || found.length === 0 ? 'unknown' : 'nowhere'
  }
  return isObject(cell) && Object.hasOwn(cell, step) ? whereBelow(cell[step] ?? null, rest) : 'nowhere'
}

const DEEPEST = 3
const MOST_PATHS = 500

/** Lists the paths of a row, for proposals. */
export function rowPaths(row: CellObject): readonly string[] {
  const found: string[] = []
  function collect(cell: CellObject, before: string, depth: number): void {
    for (const [name, inner] of Object.entries(cell)) {
      if (found.length >= MOST_PATHS) return
      found.push(`${before}${name}`)
      const item = isList(inner) ? (inner[0] ?? null) : null
      if (depth < DEEPEST && isObject(inner)) collect(inner, `${before}${name}.`, depth + 1)
      if (depth < DEEPEST && isObject(item)) collect(item, `${before}${name}.*.`, depth + 1)
    }
  }
  collect(row, '', 1)
  return found
}
