import type { ResumeState } from '../sync/served-list.ts'
import { type ServedList, type Shrunk, Freshness } from '../sync/served-list.ts'
import { PackedRows } from '../records/packed-withheld.ts'
import { failureOf } from '../sync/port.ts'
import type { RecordList } from '../records/record-list.ts'
import { type Moment, type Time, earlierBy, elapsedMs } from '../time/time.ts'
import type { Ages, ReportedState } from './entries.ts'
import type { Heartbeat } from './election.ts'

/** Drift is reported by the leader, not by followers. */
const NO_DRIFT: ServedList<unknown>['drift'] = { records: 0, byColumn: new Map() }

/**
 * Entries about one held list take different times to arrive. If the beginnings computed from two of them differ by
 * less than this, ms, they are the same.
 */
const DELAYS_MS = 1000

/** The connection to the store. While it is lost, waiting does not help. */
export interface StoreLink {
  readonly isLost: boolean
}

/** A list that the log keeps up to date, with the state that its leader reports. */
export class FollowedList<Item> implements ServedList<Item> {
  readonly list: RecordList<Item>
  readonly freshness: Freshness = new Freshness()
  /** The snapshot has been applied completely. */
  isReached = false
  #state: ReportedState
  #told: Moment
  /** When the leader is last known to have been alive. */
  #heardAt: Moment
  readonly #time: Time
  readonly #heartbeat: Heartbeat
  #helped = Promise.withResolvers<void>()
  #loadedAtMs: number | null = null
  readonly drift: ServedList<unknown>['drift'] = NO_DRIFT
  /** Since when the leader has held the list; `null` if it believes the list. */
  #heldSince: Moment | null

  readonly #link: StoreLink

  constructor(
    list: RecordList<Item>,
    state: ReportedState,
    time: Time,
    heartbeat: Heartbeat,
    link: StoreLink = { isLost: false },
  ) {
    this.list = list
    this.#link = link
    this.#state = state
    this.#time = time
    this.#told = this.#heardAt = time.now()
    this.#heldSince = this.#heldSinceNow(null)
    this.#heartbeat = heartbeat
    list.unidentified = PackedRows.counted(state.unidentified)
  }

  get state(): ReportedState {
    return this.#state
  }

  tell(state: ReportedState): void {
    this.#state = state
    this.list.unidentified = PackedRows.counted(state.unidentified)
    this.#told = this.#time.now()
    this.#heldSince = this.#heldSinceNow(this.#heldSince)
  }

  /** Keeps the moment that was computed from an earlier entry: entries take different times to arrive. */
  #heldSinceNow(before: Moment | null): Moment | null {
    const { shrunk } = this.#state
    if (shrunk === null) return null
    const since = earlierBy(this.#told, shrunk.forMs)
    const isSame = before !== null && Math.abs(since.monotonicMs - before.monotonicMs) < DELAYS_MS
    return isSame ? before : since
  }

  /** Confirms the list: it had these ages at `noted`. */
  confirm(noted: Moment, { details, availability, audited }: Ages): void {
    this.#heardAt = noted
    if (details !== null) this.freshness.confirmDetails(earlierBy(noted, details), 0)
    if (availability !== null) this.freshness.confirmAvailability(earlierBy(noted, availability), 0)
    if (audited !== null) this.freshness.audit(earlierBy(noted, audited), 0)
  }

  get shrunk(): Shrunk | null {
    const { shrunk } = this.#state
    const since = this.#heldSince
    return shrunk === null || since === null ? null : { ...shrunk, since, heardAt: this.#heardAt }
  }

  get lastFailure(): ServedList<Item>['lastFailure'] {
    const { lastError: message, waiting } = this.#state
    return message === null ? null : { kind: waiting ? 'waiting' : 'unreachable', message }
  }

  get #hasFailed(): boolean {
    return this.#state.lastError !== null && !this.#state.waiting
  }

  get isLoaded(): boolean {
    return this.isReached && this.#state.whole
  }

  /** When the snapshot was loaded: no row is known to be older here. */
  get loadedAtMs(): number {
    return this.isLoaded ? (this.#loadedAtMs ??= earliestChange(this.list)) : Number.POSITIVE_INFINITY
  }

  /** The state that a leader resumes from if it starts with these rows. */
  get resumeState(): ResumeState {
    const { lastFailure } = this
    const { whole, askedMs, ...state } = this.#state
    return {
      ...state,
      asOf: this.#told,
      freshness: this.freshness,
      isLoaded: whole,
      failure: lastFailure === null ? null : failureOf(lastFailure.kind, lastFailure.message, this.#leftOf(askedMs)),
    }
  }

  /** Wakes waiting requests. */
  help(): void {
    this.#helped.resolve()
    this.#helped = Promise.withResolvers()
  }

  get isFailing(): boolean {
    return this.#link.isLost || this.#state.shrunk !== null || this.#hasFailed
  }

  get isBackingOff(): boolean {
    return this.#link.isLost || (this.#hasFailed && this.nextReadInMs > 0)
  }

  /** Milliseconds until the leader's next read of this list. */
  get nextReadInMs(): number {
    return this.#leftOf(this.#state.nextTryMs)
  }

  /** The rest of a time span, in ms, that the leader reported. */
  #leftOf(toldMs: number): number {
    return Math.max(0, toldMs - elapsedMs(this.#told, this.#time.now()))
  }

  get nextTryInMs(): number {
    return this.nextReadInMs + this.#heartbeat.ms
  }

  ageMs(now: Moment): number | null {
    return this.isLoaded ? this.freshness.confirmedAgeMs(now) : null
  }

  isConfirmedSince(moment: Moment): boolean {
    return this.isLoaded && this.freshness.isConfirmedSince(moment)
  }

  /** A request cannot make the leader read, so it waits for the next heartbeat that confirms the list. */
  readOnce(): Promise<void> {
    return this.#helped.promise
  }
}

function earliestChange<Item>({ shards }: RecordList<Item>): number {
  let earliestMs = Number.POSITIVE_INFINITY
  for (const { slots, updatedAt } of shards) {
    for (let slot = 0; slot < slots; slot++) earliestMs = Math.min(earliestMs, updatedAt[slot] ?? earliestMs)
  }
  return earliestMs
}
