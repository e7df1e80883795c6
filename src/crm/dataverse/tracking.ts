import type { CrmLimits } from '../kit/crm-limits.ts'
import { type Cursor, cursorOf } from '../../sync/port.ts'
import { type Moment, type Time, elapsedMs } from '../../time/time.ts'

/** Why a table is read in full each time: it has no change tracking, or its links keep failing. */
export type NoTracking = 'off' | 'failing'

const AGAIN_AFTER_MS = 900_000
const MOST_FAILURES = 5

/** Tracks whether a table's change tracking works, judged by its answers: it can be switched on at any time. */
export class Tracking {
  readonly #time: Time
  readonly #onOff: (why: NoTracking) => void
  /** Why change tracking is not used; `null` if it is. */
  why: NoTracking | null = null
  #offSinceMs = Number.NEGATIVE_INFINITY
  /** The number of delta links that failed since the last one that worked. */
  #failures = 0
  /** Whether a read of changes failed; the next full read shows whether its link was the cause. */
  #hasFailed = false
  #told: NoTracking | null = null

  constructor(time: Time, onOff: (why: NoTracking) => void) {
    this.#time = time
    this.#onOff = onOff
  }

  /** Whether a full read asks for change tracking; if it did not work, only at intervals. */
  get isAsked(): boolean {
    return this.why === null || this.#time.now().monotonicMs - this.#offSinceMs >= AGAIN_AFTER_MS
  }

  /** Whether the previous link failed: if this one fails too, the list is read in full at once. */
  get isOnTrial(): boolean {
    return this.#failures > 0
  }

  began(): void {
    this.why = null
  }

  /** Records that a read of changes, by a delta link, reached its last page. */
  followed(): void {
    this.#failures = 0
    this.#hasFailed = false
    this.#told = null
  }

  /**
   * Records that Dataverse refused a link. This is normal once: links expire, and end when the table's definition
   * changes.
   */
  refused(): void {
    this.#hasFailed = false
    if (++this.#failures >= MOST_FAILURES) this.isOff('failing')
  }

  /** Records a failed read of changes. The CRM as a whole may be down. */
  failed(): void {
    this.#hasFailed = true
  }

  /** Records a successful full read. The CRM is not down, so an earlier failed read of changes was its link's fault. */
  wasReadInFull(): void {
    if (this.#hasFailed) this.refused()
  }

  isOff(why: NoTracking): void {
    this.why = why
    this.#offSinceMs = this.#time.now().monotonicMs
    if (this.#told !== why) this.#onOff(why)
    this.#told = why
  }
}

const UNTRACKED = 'untracked '

/** Returns true if the cursor stands for a full read, and so is meaningless to another process. */
export function isUntracked(cursor: Cursor): boolean {
  return cursor.startsWith(UNTRACKED)
}

// Limits the full reads of one list to 1500 of the 6000 requests per 300 s that Dataverse grants a user per web server.
const MS_PER_REQUEST = 200

export type Turn =
  | { readonly kind: 'read' }
  /** The last full read is recent enough. */
  | { readonly kind: 'rest'; readonly asOf: Moment }
  /** The last full read is too old, but the request limits do not allow another yet. */
  | { readonly kind: 'wait'; readonly waitMs: number }

/**
 * Decides how often a table without change tracking is read in full: as often as the maximum age requires and the
 * limits allow.
 */
export class FullReadPace {
  readonly #limits: Pick<CrmLimits, 'maxAgeMs'>
  readonly #time: Time
  #last: { readonly begunAt: Moment; readonly requests: number; readonly cursor: Cursor } | null = null
  #count = 0

  constructor(limits: Pick<CrmLimits, 'maxAgeMs'>, time: Time) {
    this.#limits = limits
    this.#time = time
  }

  /** @param cursor the replica's cursor; it differs from the last read's if the replica rejected that read */
  turn(cursor: Cursor | null): Turn {
    const last = this.#last
    const { maxAgeMs } = this.#limits
    if (last === null) return { kind: 'read' }
    const ageMs = elapsedMs(last.begunAt, this.#time.now())
    const leastMs = last.requests * MS_PER_REQUEST
    if (ageMs < leastMs && (cursor !== last.cursor || ageMs >= maxAgeMs)) {
      return { kind: 'wait', waitMs: leastMs - ageMs }
    }
    // Half the maximum age, so the next read ends before this one is too old.
    const rests = cursor === last.cursor && ageMs < Math.max(leastMs, maxAgeMs / 2)
    return rests ? { kind: 'rest', asOf: last.begunAt } : { kind: 'read' }
  }

  /** Records a complete full read, and returns a cursor that stands for it. */
  ended(begunAt: Moment, requests: number): Cursor {
    const cursor = cursorOf(`${UNTRACKED}${++this.#count}`)
    this.#last = { begunAt, requests, cursor }
    return cursor
  }
}
