import { Buffer } from 'node:buffer'
import { type SheetsFound, readWholeCsv, readWholeSheet, wholeJsonParser } from '../crm/files/whole-file.ts'
import { LARGEST_ROW_BYTES } from '../crm/kit/crm-limits.ts'
import { type Cell, type CellObject, isBlank, isList, isObject, shownText } from '../crm/cells/cell.ts'
import { parseCell } from '../crm/cells/parse-cell.ts'
import { type Column, ColumnCells } from './column.ts'
import { howMany } from '../domain/printable.ts'
import { numbering } from '../domain/numbering.ts'
import { canBeNamed } from './line.ts'

/** The contents of a table. */
export interface TableContent {
  readonly headerRow: number
  readonly columns: readonly Column[]
  /** The number of rows below the header that are not blank. */
  readonly rows: number
  /** The number of rows that were examined; `null` if all rows and columns were. */
  readonly examined: number | null
  /** A sentence on CSV rows with more or fewer cells than the header; `null` if all rows have as many. */
  readonly ragged: string | null
  /** The first values of columns that have no name in the header row, and so are not read. */
  readonly unnamed: readonly string[]
}

const CHUNK_BYTES = 64 * 1024

/** Decodes a file in parts, so it is never one string. */
function* textOf(bytes: Buffer, decoder: TextDecoder): Generator<string> {
  for (let from = 0; from < bytes.length; from += CHUNK_BYTES) {
    yield decoder.decode(bytes.subarray(from, from + CHUNK_BYTES), { stream: true })
  }
  yield decoder.decode()
}

/**
 * Reads a CSV file, or explains why it cannot be read, as the rest of a sentence that begins with the file's name.
 * @param hasOwnLine whether the first line names the delimiter
 */
export function csvTable(
  bytes: Buffer,
  decoder: TextDecoder,
  delimiter: string,
  hasOwnLine: boolean,
): TableContent | string {
  const sheet = new SheetRows(true)
  let row = hasOwnLine ? -1 : 0
  const problem = readWholeCsv(textOf(bytes, decoder), delimiter, (cells) => {
    row++
    if (row > 0) sheet.add([...cells.entries()], cells.length, row)
  })
  return problem ?? sheet.end()
}

/** Reads a list of a JSON file, or explains why it cannot be read. @param path `null` if the file is the list */
export function jsonTable(
  bytes: Buffer,
  decoder: TextDecoder,
  format: 'json' | 'ndjson',
  path: string | null,
): TableContent | string {
  const tally = new TableTally()
  const parser = wholeJsonParser(format, path, (part, from, to, line) => {
    // Such a row would be withheld, and the parser does not keep all of it.
    if (to - from > LARGEST_ROW_BYTES) return null
    const parsed = parseCell(part.toString('utf8', from, to))
    if (!parsed.ok) return { line, problem: 'an object is expected' }
    if (!isObject(parsed.cell)) return null
    addObject(tally, parsed.cell, '', 0)
    tally.endRow()
    return null
  })
  let fault = null
  for (const text of textOf(bytes, decoder)) fault ??= parser.feed(Buffer.from(text))
  fault ??= parser.finish()
  return fault === null ? tally.content(1) : `cannot be read: line ${fault.line}: ${fault.problem}`
}

/** Reads the lists within the object of a JSON file, each with its path. */
export function wrappedTables(bytes: Buffer, decoder: TextDecoder): ReadonlyMap<string, TableContent> {
  const found = new Map<string, TableContent>()
  for (const path of listPaths(Array.from(textOf(bytes, decoder)).join(''))) {
    const content = jsonTable(bytes, decoder, 'json', path)
    if (typeof content !== 'string' && content.rows > 0) found.set(path, content)
  }
  return found
}

/** The paths of the lists of objects that are not within a list. Reads strings and brackets alone: rows may be torn. */
function listPaths(text: string): readonly string[] {
  const paths: string[] = []
  const names: string[] = []
  let lists = 0
  let name = ''
  for (const [token, written] of text.matchAll(/("(?:[^"\\\n]|\\.)*")\s*:|"(?:[^"\\\n]|\\.)*"|\[(?=\s*\{)|[[\]{}]/g)) {
    const isInList = lists > 0
    if (written !== undefined) name = isInList ? name : written.slice(1, -1)
    else if (token === '[') {
      const path = [...names.slice(1), name].join('.')
      if (!isInList && canBeNamed(name) && !name.includes('.')) paths.push(path)
      lists++
    } else if (token === ']') lists--
    else if (!isInList && token === '{') names.push(name)
    else if (!isInList && token === '}') names.pop()
  }
  return paths.slice(0, MOST_LISTS)
}

const MOST_LISTS = 20

/** How deep columns within columns are examined, such as `venue.address.city`. */
const DEEPEST = 3

/** Adds the cells of a row. The cells of an inner object get their paths as names, as in a configuration. */
function addObject(tally: TableTally, object: CellObject, path: string, depth: number): void {
  for (const key in object) {
    const cell = object[key] ?? null
    const name = `${path}${key}`
    const text = textIn(cell)
    if (text !== null) tally.add(name, text, typeof cell === 'string')
    // GeoJSON has coordinates as a list.
    else if (isList(cell) && key === 'coordinates')
      addObject(tally, { 0: cell[0] ?? null, 1: cell[1] ?? null }, `${name}.`, depth)
    else if (isObject(cell) && depth < DEEPEST && !key.includes('.')) addObject(tally, cell, `${name}.`, depth + 1)
    else tally.addName(name)
  }
}

/** Reads a sheet of a workbook. @param sheet `null` for the first one */
export async function sheetTable(
  path: string,
  sizeBytes: number,
  sheet: string | null,
): Promise<SheetsFound & { readonly table: TableContent }> {
  const rows = new SheetRows(false)
  const found = await readWholeSheet(path, sizeBytes, sheet, (cells, row) => {
    // A row may have one cell, in its last column: the blank cells before it are no work.
    const filled = Object.entries(cells).map(([index, cell]): FilledCell => [Number(index), cell ?? null])
    rows.add(filled, cells.length, row)
  })
  return { ...found, table: rows.end() }
}

function textIn(cell: Cell): string | null {
  if (isBlank(cell)) return null
  // In JSON, tags are a list.
  if (isList(cell)) return cell.every((item) => typeof item === 'string') && cell.length > 0 ? cell.join('; ') : null
  return typeof cell === 'boolean' ? String(cell) : shownText(cell)
}

const SOME_ROWS = 50
const SOME_RAGGED = 5
/** The number of columns from which a row with a single cell is no row of the list. */
const WIDE = 4

/** A cell of a row, with its column counted from 0. */
type FilledCell = readonly [index: number, cell: Cell]

/**
 * Collects the rows of a sheet. The header is the first row that is more than half as wide as the widest of the first
 * rows.
 */
class SheetRows {
  readonly #tally = new TableTally()
  /** The rows in which the header is looked for; `null` once it was found. */
  #first: { readonly row: number; readonly cells: readonly FilledCell[]; readonly width: number }[] | null = []
  #headerRow = 1
  /** The names of the columns, by their index, and how many columns the header has. */
  #names: ReadonlyMap<number, string> = new Map()
  #width = 0
  #lastNamed = -1
  readonly #isCsv: boolean
  readonly #ragged: string[] = []
  readonly #unnamed = new Map<number, string>()

  constructor(isCsv: boolean) {
    this.#isCsv = isCsv
  }

  /** @param cells those that may hold a value @param width the number of cells, blank ones included */
  add(cells: readonly FilledCell[], width: number, row: number): void {
    const filled = cells.filter(([, cell]) => !isBlank(cell))
    if (filled.length === 0) return
    if (this.#first === null) this.#count(filled, width, row)
    else if (this.#first.push({ row, cells: filled, width }) === SOME_ROWS) this.#findHeader()
  }

  end(): TableContent {
    this.#findHeader()
    const [count, some] = [this.#ragged.length, this.#ragged.slice(0, SOME_RAGGED)]
    const others = count > some.length ? `, and ${howMany(count - some.length, 'row')} more` : ''
    const width = howMany(this.#width, 'cell')
    const ragged =
      count === 0 ? null : `${some.join(', ')}${others}, and the header row ${width}; Marquee refuses such a file`
    return { ...this.#tally.content(this.#headerRow), ragged, unnamed: [...this.#unnamed.values()] }
  }

  #findHeader(): void {
    const first = this.#first ?? []
    this.#first = null
    const widest = Math.max(0, ...first.map(({ cells }) => cells.length))
    const at = first.findIndex(({ cells }) => cells.length > widest / 2)
    const header = first[at]
    if (header === undefined) return
    const numbered = numbering()
    this.#headerRow = header.row
    this.#width = header.width
    this.#lastNamed = Math.max(-1, ...header.cells.map(([index]) => index))
    this.#names = new Map(
      header.cells.flatMap(([index, cell]) => {
        const name = textIn(cell)
        return name === null ? [] : [[index, numbered(name)] as const]
      }),
    )
    for (const name of this.#names.values()) this.#tally.addName(name)
    for (const { cells, width, row } of first.slice(at + 1)) this.#count(cells, width, row)
  }

  #count(cells: readonly FilledCell[], width: number, row: number): void {
    const names = this.#names
    // Blank cells in columns without a name may be missing or added.
    const isWhole = width > this.#lastNamed && cells.every(([index]) => index < this.#width)
    if (this.#isCsv && !isWhole) {
      this.#ragged.push(`row ${row} has ${howMany(width, 'cell')}`)
    }
    // A single cell is a heading such as a month between the events, or a sum below them.
    if (this.#width >= WIDE && cells.length === 1) return
    for (const [index, cell] of cells) {
      const name = names.get(index)
      const text = textIn(cell)
      if (text === null) continue
      if (name !== undefined) this.#tally.add(name, text, typeof cell === 'string')
      else if (!this.#unnamed.has(index)) this.#unnamed.set(index, text)
    }
    this.#tally.endRow()
  }
}

/** The most cells that are examined, blank ones included, and the most columns. Further rows are only counted. */
const MOST_CELLS = 500_000
const MOST_NAMES = 2000
const LONGEST_TEXT = 200

/** Collects the cells of a table in linear time and limited memory: texts are cut, and only the first rows are kept. */
class TableTally {
  #rows = 0
  #examined = 0
  #isFull = false
  #hasMoreNames = false
  readonly #columns = new Map<string, ColumnCells>()

  /** Adds a column, even if no row has a value in it. */
  addName(name: string): void {
    this.#columnOf(name)
  }

  /** @param isText false for a number or date of a workbook */
  add(name: string, text: string, isText: boolean): void {
    if (this.#isFull) return
    this.#columnOf(name)?.add(this.#examined, text.length > LONGEST_TEXT ? cutCopy(text) : text, isText)
  }

  endRow(): void {
    this.#rows++
    if (this.#isFull) return
    this.#examined++
    this.#isFull = this.#examined * this.#columns.size >= MOST_CELLS
  }

  /** @param headerRow the number of the row with the names */
  content(headerRow: number): TableContent {
    const columns = Array.from(this.#columns.values(), (column) => column.column(this.#examined))
    const isCut = this.#hasMoreNames || this.#rows > this.#examined
    return { headerRow, columns, rows: this.#rows, examined: isCut ? this.#examined : null, ragged: null, unnamed: [] }
  }

  #columnOf(name: string): ColumnCells | null {
    const known = this.#columns.get(name)
    if (known !== undefined) return known
    if (!canBeNamed(name)) return null
    if (this.#columns.size >= MOST_NAMES) {
      this.#hasMoreNames = true
      return null
    }
    const column = new ColumnCells(name)
    this.#columns.set(name, column)
    return column
  }
}

/** Cuts a text to a copy: a slice would keep the whole text in memory. */
function cutCopy(text: string): string {
  return Buffer.from(text.slice(0, LONGEST_TEXT), 'utf16le').toString('utf16le')
}
