import type { EventRecord } from '../domain/event.ts'
import type { ListName } from '../domain/field.ts'
import { unreachable } from '../domain/unreachable.ts'
import type { VenueRecord } from '../domain/venue.ts'
import { type RowRecord, type RecordLists, applyRowRecord, wholeRowRecords } from '../records/row-records.ts'
import type { ServedLists } from '../sync/served-list.ts'
import type { Moment, Time } from '../time/time.ts'
import { type LogEntry, type ReportedState, type LogPosition, compareIds, isSame } from './entries.ts'
import { FollowedList, type StoreLink } from './followed-list.ts'
import type { OwnNonces } from './nonces.ts'
import type { Heartbeat } from './election.ts'

/** The state of a list that nobody has read. */
export const UNREAD: ReportedState = {
  cursor: null,
  whole: false,
  served: 0,
  withheld: 0,
  unidentified: [],
  shrunk: null,
  lost: 0,
  accepting: false,
  lastError: null,
  waiting: false,
  failures: 0,
  nextTryMs: 0,
  askedMs: 0,
}

const MISSING = 'entries of the log are missing'
const BROKEN = 'the rows of an entry of the log cannot be read'

export interface FollowedListsOptions {
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
