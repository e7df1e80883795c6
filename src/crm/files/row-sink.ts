import type { Gathering } from './batch.ts'

/** Where the rows of one file go. */
export interface RowSink<Item> {
  readonly rows: Gathering<Item>
  /** Where the row stands that comes after `index` others and begins in `line`. */
  whereIs(index: number, line: number): string
}
