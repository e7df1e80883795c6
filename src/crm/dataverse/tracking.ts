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

// Limits full reads to 1500 of the 6000 requests per 300 s that Dataverse grants a user per web server.
const MS_PER_REQUEST = 200

export type Turn =
  | { readonly kind: 'read' }
  /** The last full read is recent enough. */
  | { readonly kind: 'rest'; readonly asOf: Moment }
  /** The last full read is too old, but the request limits do not allow another yet. */
  | { readonly kind: 'wait'; readonly waitMs: number }

/** What a full read of each table without change tracking costs, in requests. */
export type FullReadCosts = Map<FullReadPace, number>

/**
 * Decides how often a table without change tracking is read in full: as often as the maximum age requires and the
 * limits allow.
 */
export class FullReadPace {
  readonly #limits: Pick<CrmLimits, 'maxAgeMs'>
  readonly #time: Time
  readonly #costs: FullReadCosts
  #last: { readonly begunAt: Moment; readonly cursor: Cursor } | null = null
  #count = 0
  /** When the last full read began, whether it succeeded or not, and its requests so far. */
  #begunAt: Moment | null = null
  #requests = 0
  #hasEnded = false

  /** @param costs shared by the tables of an environment */
  constructor(limits: Pick<CrmLimits, 'maxAgeMs'>, time: Time, costs: FullReadCosts) {
    this.#limits = limits
    this.#time = time
    this.#costs = costs
  }

  /** @param cursor the replica's cursor; it differs from the last read's if the replica rejected that read */
  turn(cursor: Cursor | null): Turn {
    const last = this.#last
    const { waitMs } = this
    if (last !== null && cursor === last.cursor) {
      const { maxAgeMs } = this.#limits
      // Half the maximum age, so the next read ends before this one is too old.
      const enoughMs = waitMs > 0 ? maxAgeMs : maxAgeMs / 2
      if (elapsedMs(last.begunAt, this.#time.now()) < enoughMs) return { kind: 'rest', asOf: last.begunAt }
    }
    return waitMs > 0 ? { kind: 'wait', waitMs } : { kind: 'read' }
  }

  /** Milliseconds until the limits allow another full read; 0 if they do now. */
  get waitMs(): number {
    if (this.#begunAt === null) return 0
    // If each table waits for the requests of all, together they keep the limits.
    let requests = this.#requests
    for (const [pace, cost] of this.#costs) requests += pace === this ? 0 : cost
    // A read that failed early need not wait for a whole read of a larger table.
    if (!this.#hasEnded) requests = Math.min(requests, this.#requests * this.#costs.size)
    return Math.max(0, requests * MS_PER_REQUEST - elapsedMs(this.#begunAt, this.#time.now()))
  }

  /** Records that a full read begins. */
  begins(begunAt: Moment): void {
    this.#costs.set(this, this.#requests)
    this.#begunAt = begunAt
    this.#requests = 0
    this.#hasEnded = false
  }

  /** Counts a request of the full read that began last. */
  requests(): void {
    this.#requests++
    this.#costs.set(this, Math.max(this.#costs.get(this) ?? 0, this.#requests))
  }

  /** Records a complete full read, and returns a cursor that stands for it. */
  ended(begunAt: Moment): Cursor {
    const cursor = cursorOf(`${UNTRACKED}${++this.#count}`)
    this.#last = { begunAt, cursor }
    this.#hasEnded = true
    return cursor
  }

  /** Records that the table has change tracking, so it is seldom read in full. */
  tracked(): void {
    this.#requests = 0
    this.#costs.delete(this)
  }
}
