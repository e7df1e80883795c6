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

// Limits full reads to 1500 of the 6000 requests per 300 s that Dataverse grants a user per web server.
const MS_PER_REQUEST = 200

/** What a full read of each table without change tracking costs, in requests. */
export type FullReadCosts = Map<FullReadPace, number>

/** Says when a table without change tracking may be read in full again. */
export class FullReadPace {
  readonly #time: Time
  readonly #costs: FullReadCosts
  /** When the last full read began, whether it succeeded or not, and its requests so far. */
  #begunAt: Moment | null = null
  #requests = 0
  #hasEnded = false

  /** @param costs shared by the tables of an environment */
  constructor(time: Time, costs: FullReadCosts) {
    this.#time = time
    this.#costs = costs
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

  /** Records that the full read is complete. */
  ended(): void {
    this.#hasEnded = true
  }

  /** Records that the table has change tracking, so it is seldom read in full. */
  tracked(): void {
    this.#requests = 0
    this.#costs.delete(this)
  }
}
