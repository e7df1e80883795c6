import type { Moment, Time } from '../../time/time.ts'

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

/** The requests of full reads without change tracking, of all tables of an environment together. */
export class RequestAccount {
  readonly #time: Time
  #paidAtMs = Number.NEGATIVE_INFINITY

  constructor(time: Time) {
    this.#time = time
  }

  /** Records a read that ended, whether it succeeded or not. */
  charge(begunAt: Moment, requests: number): void {
    this.#paidAtMs = Math.max(this.#paidAtMs, begunAt.monotonicMs) + requests * MS_PER_REQUEST
  }

  /** Milliseconds until the limits allow another read; 0 if they do now. */
  get waitMs(): number {
    return Math.max(0, this.#paidAtMs - this.#time.now().monotonicMs)
  }
}
