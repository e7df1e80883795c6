import { trimWhiteSpace } from '../../domain/white-space.ts'
import { LARGEST_ROW_BYTES } from '../kit/crm-limits.ts'
import type { BrokenSyntax } from './row-parser.ts'

/** The cells of a row, side by side; `null` is a blank cell without quotes. */
export type CsvRow = readonly (string | null)[]

export interface CsvLine {
  /** None if the line is empty. */
  readonly cells: CsvRow
  /** The line in which the row begins. */
  readonly line: number
}

const NOT_CLOSED = 'the row that begins here has an unclosed quote'
const TOO_LARGE = 'the row that begins here is larger than 256 KB; most likely a quote is not closed'
const AFTER_QUOTE =
  'a separator or the end of the line must follow a quote that closes a cell; write a quote inside a cell twice'
const WITHIN_CELL =
  'a cell contains a quote but does not begin with one; enclose the cell in quotes and write the quote twice'

/**
 * Divides the text of a CSV file, which comes in parts, into rows (RFC 4180). A line ends with LF, CR or both. A cell
 * may be guarded against Excel, which takes `01067` for a number: `="01067"` and `"=""01067"""` are the text `01067`.
 */
export class CsvRows {
  readonly #delimiter: string
  readonly #onRow: (row: CsvLine) => BrokenSyntax | null
  #line: number
  /** The beginning of the current row, if that was in the parts before. */
  #begun = ''
  #isQuoted = false
  #hasQuote = false
  #isAfterReturn = false

  /** @param line the number of the first line */
  constructor(delimiter: string, onRow: (row: CsvLine) => BrokenSyntax | null, line = 1) {
    this.#delimiter = delimiter
    this.#onRow = onRow
    this.#line = line
  }

  /** Whether the text so far ends within quotes. */
  get isQuoted(): boolean {
    return this.#isQuoted
  }

  feed(text: string): BrokenSyntax | null {
    let from = this.#isAfterReturn && text.startsWith('\n') ? 1 : 0
    if (text !== '') this.#isAfterReturn = false
    let [quote, feed, back] = [-1, -1, -1]
    for (let at = from; ;) {
      if (quote < at) quote = placeOf('"', text, at)
      if (this.#isQuoted || (quote < feed && quote < back)) {
        if (quote === Infinity) break
        this.#isQuoted = !this.#isQuoted
        this.#hasQuote = true
        at = quote + 1
        continue
      }
      if (feed < at) feed = placeOf('\n', text, at)
      if (back < at) back = placeOf('\r', text, at)
      const end = Math.min(feed, back)
      if (end === Infinity && quote === Infinity) break
      if (quote < end) continue
      const fault = this.#endRow(text.slice(from, end))
      if (fault !== null) return fault
      from = at = back + 1 === feed ? feed + 1 : end + 1
      this.#isAfterReturn = back + 1 === text.length
    }
    this.#begun += text.slice(from)
    return this.#begun.length > LARGEST_ROW_BYTES ? this.#endRow('') : null
  }

  /** Ends the last row, if its line has no end. */
  finish(): BrokenSyntax | null {
    return this.#begun === '' ? null : this.#endRow('')
  }

  #endRow(rest: string): BrokenSyntax | null {
    const [row, line] = [this.#begun + rest, this.#line]
    const isTooLarge = row.length > LARGEST_ROW_BYTES
    // Only quotes may explain the size better.
    if (isTooLarge && !this.#hasQuote) return { line, problem: TOO_LARGE }
    const cells = this.#hasQuote ? quotedCells(row, this.#delimiter) : row.split(this.#delimiter).map(bareCell)
    if (isTooLarge && (typeof cells !== 'string' || cells === NOT_CLOSED)) return { line, problem: TOO_LARGE }
    if (typeof cells === 'string') return { line, problem: cells }
    this.#line += this.#hasQuote ? row.split(/\r\n|\r|\n/).length : 1
    this.#begun = ''
    this.#hasQuote = false
    return this.#onRow({ cells: row === '' ? [] : cells, line })
  }
}

function placeOf(sign: string, text: string, from: number): number {
  const at = text.indexOf(sign, from)
  return at === -1 ? Infinity : at
}

function bareCell(cell: string): string | null {
  return trimWhiteSpace(cell) === '' ? null : cell
}

/** Returns the cells of a row that has quotes, or why they are wrong. */
function quotedCells(row: string, delimiter: string): CsvRow | string {
  const cells: (string | null)[] = []
  for (let at = 0; ; at += delimiter.length) {
    const begin = row.startsWith('="', at) ? at + 2 : row.startsWith('"', at) ? at + 1 : 0
    if (begin === 0) {
      const end = Math.min(placeOf(delimiter, row, at), row.length)
      const cell = row.slice(at, end)
      if (cell.includes('"')) return WITHIN_CELL
      cells.push(bareCell(cell))
      at = end
    } else {
      let end = placeOf('"', row, begin)
      while (row[end + 1] === '"') end = placeOf('"', row, end + 2)
      if (end === Infinity) return NOT_CLOSED
      cells.push(unguarded(row.slice(begin, end).replaceAll('""', '"')))
      at = end + 1
      if (at < row.length && !row.startsWith(delimiter, at)) return AFTER_QUOTE
    }
    if (at === row.length) return cells
  }
}

/** Returns the text of a quoted cell without the guard within its quotes: `"=""01067"""`. */
function unguarded(cell: string): string {
  const inner = cell.startsWith('="') ? /^="((?:[^"]|"")*)"\s*$/.exec(cell)?.[1] : undefined
  return inner === undefined ? cell : inner.replaceAll('""', '"')
}
