import { constants } from 'node:fs'
import { readFile } from 'node:fs/promises'
import { basename } from 'node:path'
import { parse } from 'csv-parse/sync'
import { PLENTY } from '../crm/descriptors.ts'
import { contentOf, OTHER_THAN_WORKBOOKS } from '../crm/files/content.ts'
import { type RowCells, numbering } from '../crm/files/csv-parser.ts'
import { formatOf } from '../crm/files/file-format.ts'
import { openFile } from '../crm/files/found-file.ts'
import { Gathering } from '../crm/files/gathering.ts'
import { Pace } from '../crm/files/pace.ts'
import { type Cell, isBlank, isList, isObject, plainText } from '../crm/mapping/cell.ts'
import { parseCell } from '../crm/mapping/parse-cell.ts'
import { openDecoder } from '../domain/encoding.ts'
import { trimWhiteSpace } from '../domain/white-space.ts'
import { type Encoding, encodingOf, UTF_8 } from './encodings.ts'

/** A file as it was found: its columns, and how it has to be read to find them. */
export interface Table {
  readonly path: string
  readonly file: string
  readonly isWorkbook: boolean
  /** The sheet where it is not the first of its workbook. */
  readonly sheet: string | null
  /** What stands in a workbook as text: only there can numbers be written in several ways. */
  readonly textCells: ReadonlySet<string>
  /** JSON says itself what its values are. */
  readonly isTyped: boolean
  readonly encoding: Encoding
  readonly delimiter: string | null
  readonly headerRow: number
  readonly header: readonly string[]
  /** The values of each column, in the order of the header; blank ones are null. */
  readonly rows: readonly (readonly (string | null)[])[]
}

const MOST_BYTES = 256 * 1024 * 1024

/** The tables of a file: of a workbook those of its sheets that are shown, and the names of those that are not. */
export interface FileTables {
  readonly tables: readonly Table[]
  readonly hidden: readonly string[]
}

/** Else why a file cannot be looked at: the rest of a sentence that begins with its name. */
export async function lookAt(path: string): Promise<FileTables | string> {
  const format = formatOf(path)
  if (format === null && !/\.xls$/i.test(path)) return 'is not a .csv, .json, .ndjson or .xlsx file'
  let bytes: Buffer
  try {
    bytes = await readFile(path)
  } catch (cause) {
    const code = cause instanceof Error && 'code' in cause ? String(cause.code) : 'unknown reason'
    return code === 'ENOENT' ? 'does not exist' : `cannot be read (${code})`
  }
  if (bytes.length > MOST_BYTES) return 'is larger than 256 MB; look at a part of it'
  const about = {
    path,
    file: basename(path),
    isWorkbook: false,
    sheet: null,
    textCells: NO_TEXTS,
    isTyped: false,
    encoding: UTF_8,
    delimiter: null,
  }
  const content = contentOf(bytes)
  // An Excel workbook that is only called .csv is served as it is.
  if (content === 'zip' && (format === 'csv' || format === 'xlsx')) return sheetTables(about, bytes.length)
  const isText = content === 'text' || content === 'other'
  if (!isText || format === null || format === 'xlsx') return `is ${OTHER_THAN_WORKBOOKS[content]}`
  const encoding = encodingOf(bytes)
  const text =
    openDecoder(encoding.sure ?? encoding.candidates[0]?.label ?? 'windows-1252')
      ?.decode(bytes)
      .replace(/^\ufeff/, '') ?? ''
  if (format !== 'csv') {
    const rows = jsonTable(text, format)
    return typeof rows === 'string' ? rows : { tables: [{ ...about, isTyped: true, ...withHeader(rows) }], hidden: [] }
  }
  const said = /^"?sep=(.)"?[ \t]*\r?\n/i.exec(text)
  const body = said === null ? text : text.slice(said[0].length)
  const delimiter = said?.[1] ?? delimiterOf(body)
  try {
    return { tables: [{ ...about, encoding, delimiter, ...withHeader(csvTable(body, delimiter)) }], hidden: [] }
  } catch (cause) {
    return `is not CSV: ${cause instanceof Error ? cause.message.slice(0, 200) : 'unknown reason'}`
  }
}

type Numbered = readonly { readonly row: number; readonly cells: readonly (string | null)[] }[]

const SOME_ROWS = 50

/** The separator by which most rows have one and the same width, of at least two. */
function delimiterOf(text: string): string {
  const end = text.split('\n', SOME_ROWS).join('\n').length
  let best = ','
  let bestScore = 0
  for (const delimiter of [',', ';', '\t', '|']) {
    const widths = new Map<number, number>()
    for (const line of text.slice(0, end).split(/\r?\n|\r/)) {
      const width = line.replaceAll(/"(?:[^"]|"")*"/g, '').split(delimiter).length
      if (width > 1) widths.set(width, (widths.get(width) ?? 0) + 1)
    }
    const score = Math.max(0, ...[...widths].map(([width, count]) => count * 100 + width))
    if (score > bestScore) [best, bestScore] = [delimiter, score]
  }
  return best
}

function csvTable(text: string, delimiter: string): Numbered {
  const rows: string[][] = parse(text, {
    delimiter,
    relax_column_count: true,
    relax_quotes: true,
    skip_empty_lines: false,
  })
  return rows.map((cells, index) => ({ row: index + 1, cells: cells.map(valueOf) }))
}

function valueOf(cell: Cell): string | null {
  return isBlank(cell) ? null : typeof cell === 'boolean' ? String(cell) : plainText(cell)
}

function jsonTable(text: string, format: 'json' | 'ndjson'): Numbered | string {
  const parts = format === 'json' ? [text] : text.split('\n').filter((line) => trimWhiteSpace(line) !== '')
  const items: Cell[] = []
  for (const part of parts) {
    const parsed = parseCell(part)
    if (!parsed.ok) return 'is not JSON'
    if (format === 'ndjson') items.push(parsed.cell)
    else if (isList(parsed.cell)) for (const item of parsed.cell) items.push(item)
    else return 'does not hold a list'
  }
  const objects = items.filter((item) => isObject(item))
  const header = [...new Set(objects.flatMap((item) => Object.keys(item)))]
  const rows = objects.map((item, index) => ({
    row: index + 2,
    cells: header.map((name) => valueOf(item[name] ?? null)),
  }))
  return [{ row: 1, cells: header }, ...rows]
}

const NO_TEXTS: ReadonlySet<string> = new Set()
const SOME_SHEETS = 20

type About = Omit<Table, 'headerRow' | 'header' | 'rows'>

/** Those that people see; where all are hidden, the first, which is what is served. */
async function sheetTables(about: About, sizeBytes: number): Promise<FileTables | string> {
  const first = await readSheetOf(about.path, sizeBytes, null)
  if (first.sheets.length === 0) return `cannot be read: ${first.problem ?? 'it has no sheet'}`
  const shown = first.sheets.filter(({ isHidden }) => !isHidden).slice(0, SOME_SHEETS)
  const tables: Table[] = []
  let problem = first.problem
  for (const { name } of shown.length === 0 ? first.sheets.slice(0, 1) : shown) {
    const isFirst = name === first.sheets[0]?.name
    const found = isFirst ? first : await readSheetOf(about.path, sizeBytes, name)
    problem ??= found.problem
    if (found.problem !== null) continue
    const sheet = isFirst ? null : name
    tables.push({ ...about, isWorkbook: true, sheet, textCells: found.texts, ...withHeader(found.rows) })
  }
  if (tables.length === 0) return `cannot be read: ${problem ?? 'nothing stands in it'}`
  const hidden = shown.length === 0 ? [] : first.sheets.filter(({ isHidden }) => isHidden).map(({ name }) => name)
  return { tables, hidden }
}

async function readSheetOf(path: string, sizeBytes: number, sheet: string | null) {
  const { readSheet } = await import('../crm/files/workbook.ts')
  const file = openFile(path, constants.O_RDONLY, PLENTY)
  const rows: { row: number; cells: readonly (string | null)[] }[] = []
  const texts = new Set<string>()
  let sheets: readonly { readonly name: string; readonly isHidden: boolean }[] = []
  const add = (cells: RowCells, row: number): null => {
    for (const cell of cells) if (typeof cell === 'string') texts.add(cell)
    rows.push({ row, cells: Array.from(cells, (cell) => valueOf(cell ?? null)) })
    return null
  }
  try {
    const found = { name: basename(path), format: 'xlsx', sizeBytes, writtenAtMs: 0 } as const
    const pages = readSheet({
      file,
      limitBytes: 2e9,
      sheet,
      headerRow: null,
      rows: new Gathering<never>(found, { monotonicMs: 0, wallMs: 0 }),
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
      if (next.done === true) return { rows, texts, sheets, problem: next.value?.problem ?? null }
    }
  } finally {
    file.close()
  }
}

function widthOf(cells: readonly (string | null)[]): number {
  return cells.filter((cell) => cell !== null).length
}

/** The header is the first row that is as wide as the widest of the rows that many are as wide as. */
function withHeader(rows: Numbered): Pick<Table, 'headerRow' | 'header' | 'rows'> {
  const filled = rows.filter(({ cells }) => cells.some((cell) => cell !== null))
  const widest = Math.max(0, ...filled.slice(0, SOME_ROWS).map(({ cells }) => widthOf(cells)))
  const at = filled.findIndex(({ cells }) => widthOf(cells) > widest / 2)
  const header = filled[at]
  const numbered = numbering()
  const columns = (header?.cells ?? []).flatMap((name, index) =>
    name === null ? [] : [{ name: numbered(name), index }],
  )
  const values = filled.slice(at + 1).map(({ cells }) => columns.map(({ index }) => cells[index] ?? null))
  return { headerRow: header?.row ?? 1, header: columns.map(({ name }) => name), rows: values }
}
