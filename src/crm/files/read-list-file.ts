import { type FileFormat, disguiseOf, utf16Of } from './content.ts'
import { jsonLines } from './json-rows.ts'
import { breaksIn } from './json-bytes.ts'
import { JsonParser } from './json-parser.ts'
import type { DayColumns, DayColumnSearch } from '../mapping/list-setting.ts'
import { FileBatch } from './batch.ts'
import { IgnoredColumns } from './list-file.ts'
import type { OpenFile } from './found-file.ts'
import type { FileReading, FileRows, RowParser } from './row-parser.ts'
import { isUtf8 } from 'node:buffer'
import { openDecoder } from '../../domain/encoding.ts'

/**
 * Reads a file from its start and yields its rows in batches, with pauses for requests. Looks for columns of days first:
 * only all of its rows tell, but the first ones nearly always tell that there is none.
 */
export async function* readListFile<Item>(reading: FileReading<Item>): FileRows<Item> {
  const { list } = reading
  const { format } = reading.rows.found
  const search = list.searchDays()
  const look = search.isOver ? null : lookingFor(search, reading)
  const begin: FileReading<Item>['begin'] = (from) => reading.begin(from, search.found)
  if (format === 'xlsx') {
    const [{ readSheet }, { rowTaker }] = await Promise.all([import('./workbook.ts'), import('./csv-parser.ts')])
    const { sheet, linkColumns, texts } = list
    const settings = { sheet, linkColumns, isComma: texts?.decimal === ',', headerRow: texts?.headerRow ?? null }
    const before = look && { ...look, onHeader: rowTaker(look, () => look.begin('sheet', NO_DAYS)) }
    const onHeader = rowTaker(reading, () => begin('sheet', NO_DAYS))
    return yield* readSheet({ ...reading, ...settings, before, onHeader })
  }
  if (look !== null) for await (const _ of readTextRows(look, format)) continue
  return yield* readTextRows({ ...reading, begin }, format)
}

const NO_DAYS: DayColumns = new Set()

/** A reading of the same file that passes its rows to a search, until that is over, and keeps nothing. */
function lookingFor<Item>(search: DayColumnSearch, reading: FileReading<Item>): FileReading<Item> {
  const see = search.through()
  return {
    ...reading,
    begin: () => (row) => {
      see(row)
      return null
    },
    rows: new FileBatch<Item>(reading.rows.found),
    isGivenUp: () => search.isOver || reading.isGivenUp(),
    columns: new IgnoredColumns([]),
    held: { size: 0, version: () => Number.NaN },
  }
}

/** Yields the rows of a file that is a text. Parsers for single formats are imported on demand. */
async function* readTextRows<Item>(reading: FileReading<Item>, format: Exclude<FileFormat, 'xlsx'>): FileRows<Item> {
  const { list, begin } = reading
  const { name } = reading.rows.found
  if (list.sheet !== null) {
    const lacking = `${name} is not a workbook, and has no sheet ${JSON.stringify(list.sheet)}`
    return { line: 0, problem: lacking, lacking }
  }
  if (list.rows !== null && format !== 'json') {
    const lacking = `${name} is not a .json file, and has no list ${JSON.stringify(list.rows)} (rows)`
    return { line: 0, problem: lacking, lacking }
  }
  if (format === 'csv') {
    const { CsvParser, rowTaker } = await import('./csv-parser.ts')
    const parser = new CsvParser(
      rowTaker(reading, () => begin('text', NO_DAYS)),
      list.texts,
      list.isMapped,
    )
    return yield* readText(reading, parser)
  }
  const { onRow, onTorn, whyNone } = jsonLines(reading, begin('native', NO_DAYS))
  const fault = yield* readText(reading, new JsonParser({ format, rows: list.rows, onRow, onTorn }))
  return fault ?? whyNone()
}

/**
 * The size of one read from the file. It is small, so a slow network drive shows progress. Decoding it and counting its
 * lines takes a few ms, even if each byte is a line feed.
 */
const CHUNK_BYTES = 64 * 1024
/** How many bytes to parse between two looks at the clock. */
const SLICE_BYTES = 4 * 1024
const LINE_FEED = 0x0a
const LINE_ENDS: ReadonlySet<number | undefined> = new Set([LINE_FEED, 0x0d])

async function* readText<Item>(
  { file, list, rows, isGivenUp, rest }: FileReading<Item>,
  parser: RowParser,
): FileRows<Item> {
  const encoding = list.texts?.encoding ?? 'utf-8'
  const decode = decoderOf(encoding)
  const chunk = Buffer.allocUnsafe(CHUNK_BYTES)
  for (let position = 0; !isGivenUp();) {
    const { bytesRead } = await file.read(chunk, 0, chunk.length, position)
    const read = chunk.subarray(0, bytesRead)
    const disguise = position === 0 ? (disguiseOf(read) ?? otherThan(encoding, read)) : null
    if (disguise !== null) return { line: 1, problem: disguise }
    // Most chunks are whole in UTF-8; one that begins within a character is not. The first may have a byte order mark.
    const isWhole = encoding === 'utf-8' && position > 0 && bytesRead > 0 && isUtf8(read)
    const bytes = isWhole ? Buffer.from(read) : decode(read)
    if (bytes?.length !== 0) rows.isCut = !LINE_ENDS.has(bytes?.at(-1))
    const hasZero = bytes?.includes(0) ?? (encoding === 'utf-8' && read.includes(0))
    const problem = hasZero ? ZERO : bytes === null ? undecodable(encoding) : null
    if (problem !== null) return { line: await firstBadLine(file, encoding, position), problem }
    if (bytes === null || bytesRead === 0) break
    position += bytesRead
    for (let from = 0; from < bytes.length && !isGivenUp();) {
      const slice = partOf(bytes, from)
      from += slice.length
      const fault = parser.feed(slice)
      if (fault !== null) return fault
      const waiting = rest()
      if (waiting === null) continue
      if (rows.hasRows) yield rows.take()
      await waiting
    }
  }
  const fault = parser.finish()
  rows.isCut ||= parser.endsWithin === true
  rows.blankRows = parser.blankRows ?? 0
  if (fault === null) yield rows.take()
  return fault
}

const ZERO = 'the file contains U+0000, which no text does; most likely it is incomplete, in UTF-16, or not a list'

function undecodable(encoding: string): string {
  if (encoding !== 'utf-8') return `a byte in this line or below is not ${encoding}, as crm.texts.encoding says`
  const remedy = 'save the file as UTF-8 (it is most likely Windows-1252), or set crm.texts.encoding: windows-1252'
  return `the bytes are not UTF-8; ${remedy}`
}

/** Returns a sentence about a UTF-16 file that is read in another encoding; `null` for any other file. */
function otherThan(encoding: string, head: Buffer): string | null {
  const found = encoding.startsWith('utf-16') ? null : utf16Of(head)
  if (found === null) return null
  const expected = encoding === 'utf-8' ? 'UTF-8' : `${encoding}, which crm.texts.encoding declares`
  return `this is ${found.toUpperCase()}, not ${expected}; save the file as UTF-8, or set crm.texts.encoding: ${found}`
}

/** Returns the next bytes up to a line feed: a row cut in two would have to be copied. Divides no character. */
function partOf(bytes: Buffer, from: number): Buffer {
  let end = Math.min(from + SLICE_BYTES, bytes.length)
  const last = bytes.lastIndexOf(LINE_FEED, end - 1)
  if (last >= from) return bytes.subarray(from, last + 1)
  while (end < bytes.length && ((bytes[end] ?? 0) & 0xc0) === 0x80) end--
  return bytes.subarray(from, end)
}

/** Returns a function that converts a file to UTF-8 chunk by chunk, the last one empty; `null` if bytes are not valid. */
function decoderOf(encoding: string): (chunk: Buffer) => Buffer | null {
  const decoder = openDecoder(encoding)
  if (decoder === null) throw new Error(`the encoding ${encoding} is not known`)
  return (chunk) => {
    try {
      return Buffer.from(decoder.decode(chunk, { stream: chunk.length > 0 }))
    } catch (cause) {
      if (cause instanceof TypeError) return null
      throw new Error('a file cannot be decoded', { cause })
    }
  }
}

/** Returns the first line that cannot be decoded or has a U+0000. @param badAt the chunk that has it */
async function firstBadLine(file: Pick<OpenFile, 'read'>, encoding: string, badAt: number): Promise<number> {
  const decode = decoderOf(encoding)
  const chunk = Buffer.allocUnsafe(CHUNK_BYTES)
  let line = 1
  for (let position = 0, bytesRead = 1; bytesRead > 0; position += bytesRead) {
    ;({ bytesRead } = await file.read(chunk, 0, chunk.length, position))
    for (let from = 0; from < bytesRead;) {
      const end = position >= badAt ? chunk.subarray(0, bytesRead).indexOf(LINE_FEED, from) + 1 || bytesRead : bytesRead
      const bytes = decode(chunk.subarray(from, end))
      if (bytes === null || bytes.includes(0)) return line
      line += breaksIn(bytes, 0, bytes.length)
      from = end
    }
  }
  return line
}
