// The lists as others see them: how old they are, and whether callers may be answered from them now. The replica and a
// follower of a cluster each implement ServedList.

import type { EventRecord } from '../domain/event.ts'
import type { ListName } from '../domain/field.ts'
import type { VenueRecord } from '../domain/venue.ts'
import type { Cursor, Failure } from './port.ts'
import type { RecordList } from '../records/record-list.ts'
import { type Moment, type Time, earlierBy, elapsedMs, laterOf, momentAt } from '../time/time.ts'
import { TIMED_OUT, withTimeout } from '../time/waiting.ts'

/** One list as it is served, whichever instance reads it. */
export interface ServedList<Item> {
  readonly list: RecordList<Item>
  readonly freshness: Freshness
  /** The list was read in full at least once. */
  readonly isLoaded: boolean
  /** When the list was first read in full, monotonic ms; infinite before. */
  readonly loadedAtMs: number
  /** The loss that the shrink guard does not believe; `null` while the list is believed. */
  readonly shrunk: Shrunk | null
  /** The last read failed, even if another is running now. */
  readonly isFailing: boolean
  /** Why the list is not believed, or why the last read failed. */
  readonly lastFailure: Pick<Failure, 'kind' | 'message'> | null
  /** The other list went on without this one, which may lack rows that the other refers to until it is confirmed. */
  readonly isLeftBehind?: boolean
  /** The list waits for its next try after a failure. */
  readonly isBackingOff: boolean
  /** Milliseconds until the next read that may confirm the list. */
  readonly nextTryInMs: number
  /** Milliseconds until the next read of changes. */
  readonly nextReadInMs: number
  /** Records that changed without being reported by the CRM, found by this instance. */
  readonly drift: { readonly records: number; readonly byColumn: ReadonlyMap<string, number> }
  /** The age of the data in ms; `null` if the list was never read in full. */
  ageMs(now: Moment): number | null
  /** Returns true if all changes up to `moment` are known. */
  isConfirmedSince(moment: Moment): boolean
  /** Resolves when the running reads have ended, or new ones begun now. */
  readOnce(): Promise<void>
  /** Makes waiting requests check the list again. */
  help(): void
}

/**
 * Both lists as they are served at one moment. A cut-over replaces them, so callers keep a function that returns them.
 */
export interface ServedLists {
  readonly events: ServedList<EventRecord>
  readonly venues: ServedList<VenueRecord>
}

export type EitherList = ServedLists[ListName]

/** The age of a list. All moments are the beginning of a read with its source's lag subtracted. */
export class Freshness {
  #confirmed: Moment | null = null
  #audited: Moment | null = null

  /** Records that all changes up to `asOf` are known, less the lag of their source. */
  confirm(asOf: Moment, lagMs: number): void {
    this.#confirmed = laterOf(this.#confirmed, earlierBy(asOf, lagMs))
  }

  audit(asOf: Moment, lagMs: number): void {
    this.#audited = laterOf(this.#audited, earlierBy(asOf, lagMs))
  }

  /**
   * Continues from what another process knew as of `wallMs`. Returns false if that time is unknown or in the future.
   */
  goOnFrom(wallMs: number | null, now: Moment): boolean {
    if (wallMs === null || wallMs > now.wallMs) return false
    this.confirm(momentAt(wallMs, now), 0)
    return true
  }

  /** Returns the age of the list in ms; `null` if it was never read in full. */
  confirmedAgeMs(now: Moment): number | null {
    return this.#confirmed === null ? null : elapsedMs(this.#confirmed, now)
  }

  auditedAgeMs(now: Moment): number | null {
    return this.#audited === null ? null : elapsedMs(this.#audited, now)
  }

  /** Returns the list's times for a snapshot. Until a time is known, it is that of the snapshot loaded at the start. */
  timesAt(now: Moment, before: SnapshotTimes | null): SnapshotTimes {
    const [auditedAgeMs, confirmedAgeMs] = [this.auditedAgeMs(now), this.confirmedAgeMs(now)]
    return {
      auditedAtMs: auditedAgeMs === null ? (before?.auditedAtMs ?? null) : now.wallMs - auditedAgeMs,
      confirmedAtMs: confirmedAgeMs === null ? (before?.confirmedAtMs ?? null) : now.wallMs - confirmedAgeMs,
    }
  }

  /** Returns true if all changes up to `moment` are known. */
  isConfirmedSince(moment: Moment): boolean {
    return this.#confirmed !== null && this.#confirmed.monotonicMs >= moment.monotonicMs
  }
}

/**
 * The state of a list relative to the operator's maximum age. `empty`: the first full read has not ended, so no row is
 * known to be absent. `stale`: past the maximum age, but within `staleIfError` of it or still served by the shrink
 * guard.
 */
export type Standing = 'empty' | 'fresh' | 'stale' | 'expired'

/** Returns the state of data that is `ageMs` old; `null` means never read in full. Both limits are inclusive. */
export function standingOf(
  ageMs: number | null,
  { maxAgeMs, staleIfErrorMs }: Pick<AnswerAgeLimits, 'maxAgeMs' | 'staleIfErrorMs'>,
): Standing {
  if (ageMs === null) return 'empty'
  // With a maximum age of 0, every request waits: data that is older than the request never counts as fresh.
  if (ageMs <= maxAgeMs && maxAgeMs > 0) return 'fresh'
  if (staleIfErrorMs > 0 && ageMs <= maxAgeMs + staleIfErrorMs) return 'stale'
  return 'expired'
}

/** A list that lost so many rows that the CRM is not believed. The previous list is still served. */
export interface Shrunk {
  /** When the first read that was not believed began. */
  readonly since: Moment
  /** When this instance last heard of it from the leader; `null` if this instance reads the list. */
  readonly heardAt?: Moment | null
  /** Records that are missing from the CRM, and records whose rows became unreadable, according to the last read. */
  readonly absent: number
  readonly unreadable: number
}

/** The maximum age of answers, with the operator's two exceptions. */
export interface AnswerAgeLimits {
  readonly maxAgeMs: number
  readonly staleIfErrorMs: number
  /** How long the shrink guard serves the old list, in ms; `null` if the guard is off. */
  readonly shrinkGuardMs: number | null
}

/** The limits of a list that is not believed. */
export type ShrunkLimits = Pick<AnswerAgeLimits, 'shrinkGuardMs' | 'maxAgeMs'>

export interface RefreshSettings extends AnswerAgeLimits {
  readonly refreshEveryMs: number
  readonly fullReadEveryMs: number
}

/** The two clocks run apart by fractions of a millisecond; a difference of this much means that the wall clock was set. */
const CLOCK_SET_MS = 1000

/**
 * Returns the time that is `forMs` after the list was first not believed, whole wall ms. It is the same each time,
 * unless the wall clock was set back meanwhile.
 */
export function untilOf({ since }: Pick<Shrunk, 'since'>, forMs: number, now: Moment): number {
  const setBackMs = elapsedMs(since, now) - (now.wallMs - since.wallMs)
  return Math.floor(since.wallMs) + forMs - (setBackMs < CLOCK_SET_MS ? 0 : Math.round(setBackMs))
}

/**
 * Returns the time until which the old list is served, whole wall ms: as long as the shrink guard says, and at least
 * until its age exceeds the maximum age.
 */
export function servedUntil(
  shrunk: Pick<Shrunk, 'since'>,
  ageMs: number,
  { shrinkGuardMs, maxAgeMs }: ShrunkLimits,
  now: Moment,
): number {
  return Math.max(untilOf(shrunk, shrinkGuardMs ?? 0, now), Math.floor(now.wallMs + maxAgeMs - ageMs))
}

/** Returns the time until which a list is answered from if no read confirms it before, whole wall ms; `null` if from none. */
export function answeredUntil(list: EitherList, limits: AnswerAgeLimits, now: Moment): number | null {
  const [ageMs, { shrunk }] = [list.ageMs(now), list]
  if (ageMs === null) return null
  if (shrunk !== null && limits.shrinkGuardMs !== null) return servedUntil(shrunk, ageMs, limits, now)
  return Math.floor(now.wallMs + limits.maxAgeMs + limits.staleIfErrorMs - ageMs)
}

/**
 * Returns the state of a list, including what the shrink guard allows. While the list is not believed, the guard's limit
 * applies, even if `staleIfError` is longer. A follower ignores what it last heard of the guard once that is older than
 * the maximum age.
 */
export function listStanding(list: EitherList, ageLimits: AnswerAgeLimits, now: Moment): Standing {
  const { shrunk } = list
  const { shrinkGuardMs, maxAgeMs } = ageLimits
  const standing = standingOf(list.ageMs(now), ageLimits)
  const isPastMaxAge = standing === 'stale' || standing === 'expired'
  if (!isPastMaxAge || shrunk === null || shrinkGuardMs === null) return standing
  if (elapsedMs(shrunk.since, now) >= shrinkGuardMs) return 'expired'
  const { heardAt = null } = shrunk
  return heardAt === null || elapsedMs(heardAt, now) <= maxAgeMs ? 'stale' : standing
}

/** Returns true if a list in this state may be answered from without another read. */
export function isAnswered(standing: Standing, { isFailing, lastFailure }: EitherList): boolean {
  return standing === 'fresh' || (standing === 'stale' && (isFailing || lastFailure?.kind === 'waiting'))
}

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

/** The shortest delay that a refused caller is asked to wait: a read may already be running. */
const ASK_AGAIN_MS = 1000
const READS_PER_LIST = 3

/** Admits requests while the data is within the maximum age. Otherwise makes them wait or refuses them. */
export class Admissions {
  /** The number of requests that are waiting now. */
  waiting = 0
  readonly #settings: () => AnswerAgeLimits
  readonly #limits: () => WaitingLimits
  readonly #time: Time

  constructor(settings: () => AnswerAgeLimits, limits: () => WaitingLimits, time: Time) {
    this.#settings = settings
    this.#limits = limits
    this.#time = time
  }

  /** Returns the data's age in ms if the request may be answered at once; -1 if it must `wait`. */
  ageNow(list: EitherList): number {
    const now = this.#time.now()
    return isAnswered(listStanding(list, this.#settings(), now), list) ? (list.ageMs(now) ?? -1) : -1
  }

  /**
   * Returns true if a list past the maximum age is answered from because its reads fail. What it does not have may be
   * new in the CRM. What the shrink guard keeps is not meant, unless the other list went on without it.
   */
  isGuessing(list: EitherList): boolean {
    if (list.isLeftBehind === true) return true
    return list.shrunk === null && listStanding(list, this.#settings(), this.#time.now()) === 'stale'
  }

  /**
   * Waits until all lists may be answered from, or until it is certain that they cannot be (architecture: Freshness).
   * `lists` returns the lists that are served now, which may be replaced during the wait. The time limit counts from
   * `arrived`.
   */
  async wait(lists: () => readonly EitherList[], arrived: Moment): Promise<Admission> {
    if (this.waiting >= this.#limits().waiting) return this.#refusal(lists())
    this.waiting++
    const patience = { over: false }
    try {
      const waitedMs = this.#time.now().monotonicMs - arrived.monotonicMs
      const leftMs = Math.max(0, this.#limits().waitForMs - waitedMs)
      const admission = await withTimeout(this.#time, leftMs, this.#untilKnown(lists, arrived, patience))
      if (admission !== TIMED_OUT) return admission
      patience.over = true
      // The awaited read may hang while another read, an audit, has confirmed the list.
      return this.#unmet(lists(), arrived).length === 0 ? this.#leave(lists()) : this.#refusal(lists())
    } finally {
      this.waiting--
    }
  }

  async #untilKnown(
    lists: () => readonly EitherList[],
    arrived: Moment,
    patience: { over: boolean },
  ): Promise<Admission> {
    for (let reads = 0; ; reads++) {
      const now = lists()
      const unmet = this.#unmet(now, arrived)
      if (unmet.length === 0) return this.#leave(now)
      // One read may have begun before the request, and the list may need a longer one. If three reads do not confirm it, the source is too far behind (a standby), and more would only burden the CRM.
      const isVain = reads === READS_PER_LIST * now.length
      if (isVain || patience.over || unmet.some((list) => list.isBackingOff)) return this.#refusal(unmet)
      await Promise.all(unmet.map((list) => list.readOnce()))
    }
  }

  /** Returns the lists that may not be answered from: too old, and not confirmed since the request arrived. */
  #unmet(lists: readonly EitherList[], arrived: Moment): readonly EitherList[] {
    return lists.filter((list) => this.ageNow(list) < 0 && !list.isConfirmedSince(arrived))
  }

  #leave(lists: readonly EitherList[]): Admission {
    const now = this.#time.now()
    return { ok: true, ageMs: Math.max(...lists.map((list) => list.ageMs(now) ?? 0)) }
  }

  /** Refuses the request. After `retryAfterMs`, each list that is too old will have been tried again. */
  #refusal(lists: readonly EitherList[]): Admission {
    const old = lists.filter((list) => this.ageNow(list) < 0)
    return { ok: false, retryAfterMs: Math.max(ASK_AGAIN_MS, ...old.map((list) => list.nextTryInMs)) }
  }
}

/** What the reader of a list knows besides its rows. With both, another process continues reading the list. */
export interface ListState {
  /** The cursor for the next read of changes; `null` if there is none that another process could use. */
  readonly cursor: Cursor | null
  readonly served: number
  readonly withheld: number
  /**
   * For each fault, in the order of `FAULTS`: the number of rows that are withheld for it and have no id of their own.
   */
  readonly unidentified: readonly number[]
  /** What the shrink guard did not believe, and for how long by now; `null` while the list is believed. */
  readonly shrunk: (Pick<Shrunk, 'absent' | 'unreadable'> & { readonly forMs: number }) | null
  /** The number of records withdrawn as unreadable since the last full read that was believed. */
  readonly lost: number
  /** Whether Price is read from the CRM; false for venues. */
  readonly readsPrice: boolean
}

/** By the wall clock, for a process that starts later. */
interface SnapshotTimes {
  /** When the list was last read in full, wall ms; `null` if unknown. */
  readonly auditedAtMs: number | null
  /** The time up to which all changes have been read, wall ms; `null` if unknown. */
  readonly confirmedAtMs: number | null
}

/** A list's part of a snapshot, without its rows. */
export interface SnapshotList extends ListState, SnapshotTimes {
  /** The time until which the CRM asked for no requests, wall ms; `null` if it did not. */
  readonly askedUntilMs: number | null
}

/** The part of each list, all as of one time. */
export interface SnapshotState {
  readonly lists: Readonly<Record<ListName, SnapshotList>>
  /** Wall ms. */
  readonly writtenAtMs: number
}

/** The knowledge of a previous reader of the same list whose age is known. The rows are already in the list. */
export interface ResumeState extends ListState {
  /** The time of the state. */
  readonly asOf: Moment
  /** The age of the list, continued from the previous reader. */
  readonly freshness: Freshness
  readonly isLoaded: boolean
  /** The operator has accepted a shorter list. */
  readonly accepting: boolean
  /** The failure of the last read, with the rest of the CRM's `Retry-After`, which the next reader must obey. */
  readonly failure: Failure | null
  /** The number of failures in a row. */
  readonly failures: number
  /** The other list went on without this one. */
  readonly isLeftBehind: boolean
}
