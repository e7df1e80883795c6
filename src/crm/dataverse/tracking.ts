import type { CrmLimits } from '../kit/crm-limits.ts'
import { type Cursor, cursorOf } from '../../sync/port.ts'
import { type Moment, type Time, elapsedMs } from '../../time/time.ts'

/** Why a table is read in full each time: it has no change tracking, or what it gives to go on from fails again and again. */
export type NoTracking = 'off' | 'failing'

const AGAIN_AFTER_MS = 900_000
const MOST_FAILURES = 5

/** Whether a table's change tracking works: by what it answers, for it may be switched on at any time. */
export class Tracking {
  readonly #time: Time
  readonly #onOff: (why: NoTracking) => void
  /** Why reads of changes are not worth a try, null where they are. */
  why: NoTracking | null = null
  #offSinceMs = Number.NEGATIVE_INFINITY
  /** Links that led to nothing, since one was last followed to its end. */
  #failures = 0
  /** A read of changes failed, and whether its link was at fault the next full read will tell. */
  #isDoubted = false
  #told: NoTracking | null = null

  constructor(time: Time, onOff: (why: NoTracking) => void) {
    this.#time = time
    this.#onOff = onOff
  }

  /** Whether a full read asks for it: seldom where it was found not to work. */
  get isAsked(): boolean {
    return this.why === null || this.#time.now().monotonicMs - this.#offSinceMs >= AGAIN_AFTER_MS
  }

  /** The link before led to nothing: where this one fails too, the list is read in full without further tries. */
  get isOnTrial(): boolean {
    return this.#failures > 0
  }

  /** A full read gave a link to go on from. */
  began(): void {
    this.why = null
  }

  /** A link was followed to its end. */
  followed(): void {
    this.#failures = 0
    this.#isDoubted = false
    this.#told = null
  }

  /** A link was refused. Once is usual: links grow old, and change with a table's definition. */
  refused(): void {
    this.#isDoubted = false
    if (++this.#failures >= MOST_FAILURES) this.isOff('failing')
  }

  /** A read of changes failed for a reason that need not be its link's: the CRM as a whole may be out. */
  failed(): void {
    this.#isDoubted = true
  }

  /** A full read succeeded: where a read of changes had failed before it, the CRM was not out. */
  wasReadInFull(): void {
    if (this.#isDoubted) this.refused()
  }

  isOff(why: NoTracking): void {
    this.why = why
    this.#offSinceMs = this.#time.now().monotonicMs
    if (this.#told !== why) this.#onOff(why)
    this.#told = why
  }
}

const UNTRACKED = 'untracked '

/** Whether the cursor stands for a full read, and means nothing to another process. */
export function isUntracked(cursor: Cursor): boolean {
  return cursor.startsWith(UNTRACKED)
}

// Of the 6000 requests in 300 s that a web server grants a user, the reads of one list take no more than 1500.
const MS_PER_REQUEST = 200

export type Turn =
  | { readonly kind: 'read' }
  /** The last full read is recent enough. */
  | { readonly kind: 'rest'; readonly asOf: Moment }
  /** It is not, but the limits allow no other yet. */
  | { readonly kind: 'wait'; readonly waitMs: number }

/** How often a table without change tracking is read in full: as often as the maximum age needs, and as the limits allow. */
export class FullReadPace {
  readonly #limits: Pick<CrmLimits, 'maxAgeMs'>
  readonly #time: Time
  #last: { readonly begunAt: Moment; readonly requests: number; readonly cursor: Cursor } | null = null
  #count = 0

  constructor(limits: Pick<CrmLimits, 'maxAgeMs'>, time: Time) {
    this.#limits = limits
    this.#time = time
  }

  /** `cursor` is what the replica kept of the last read: of one that it did not believe, nothing. */
  turn(cursor: Cursor | null): Turn {
    const last = this.#last
    const { maxAgeMs } = this.#limits
    if (last === null) return { kind: 'read' }
    const ageMs = elapsedMs(last.begunAt, this.#time.now())
    const leastMs = last.requests * MS_PER_REQUEST
    if (ageMs < leastMs && (cursor !== last.cursor || ageMs >= maxAgeMs)) {
      return { kind: 'wait', waitMs: leastMs - ageMs }
    }
    // Twice within the maximum age, then the next one has ended before this one is too old.
    const rests = cursor === last.cursor && ageMs < Math.max(leastMs, maxAgeMs / 2)
    return rests ? { kind: 'rest', asOf: last.begunAt } : { kind: 'read' }
  }

  /** A full read has ended; gives the cursor that stands for it. */
  ended(begunAt: Moment, requests: number): Cursor {
    const cursor = cursorOf(`${UNTRACKED}${++this.#count}`)
    this.#last = { begunAt, requests, cursor }
    return cursor
  }
}
