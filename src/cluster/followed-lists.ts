import type { EventRecord } from '../domain/event.ts'
import type { ListName } from '../domain/field.ts'
import { unreachable } from '../domain/unreachable.ts'
import type { VenueRecord } from '../domain/venue.ts'
import { type RecordLists, type RowRecord, applyRowRecord, wholeRowRecords } from '../records/row-records.ts'
import { type ResumeState, type ServedList, type ServedLists, type Shrunk, Freshness } from '../sync/served-list.ts'
import { type Moment, type Time, earlierBy, elapsedMs } from '../time/time.ts'
import { type Ages, type LogEntry, type LogPosition, type ReportedState, compareIds, isSame } from './entries.ts'
import type { OwnNonces } from './nonces.ts'
import type { Heartbeat } from './election.ts'
import { failureOf } from '../sync/port.ts'
import type { RecordList } from '../records/record-list.ts'

/** Drift is reported by the leader, not by followers. */
const NO_DRIFT: ServedList<unknown>['drift'] = { records: 0, byColumn: new Map() }

/**
 * Entries take different times to arrive. If the beginnings of a hold that two of them report differ by less than
 * this, ms, it is the same hold.
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
  readonly #madeAtMs: number
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
    this.#madeAtMs = this.#told.monotonicMs
    this.#heldSince = this.#heldSinceNow(null)
    this.#heartbeat = heartbeat
    list.adopt(state)
  }

  get state(): ReportedState {
    return this.#state
  }

  tell(state: ReportedState): void {
    this.#state = state
    this.list.adopt(state)
    this.#told = this.#time.now()
    this.#heldSince = this.#heldSinceNow(this.#heldSince)
  }

  /** Keeps the moment that was computed from an earlier entry: entries take different times to arrive. */
  #heldSinceNow(before: Moment | null): Moment | null {
    const { shrunk } = this.#state
    if (shrunk === null) return null
    const since = earlierBy(this.#told, shrunk.forMs)
    const isSameLoss = before !== null && Math.abs(since.monotonicMs - before.monotonicMs) < DELAYS_MS
    return isSameLoss ? before : since
  }

  /** Confirms the list: it had these ages at `noted`. */
  confirm(noted: Moment, { details, audited }: Ages): void {
    this.#heardAt = noted
    if (details !== null) this.freshness.confirm(earlierBy(noted, details), 0)
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
    return this.isLoaded ? this.#madeAtMs : Number.POSITIVE_INFINITY
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

/** The state of a list that nobody has read. */
export const UNREAD: ReportedState = {
  cursor: null,
  whole: false,
  served: 0,
  withheld: 0,
  unidentified: [],
  shrunk: null,
  lost: 0,
  readsPrice: false,
  accepting: false,
  lastError: null,
  waiting: false,
  failures: 0,
  nextTryMs: 0,
  askedMs: 0,
}

const MISSING = 'entries of the log are missing'
const BROKEN = 'the rows of an entry of the log cannot be read'

interface FollowedListsOptions {
  readonly lists: RecordLists
  readonly time: Time
  readonly nonces: OwnNonces
  readonly heartbeat: Heartbeat
  readonly link?: StoreLink
  /** The position to continue from. */
  readonly position: LogPosition
  /** Nothing is served before this entry has been applied. */
  readonly until: LogPosition
  readonly states?: Readonly<Record<ListName, ReportedState>>
}

/** Both lists as the log describes them. Applies entry by entry, and stops at a gap. */
export class FollowedLists implements ServedLists {
  readonly events: FollowedList<EventRecord>
  readonly venues: FollowedList<VenueRecord>
  readonly lists: RecordLists
  position: LogPosition
  /** The last entry, or the snapshot, that reported a shrunk list. */
  shrunkToldAt: LogPosition | null
  /** Why the last entry could not be applied. */
  gap: string = MISSING
  /** When the last heartbeat with our nonce arrived. */
  heartbeatAt: Moment
  /** When that nonce was made; `null` if none arrived. */
  echoedAt: Moment | null = null
  readonly #until: LogPosition
  readonly #time: Time
  readonly #nonces: OwnNonces
  /** Whether an applied entry may let waiting requests continue. */
  #hasNews = false

  constructor(options: FollowedListsOptions) {
    const { lists, time, nonces, heartbeat, link, position, until, states } = options
    this.lists = lists
    this.#time = time
    this.#nonces = nonces
    this.#until = until
    this.position = position
    this.shrunkToldAt = states === undefined ? null : position
    this.heartbeatAt = time.now()
    this.events = new FollowedList(lists.events, states?.events ?? UNREAD, time, heartbeat, link)
    this.venues = new FollowedList(lists.venues, states?.venues ?? UNREAD, time, heartbeat, link)
    this.#reach()
  }

  get isReached(): boolean {
    return this.events.isReached
  }

  /** The lists that the shrink guard does not believe. */
  get shrunk(): readonly ListName[] {
    return [this.events, this.venues].filter(({ shrunk }) => shrunk !== null).map(({ list }) => list.kind.name)
  }

  /**
   * Wakes waiting callers once the whole batch has been applied, because a heartbeat that confirms the lists may follow
   * a failed read.
   */
  help(): void {
    if (this.#hasNews) for (const list of [this.events, this.venues]) list.help()
    this.#hasNews = false
  }

  /**
   * Applies an entry, in one turn. Returns false if entries may be missing before it. `isInLog` tells whether a
   * position is still in the log.
   */
  async take(entry: LogEntry, isInLog: (position: LogPosition) => Promise<boolean>): Promise<boolean> {
    // Never go back.
    if (compareIds(entry.position, this.position) <= 0) return true
    if (!(await this.#follows(entry, isInLog))) return false
    const { head } = entry
    // The rows that a list had at the end of its first read are only in a snapshot.
    if (head.kind === 'read' && head.whole && !this[head.list].state.whole) return false
    if (!this.isReached && compareIds(entry.position, this.#until) >= 0 && !isSame(entry.position, this.#until)) {
      return false
    }
    const rowRecords = this.#rowRecordsIn(entry)
    if (rowRecords === null) {
      this.gap = BROKEN
      return false
    }
    this.#apply(entry, rowRecords)
    this.position = entry.position
    this.#reach()
    return true
  }

  async #follows({ position, head }: LogEntry, isInLog: (position: LogPosition) => Promise<boolean>): Promise<boolean> {
    if (head.kind === 'claim' && position.epoch > this.position.epoch) {
      return head.newLog ? this.isGoneOnFrom(head.after) : isInLog(this.position)
    }
    return this.isNext(position)
  }

  /** Returns true if a claim that starts a new log includes exactly the rows held here. */
  isGoneOnFrom(after: LogPosition | null): boolean {
    return isSame(after, this.position)
  }

  isNext({ epoch, number, claimId }: LogPosition): boolean {
    const { position } = this
    return epoch === position.epoch && number === position.number + 1 && claimId === position.claimId
  }

  #reach(): void {
    if (this.isReached || !isSame(this.position, this.#until)) return
    this.events.isReached = this.venues.isReached = true
  }

  /** Decodes all row records of an entry; `null` if any is unreadable, so that no part of it is written. */
  #rowRecordsIn({ head, body }: LogEntry): readonly RowRecord[] | null {
    try {
      return head.kind === 'rows' ? wholeRowRecords(this.lists, body) : []
    } catch {
      return null
    }
  }

  /** Whether an entry has unreadable rows. An instance that starts before it cannot get past it. */
  get isBroken(): boolean {
    return this.gap === BROKEN
  }

  #apply({ position, head, body }: LogEntry, rowRecords: readonly RowRecord[]): void {
    switch (head.kind) {
      case 'rows': {
        const nowMs = this.#time.now().monotonicMs
        for (const rowRecord of rowRecords) applyRowRecord(this.lists, rowRecord, nowMs)
        return
      }
      case 'read':
        this[head.list].tell(head)
        this.#hasNews ||= this[head.list].isFailing
        if (head.shrunk !== null) this.shrunkToldAt = position
        return
      case 'heartbeat': {
        const noted = this.#nonces.notedIn(body)
        if (noted === null) return
        this.heartbeatAt = this.#time.now()
        this.echoedAt = noted
        this.#hasNews = true
        this.events.confirm(noted, head.ages.events)
        this.venues.confirm(noted, head.ages.venues)
        return
      }
      case 'claim':
      case 'leave':
      case 'unknown':
        return
      default:
        unreachable(head)
    }
  }
}
