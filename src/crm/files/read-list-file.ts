import { type PageStream, PAGE_ROWS } from '../../sync/port.ts'
import { type FileFormat, disguiseOf, utf16Of } from './content.ts'
import { jsonLines } from './json-rows.ts'
import { jsonParser } from './wrapped-list.ts'
import { seedOf } from '../cells/row-digest.ts'
import type { DayColumns, DayColumnSearch } from '../mapping/list-setting.ts'
import { FileBatch } from './batch.ts'
import { IgnoredColumns, type ListFile } from './list-file.ts'
import type { TakeHeader } from './csv-parser.ts'
import type { BrokenSyntax, FileReading, RowParser } from './row-parser.ts'
import { isUtf8 } from 'node:buffer'
import { openDecoder } from '../../domain/encoding.ts'

/**
 * Reads a file from its start and yields its rows in pages, with pauses for requests. Looks for columns of days first:
 * only all of its rows tell, but the first ones nearly always tell that there is none.
 */
export async function* readListFile<Item>(reading: FileReading<Item>): PageStream<Item, BrokenSyntax | null> {
  const { list, rows, columns } = reading
  const { format } = rows.found
  const search = list.searchDays()
  const look = search.isOver ? null : lookingFor(search, reading)
  const found = (): ListFile<Item> => (search.found.size === 0 ? list : inDays(list, search.found))
  if (format === 'xlsx') {
    const [{ readSheet }, { csvRows }] = await Promise.all([import('./workbook.ts'), import('./csv-parser.ts')])
    const { sheet, linkColumns, texts } = list
    const settings = { sheet, linkColumns, isComma: texts?.decimal === ',', headerRow: texts?.headerRow ?? null }
    const before = look && { ...look, onHeader: csvRows(look.list, look.rows, look.columns, 'sheet') }
    const onHeader: TakeHeader = (header, row) => csvRows(found(), rows, columns, 'sheet')(header, row)
    return yield* readSheet({ ...reading, ...settings, before, onHeader })
  }
  if (look !== null) for await (const _ of readTextRows(look, format)) continue
  return yield* readTextRows({ ...reading, list: found() }, format)
}

/** A reading of the same file that passes its rows to a search, until that is over, and keeps nothing. */
function lookingFor<Item>(search: DayColumnSearch, reading: FileReading<Item>): FileReading<Item> {
  const list: ListFile<Item> = {
    ...reading.list,
    mapper(access) {
      const see = search.through({ ...access, label: access.cell, zoneOf: () => null })
      return (row) => {
        see(row)
        return null
      }
    },
  }
  const rows = new FileBatch<Item>(reading.rows.found, { monotonicMs: 0, wallMs: 0 })
  const isGivenUp = (): boolean => search.isOver || reading.isGivenUp()
  return {
    ...reading,
    list,
    rows,
    columns: new IgnoredColumns([]),
    held: { size: 0, version: () => Number.NaN },
    isGivenUp,
  }
}

/** The same list with these columns of days: a row of the same bytes is then another record. */
function inDays<Item>(list: ListFile<Item>, days: DayColumns): ListFile<Item> {
  return {
    ...list,
    lines: { ...list.lines, seed: seedOf([list.lines.seed, ...days]) },
    mapper: (access, lists, setRest) => list.mapper(access, lists, setRest, days),
  }
}

/** Yields the rows of a file that is a text. Parsers for single formats are imported on demand. */
async function* readTextRows<Item>(
  reading: FileReading<Item>,
  format: Exclude<FileFormat, 'xlsx'>,
): PageStream<Item, BrokenSyntax | null> {
  const { list, rows, columns, held } = reading
  const { name } = rows.found
  if (list.sheet !== null) {
    const lacking = `${name} is not a workbook, and has no sheet ${JSON.stringify(list.sheet)}`
    return { line: 0, problem: lacking, lacking }
  }
  if (list.rows !== null && format !== 'json') {
    const lacking = `${name} is not a .json file, and has no list ${JSON.stringify(list.rows)} (rows)`
    return { line: 0, problem: lacking, lacking }
  }
  if (format === 'csv') {
    const { CsvParser, csvRows } = await import('./csv-parser.ts')
    const parser = new CsvParser(csvRows(list, rows, columns), list.texts, undefined, list.isMapped)
    return yield* readText(reading, parser)
  }
  const { onRow, onTorn, whyNone } = jsonLines(list, rows, columns, held)
  const fault = yield* readText(reading, jsonParser(format, list.rows, onRow, onTorn))
  return fault ?? whyNone()
}

/**
 * The size of one read from the file. It is small, so a slow network drive shows progress. Decoding it and counting its
 * lines takes a few ms, even if each byte is a line feed.
 */
const CHUNK_BYTES = 64 * 1024
const LINE_FEED = 0x0a

async function* readText<Item>(
  { file, list, rows, isGivenUp, pace }: FileReading<Item>,
  parser: RowParser,
): PageStream<Item, BrokenSyntax | null> {
  const encoding = list.texts?.encoding ?? 'utf-8'
  const gate = encoding === 'utf-8' ? new Utf8Gate() : new DecodingGate(encoding)
  const chunk = Buffer.allocUnsafe(CHUNK_BYTES)
  for (let position = 0; !isGivenUp();) {
    const { bytesRead } = await file.read(chunk, 0, chunk.length, position)
    if (bytesRead === 0) break
    const read = chunk.subarray(0, bytesRead)
    const disguise = position === 0 ? (disguiseOf(read) ?? otherThan(encoding, read)) : null
    if (disguise !== null) return { line: 1, problem: disguise }
    const bytes = gate.pass(read)
    if (bytes === null) return { line: gate.line, problem: gate.problem }
    const zeroAt = bytes.indexOf(0)
    if (zeroAt !== -1) return { line: gate.line - breaksIn(bytes.subarray(zeroAt)), problem: ZERO }
    position += bytesRead
    for (let from = 0; from < bytes.length && !isGivenUp();) {
      const slice = wholeLines(bytes.subarray(from, from + pace.sliceBytes))
      from += slice.length
      rows.readBytes = position - bytes.length + from
      const fed = parser.feed(slice)
      const fault = fed instanceof Promise ? await fed : fed
      if (fault !== null) return fault
      if (!pace.isOver) continue
      yield* rows.take(PAGE_ROWS)
      await pace.rest()
    }
  }
  const endsWithin = gate.finish()
  if (endsWithin && rows.extent === 'all') return { line: gate.line, problem: gate.problem }
  const fault = await parser.finish((openSince) => rows.cut(openSince !== undefined && openSince < gate.line))
  if (endsWithin) rows.cut()
  rows.blankRows = parser.blankRows ?? 0
  if (fault === null) yield* rows.take(PAGE_ROWS)
  return fault
}

const ZERO = 'the file contains U+0000, which no text does; most likely it is incomplete, in UTF-16, or not a list'

/** Returns a sentence about a UTF-16 file that is read in another encoding; `null` for any other file. */
function otherThan(encoding: string, head: Buffer): string | null {
  const found = encoding.startsWith('utf-16') ? null : utf16Of(head)
  if (found === null) return null
  const expected = encoding === 'utf-8' ? 'UTF-8' : `${encoding}, which crm.texts.encoding declares`
  return `this is ${found.toUpperCase()}, not ${expected}; save the file as UTF-8, or set crm.texts.encoding: ${found}`
}

function breaksIn(bytes: Buffer): number {
  let count = 0
  for (let at = bytes.indexOf(LINE_FEED); at !== -1; at = bytes.indexOf(LINE_FEED, at + 1)) count++
  return count
}

/** Returns the bytes up to the last line feed, if there is one: a row cut in two would have to be copied. */
function wholeLines(bytes: Buffer): Buffer {
  const last = bytes.lastIndexOf(LINE_FEED)
  return last === -1 ? bytes : bytes.subarray(0, last + 1)
}

const NOTHING = Buffer.alloc(0)

/** Passes the bytes of a file on as whole characters of UTF-8, without a byte order mark. */
export class Utf8Gate {
  /** The line of the next byte, or of the first that is not valid. */
  line = 1
  /** Describes bytes that are not valid. */
  readonly problem: string
  #rest: Buffer = NOTHING
  #isFirst = true

  constructor(problem = 'the bytes are not UTF-8; save the file as UTF-8 (it may be Windows-1252 or UTF-16)') {
    this.problem = problem
  }

  /** Returns `null` if not all bytes are valid. */
  pass(chunk: Buffer): Buffer | null {
    const bytes = this.#rest.length === 0 ? chunk : Buffer.concat([this.#rest, chunk])
    const end = wholeEnd(bytes)
    this.#rest = Buffer.from(bytes.subarray(end))
    const hasMark = this.#isFirst && bytes.subarray(0, 3).equals(BOM)
    if (end > 0) this.#isFirst = false
    const whole = bytes.subarray(hasMark ? 3 : 0, end)
    const isValid = isUtf8(whole)
    this.line += breaksIn(isValid ? whole : validLines(whole))
    return isValid ? whole : null
  }

  /** Ends the file; returns whether it ends within a character. */
  finish(): boolean {
    return this.#rest.length > 0
  }
}

const BOM = Buffer.from([0xef, 0xbb, 0xbf])

/** The end of the last whole character; invalid bytes count as whole. */
function wholeEnd(bytes: Buffer): number {
  for (let back = 1; back <= 3 && back <= bytes.length; back++) {
    const byte = bytes[bytes.length - back] ?? 0
    if (byte < 0x80) break
    if (byte >= 0xc0) {
      const length = byte >= 0xf0 ? 4 : byte >= 0xe0 ? 3 : 2
      return length > back ? bytes.length - back : bytes.length
    }
  }
  return bytes.length
}

/** The lines before the first invalid one. In UTF-8, a line feed byte is never part of another character. */
function validLines(bytes: Buffer): Buffer {
  let from = 0
  for (;;) {
    const at = bytes.indexOf(LINE_FEED, from)
    if (at === -1 || !isUtf8(bytes.subarray(from, at))) return bytes.subarray(0, from)
    from = at + 1
  }
}

/** Converts another encoding to UTF-8. Of bytes that are not valid, it only knows a line at or above them. */
class DecodingGate extends Utf8Gate {
  readonly #decoder: TextDecoder

  constructor(encoding: string) {
    super(`a byte in this line or below is not ${encoding}, as crm.texts.encoding says`)
    const decoder = openDecoder(encoding)
    if (decoder === null) throw new Error(`the encoding ${encoding} is not known`)
    this.#decoder = decoder
  }

  override pass(chunk: Buffer): Buffer | null {
    const text = this.#decode(chunk)
    return text === null ? null : super.pass(Buffer.from(text))
  }

  override finish(): boolean {
    return this.#decode() === null
  }

  #decode(chunk?: Buffer): string | null {
    try {
      return this.#decoder.decode(chunk, { stream: chunk !== undefined })
    } catch (cause) {
      if (cause instanceof TypeError) return null
      throw new Error('a file cannot be decoded', { cause })
    }
  }
}
