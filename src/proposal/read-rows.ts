import { Buffer } from 'node:buffer'
import { CsvError, parse } from 'csv-parse'
import { type SheetsFound, jsonParser, notCsv, readWholeSheet } from '../crm/files/whole-file.ts'
import { LARGEST_ROW_BYTES } from '../crm/kit/crm-limits.ts'
import { type Cell, type CellObject, isBlank, isList, isObject, shownText } from '../crm/cells/cell.ts'
import { parseCell } from '../crm/cells/parse-cell.ts'
import { type Column, type CountedText, fitsAs, lookAtColumn } from './column.ts'
import { numbering } from '../domain/numbering.ts'
import { canBeNamed } from './line.ts'

/** The contents of a table. */
export interface TableContent {
  readonly headerRow: number
  readonly columns: readonly Column[]
  /** The number of rows below the header that are not blank. */
  readonly rows: number
  readonly hasMoreNames: boolean
  /** CSV rows with more or fewer cells than the header; a file with such rows is not served. `null` if none. */
  readonly raggedRows: RaggedRows | null
}

export interface RaggedRows {
  readonly rows: number
  readonly firstRow: number
  readonly cells: number
  readonly headerCells: number
}

const CHUNK_BYTES = 64 * 1024
/** The most cells of a row that are examined, as in a workbook. */
const WIDEST_ROW = 16_384

/** Decodes a file in parts, so it is never one string. */
function* textOf(bytes: Buffer, decoder: TextDecoder): Generator<string> {
  for (let from = 0; from < bytes.length; from += CHUNK_BYTES) {
    yield decoder.decode(bytes.subarray(from, from + CHUNK_BYTES), { stream: true })
  }
  yield decoder.decode()
}

/** Reads a CSV file, or explains why it cannot be read, as the rest of a sentence that begins with the file's name. */
export async function csvTable(
  bytes: Buffer,
  decoder: TextDecoder,
  delimiter: string,
  hasOwnLine: boolean,
): Promise<TableContent | string> {
  const sheet = new SheetRows(true)
  let row = 0
  let isOwnLine = hasOwnLine
  let rowLine = 1
  const parser = parse({
    delimiter,
    relax_column_count: true,
    relax_quotes: true,
    skip_empty_lines: false,
    max_record_size: LARGEST_ROW_BYTES,
    on_record(cells: readonly string[], { lines }) {
      rowLine = lines + 1
      // `sep=;` is not a row.
      if (isOwnLine) isOwnLine = false
      else sheet.add(cells, ++row)
      return null
    },
  })
  // Each write reports its own error, but without a listener the error would end the process.
  parser.on('error', () => {})
  parser.resume()
  for (const text of textOf(bytes, decoder)) {
    if (text.includes('\0')) return 'contains U+0000, which no text does; most likely it is incomplete, or not a list'
    const fault = await new Promise((resolve) => void parser.write(text, resolve))
    if (fault instanceof Error) return whyNotCsv(fault, rowLine)
  }
  const fault = await new Promise((resolve) => {
    parser.once('error', resolve)
    parser.end(resolve)
  })
  return fault instanceof Error ? whyNotCsv(fault, rowLine) : sheet.end()
}

function whyNotCsv(fault: Error, line: number): string {
  if (!(fault instanceof CsvError)) throw new Error('a CSV file cannot be parsed', { cause: fault })
  return notCsv(fault.code, line)
}

/** Reads a JSON file, or explains why it cannot be read. */
export async function jsonTable(
  bytes: Buffer,
  decoder: TextDecoder,
  format: 'json' | 'ndjson',
): Promise<TableContent | string> {
  const tally = new TableTally()
  const parser = jsonParser(format, (part, from, to, line) => {
    // Such a row would be withheld, and the parser does not keep all of it.
    if (to - from > LARGEST_ROW_BYTES) return null
    const parsed = parseCell(part.toString('utf8', from, to))
    if (!parsed.ok) return { line, problem: 'an object is expected' }
    if (!isObject(parsed.cell)) return null
    addObject(tally, parsed.cell, '', 0)
    tally.endRow()
    return null
  })
  for (const text of textOf(bytes, decoder)) {
    const fault = parser.feed(Buffer.from(text))
    if (fault !== null) return `cannot be read: line ${fault.line}: ${fault.problem}`
  }
  const fault = parser.finish()
  if (fault !== null) return `cannot be read: line ${fault.line}: ${fault.problem}`
  return {
    headerRow: 1,
    columns: tally.columns(),
    rows: tally.rows,
    hasMoreNames: tally.hasMoreNames,
    raggedRows: null,
  }
}

/** How deep columns within columns are examined, such as `venue.address.city`. */
const DEEPEST = 3

/** Adds the cells of a row. The cells of an inner object get their paths as names, as in a configuration. */
function addObject(tally: TableTally, object: CellObject, path: string, depth: number): void {
  for (const key in object) {
    const cell = object[key] ?? null
    const name = `${path}${key}`
    const text = textIn(cell)
    if (text !== null) tally.add(name, text, typeof cell === 'string')
    else if (isObject(cell) && depth < DEEPEST && !key.includes('.')) addObject(tally, cell, `${name}.`, depth + 1)
    else tally.addName(name)
  }
}

export interface SheetFound extends SheetsFound {
  readonly table: TableContent
}

/** Reads a sheet of a workbook. @param sheet `null` for the first one */
export async function sheetTable(path: string, sizeBytes: number, sheet: string | null): Promise<SheetFound> {
  const rows = new SheetRows(false)
  const found = await readWholeSheet(path, sizeBytes, sheet, (cells, row) => {
    rows.add(
      Array.from(cells, (cell) => cell ?? null),
      row,
    )
  })
  return { table: rows.end(), ...found }
}

function textIn(cell: Cell): string | null {
  if (isBlank(cell)) return null
  // In JSON, tags are a list.
  if (isList(cell)) return cell.every((item) => typeof item === 'string') && cell.length > 0 ? cell.join('; ') : null
  return typeof cell === 'boolean' ? String(cell) : shownText(cell)
}

const SOME_ROWS = 50

/**
 * Collects the rows of a sheet. The header is the first row that is more than half as wide as the widest of the first
 * rows.
 */
class SheetRows {
  readonly #tally = new TableTally()
  #first: { readonly row: number; readonly cells: readonly Cell[] }[] = []
  #headerRow = 1
  #names: readonly (string | null)[] | null = null
  /** The number of columns up to the last one with a name. */
  #named = 0
  readonly #isCsv: boolean
  #raggedRows: RaggedRows | null = null

  constructor(isCsv: boolean) {
    this.#isCsv = isCsv
  }

  add(all: readonly Cell[], row: number): void {
    const cells = all.length > WIDEST_ROW ? all.slice(0, WIDEST_ROW) : all
    if (cells.every(isBlank)) return
    if (this.#names !== null) {
      this.#count(cells, this.#names, row)
      return
    }
    this.#first.push({ row, cells })
    if (this.#first.length === SOME_ROWS) this.#find()
  }

  end(): TableContent {
    if (this.#names === null) this.#find()
    const { rows, hasMoreNames } = this.#tally
    return {
      headerRow: this.#headerRow,
      columns: this.#tally.columns(),
      rows,
      hasMoreNames,
      raggedRows: this.#raggedRows,
    }
  }

  #find(): void {
    const widest = Math.max(0, ...this.#first.map(({ cells }) => widthOf(cells)))
    const at = this.#first.findIndex(({ cells }) => widthOf(cells) > widest / 2)
    const header = this.#first[at]
    const numbered = numbering()
    const names = (header?.cells ?? []).map((cell) => {
      const name = textIn(cell)
      return name === null ? null : numbered(name)
    })
    for (const name of names) if (name !== null) this.#tally.addName(name)
    const below = this.#first.slice(at + 1)
    this.#headerRow = header?.row ?? 1
    this.#first = []
    this.#names = names
    this.#named = names.findLastIndex((name) => name !== null) + 1
    for (const { cells, row } of below) this.#count(cells, names, row)
  }

  #count(cells: readonly Cell[], names: readonly (string | null)[], row: number): void {
    // Blank cells in columns without a name may be missing or added.
    const isWhole = cells.length >= this.#named && cells.slice(names.length).every(isBlank)
    if (this.#isCsv && !isWhole) {
      const first = this.#raggedRows ?? { firstRow: row, cells: cells.length, headerCells: names.length, rows: 0 }
      this.#raggedRows = { ...first, rows: first.rows + 1 }
    }
    for (const [index, cell] of cells.entries()) {
      const name = names[index] ?? null
      const text = name === null ? null : textIn(cell)
      if (name !== null && text !== null) this.#tally.add(name, text, typeof cell === 'string')
    }
    this.#tally.endRow()
  }
}

function widthOf(cells: readonly Cell[]): number {
  return cells.reduce<number>((sum, cell) => (isBlank(cell) ? sum : sum + 1), 0)
}

/** Limits on what is kept of a table. Cells beyond them are still counted. */
interface Room {
  readonly names: number
  /** The number of different texts. */
  readonly texts: number
  /** The number of cells whose row is remembered. */
  readonly cells: number
}

const ROOM: Room = { names: 2000, texts: 100_000, cells: 5_000_000 }
const LONGEST_TEXT = 200

interface MutableText extends CountedText {
  count: number
  isText: boolean
}

/** Counts the values of one column. */
class ColumnTally {
  readonly name: string
  filled = 0
  /** The number of cells whose text was not kept. */
  others = 0
  othersFit = 0
  readonly texts = new Map<string, MutableText>()
  readonly at: number[] = []
  readonly held: (CountedText | null)[] = []
  #fits: ((text: string) => boolean) | null = null

  constructor(name: string) {
    this.name = name
  }

  addOther(text: string): void {
    this.others++
    this.#fits ??= fitsAs(this.columnOf(0))
    if (this.#fits(text)) this.othersFit++
  }

  columnOf(rows: number): Column {
    const { filled, others, othersFit, at, held } = this
    return lookAtColumn(this.name, [...this.texts.values()], { filled, others, othersFit, at, held, rows })
  }
}

/** Counts the cells of a table in linear time and limited memory: texts are cut, and only some are kept. */
export class TableTally {
  rows = 0
  /** Whether the table has more columns than are examined. */
  hasMoreNames = false
  readonly #room: Room
  readonly #columns = new Map<string, ColumnTally>()
  #texts = 0
  #cells = 0

  constructor(room: Room = ROOM) {
    this.#room = room
  }

  /** Adds a column, even if no row has a value in it. */
  addName(name: string): void {
    this.#columnOf(name)
  }

  /** @param isText false for a number or date of a workbook */
  add(name: string, whole: string, isText: boolean): void {
    const column = this.#columnOf(name)
    if (column === null) return
    column.filled++
    const text = whole.length > LONGEST_TEXT ? cutCopy(whole) : whole
    let counted = column.texts.get(text) ?? null
    if (counted === null && this.#texts < this.#room.texts) {
      this.#texts++
      counted = { text, count: 0, isText: false }
      column.texts.set(text, counted)
    }
    if (counted === null) column.addOther(text)
    else {
      counted.count++
      counted.isText ||= isText
    }
    if (this.#cells >= this.#room.cells) return
    this.#cells++
    column.at.push(this.rows)
    column.held.push(counted)
  }

  endRow(): void {
    this.rows++
  }

  columns(): readonly Column[] {
    return Array.from(this.#columns.values(), (column) => column.columnOf(this.rows))
  }

  #columnOf(name: string): ColumnTally | null {
    const known = this.#columns.get(name)
    if (known !== undefined) return known
    if (!canBeNamed(name)) return null
    if (this.#columns.size >= this.#room.names) {
      this.hasMoreNames = true
      return null
    }
    const column = new ColumnTally(name)
    this.#columns.set(name, column)
    return column
  }
}

/** Cuts a text to a copy: a slice would keep the whole text in memory. */
function cutCopy(text: string): string {
  return Buffer.from(text.slice(0, LONGEST_TEXT), 'utf16le').toString('utf16le')
}
