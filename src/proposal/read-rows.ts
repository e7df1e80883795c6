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
import { type Cell, isBlank, isList, isObject, plainText } from '../crm/cells/cell.ts'
import { parseCell } from '../crm/cells/parse-cell.ts'
import type { Column } from './column.ts'
import { TableTally } from './tally.ts'

/** The contents of a table. */
export interface TableContent {
  readonly headerRow: number
  readonly columns: readonly Column[]
  /** The number of rows below the header that are not blank. */
  readonly rows: number
  readonly hasMoreNames: boolean
}

const CHUNK_BYTES = 64 * 1024
/** The longest CSV row. Several rows are held until the header is found. */
const LONGEST_ROW_BYTES = 4 * 1024 * 1024
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

/** Reads a JSON file, or explains why it cannot be read. */
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
      const cell = parsed.cell[name] ?? null
      const text = textIn(cell)
      if (text === null) tally.addName(name)
      else tally.add(name, text, typeof cell === 'string')
    }
    tally.endRow()
    return null
  }
  const parser = format === 'json' ? new JsonArrayParser(take) : new NdjsonParser(take)
  for (const text of textOf(bytes, decoder)) {
    const fault = parser.feed(Buffer.from(text))
    if (fault !== null) return `is not JSON: line ${fault.line}: ${fault.problem}`
  }
  const fault = parser.finish()
  if (fault !== null) return `is not JSON: line ${fault.line}: ${fault.problem}`
  return { headerRow: 1, columns: tally.columns(), rows: tally.rows, hasMoreNames: tally.hasMoreNames }
}

/** The most bytes that a workbook may unpack to. */
const MOST_UNPACKED_BYTES = 1e9

export interface SheetFound {
  readonly table: TableContent
  readonly sheets: readonly { readonly name: string; readonly isHidden: boolean }[]
  readonly problem: string | null
}

/** Reads a sheet of a workbook. @param sheet `null` for the first one */
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
  // In JSON, tags are a list.
  if (isList(cell)) return cell.every((item) => typeof item === 'string') && cell.length > 0 ? cell.join('; ') : null
  return typeof cell === 'boolean' ? String(cell) : plainText(cell)
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
