import type { HeldRow } from './held-row.ts'

/** Receives each write of a list. */
export interface WriteListener {
  /** The row was written. */
  note(row: HeldRow): void
  /** Called when a row gets another version, even if its record stays the same. */
  noteVersion(row: HeldRow): void
  /** The row was removed. */
  noteRemoval(row: HeldRow): void
}
