import type { FailureKind } from '../observe/observation.ts'
import type { Failure, Cursor, ReadKind, ReadPurpose } from './port.ts'

/** After this many failed reads of changes in a row, the cursor is given up, whatever the failures were. */
const MOST_FAILURES = 3

/** Failures for which the cursor is not given up: a full read would only burden the CRM, or has just been made. */
const NOT_THE_CURSOR: ReadonlySet<FailureKind> = new Set(['throttled', 'refused', 'shrunk', 'too-large'])

interface CursorRead {
  readonly cursor: Cursor | null
  readonly kind: ReadKind
  readonly purpose: ReadPurpose
  /** The number of rows that were newer than the read. */
  readonly ignored: number
  readonly reportsChanges: boolean
}

/** The cursor for reads of changes (architecture: A cursor that keeps failing). */
export class HeldCursor {
  text: Cursor | null = null
  #failures = 0

  take(cursor: Cursor | null): void {
    this.text = cursor
    this.#failures = 0
  }

  /** Takes the cursor of a read that was written, if it reports everything that the read has not. */
  takeFrom({ cursor, kind, purpose, ignored, reportsChanges }: CursorRead): void {
    // An audit's cursor may be older than what refreshes have written since. Rows that a read ignored must come again. The
    // old cursor reports them, and so does the cursor of a full read. A file's fingerprint reports no rows.
    const isEnough = ignored === 0 || (kind === 'full' && reportsChanges)
    if (cursor !== null && purpose === 'refresh' && isEnough) this.take(cursor)
  }

  /** Records a read of changes. Returns true if it failed, and the list must be read in full at once. */
  isGivenUp(failure: Failure | null): boolean {
    if (failure === null) {
      this.#failures = 0
      return false
    }
    const { kind, retryAfterMs } = failure
    if (kind === 'cursor-refused' || kind === 'unconfirmed') {
      this.take(null)
      return true
    }
    return ++this.#failures >= MOST_FAILURES && retryAfterMs === null && !NOT_THE_CURSOR.has(kind)
  }
}
