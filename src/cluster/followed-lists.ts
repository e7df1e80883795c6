import type { Buffer } from 'node:buffer'
import type { EventRecord } from '../domain/event.ts'
import { type ListName, LISTS } from '../domain/field.ts'
import { joined } from '../domain/revision.ts'
import type { VenueRecord } from '../domain/venue.ts'
import type { RecordList } from '../records/record-list.ts'
import { type RecordLists, type RowRecord, applyRowRecord, checkRowRecord } from '../records/row-records.ts'
import { failureOf } from '../sync/port.ts'
import { type ResumeState, type ServedList, type ServedLists, type Shrunk, Freshness } from '../sync/served-list.ts'
import { type Moment, type Time, earlierBy, elapsedMs } from '../time/time.ts'
import { type Beat, type ReportedState, decodeBeat, decodeNotes } from './beat.ts'
import type { Heartbeat } from './election.ts'
import { decodeRows } from './row-bytes.ts'
import type { WritePosition, Sizes, StoredEntry, StoreState } from './store.ts'
import type { OwnTicks } from './ticks.ts'

/** Drift is reported by the leader, not by followers. */
const NO_DRIFT: ServedList<unknown>['drift'] = { records: 0, byColumn: new Map() }

/** Beats take different times to arrive. If two report a hold that began within this, ms, it is the same hold. */
const DELAYS_MS = 1000

/** The connection to the store. While it is lost, waiting does not help. */
export interface StoreLink {
  readonly isLost: boolean
}

/** A list that the leader's stream keeps up to date, with the state that its leader reports. */
export class FollowedList<Item> implements ServedList<Item> {
  readonly list: RecordList<Item>
  readonly freshness: Freshness = new Freshness()
  /** The rows were loaded, and all that was written meanwhile was applied. */
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
  }

  get state(): ReportedState {
    return this.#state
  }

  /** @param isAll whether all rows that the leader has were applied */
  tell(state: ReportedState, isAll = true): void {
    // What makes up for it may be among the rows that are still to come.
    const isLeftBehind = state.isLeftBehind || (this.isLeftBehind && !isAll)
    this.#state = { ...state, isLeftBehind }
    this.list.adopt(state)
    this.list.lastRemoval = joined(this.list.lastRemoval, state.lastRemoval)
    this.#told = this.#time.now()
    this.#heldSince = this.#heldSinceNow(this.#heldSince)
  }

  leaveBehind(): void {
    this.#state = { ...this.#state, isLeftBehind: true }
  }

  /** Keeps the moment that was computed from an earlier beat: beats take different times to arrive. */
  #heldSinceNow(before: Moment | null): Moment | null {
    const { shrunk } = this.#state
    if (shrunk === null) return null
    const since = earlierBy(this.#told, shrunk.forMs)
    const isSameLoss = before !== null && Math.abs(since.monotonicMs - before.monotonicMs) < DELAYS_MS
    return isSameLoss ? before : since
  }

  /** Confirms the list by the last beat: it had this age at `noted`. */
  confirm(noted: Moment): void {
    const { ageMs, auditedMs } = this.#state
    this.#heardAt = noted
    if (ageMs !== null) {
      this.freshness.confirm(earlierBy(noted, ageMs), 0)
    }
    if (auditedMs !== null) this.freshness.audit(earlierBy(noted, auditedMs), 0)
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

  /** When the rows were loaded: no row is known to be older here. */
  get loadedAtMs(): number {
    return this.isLoaded ? this.#madeAtMs : Number.POSITIVE_INFINITY
  }

  /** The state that a leader resumes from if it starts with these rows. */
  get resumeState(): ResumeState {
    const { lastFailure } = this
    return {
      ...this.#state,
      asOf: this.#told,
      freshness: this.freshness,
      isLoaded: this.#state.whole,
      failure:
        lastFailure === null
          ? null
          : failureOf(lastFailure.kind, lastFailure.message, this.#leftOf(this.#state.askedMs)),
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

  get isLeftBehind(): boolean {
    return this.#state.isLeftBehind
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
  isLeftBehind: false,
  lastRemoval: { sinceS: 0, sequence: 0 },
  loss: null,
  ageMs: null,
  auditedMs: null,
}

export function isSame(left: WritePosition | null, right: WritePosition | null): boolean {
  return left?.token === right?.token && left?.seq === right?.seq
}

/** Why lists cannot be kept up to date any further. */
export type Gap = 'entries are missing' | 'rows cannot be read' | 'the rows loaded are not those of the leader'

export interface FollowedListsOptions {
  readonly lists: RecordLists
  readonly time: Time
  readonly ticks: OwnTicks
  readonly heartbeat: Heartbeat
  readonly link?: StoreLink
  /** What is loaded: the position from which the stream is followed. */
  readonly from: Pick<StoreState, 'token' | 'seq' | 'epoch'>
}

/** Both lists as the leader's stream describes them. Applies entry by entry, and stops at a gap. */
export class FollowedLists implements ServedLists {
  readonly events: FollowedList<EventRecord>
  readonly venues: FollowedList<VenueRecord>
  readonly lists: RecordLists
  position: WritePosition
  epoch: number
  /** Why the last entry could not be applied. */
  gap: Gap = 'entries are missing'
  /** The last beat. */
  beat: Beat | null = null
  /** Since when the store is known to be behind this position; `null` if it is not. */
  isBack: Moment | null = null
  /** When the last beat with our tick arrived. */
  beatAt: Moment
  /** When that tick was noted; `null` if none arrived. */
  echoedAt: Moment | null = null
  /** Nothing is served before the state that was seen after the last row was loaded; `null` until it is known. */
  #until: WritePosition | null = null
  #isPastUntil = false
  readonly #time: Time
  readonly #ticks: OwnTicks
  /** Whether an applied entry may let waiting requests continue. */
  #hasNews = false

  constructor({ lists, time, ticks, heartbeat, link, from }: FollowedListsOptions) {
    this.lists = lists
    this.#time = time
    this.#ticks = ticks
    this.position = { token: from.token, seq: from.seq }
    this.epoch = from.epoch
    this.beatAt = time.now()
    this.events = new FollowedList(lists.events, UNREAD, time, heartbeat, link)
    this.venues = new FollowedList(lists.venues, UNREAD, time, heartbeat, link)
  }

  /** The rows are those that the leader had at one moment since they were loaded, and a beat knew of this instance. */
  get isReached(): boolean {
    return this.events.isReached
  }

  /** Notes the state that was seen once all rows were loaded. Its beat is no echo, and confirms nothing. */
  loaded(until: StoreState): void {
    this.#until = { token: until.token, seq: until.seq }
    this.#isPastUntil = isSame(this.position, until)
    const beat = until.beat === null ? null : decodeBeat(until.beat)
    this.beat = beat
    if (beat !== null) for (const list of LISTS) this[list].tell(beat.lists[list])
  }

  /** Whether somebody may lead with these rows: they are as many as the leader had, by its last word. */
  get isWhole(): boolean {
    if (this.isReached) return true
    const sizes = this.beat?.sizes ?? null
    return this.#isPastUntil && sizes !== null && this.isOfSize(sizes)
  }

  /** The losses that the shrink guard does not believe. */
  get losses(): readonly { readonly loss: string; readonly list: ListName }[] {
    return LISTS.flatMap((list) => {
      const { loss } = this[list].state
      return loss === null ? [] : [{ loss, list }]
    })
  }

  /**
   * Wakes waiting callers once the whole batch has been applied, because a beat that confirms the lists may follow a
   * failed read.
   */
  help(): void {
    if (this.#hasNews) for (const list of [this.events, this.venues]) list.help()
    this.#hasNews = false
  }

  /** Applies an entry, in one turn. Returns false if entries may be missing before it, or it cannot be applied. */
  take(entry: StoredEntry): boolean {
    const { token, seq, claim, beat } = entry
    this.gap = 'entries are missing'
    if (!this.follows(entry)) return false
    const rows = this.#rowsOf(entry)
    if (rows === null) {
      this.gap = 'rows cannot be read'
      return false
    }
    const nowMs = this.#time.now().monotonicMs
    for (const row of rows) applyRowRecord(this.lists, row, nowMs)
    for (const list of decodeNotes(entry.notes).leftBehind) this[list].leaveBehind()
    this.position = { token, seq }
    if (claim !== null) this.epoch = claim.epoch
    this.#isPastUntil ||= isSame(this.position, this.#until)
    return beat === null || this.#hear(beat)
  }

  /** Returns true if an entry follows the position: it is the next one, or a claim that goes on from it. */
  follows(entry: StoredEntry): boolean {
    return entry.claim === null ? this.isNext(entry) : isSame(entry.claim.after, this.position)
  }

  isNext({ token, seq }: WritePosition): boolean {
    return token === this.position.token && seq === this.position.seq + 1
  }

  /** Decodes all rows of an entry; `null` if any is unreadable, so that no part of it is written. */
  #rowsOf({ rows }: StoredEntry): readonly RowRecord[] | null {
    try {
      return rows === null ? [] : wholeRows(this.lists, rows)
    } catch {
      return null
    }
  }

  /** Takes a beat. Returns false if it shows that these are not the leader's rows. */
  #hear(text: string): boolean {
    const beat = decodeBeat(text)
    // Of a release to come: it says nothing here.
    if (beat === null) return true
    this.beat = beat
    for (const list of LISTS) this[list].tell(beat.lists[list], beat.sizes !== null)
    this.#hasNews ||= this.events.isFailing || this.venues.isFailing
    const noted = this.#ticks.notedAt(beat.ticks)
    if (beat.sizes !== null && (this.isReached || this.#isPastUntil) && !this.isOfSize(beat.sizes)) {
      this.gap = 'the rows loaded are not those of the leader'
      return false
    }
    if (noted === null) return true
    this.beatAt = this.#time.now()
    this.echoedAt = noted
    this.#hasNews = true
    for (const list of LISTS) this[list].confirm(noted)
    if (this.#isPastUntil && beat.sizes !== null) this.events.isReached = this.venues.isReached = true
    return true
  }

  /** Whether the lists have as many rows as the leader says. */
  isOfSize(sizes: Sizes): boolean {
    return LISTS.every((list) => !this[list].state.whole || this.lists[list].size === sizes[list])
  }
}

/** Decodes rows and checks all before any is applied. Throws a sentence if one is invalid. */
export function wholeRows(lists: RecordLists, bytes: Buffer): readonly RowRecord[] {
  const records = [...decodeRows(bytes)]
  for (const record of records) checkRowRecord(lists, record)
  return records
}
