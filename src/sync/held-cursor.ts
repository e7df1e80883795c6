import type { FailureKind } from '../observe/observation.ts'
import type { Failure, Cursor } from './port.ts'

/** After so many failed reads of changes in a row a cursor is given up, whatever the fault. */
const MOST_FAILURES = 3

/** Where a full read would only cost the CRM, or has just been made. */
const NOT_THE_CURSOR: ReadonlySet<FailureKind> = new Set(['throttled', 'refused', 'shrunk', 'too-large'])

/** What the reads of changes go on from, and whether it still works (architecture: A cursor that keeps failing). */
export class HeldCursor {
  text: Cursor | null = null
  #failures = 0

  /** There is one, and the last read of changes did not fail. */
  get isSound(): boolean {
    return this.text !== null && this.#failures === 0
  }

  take(cursor: Cursor | null): void {
    this.text = cursor
    this.#failures = 0
  }

  /** A read of changes has ended well, whether or not it brought another cursor. */
  followed(): void {
    this.#failures = 0
  }

  /** A read of changes has failed: whether the list must be read in full at once. */
  isGivenUp({ kind, retryAfterMs }: Failure): boolean {
    if (kind === 'cursor-refused' || kind === 'unconfirmed') {
      this.take(null)
      return true
    }
    return ++this.#failures >= MOST_FAILURES && retryAfterMs === null && !NOT_THE_CURSOR.has(kind)
  }
}
