import type { Guid } from '../domain/guid.ts'

/** Receives each write of a list. */
export interface WriteListener {
  /** The row was written. */
  note(row: number): void
  /** Called when a row gets another version, even if its record stays the same. */
  noteVersion(row: number): void
  /** The row is about to be removed, and its number with it. */
  noteRemoval(row: number, id: Guid): void
}
