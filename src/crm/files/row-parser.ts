import type { Held } from '../../sync/port.ts'
import { LARGEST_ROW_BYTES } from '../kit/crm-limits.ts'
import type { FileBatch } from './batch.ts'
import type { OpenFile } from './found-file.ts'
import type { IgnoredColumns, ListFile } from './list-file.ts'
import type { Rest } from '../../time/waiting.ts'

/** What a reader of a file gets, whatever the format. */
export interface FileReading<Item> {
  readonly file: Pick<OpenFile, 'read'>
  readonly list: ListFile<Item>
  readonly rows: FileBatch<Item>
  readonly columns: IgnoredColumns
  readonly held: Held
  /** The most bytes that a workbook's parts may unpack to. */
  readonly limitBytes: number
  readonly isGivenUp: () => boolean
  readonly rest: Rest
}

/** Splits the bytes of a file into rows and passes them on. All bytes are complete UTF-8 characters. */
export interface RowParser {
  feed(bytes: Buffer): Taken
  /** Passes on the rest. */
  finish(): Taken
  /** Whether the bytes so far end within quotes. */
  readonly endsWithin?: boolean
  /** The number of skipped rows of blank cells. */
  readonly blankRows?: number
}

/** `null` on success. */
export type Taken = BrokenSyntax | null

/**
 * Takes a row: the bytes from `from` to before `to`, and the line it begins in. The memory is reused afterwards. The
 * row is not passed as a view, because creating one costs as much as recognizing an unchanged row.
 */
export type TakeRow = (bytes: Buffer, from: number, to: number, line: number) => Taken

/** Why a file cannot be read. `problem` is the rest of a sentence that begins with file and line. */
export interface BrokenSyntax {
  readonly line: number
  readonly problem: string
  /** The message instead of `problem` if the file is complete but lacks a column that the configuration names. */
  readonly lacking?: string
}

/** Passes on rows, including rows that span several chunks. */
export class CarriedRow {
  /** The bytes carried over of the current row. If the row is too large: one more than a row may have. */
  length = 0
  #parts: Buffer[] = []
  readonly #onRow: TakeRow

  constructor(onRow: TakeRow) {
    this.#onRow = onRow
  }

  /** Carries over a copy of the bytes, since the chunk's memory is reused. Drops bytes beyond the largest row. */
  carry(bytes: Buffer): void {
    const kept = bytes.subarray(0, LARGEST_ROW_BYTES + 1 - this.length)
    if (kept.length === 0) return
    this.#parts.push(Buffer.from(kept))
    this.length += kept.length
  }

  /** Passes on the row that ends with these bytes and began in `line`. */
  end(bytes: Buffer, from: number, to: number, line: number): Taken {
    if (this.length === 0) return this.#onRow(bytes, from, to, line)
    const whole = this.take(bytes.subarray(from, to))
    return this.#onRow(whole, 0, whole.length, line)
  }

  /** Returns the bytes carried over and those that follow, which are then no longer carried. */
  take(bytes: Buffer): Buffer {
    const whole = Buffer.concat([...this.#parts, bytes])
    this.#parts = []
    this.length = 0
    return whole
  }
}
