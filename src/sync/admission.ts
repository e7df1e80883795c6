import { type AgeLimits, type Standing, standingOf } from './freshness.ts'
import { type ShrinkGuardSetting, type Shrunk, isServedOn } from './shrink-guard.ts'
import type { Moment, Time } from '../time/time.ts'
import { TIMED_OUT, withTimeout } from '../time/waiting.ts'

export interface WaitingLimits {
  /** How many requests may wait for a read at the same time. */
  readonly waiting: number
  readonly waitForMs: number
}

/**
 * Whether a request may be answered from memory: with the data's age, or with the delay after which the caller should
 * ask again.
 */
export type Admission =
  | { readonly ok: true; readonly ageMs: number }
  | { readonly ok: false; readonly retryAfterMs: number }

/** The properties of a list that admission depends on. */
export interface Aged {
  /** The last read failed, even if another is running now. */
  readonly isFailing: boolean
  /** The loss that the shrink guard does not believe; `null` while the list is believed. */
  readonly shrunk: Shrunk | null
  /** The list waits for its next try after a failure. */
  readonly isBackingOff: boolean
  /** Milliseconds until the next read of the list begins. */
  readonly nextTryInMs: number
  /** The age of the data in ms; `null` if the list was never read in full. */
  ageMs(now: Moment): number | null
  /** Returns true if all changes up to `moment` are known. */
  isConfirmedSince(moment: Moment): boolean
  /** Resolves when the running reads have ended, or new ones begun now. */
  readOnce(): Promise<void>
}

/** The maximum age of answers, with the operator's two exceptions. */
export interface AnswerAgeLimits extends AgeLimits, ShrinkGuardSetting {}

/** Returns the state of a list, including what the shrink guard allows. */
export function listStanding(list: Aged, ageLimits: AnswerAgeLimits, now: Moment): Standing {
  const standing = standingOf(list.ageMs(now), ageLimits)
  if (standing !== 'expired' || list.shrunk === null) return standing
  return isServedOn(list.shrunk, ageLimits, now) ? 'stale' : standing
}

/** Returns true if a list in this state may be answered from without another read. */
export function isAnswered(standing: Standing, { isFailing }: Aged): boolean {
  return standing === 'fresh' || (standing === 'stale' && isFailing)
}

/** The shortest delay that a refused caller is asked to wait: a read may already be running. */
const ASK_AGAIN_MS = 1000
const READS_PER_LIST = 3

/** Admits requests while the data is within the maximum age. Otherwise makes them wait or refuses them. */
export class Admissions {
  /** The number of requests that are waiting now. */
  waiting = 0
  readonly #ageLimits: AnswerAgeLimits
  readonly #limits: WaitingLimits
  readonly #time: Time

  constructor(ageLimits: AnswerAgeLimits, limits: WaitingLimits, time: Time) {
    this.#ageLimits = ageLimits
    this.#limits = limits
    this.#time = time
  }

  /** Returns the data's age in ms if the request may be answered at once; -1 if it must `wait`. */
  ageNow(list: Aged): number {
    const now = this.#time.now()
    return isAnswered(listStanding(list, this.#ageLimits, now), list) ? (list.ageMs(now) ?? -1) : -1
  }

  /**
   * Waits until all lists may be answered from, or until it is certain that they cannot be (architecture: Freshness).
   */
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
      // The awaited read may hang although another one, an audit, has confirmed the list meanwhile.
      return this.#unmet(lists, arrived).length === 0 ? this.#leave(lists) : this.#refusal(lists)
    } finally {
      this.waiting--
    }
  }

  async #untilKnown(lists: readonly Aged[], arrived: Moment, patience: { over: boolean }): Promise<Admission> {
    for (let reads = 0; ; reads++) {
      const unmet = this.#unmet(lists, arrived)
      if (unmet.length === 0) return this.#leave(lists)
      // The first read may have been running already, and the second may need a third, of the other field group, to
      // prove anything. If that proves nothing either (a standby too far behind), further reads would only burden the
      // CRM.
      const isVain = reads === READS_PER_LIST * lists.length
      if (isVain || patience.over || unmet.some((list) => list.isBackingOff)) return this.#refusal(unmet)
      await Promise.all(unmet.map((list) => list.readOnce()))
    }
  }

  /** Returns the lists that may not be answered from: too old, and not confirmed since the request arrived. */
  #unmet(lists: readonly Aged[], arrived: Moment): readonly Aged[] {
    return lists.filter((list) => this.ageNow(list) < 0 && !list.isConfirmedSince(arrived))
  }

  #leave(lists: readonly Aged[]): Admission {
    const now = this.#time.now()
    return { ok: true, ageMs: Math.max(...lists.map((list) => list.ageMs(now) ?? 0)) }
  }

  /** Refuses the request. After `retryAfterMs`, each list that is too old will have been tried again. */
  #refusal(lists: readonly Aged[]): Admission {
    const old = lists.filter((list) => this.ageNow(list) < 0)
    return { ok: false, retryAfterMs: Math.max(ASK_AGAIN_MS, ...old.map((list) => list.nextTryInMs)) }
  }
}
