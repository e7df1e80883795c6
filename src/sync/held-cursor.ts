import type { FailureKind } from '../observe/observation.ts'
import type { Failure, Cursor, ListSource } from './port.ts'

/** After this many failed reads of changes in a row, the cursor is given up, whatever the failures were. */
const MOST_FAILURES = 3

/** Failures for which the cursor is not given up: a full read would only burden the CRM, or has just been made. */
const NOT_THE_CURSOR: ReadonlySet<FailureKind> = new Set(['throttled', 'refused', 'shrunk', 'too-large'])

/** The cursor for reads of changes, and whether it still works (architecture: A cursor that keeps failing). */
export class HeldCursor {
  text: Cursor | null = null
  #failures = 0

  /** There is a cursor, and the last read of changes did not fail. */
  get isSound(): boolean {
    return this.text !== null && this.#failures === 0
  }

  /** The cursor that another process may continue from; `null` if it would have to read all rows. */
  travelling(source: Pick<ListSource<unknown>, 'travels'>): Cursor | null {
    return this.text !== null && source.travels?.(this.text) === true ? this.text : null
  }

  take(cursor: Cursor | null): void {
    this.text = cursor
    this.#failures = 0
  }

  /** Records a successful read of changes, with or without a new cursor. */
  followed(): void {
    this.#failures = 0
  }

  /** Records a failed read of changes. Returns true if the list must be read in full at once. */
  isGivenUp({ kind, retryAfterMs }: Failure): boolean {
    if (kind === 'cursor-refused' || kind === 'unconfirmed') {
      this.take(null)
      return true
    }
    return ++this.#failures >= MOST_FAILURES && retryAfterMs === null && !NOT_THE_CURSOR.has(kind)
  }
}
