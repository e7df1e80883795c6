import { numbering } from '../../domain/numbering.ts'
import { type Parser, CsvError, parse } from 'csv-parse'
import { trimWhiteSpace } from '../../domain/white-space.ts'
import type { TextSettings } from '../../config/crm/sources.ts'
import { LARGEST_ROW_BYTES } from '../kit/crm-limits.ts'
import { type Cell, isBlank } from '../cells/cell.ts'
import type { FileBatch } from './batch.ts'
import type { IgnoredColumns, ListFile } from './list-file.ts'
import { GuardedTexts, unguarded } from './guarded-texts.ts'
import { Pace } from './pace.ts'
import { type OnCut, type RowParser, type BrokenSyntax, type Taken } from './row-parser.ts'

/**
 * Parses a header row and the rows below it (RFC 4180). Skips empty lines and rows of blank cells. With `texts`,
 * accepts what spreadsheets write: it also skips rows above the header, and columns without a name.
 */
export class CsvParser implements RowParser {
  #parser: Parser | null = null
  #guards: GuardedTexts | null = null
  readonly #texts: TextSettings | null
  readonly #isMapped: boolean
  readonly #onHeader: TakeHeader
  #onRow: TakeCsvRow | null = null
  /** Complete rows that are not handled yet, with the number of empty lines the parser has skipped so far. */
  #rows: { readonly row: CsvRow; readonly blankLines: number }[] = []
  #width = 0
  /** The number of columns up to the last one with a name in the header. */
  #named = 0
  #rowNumber = 0
  /** The line in which the current row begins, not counting empty lines before it. */
  #rowLine = 1
  #blankLines = 0
  readonly #cells: (string | null)[] = []
  #endsLine = false
  #delimiter: string
  blankRows = 0
  /** The first row with more or fewer cells than the header, the lines of some others, and the number of all. */
  #ragged: BrokenSyntax | null = null
  readonly #raggedLines: number[] = []
  #raggedRows = 0

  /** @param isMapped whether the configuration has a block for the list: names may then repeat, and `sep=;` is read */
  constructor(
    onHeader: TakeHeader,
    texts: TextSettings | null = null,
    delimiter = texts?.delimiter ?? ',',
    isMapped = false,
  ) {
    this.#onHeader = onHeader
    this.#texts = texts
    this.#isMapped = isMapped
    this.#delimiter = delimiter
  }

  #open(): Parser {
    const parser = parse({
      delimiter: this.#delimiter,
      record_delimiter: ['\r\n', '\n', '\r'],
      skip_empty_lines: true,
      // #takeRow checks the number of cells, because it knows the line.
      relax_column_count: true,
      max_record_size: LARGEST_ROW_BYTES,
      cast: (cell, { quoting }) => {
        const read = quoting ? unguarded(cell) : trimWhiteSpace(cell) === '' ? null : cell
        this.#cells.push(read)
        return read
      },
      on_record: (row: CsvRow, { empty_lines }) => {
        this.#cells.length = 0
        this.#rows.push({ row, blankLines: empty_lines })
        // Each row counts as the first one. If a row is wider or narrower than the first, csv-parse creates an error
        // with a stack trace and a copy of the row, even with `relax_column_count`, and that takes longer than the
        // parsing.
        Object.assign(parser.info, { records: 0 })
        return null
      },
    })
    // Each write reports its own error, but without a listener the error would end the process.
    parser.on('error', () => {})
    return parser
  }

  get #line(): number {
    return this.#rowLine + (this.#parser?.info.empty_lines ?? 0) - this.#blankLines
  }

  async feed(bytes: Buffer): Promise<BrokenSyntax | null> {
    // A first line `sep=;` is Excel's way to name the separator, not a row.
    const isFirst = this.#isMapped && this.#parser === null
    const first = isFirst ? /^"?sep=(.)"?[ \t]*\r?\n/i.exec(bytes.toString('latin1', 0, 20)) : null
    const [line = '', own = null] = first ?? []
    if (own !== null) [this.#delimiter, this.#rowLine] = [this.#texts?.delimiter ?? own, 2]
    const parser = (this.#parser ??= this.#open())
    // A copy, because the parser keeps a view of unfinished rows and the caller reuses this memory.
    const kept = (this.#guards ??= new GuardedTexts(this.#delimiter)).pass(bytes.subarray(line.length))
    if (bytes.length > 0) this.#endsLine = LINE_ENDS.has(bytes.at(-1))
    const error = await new Promise((resolve) => void parser.write(kept, resolve))
    const fault = (await this.#takeRows()) ?? this.#faultOf(error)
    // The parser counts the characters of a row's cells, but not the separators between them.
    if (fault !== null || this.#cells.length <= LARGEST_ROW_BYTES) return fault
    return { line: this.#line, problem: csvProblem('CSV_MAX_RECORD_SIZE') }
  }

  async finish(onCut?: OnCut): Promise<BrokenSyntax | null> {
    const parser = (this.#parser ??= this.#open())
    parser.resume()
    const error = await new Promise((resolve) => {
      parser.once('error', resolve)
      parser.end(this.#guards?.rest() ?? Buffer.alloc(0), (cause?: unknown) => resolve(cause))
    })
    const isOpen = error instanceof CsvError && error.code === 'CSV_QUOTE_NOT_CLOSED'
    const last = isOpen || this.#endsLine ? undefined : this.#rows.pop()
    let fault = await this.#takeRows()
    if (fault === null && (isOpen || !this.#endsLine)) {
      const isTaken = onCut?.(isOpen ? this.#line : undefined) ?? true
      const cells = last?.row.slice(0, -1) ?? this.#cells
      if (!isTaken)
        return this.#onRow === null ? this.#noHeader(1) : (this.#onRow(cells, this.#line) ?? this.#allRagged)
      if (last !== undefined) this.#rows.push(last)
      fault = await this.#takeRows()
    }
    return fault ?? this.#faultOf(error) ?? (this.#onRow === null ? this.#noHeader(1) : this.#allRagged)
  }

  #noHeader(line: number): BrokenSyntax {
    const row = this.#texts?.headerRow ?? null
    const which = row === null ? '' : ` in row ${row}, as crm.texts.headerRow says`
    return { line, problem: `a header row is expected${which}` }
  }

  async #takeRows(): Promise<BrokenSyntax | null> {
    const rows = this.#rows
    this.#rows = []
    for (const { row, blankLines } of rows) {
      const taken = this.#takeRow(row, blankLines)
      // Only the header returns a promise: one for each row would cost as much as the row itself.
      const fault = taken instanceof Promise ? await taken : taken
      if (fault !== null) return fault
    }
    return null
  }

  #takeRow(row: CsvRow, blankLines: number): Taken | Promise<Taken> {
    const line = this.#rowLine + blankLines - this.#blankLines
    this.#rowNumber += 1 + blankLines - this.#blankLines
    this.#blankLines = blankLines
    this.#rowLine = line + 1
    for (const cell of row) {
      if (cell !== null && /[\r\n]/.test(cell)) this.#rowLine += cell.split(/\r\n|\r|\n/).length - 1
    }
    // Spreadsheets write rows of blank cells above, below and between the data.
    const isBlankRow = row.every(isBlank)
    if (this.#onRow === null) {
      const at = this.#texts?.headerRow ?? null
      if (at !== null && this.#rowNumber < at) return null
      if (at !== null && (this.#rowNumber > at || isBlankRow)) return this.#noHeader(line)
      if (!isBlankRow) return this.#takeHeader(row, line)
    }
    if (isBlankRow || this.#onRow === null) {
      this.blankRows++
      return null
    }
    if (row.length === this.#width) return this.#onRow(row, line)
    // Spreadsheets write more or fewer blank columns, depending on which cells were ever edited.
    const isWhole = this.#texts !== null && row.length >= this.#named && row.slice(this.#width).every(isBlank)
    if (isWhole) return this.#onRow(row, line)
    // Told at the end, with all others: correcting them one by one would take as many rounds.
    this.#ragged ??= { line, problem: `the row has ${row.length} cells, but the header row has ${this.#width}` }
    if (this.#raggedRows++ > 0 && this.#raggedLines.length < MOST_LINES) this.#raggedLines.push(line)
    return null
  }

  /** Tells all rows with more or fewer cells than the header; `null` if there are none. */
  get #allRagged(): BrokenSyntax | null {
    if (this.#ragged === null || this.#raggedRows === 1) return this.#ragged
    const { line, problem } = this.#ragged
    const more = this.#raggedRows - 1 - this.#raggedLines.length
    const others = `${this.#raggedLines.join(', ')}${more > 0 ? ` and ${more.toLocaleString('en')} more` : ''}`
    return { line, problem: `${problem}; other rows have too few or too many as well: ${others}` }
  }

  async #takeHeader(written: CsvRow, line: number): Promise<BrokenSyntax | null> {
    const pace = new Pace()
    const names = new Set<string>()
    const numbered = numbering()
    const header: (string | null)[] = []
    for (const [index, name] of written.entries()) {
      if (index % MANY === 0 && pace.isOver) await pace.rest()
      if (name === null || (this.#texts !== null && isBlank(name))) {
        header.push(null)
        continue
      }
      if (!this.#isMapped && names.has(name)) {
        return { line, problem: `the header names ${JSON.stringify(name.slice(0, 80))} twice` }
      }
      names.add(name)
      header.push(numbered(name))
      this.#named = index + 1
    }
    const separator = header.length === 1 ? /[,;\t|]/.exec(header[0] ?? '')?.[0] : undefined
    if (separator !== undefined && separator !== ',' && this.#texts === null) {
      // Spreadsheets write semicolons if the decimal separator is a comma. No field has such a name, so no row could be
      // served.
      return { line, problem: notCommas(separator) }
    }
    if (separator !== undefined && this.#texts !== null) {
      const fact = `the header row has only one name, which contains ${nameOf(separator)}`
      return { line, problem: `${fact}; if they separate cells, set ${delimiterKey(separator)}` }
    }
    await pace.rest()
    this.#width = header.length
    const taken = this.#onHeader(header, line)
    if (typeof taken !== 'function') return taken
    this.#onRow = taken
    return null
  }

  #faultOf(error: unknown): BrokenSyntax | null {
    if (error === null || error === undefined) return null
    if (!(error instanceof CsvError)) throw new Error('a CSV file cannot be parsed', { cause: error })
    return { line: this.#line, problem: csvProblem(error.code) }
  }
}

const LINE_ENDS: ReadonlySet<number | undefined> = new Set([0x0a, 0x0d])

const MOST_LINES = 20

/** The number of header names between two checks for waiting requests. */
const MANY = 1000

const PROBLEMS: Readonly<Record<string, string>> = {
  CSV_QUOTE_NOT_CLOSED: 'the row that begins here has an unclosed quote',
  CSV_INVALID_CLOSING_QUOTE:
    'a separator or the end of the line must follow a quote that closes a cell; write a quote inside a cell twice',
  INVALID_OPENING_QUOTE:
    'a cell contains a quote but does not begin with one; enclose the cell in quotes and write the quote twice',
  CSV_MAX_RECORD_SIZE: 'the row that begins here is larger than 256 KB; most likely a quote is not closed',
}

export function csvProblem(code: string): string {
  return PROBLEMS[code] ?? 'the row is not CSV'
}

export const SEPARATORS: Readonly<Record<string, string>> = {
  ',': 'commas',
  ';': 'semicolons',
  '\t': 'tabs',
  '|': 'vertical bars',
}

function nameOf(separator: string): string {
  return SEPARATORS[separator] ?? JSON.stringify(separator)
}

function delimiterKey(separator: string): string {
  return `crm.texts.delimiter: ${separator === '\t' ? 'tab' : `'${separator}'`}`
}

export function notCommas(separator: string): string {
  const fact = `cells are separated by ${nameOf(separator)} instead of commas`
  return `${fact}; export the file as CSV with commas, or set ${delimiterKey(separator)}`
}

/** The cells of a row, side by side; `null` is a blank cell. */
export type CsvRow = readonly (string | null)[]

/** The cells of a row, side by side. In a sheet, a blank cell may be absent. */
export type RowCells = readonly (Cell | undefined)[]

/** What a sheet knows of a row besides its cells. */
interface SheetRowDetails {
  readonly isHidden: boolean
  /** The web address that the cell in a column links to. */
  readonly linkAt: (column: number) => string | null
  /** The text that people see of a number or date in a column; `null` if that is the cell. */
  readonly shownAt: (column: number) => string | null
}

const NO_DETAILS: SheetRowDetails = { isHidden: false, linkAt: () => null, shownAt: () => null }

/** Takes a row below the header. */
export type TakeCsvRow = (row: RowCells, line: number, details?: SheetRowDetails) => Taken

/** Takes the header row. Returns the function that takes the rows below it, or why no row can be served. */
export type TakeHeader = (header: CsvRow, line: number) => TakeCsvRow | BrokenSyntax

export function csvRows<Item>(
  list: ListFile<Item>,
  rows: FileBatch<Item>,
  columns: IgnoredColumns,
  lists: 'text' | 'sheet' = 'text',
): TakeHeader {
  return (header, headerLine) => {
    for (const name of header) if (name !== null) columns.sawColumn(name)
    const lacking = columns.lacking(list, rows.found.name)
    // The rows below are not read: all would be withheld for the missing columns.
    if (lacking !== null) return { line: headerLine, problem: lacking, lacking }
    if (!header.some((name) => name !== null && list.columns.includes(name))) {
      // Such a file does not count as an empty list: most likely it is an error message or another file.
      const fact = `no column has a name that Marquee knows (${list.columns.join(', ')})`
      const remedy = 'put the header row first, without a title above it, or set crm.texts.headerRow'
      return { line: headerLine, problem: `${fact}; ${remedy}` }
    }
    const cellOf = (column: string): ((row: RowCells) => Cell) => {
      const index = header.indexOf(column)
      return index === -1 ? (): Cell => null : (row): Cell => row[index] ?? null
    }
    const names = new Set(header)
    let current = NO_DETAILS
    const shown = (column: string): ((row: RowCells) => Cell) => {
      const index = header.indexOf(column)
      return index === -1 ? (): Cell => null : (row): Cell => current.shownAt(index) ?? row[index] ?? null
    }
    const link = (column: string): (() => string | null) => {
      const index = header.indexOf(column)
      return () => current.linkAt(index)
    }
    const isThere = (column: string) => () => names.has(column)
    const isSheet = lists === 'sheet'
    const access = { cell: cellOf, isThere, isHidden: () => current.isHidden, ...(isSheet ? { shown, link } : {}) }
    const mapRow = list.mapper(access, lists, (rest) => {
      rows.atEnd = rest
    })
    const lastOfId = Math.max(...list.lines.idColumns.map((column) => header.indexOf(column)))
    return (row, line, details = NO_DETAILS) => {
      current = details
      const change = mapRow(row, () => rows.whereNext(line))
      if (change === null) return list.isMadeOfEvents ? rows.skip() : rows.skipHeading()
      if (!rows.isLeftOut) rows.add(change, line)
      else rows.leaveOut(row.length > lastOfId ? change.id : null, line)
      return null
    }
  }
}
