import type { Held } from '../../sync/port.ts'
import type { KnownLines, RowMapper, StreamBatch } from '../connector/row-host.ts'
import type { DayColumns } from '../mapping/list-setting.ts'
import type { FileBatch } from './batch.ts'
import type { OpenFile } from './found-file.ts'
import type { IgnoredColumns, ListFile } from './list-file.ts'
import type { Rest } from '../../time/waiting.ts'

/** What a reader of a file gets, whatever the format. */
export interface FileReading<Item> {
  readonly file: Pick<OpenFile, 'read'>
  readonly list: ListFile
  readonly rows: FileBatch<Item>
  readonly columns: IgnoredColumns
  readonly held: Held
  /** Begins to map rows. Returns what maps one; `null` if it adds nothing. */
  readonly begin: (from: 'native' | 'text' | 'sheet', days: DayColumns) => MapRow<Item>
  /** How the bytes of held rows are recognized, once the mapping has begun. */
  readonly lines: () => KnownLines
  /** The most bytes that a workbook's parts may unpack to. */
  readonly limitBytes: number
  readonly isGivenUp: () => boolean
  readonly rest: Rest
}

export type MapRow<Item> = RowMapper<Item>['map']

/** The rows of a file, then why the rest of it cannot be read; `null` if it was read to its end. */
export type FileRows<Item> = AsyncGenerator<StreamBatch<Item>, BrokenSyntax | null, void>

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
