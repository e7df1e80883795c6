// Reads Excel workbooks, which are ZIP files of XML parts (ECMA-376). Reads only the list of sheets, one sheet, its
// cells' texts and styles, and the addresses they link to. Never opens links to other files, macros or anything else.

import { posix } from 'node:path'
import { Readable } from 'node:stream'
import { crc32 } from 'node:zlib'
import { type Entry, type ZipFile, RandomAccessReader, fromRandomAccessReaderPromise } from 'yauzl'
import { isWebAddress } from '../../domain/field.ts'
import { meantHint, nearestName } from '../../domain/nearest-name.ts'
import { sizeText } from '../../domain/printable.ts'
import { LARGEST_ROW_BYTES } from '../kit/crm-limits.ts'
import { isBlank } from '../cells/cell.ts'
import { contentOf, DISGUISES, HEAD_BYTES } from './content.ts'
import type { TakeCsvRow, TakeHeader } from './csv-parser.ts'
import { type OpenFile, errorCode } from './found-file.ts'
import type { BrokenSyntax, FileReading, FileRows } from './row-parser.ts'
import {
  type LinkedRows,
  type SheetParts,
  type SheetRow,
  linksParser,
  relationIn,
  sheetParser,
  stringsParser,
  stylesParser,
} from './sheet-parser.ts'
import { PartParser, RefusedPart, refuse } from './part-parser.ts'
import { numbering } from '../../domain/numbering.ts'

/** One sheet of a workbook, and the receivers of its rows. */
export interface SheetReading<Item> extends Pick<
  FileReading<Item>,
  'file' | 'rows' | 'limitBytes' | 'isGivenUp' | 'rest'
> {
  readonly sheet: string | null
  /** The columns whose links are passed with each row. */
  readonly linkColumns: readonly string[]
  /** Whether people see numbers with a decimal comma. */
  readonly isComma: boolean
  /** Called with all sheets before one is read. */
  readonly onSheets?: (sheets: readonly { readonly name: string; readonly isHidden: boolean }[]) => void
  /** The row of the header; `null` for the first row with a value. */
  readonly headerRow: number | null
  readonly onHeader: TakeHeader
  /** A reading of the same sheet for its own receivers, which comes first; absent or `null` if there is none. */
  readonly before?: Pick<SheetReading<Item>, 'rows' | 'onHeader' | 'isGivenUp'> | null
}

/** Why a workbook cannot be read: thrown while reading it, and caught in `readSheet`. */
class Unreadable extends Error {
  readonly fault: BrokenSyntax

  constructor(problem: string, more: Partial<BrokenSyntax> = {}) {
    super(problem)
    this.fault = { line: 0, problem, ...more }
  }
}

function tooMuch(what: string, limitBytes: number): Unreadable {
  return new Unreadable(`${what} more than limits.memory allows (${sizeText(limitBytes)})`)
}

/** Reads a sheet and yields its rows in pages, with pauses for requests. */
export async function* readSheet<Item>(reading: SheetReading<Item>): FileRows<Item> {
  try {
    const parts = await openParts(reading)
    const { before = null } = reading
    if (before !== null) for await (const _ of readRows(parts, { ...reading, ...before })) continue
    const fault = yield* readRows(parts, reading)
    if (fault === null) yield reading.rows.take()
    return fault
  } catch (cause) {
    if (cause instanceof Unreadable) return cause.fault
    if (errorCode(cause) !== null || !(cause instanceof Error)) throw cause
    // The library's error for bytes that are no workbook. A file that is still being written will be read again.
    return { line: 0, problem: `this is not a complete .xlsx workbook (${cause.message.slice(0, 120)})` }
  }
}

/** Gives the ZIP library access to the file. */
class FileReader extends RandomAccessReader {
  readonly #file: Pick<OpenFile, 'read'>

  constructor(file: Pick<OpenFile, 'read'>) {
    super()
    this.#file = file
  }

  override _readStreamForRange(start: number, end: number): Readable {
    return Readable.from(chunksOf(this.#file, start, end))
  }
}

const CHUNK_BYTES = 64 * 1024

async function* chunksOf(file: Pick<OpenFile, 'read'>, start: number, end: number): AsyncGenerator<Buffer> {
  for (let position = start; position < end;) {
    const chunk = Buffer.allocUnsafe(Math.min(CHUNK_BYTES, end - position))
    const { bytesRead } = await file.read(chunk, 0, chunk.length, position)
    if (bytesRead === 0) throw new Unreadable('the workbook ends before it should')
    position += bytesRead
    yield chunk.subarray(0, bytesRead)
  }
}

interface WorkbookParts extends SheetParts {
  readonly zip: ZipFile
  readonly sheet: Entry
  /** The web addresses that the sheet refers to, by relationship id. */
  readonly targets: ReadonlyMap<string, string>
}

const MOST_ENTRIES = 10_000

async function openParts<Item>(reading: SheetReading<Item>): Promise<WorkbookParts> {
  const { file, limitBytes, sheet, linkColumns, isComma, onSheets } = reading
  const { name, sizeBytes } = reading.rows.found
  await refuseOthers(file)
  const zip = await fromRandomAccessReaderPromise(new FileReader(file), sizeBytes, {
    autoClose: false,
    lazyEntries: true,
  })
  const entries = new Map<string, Entry>()
  for await (const entry of zip.eachEntry()) {
    entries.set(entry.fileName.replace(/^\//, ''), entry)
    if (entries.size > MOST_ENTRIES) throw new Unreadable(`the workbook has more than ${MOST_ENTRIES} parts`)
  }
  let left = limitBytes
  const take = (part: string): Entry | null => {
    const entry = entries.get(part)
    if (entry === undefined) return null
    left -= entry.uncompressedSize
    if (left < 0) throw tooMuch('the workbook unpacks to', limitBytes)
    return entry
  }
  const read: ReadPart = async (part, parser) => {
    const entry = take(part)
    if (entry === null) return false
    for await (const _ of fed(zip, entry, parser, reading)) continue
    return true
  }
  const book = await readBook(read)
  onSheets?.(book.sheets)
  const path = sheetPart(book.sheets, sheet, name)
  const strings: string[] = []
  const formats: SheetParts['formats'][number][] = []
  await read(book.parts.byType.get('sharedStrings') ?? 'xl/sharedStrings.xml', stringsParser(strings))
  await read(book.parts.byType.get('styles') ?? 'xl/styles.xml', stylesParser(formats))
  const isLinked = linkColumns.length > 0
  const targets = isLinked ? (await relationsOf(read, path)).links : new Map<string, string>()
  const entry = take(path)
  if (entry === null) throw new Unreadable(`the workbook lacks the part ${path}`)
  return { zip, sheet: entry, strings, formats, is1904: book.is1904, isComma, isLinked, targets }
}

/** Throws a description of the file if it is not a ZIP file. */
async function refuseOthers(file: Pick<OpenFile, 'read'>): Promise<void> {
  const head = Buffer.alloc(HEAD_BYTES)
  const { bytesRead } = await file.read(head, 0, head.length, 0)
  const content = contentOf(head.subarray(0, bytesRead))
  if (content !== 'zip') throw new Unreadable(`this is ${DISGUISES[content]}`)
}

interface Book {
  readonly sheets: readonly { readonly name: string; readonly part: string; readonly isHidden: boolean }[]
  readonly parts: Relations
  readonly is1904: boolean
}

type ReadPart = (name: string, parser: PartParser) => Promise<boolean>

async function readBook(read: ReadPart): Promise<Book> {
  const root = await relationsOf(read, '')
  const path = root.byType.get('officeDocument') ?? 'xl/workbook.xml'
  const sheets: { readonly name: string; readonly relation: string; readonly isHidden: boolean }[] = []
  let is1904 = false
  const isThere = await read(
    path,
    new PartParser((name, attributes) => {
      if (name === 'workbookPr') is1904 = /^(?:1|true)$/.test(attributes['date1904'] ?? '')
      if (name !== 'sheet') return
      const relation = relationIn(attributes)
      const isHidden = (attributes['state'] ?? 'visible') !== 'visible'
      sheets.push({ name: short(attributes['name']), relation: short(relation), isHidden })
      if (sheets.length > MOST_ENTRIES) refuse(`it names more than ${MOST_ENTRIES} sheets`)
    }),
  )
  if (!isThere)
    throw new Unreadable('this is a ZIP file, and not an Excel workbook; save a workbook of another kind as .xlsx')
  const parts = await relationsOf(read, path)
  const worksheets = sheets.flatMap(({ relation, ...sheet }) => {
    const part = parts.byName.get(relation)
    return part === undefined ? [] : [{ ...sheet, part }]
  })
  return { sheets: worksheets, parts, is1904 }
}

/** Drops names that are too long to be valid, so they take no memory. */
function short(text = ''): string {
  return text.length > 2000 ? '' : text
}

/** The parts that one part refers to, by relationship id and by type, and the web addresses that it links to, by id. */
interface Relations {
  readonly byName: ReadonlyMap<string, string>
  readonly byType: ReadonlyMap<string, string>
  readonly links: ReadonlyMap<string, string>
}

/** Types of sheets without rows. A type that is absent or unknown is taken for a worksheet: some programs write such. */
const NO_WORKSHEET = /^(?:chart|dialog|(?:xl)?(?:intl)?macro)sheet$/i

async function relationsOf(read: ReadPart, part: string): Promise<Relations> {
  const byName = new Map<string, string>()
  const byType = new Map<string, string>()
  const links = new Map<string, string>()
  const { dir, base } = posix.parse(part)
  const parser = new PartParser((name, { Id = '', Type, Target = '', TargetMode = '' }) => {
    if (name !== 'Relationship') return
    const type = short(Type).slice(short(Type).lastIndexOf('/') + 1)
    if (type === 'hyperlink' && isWebAddress(Target)) links.set(Id, Target)
    if (TargetMode === 'External' || NO_WORKSHEET.test(type)) return
    const path = posix.resolve('/', dir, short(Target)).slice(1)
    byName.set(short(Id), path)
    byType.set(type, path)
    if (byName.size > MOST_ENTRIES) refuse(`it refers to more than ${MOST_ENTRIES} parts`)
  })
  await read(posix.join(dir, '_rels', `${base}.rels`), parser)
  return { byName, byType, links }
}

function sheetPart(sheets: Book['sheets'], wanted: string | null, file: string): string {
  const chosen = wanted === null ? sheets[0] : sheets.find(({ name }) => name === wanted)
  if (chosen !== undefined) return chosen.part
  if (wanted === null) throw new Unreadable('the workbook has no sheet of cells')
  const names = sheets.map(({ name }) => name)
  const hint = meantHint(nearestName(wanted, names))
  const shown = names.slice(0, 20).map((name) => JSON.stringify(name))
  const lacking = `${file} has no sheet ${JSON.stringify(wanted)}${hint}; it has ${shown.join(', ')}`
  throw new Unreadable(lacking, { lacking })
}

/** How many bytes to parse between two looks at the clock. */
const SLICE_BYTES = 4 * 1024

/** Feeds a part of the workbook to its parser, with pauses for requests. Yields whether a pause follows. */
async function* fed(
  zip: ZipFile,
  entry: Entry,
  parser: PartParser,
  { isGivenUp, rest }: Pick<SheetReading<unknown>, 'isGivenUp' | 'rest'>,
): AsyncGenerator<boolean> {
  const decoder = new TextDecoder('utf-8', { fatal: true })
  const stream = await zip.openReadStreamPromise(entry)
  const chunks: AsyncIterable<Buffer> = stream
  let sum = 0
  try {
    for await (const chunk of chunks) {
      if (isGivenUp()) return
      sum = crc32(chunk, sum)
      for (let from = 0; from < chunk.length; from += SLICE_BYTES) {
        const slice = chunk.subarray(from, from + SLICE_BYTES)
        parser.feed(decoder.decode(slice, { stream: true }), slice.length)
        const resting = rest()
        yield resting !== null
        await resting
      }
    }
    if (sum !== entry.crc32)
      throw new Unreadable(`${entry.fileName} is damaged: its CRC-32 is wrong; save or copy the workbook again`)
    parser.feed(decoder.decode(), 0)
    parser.finish()
  } catch (cause) {
    if (!(cause instanceof RefusedPart)) throw cause
    throw new Unreadable(`${entry.fileName} is not XML as Excel writes it (${cause.message.slice(0, 120)})`)
  } finally {
    stream.destroy()
  }
}

function columnNames(cells: SheetRow['cells']): readonly (string | null)[] {
  const numbered = numbering()
  return Array.from(cells, (cell = null) => (isBlank(cell) || typeof cell === 'object' ? null : numbered(String(cell))))
}

/** The least memory that a link takes for each of its cells, in bytes. */
const LINK_BYTES = 64
const SOME_LINKS = 1024

/** Links by column and row. */
type Links = ReadonlyMap<number, ReadonlyMap<number, string>>

/** Reads the links of columns. Needs a pass over the whole sheet, which lists them after its rows. */
async function linksOf<Item>(
  { zip, sheet, targets }: WorkbookParts,
  { limitBytes, isGivenUp, rest }: SheetReading<Item>,
  columns: readonly number[],
): Promise<Links> {
  const links = new Map(columns.map((column) => [column, new Map<number, string>()]))
  if (targets.size === 0 || columns.length === 0) return links
  let waiting: LinkedRows[] = []
  let count = 0
  const parser = linksParser(targets, columns, (found) => void waiting.push(found))
  for await (const _ of fed(zip, sheet, parser, { isGivenUp, rest })) {
    for (const { column, first, last, address } of waiting) {
      for (let row = first; row <= last; row++) {
        links.get(column)?.set(row, address)
        if (++count * LINK_BYTES > limitBytes) throw tooMuch('its links take', limitBytes)
        if (count % SOME_LINKS === 0) await rest()
      }
    }
    waiting = []
  }
  return links
}

async function* readRows<Item>(parts: WorkbookParts, reading: SheetReading<Item>): FileRows<Item> {
  const { linkColumns, headerRow, limitBytes, rows, onHeader, isGivenUp, rest } = reading
  let waiting: SheetRow[] = []
  let onRow: TakeCsvRow | null = null
  // Blank rows are absent from the file, or have only blank cells; the gaps between row numbers count both.
  let above = (headerRow ?? 1) - 1
  let linked: Links = new Map()
  const parser = sheetParser(parts, (found) => void waiting.push(found))
  for await (const isOver of fed(parts.zip, parts.sheet, parser, { isGivenUp, rest })) {
    const taken = waiting
    waiting = []
    for (const { cells, row, isHidden, links, shown, bytes } of taken) {
      const linkAt = (column: number): string | null => links?.[column] ?? linked.get(column)?.get(row) ?? null
      const isTooLarge = bytes > LARGEST_ROW_BYTES
      rows.textBytes += bytes
      for (const column of linked.keys()) rows.textBytes += linkAt(column)?.length ?? 0
      // A text stored once may occur in a million cells.
      if (rows.textBytes > limitBytes) throw tooMuch('its cells hold', limitBytes)
      if (onRow === null && headerRow !== null && row < headerRow) continue
      rows.blankRows += Math.max(0, row - above - 1)
      above = row
      if (onRow === null) {
        if (headerRow !== null && row > headerRow)
          return { line: row, problem: `a header row is expected in row ${headerRow}` }
        if (isTooLarge) return { line: row, problem: 'the header row is larger than 256 KB' }
        const names = columnNames(cells)
        const taking = onHeader(names, row)
        if (typeof taking !== 'function') return taking
        onRow = taking
        const linkedAt = linkColumns.map((column) => names.indexOf(column)).filter((column) => column !== -1)
        linked = await linksOf(parts, reading, linkedAt)
        continue
      }
      const fault = isTooLarge
        ? rows.addTooLarge(row)
        : onRow(cells, row, { isHidden, linkAt, shownAt: (column) => shown?.[column]?.() ?? null })
      if (fault !== null) return fault
    }
    if (isOver && rows.hasRows) yield rows.take()
  }
  return onRow === null ? { line: 1, problem: `a header row is expected in row ${headerRow ?? 1}` } : null
}
