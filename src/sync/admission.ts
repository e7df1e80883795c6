import { type Bounds, type Standing, standingOf } from './freshness.ts'
import { type ShrinkGuardSetting, type Shrunk, isServedOn } from './shrink-guard.ts'
import type { Moment, Time } from '../time/time.ts'
import { TIMED_OUT, withTimeout } from '../time/waiting.ts'

export interface WaitingLimits {
  /** How many requests may wait for a refresh at once. */
  readonly waiting: number
  readonly waitForMs: number
}

/** Whether an answer may be given from what is held: how old it is, or in how many milliseconds to ask again. */
export type Admission =
  | { readonly ok: true; readonly ageMs: number }
  | { readonly ok: false; readonly retryAfterMs: number }

/** What admission needs to know of a list. */
export interface Aged {
  /** The last read failed, whether or not another is under way. */
  readonly isFailing: boolean
  /** What the shrink guard does not believe; null while the list is believed. */
  readonly shrunk: Shrunk | null
  /** Waiting for the next try after a failure. */
  readonly isBackingOff: boolean
  /** Milliseconds until the read that is waited for begins. */
  readonly nextTryInMs: number
  /** Null where the list was never read in full. */
  ageMs(now: Moment): number | null
  /** Whether everything is known as of `moment` or later. */
  isConfirmedSince(moment: Moment): boolean
  /** Resolves with the reads under way, or with ones begun now. */
  readOnce(): Promise<void>
}

/** How old answers may be, and the operator's two exceptions. */
export interface AnswerBounds extends Bounds, ShrinkGuardSetting {}

/** How a list stands, what the shrink guard serves on included. */
export function listStanding(list: Aged, bounds: AnswerBounds, now: Moment): Standing {
  const standing = standingOf(list.ageMs(now), bounds)
  if (standing !== 'expired' || list.shrunk === null) return standing
  return isServedOn(list.shrunk, bounds, now) ? 'stale' : standing
}

/** Whether a list that stands so may be answered from without a further read. */
export function isAnswered(standing: Standing, { isFailing }: Aged): boolean {
  return standing === 'fresh' || (standing === 'stale' && isFailing)
}

/** What a request is told at the least: a read may be under way. */
const ASK_AGAIN_MS = 1000
const READS_PER_LIST = 3

/** Lets a request through to the replica while its data is within the maximum age; else makes it wait, or turns it away. */
export class Admissions {
  /** Requests that wait for a refresh now. */
  waiting = 0
  readonly #bounds: AnswerBounds
  readonly #limits: WaitingLimits
  readonly #time: Time

  constructor(bounds: AnswerBounds, limits: WaitingLimits, time: Time) {
    this.#bounds = bounds
    this.#limits = limits
    this.#time = time
  }

  /** The age of what may be answered at once, -1 where the request has to `wait`. */
  ageNow(list: Aged): number {
    const now = this.#time.now()
    return isAnswered(listStanding(list, this.#bounds, now), list) ? (list.ageMs(now) ?? -1) : -1
  }

  /** Waits until all lists may be answered from, or it is known that they cannot be (architecture: Freshness). */
  async wait(lists: readonly Aged[], arrived: Moment): Promise<Admission> {
    if (this.waiting >= this.#limits.waiting) return this.#refusal(lists)
    this.waiting++
    const patience = { over: false }
    try {
      const admission = await withTimeout(
        this.#time,
        this.#limits.waitForMs,
        this.#untilKnown(lists, arrived, patience),
      )
      if (admission !== TIMED_OUT) return admission
      patience.over = true
      // The read that is waited for may hang while another one, an audit, has brought what is needed.
      return this.#unmet(lists, arrived).length === 0 ? this.#leave(lists) : this.#refusal(lists)
    } finally {
      this.waiting--
    }
  }

  async #untilKnown(lists: readonly Aged[], arrived: Moment, patience: { over: boolean }): Promise<Admission> {
    for (let reads = 0; ; reads++) {
      const unmet = this.#unmet(lists, arrived)
      if (unmet.length === 0) return this.#leave(lists)
      // The first read may have been under way; the second may need a third, of the other field group, to prove anything.
      // Where that proves nothing either (a standby too far behind), no further one would: the CRM must not be read again
      // and again for it.
      const isVain = reads === READS_PER_LIST * lists.length
      if (isVain || patience.over || unmet.some((list) => list.isBackingOff)) return this.#refusal(unmet)
      await Promise.all(unmet.map((list) => list.readOnce()))
    }
  }

  /** The lists that may not be answered from: too old, and not known as of the request's arrival either. */
  #unmet(lists: readonly Aged[], arrived: Moment): readonly Aged[] {
    return lists.filter((list) => this.ageNow(list) < 0 && !list.isConfirmedSince(arrived))
  }

  #leave(lists: readonly Aged[]): Admission {
    const now = this.#time.now()
    return { ok: true, ageMs: Math.max(...lists.map((list) => list.ageMs(now) ?? 0)) }
  }

  /** Not now; the next try of a list that is too old will have been made after `retryAfterMs`. */
  #refusal(lists: readonly Aged[]): Admission {
    const old = lists.filter((list) => this.ageNow(list) < 0)
    return { ok: false, retryAfterMs: Math.max(ASK_AGAIN_MS, ...old.map((list) => list.nextTryInMs)) }
  }
}
