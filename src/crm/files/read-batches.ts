import type { Change } from '../../replica/port.ts'
import { PAGE_ROWS } from '../../replica/port.ts'
import { disguiseOf } from './content.ts'
import type { OpenFile } from './found-file.ts'
import type { Pace } from './pace.ts'
import type { RowParser, SyntaxFault } from './row-parser.ts'
import { DecodingGate } from './decoding-gate.ts'
import type { ByteGate } from './utf8-gate.ts'
import { Utf8Gate } from './utf8-gate.ts'

/** Where the rows of one file go. */
export interface RowSink<Item> {
  readonly rows: Gathering<Item>
  /** What the file is called. */
  readonly file: string
  /** Where the row stands that comes after `index` others and begins in `line`. */
  whereIs(index: number, line: number): string
}

/** Rows of a file in their order, and where they stand. */
export interface Batch<Item> {
  /** How many rows of the file come before these. */
  readonly before: number
  readonly changes: readonly Change<Item>[]
  /** The line that each row begins in. */
  readonly lines: readonly number[]
}

/** Gathers rows until they are taken, a page at most at a time. */
export class Gathering<Item> {
  /** Rows in which nothing stands, between the others and below them. */
  blankRows = 0
  /** Of the file, for the rows so far. */
  readBytes = 0
  #before = 0
  #changes: Change<Item>[] = []
  #lines: number[] = []

  get size(): number {
    return this.#changes.length
  }

  /** How many rows of the file come before the next one. */
  get count(): number {
    return this.#before + this.#changes.length
  }

  add(change: Change<Item>, line: number): void {
    this.#changes.push(change)
    this.#lines.push(line)
  }

  /** All rows that were gathered, in batches of at most `limit`. */
  take(limit: number): readonly Batch<Item>[] {
    const batches: Batch<Item>[] = []
    for (let from = 0; from < this.#changes.length; from += limit) {
      const changes =
        from === 0 && this.#changes.length <= limit ? this.#changes : this.#changes.slice(from, from + limit)
      batches.push({ before: this.#before + from, changes, lines: this.#lines.slice(from, from + limit) })
    }
    this.#before += this.#changes.length
    this.#changes = []
    this.#lines = []
    return batches
  }
}

/** Each is waited for; but to decode one of another encoding takes some ms. */
const CHUNK_BYTES = 1024 * 1024
const ENCODED_CHUNK_BYTES = 64 * 1024
const LINE_FEED = 0x0a

/** Reads a file from its start and gives its rows in batches; between two of them requests pass. */
export async function* readBatches<Item>(
  file: Pick<OpenFile, 'read'>,
  parser: RowParser,
  rows: Gathering<Item>,
  isGivenUp: () => boolean,
  pace: Pace,
  encoding = 'utf-8',
): AsyncGenerator<Batch<Item>, SyntaxFault | null, void> {
  const isUtf8 = encoding === 'utf-8'
  const gate: ByteGate = isUtf8 ? new Utf8Gate() : new DecodingGate(encoding)
  const chunk = Buffer.allocUnsafe(isUtf8 ? CHUNK_BYTES : ENCODED_CHUNK_BYTES)
  for (let position = 0; !isGivenUp();) {
    const { bytesRead } = await file.read(chunk, 0, chunk.length, position)
    if (bytesRead === 0) break
    if (position === 0) {
      const disguise = disguiseOf(chunk.subarray(0, bytesRead))
      if (disguise !== null) return { line: 1, problem: disguise }
    }
    position += bytesRead
    const { bytes, broken } = gate.pass(chunk.subarray(0, bytesRead))
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
    if (broken) return { line: gate.line, problem: gate.problem }
  }
  if (gate.finish()) return { line: gate.line, problem: gate.problem }
  const fault = await parser.finish()
  rows.blankRows = parser.blankRows ?? 0
  if (fault === null) yield* rows.take(PAGE_ROWS)
  return fault
}

/** Up to the last line feed, where there is one: of a row that is cut in two each part would have to be copied. */
function wholeLines(bytes: Buffer): Buffer {
  const last = bytes.lastIndexOf(LINE_FEED)
  return last === -1 ? bytes : bytes.subarray(0, last + 1)
}
