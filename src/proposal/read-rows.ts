import { Buffer } from 'node:buffer'
import { constants } from 'node:fs'
import { basename } from 'node:path'
import { CsvError, parse } from 'csv-parse'
import { PLENTY } from '../crm/kit/file-descriptors.ts'
import { type RowCells, numbering } from '../crm/files/csv-parser.ts'
import { openFile } from '../crm/files/found-file.ts'
import { Batch } from '../crm/files/batch.ts'
import { JsonArrayParser } from '../crm/files/json-array-parser.ts'
import { NdjsonParser } from '../crm/files/ndjson-parser.ts'
import { Pace } from '../crm/files/pace.ts'
import type { TakeRow } from '../crm/files/row-parser.ts'
import { type Cell, isBlank, isList, isObject, plainText } from '../crm/mapping/cell.ts'
import { parseCell } from '../crm/mapping/parse-cell.ts'
import type { Column } from './column.ts'
import { TableTally } from './tally.ts'

/** What the rows of a table hold. */
export interface TableContent {
  readonly headerRow: number
  readonly columns: readonly Column[]
  /** Rows below the header in which something stands. */
  readonly rows: number
  readonly hasMoreNames: boolean
}

const CHUNK_BYTES = 64 * 1024
/** Of CSV: several rows are held until the header is found. */
const LONGEST_ROW_BYTES = 4 * 1024 * 1024
/** Cells beyond are looked at no more, as in a workbook. */
const WIDEST_ROW = 16_384

/** The text of a file in parts: it is never one text. */
function* textOf(bytes: Buffer, decoder: TextDecoder): Generator<string> {
  for (let from = 0; from < bytes.length; from += CHUNK_BYTES) {
    yield decoder.decode(bytes.subarray(from, from + CHUNK_BYTES), { stream: true })
  }
  yield decoder.decode()
}

/** Else why they cannot be read: the rest of a sentence that begins with the file's name. */
export async function csvTable(
  bytes: Buffer,
  decoder: TextDecoder,
  delimiter: string,
  hasOwnLine: boolean,
): Promise<TableContent | string> {
  const sheet = new SheetRows()
  let row = 0
  let isOwnLine = hasOwnLine
  const parser = parse({
    delimiter,
    relax_column_count: true,
    relax_quotes: true,
    skip_empty_lines: false,
    max_record_size: LONGEST_ROW_BYTES,
    on_record(cells: readonly string[]) {
      // `sep=;` is no row.
      if (isOwnLine) isOwnLine = false
      else sheet.add(cells, ++row)
      return null
    },
  })
  // Each write tells of its error; without a listener it would also end the process.
  parser.on('error', () => {})
  parser.resume()
  for (const text of textOf(bytes, decoder)) {
    const fault = await new Promise((resolve) => void parser.write(text, resolve))
    if (fault instanceof Error) return notCsv(fault)
  }
  const fault = await new Promise((resolve) => {
    parser.once('error', resolve)
    parser.end(resolve)
  })
  return fault instanceof Error ? notCsv(fault) : sheet.end()
}

function notCsv(fault: Error): string {
  if (!(fault instanceof CsvError)) throw new Error('a CSV file cannot be parsed', { cause: fault })
  return `is not CSV: ${fault.message.slice(0, 200)}`
}

/** Else why they cannot be read. */
export async function jsonTable(
  bytes: Buffer,
  decoder: TextDecoder,
  format: 'json' | 'ndjson',
): Promise<TableContent | string> {
  const tally = new TableTally()
  const take: TakeRow = (part, from, to, line) => {
    const parsed = parseCell(part.toString('utf8', from, to))
    if (!parsed.ok) return { line, problem: 'an object is expected' }
    if (!isObject(parsed.cell)) return null
    for (const name in parsed.cell) {
      const text = textIn(parsed.cell[name] ?? null)
      if (text === null) tally.addName(name)
      else tally.add(name, text, true)
    }
    tally.endRow()
    return null
  }
  const parser = format === 'json' ? new JsonArrayParser(take) : new NdjsonParser(take)
  for (const text of textOf(bytes, decoder)) {
    const fault = await parser.feed(Buffer.from(text))
    if (fault !== null) return `is not JSON: line ${fault.line}: ${fault.problem}`
  }
  const fault = await parser.finish()
  if (fault !== null) return `is not JSON: line ${fault.line}: ${fault.problem}`
  return { headerRow: 1, columns: tally.columns(), rows: tally.rows, hasMoreNames: tally.hasMoreNames }
}

/** What a workbook may hold once it is unpacked. */
const MOST_UNPACKED_BYTES = 1e9

export interface SheetFound {
  readonly table: TableContent
  readonly sheets: readonly { readonly name: string; readonly isHidden: boolean }[]
  readonly problem: string | null
}

/** @param sheet null: the first */
export async function sheetTable(path: string, sizeBytes: number, sheet: string | null): Promise<SheetFound> {
  const { readSheet } = await import('../crm/files/workbook.ts')
  const file = openFile(path, constants.O_RDONLY, PLENTY)
  const found = new SheetRows()
  let sheets: SheetFound['sheets'] = []
  const add = (cells: RowCells, row: number): null => {
    found.add(
      Array.from(cells, (cell) => cell ?? null),
      row,
    )
    return null
  }
  try {
    const named = { name: basename(path), format: 'xlsx', sizeBytes, writtenAtMs: 0 } as const
    const pages = readSheet({
      file,
      limitBytes: MOST_UNPACKED_BYTES,
      sheet,
      linkColumn: null,
      headerRow: null,
      rows: new Batch<never>(named, { monotonicMs: 0, wallMs: 0 }),
      onSheets: (all) => void (sheets = all),
      onHeader(cells, row) {
        add(cells, row)
        return add
      },
      isGivenUp: () => false,
      pace: new Pace(),
    })
    for (;;) {
      const next = await pages.next()
      if (next.done === true) return { table: found.end(), sheets, problem: next.value?.problem ?? null }
    }
  } finally {
    file.close()
  }
}

function textIn(cell: Cell): string | null {
  if (isBlank(cell)) return null
  // Tags are a list in JSON.
  if (isList(cell)) return cell.every((item) => typeof item === 'string') && cell.length > 0 ? cell.join('; ') : null
  return typeof cell === 'boolean' ? String(cell) : plainText(cell)
}

const SOME_ROWS = 50

/** The rows of a sheet, among the first of which the header is found: the first that is wide enough for what is below. */
class SheetRows {
  readonly #tally = new TableTally()
  #first: { readonly row: number; readonly cells: readonly Cell[] }[] = []
  #headerRow = 1
  #names: readonly (string | null)[] | null = null

  add(all: readonly Cell[], row: number): void {
    const cells = all.length > WIDEST_ROW ? all.slice(0, WIDEST_ROW) : all
    if (cells.every(isBlank)) return
    if (this.#names !== null) {
      this.#count(cells, this.#names)
      return
    }
    this.#first.push({ row, cells })
    if (this.#first.length === SOME_ROWS) this.#find()
  }

  end(): TableContent {
    if (this.#names === null) this.#find()
    const { rows, hasMoreNames } = this.#tally
    return { headerRow: this.#headerRow, columns: this.#tally.columns(), rows, hasMoreNames }
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
    for (const { cells } of below) this.#count(cells, names)
  }

  #count(cells: readonly Cell[], names: readonly (string | null)[]): void {
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
