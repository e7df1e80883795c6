import type { TextSettings } from '../../config/crm/sources.ts'
import { numbering } from '../../domain/numbering.ts'
import { type Cell, type CellObject, SHEET, UNMAPPED, isBlank } from '../cells/cell.ts'
import { type CsvLine, type CsvRow, CsvRows } from './csv-rows.ts'
import type { ListFile } from './list-file.ts'
import type { BrokenSyntax, FileReading, MapRow, RowParser, Taken } from './row-parser.ts'

/**
 * Parses a header row and the rows below it. Skips empty lines and rows of blank cells. With `texts`, accepts what
 * spreadsheets write: it also skips rows above the header, and columns without a name.
 */
export class CsvParser implements RowParser {
  #rows: CsvRows | null = null
  readonly #texts: TextSettings | null
  readonly #isMapped: boolean
  readonly #onHeader: TakeHeader
  #onRow: TakeCsvRow | null = null
  #width = 0
  /** The number of columns up to the last one with a name in the header. */
  #named = 0
  #rowNumber = 0
  blankRows = 0
  /** The first row with more or fewer cells than the header, the lines of some others, and the number of all. */
  #ragged: BrokenSyntax | null = null
  readonly #raggedLines: number[] = []
  #raggedRows = 0

  /** @param isMapped whether the configuration has a block for the list: names may then repeat, and `sep=;` is read */
  constructor(onHeader: TakeHeader, texts: TextSettings | null = null, isMapped = false) {
    this.#onHeader = onHeader
    this.#texts = texts
    this.#isMapped = isMapped
  }

  feed(bytes: Buffer): Taken {
    const text = bytes.toString('utf8')
    if (this.#rows !== null) return this.#rows.feed(text)
    // A first line `sep=;` is Excel's way to name the separator, not a row.
    const [line = '', own = ','] = (this.#isMapped ? /^"?sep=(.)"?[ \t]*\r?\n/i.exec(text) : null) ?? []
    const takeRow = this.#takeRow.bind(this)
    this.#rows = new CsvRows(this.#texts?.delimiter ?? own, takeRow, line === '' ? 1 : 2)
    return this.#rows.feed(text.slice(line.length))
  }

  get endsWithin(): boolean {
    return this.#rows?.isQuoted === true
  }

  finish(): Taken {
    const before = this.#ragged
    const fault = this.#rows?.finish() ?? null
    // Only a line without an end is left to the finish.
    if (before === null && this.#ragged !== null)
      this.#ragged = { ...this.#ragged, problem: `${this.#ragged.problem}; the file ends within this row` }
    return fault ?? (this.#onRow === null ? this.#noHeader(1) : this.#allRagged)
  }

  #noHeader(line: number): BrokenSyntax {
    const row = this.#texts?.headerRow ?? null
    const which = row === null ? '' : ` in row ${row}, as crm.texts.headerRow says`
    return { line, problem: `a header row is expected${which}` }
  }

  #takeRow({ cells: row, line }: CsvLine): Taken {
    this.#rowNumber++
    if (row.length === 0) return null
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

  #takeHeader(written: CsvRow, line: number): Taken {
    const names = new Set<string>()
    const repeated: string[] = []
    const numbered = numbering()
    const header = written.map((name) => {
      if (name === null || (this.#texts !== null && isBlank(name))) return null
      if (!this.#isMapped && names.has(name)) repeated.push(name)
      names.add(name)
      return numbered(name)
    })
    const [twice] = repeated
    if (twice !== undefined) return { line, problem: `the header names ${JSON.stringify(twice.slice(0, 80))} twice` }
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
    this.#width = header.length
    this.#named = header.findLastIndex((name) => name !== null) + 1
    const taken = this.#onHeader(header, line)
    if (typeof taken !== 'function') return taken
    this.#onRow = taken
    return null
  }
}

const MOST_LINES = 20

const SEPARATORS: Readonly<Record<string, string>> = {
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

function notCommas(separator: string): string {
  const fact = `cells are separated by ${nameOf(separator)} instead of commas`
  return `${fact}; export the file as CSV with commas, or set ${delimiterKey(separator)}`
}

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

/** Takes a row below the header. */
export type TakeCsvRow = (row: RowCells, line: number, details?: SheetRowDetails) => Taken

/** Takes the header row. Returns the function that takes the rows below it, or why no row can be served. */
export type TakeHeader = (header: CsvRow, line: number) => TakeCsvRow | BrokenSyntax

/** Copies a text: a slice of the file would keep the rows around it in memory. */
function ownCopy(cell: Cell): Cell {
  return typeof cell === 'string' ? Buffer.from(cell).toString() : cell
}

/** Returns what makes a row of its cells: an object with those of the columns that the list reads. */
function rowMaker(
  header: CsvRow,
  { columns, kept }: Pick<ListFile, 'columns' | 'kept'>,
): (cells: RowCells, details?: SheetRowDetails) => CellObject {
  const placeOf = (column: string): number => header.indexOf(column)
  const read = columns
    .map((column) => ({ column, place: placeOf(column), isKept: kept.includes(column) }))
    .filter(({ place }) => place !== -1)
  const unread = header.flatMap((column, place) =>
    column === null || columns.includes(column) ? [] : [{ column, place }],
  )
  return (cells, details) => {
    const row: Record<string, Cell> & Pick<CellObject, typeof UNMAPPED> = { [UNMAPPED]: { columns: unread, cells } }
    for (const { column, place, isKept } of read) {
      const cell = cells[place] ?? null
      row[column] = isKept ? ownCopy(cell) : cell
    }
    if (details === undefined) return row
    const { isHidden, linkAt, shownAt } = details
    const sheet = {
      isHidden,
      linkAt: (column: string) => linkAt(placeOf(column)),
      shownAt: (column: string) => shownAt(placeOf(column)),
    }
    return Object.assign(row, { [SHEET]: sheet })
  }
}

/** Returns what makes a list of the rows of a table. */
export function rowTaker<Item>(
  { list, rows, columns }: Pick<FileReading<Item>, 'list' | 'rows' | 'columns'>,
  begin: () => MapRow<Item>,
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
    const rowOf = rowMaker(header, list)
    const mapRow = begin()
    return (cells, line, details) => {
      const row = rowOf(cells, details)
      if (list.isHeading(row)) return rows.skipHeading()
      const change = mapRow(row, () => rows.whereNext(line))
      return change === null ? rows.skip() : rows.add(change, line)
    }
  }
}
