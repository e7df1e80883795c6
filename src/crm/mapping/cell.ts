import { trimWhiteSpace } from '../../domain/white-space.ts'
import type { WithheldFault } from '../../domain/withheld.ts'
import type { Zone } from '../../domain/zone.ts'

/** One value of a CRM's row, before it is read as anything. Dates are texts: no connector may round them on the way. */
export type Cell = null | boolean | string | number | DecimalText | LateTime | ErrorCell | readonly Cell[] | CellObject

export interface CellObject {
  readonly [name: string]: Cell
}

/** A number by the digits its source wrote, where a float would lose some of them; a plain `number` is a safe integer. */
export class DecimalText {
  readonly source: string

  constructor(source: string) {
    this.source = source
  }
}

/** An integer of a workbook that is shown with zeros before it: a number where it counts, and text as it is shown. */
export class PaddedNumber extends DecimalText {
  readonly shown: string

  constructor(source: string, shown: string) {
    super(source)
    this.shown = shown
  }
}

/** A time after the end of its day, as a spreadsheet counts on: 25:30 is 01:30 of the next day. */
export class LateTime {
  /** What its own day's clock reads then, after the day beside it where one is joined to it. */
  readonly text: string
  /** As a person is shown it. */
  readonly shown: string
  /** To be added to the day that it belongs to. */
  readonly days: number

  constructor(text: string, shown: string, days: number) {
    this.text = text
    this.shown = shown
    this.days = days
  }
}

/** A cell of a workbook that is not blank and holds no value, such as an error; nothing can be read of it. */
export class ErrorCell {
  /** As a person is shown it: `the error #REF!`. */
  readonly what: string
  /** As `Misfit` has it, whatever is read of it. */
  readonly expected: string

  constructor(what: string, expected: string) {
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

/** Tells whether a cell holds nothing: null, or a text of white space at most. */
export function isBlank(cell: Cell): boolean {
  return cell === null || (typeof cell === 'string' && trimWhiteSpace(cell) === '')
}

/** The digits of a number as its source wrote them, null for a cell that is no number. */
export function sourceDigits(cell: Cell): string | null {
  if (typeof cell === 'number') return String(cell)
  return cell instanceof DecimalText ? cell.source : null
}

/** A text as it is, a number by its digits; null for all else. */
export function plainText(cell: Cell): string | null {
  if (typeof cell === 'string') return cell
  return cell instanceof LateTime ? cell.shown : sourceDigits(cell)
}

/** As `plainText`, for what is read as a text: an integer has the zeros that it is shown with. */
export function shownText(cell: Cell): string | null {
  return cell instanceof PaddedNumber ? cell.shown : plainText(cell)
}

const LONGEST = 80

/** A cell as a person is shown it: as JSON, cut to 80 characters, however large or deep it is. */
export function showCell(cell: Cell): string {
  return write(cell, LONGEST)
}

/** Every level writes a character before it goes deeper, so `room` bounds the depth too. */
function write(cell: Cell, room: number): string {
  if (cell === null || typeof cell === 'boolean' || typeof cell === 'number') return String(cell)
  if (cell instanceof DecimalText) return cut(cell.source, room)
  if (cell instanceof ErrorCell) return cut(cell.what, room)
  if (cell instanceof LateTime) return write(cell.shown, room)
  if (typeof cell === 'string') return cut(JSON.stringify(cell.slice(0, room)) + (cell.length > room ? '…' : ''), room)
  if (isList(cell)) return writeItems('[', cell, ']', room, (item, left) => write(item, left))
  return writeItems('{', Object.entries(cell), '}', room, ([name, value], left) => {
    const key = `${JSON.stringify(name.slice(0, left))}:`
    return key + write(value, Math.max(0, left - key.length))
  })
}

function writeItems<Item>(
  open: string,
  items: readonly Item[],
  close: string,
  room: number,
  writeItem: (item: Item, room: number) => string,
): string {
  let text = open
  for (const item of items) {
    if (text.length >= room) break
    if (text !== open) text += ','
    text += writeItem(item, room - text.length)
  }
  return cut(text + close, room)
}

function cut(text: string, room: number): string {
  if (text.length <= room) return text
  const end = Math.max(0, room - 1)
  // Half a surrogate pair is no character.
  const code = text.charCodeAt(end - 1)
  return `${text.slice(0, code >= 0xd800 && code <= 0xdbff ? end - 1 : end)}…`
}

/** How the rows of one connector are looked into; each function is asked once, and what it gives is run for each row. */
export interface RowAccess<Row> {
  /** The cell of a column, null where a row lacks it. */
  cell(column: string): (row: Row) => Cell
  /** The words that people see for the codes in a column. */
  label(column: string): (row: Row) => Cell
  /** Whether a row has a column at all, blank or not; where it is not said, every row has all. */
  isThere?(column: string): (row: Row) => boolean
  /** Whether people do not see the row where they keep it; absent if they see all. */
  isHidden?(row: Row): boolean
  /** The web address that the cell of `Website` links to, beside what it shows; absent if no cell can link. */
  link?(row: Row): string | null
  /** The zone that a cell names, by a code of the CRM too; null for anything else. */
  zoneOf(cell: Cell): Zone | null
}

/** Reads one thing of a row, or says why the row cannot be served. */
export type Reader<Row, Value> = (row: Row) => Value | Reason

/** A cell that cannot be read as what its field holds. */
export class Misfit {
  /** The end of a sentence: `a date-time such as 2026-07-12T19:30:00+01:00`. */
  readonly expected: string
  readonly found: string

  constructor(expected: string, cell: Cell) {
    this.expected = cell instanceof ErrorCell ? cell.expected : expected
    this.found = showCell(cell)
  }
}

/** Why a row is withheld, but for where it stands. */
export class Reason {
  readonly fault: WithheldFault
  readonly column: string | null
  readonly expected: string | null
  readonly found: string | null

  constructor(
    fault: WithheldFault,
    column: string | null,
    misfit: { readonly expected: string; readonly found: string | null } | null,
  ) {
    this.fault = fault
    this.column = column
    this.expected = misfit?.expected ?? null
    this.found = misfit?.found ?? null
  }
}
