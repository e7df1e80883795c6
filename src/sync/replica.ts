// The data of the CRM in memory, kept up to date. A ListReplica polls one list; its ListReader reads pages (port.ts); a
// PageApplier applies each page to the RecordList, which holds the rows in shards. Begin with port.ts.

import { dropIndex, keepIndex } from '../order/list-index.ts'
import type { EventRecord } from '../domain/event.ts'
import { type Guid, EMPTY_GUID } from '../domain/guid.ts'
import type { VenueRecord } from '../domain/venue.ts'
import type { ListName } from '../domain/field.ts'
import type { Observe } from '../observe/observation.ts'
import type { RecordLists } from '../records/row-records.ts'
import type { MemoryUse } from './read-memory.ts'
import { ListReplica } from './list-replica.ts'
import type { RefreshSettings, ResumeState, SnapshotState } from './served-list.ts'
import { type Crm, type Failure, failureOf } from './port.ts'
import { type Moment, type Time, momentAt } from '../time/time.ts'

export interface ReplicaOptions {
  readonly crm: Crm
  /** Empty, or with the rows of an earlier reader. */
  readonly lists: RecordLists
  /** Mutable, like the limits: a reload changes them and then calls `applySettings`. */
  readonly settings: RefreshSettings
  readonly limits: { readonly memoryBytes: number }
  readonly time: Time
  readonly observe: Observe
  readonly pause: () => Promise<void>
  readonly resumeState?: Readonly<Record<ListName, ResumeState>>
}

type EitherReplica = Replica[ListName]

const NONE: ReadonlySet<Guid> = new Set()

/**
 * The events and venues of the CRM in memory, kept up to date. An event is never visible without its venue:
 * - A page of events that refers to an unknown venue waits until a new read of the venues has *applied its pages*.
 * - Venues are removed after a new read of the events has *ended*. If events still refer to them, that read must report
 * all deletions, which may take long (an id scan).
 *
 * The first wait depends only on the CRM, so there is no deadlock: if the venues' own refresh is waiting, additions are
 * read beside it. If the other list cannot be read, the read fails and is repeated, for up to half the maximum age:
 * broken venues do not block the events, and broken events do not keep a venue on the web. The list that could not be
 * read then awaits these venues, and callers that ask an event for its venue get 502.
 */
export class Replica {
  readonly events: ListReplica<EventRecord>
  readonly venues: ListReplica<VenueRecord>
  readonly #pause: () => Promise<void>
  readonly #time: Time
  readonly #settings: RefreshSettings

  constructor({ crm, lists, settings, limits, time, observe, pause, resumeState }: ReplicaOptions) {
    this.#pause = pause
    this.#time = time
    const { events, venues } = lists
    // The applied part of a list that was too large stays until a smaller list has been read, so both count together.
    const memory = (): MemoryUse => ({
      takenBytes: events.sizeBytes + venues.sizeBytes,
      limitBytes: limits.memoryBytes,
    })
    const shared = { time, observe, pause, memory }
    this.venues = new ListReplica(settings, {
      ...shared,
      ...(resumeState === undefined ? {} : { resumeState: resumeState.venues }),
      list: venues,
      source: crm.venues,
      beforeRemoval: async (leaving) => {
        const since = time.now()
        const referred = await this.#untilEventsLeft(leaving)
        // Events that the shrink guard keeps are served although the CRM does not show them: their venues may be gone.
        const isKnown = referred.size === 0 || this.events.shrunk !== null
        const failure = isKnown ? null : this.events.refresh.lastFailure
        return failure && this.#waitFor(this.events, failure, { list: this.venues, venues: referred, since })
      },
    })
    this.events = new ListReplica(settings, {
      ...shared,
      ...(resumeState === undefined ? {} : { resumeState: resumeState.events }),
      list: events,
      source: crm.events,
      missingFor: ({ changes }) =>
        changes.flatMap((change) =>
          change.kind === 'record' && this.#pointsAtMissing(change.record) ? [change.record.VenueId] : [],
        ),
      beforePointing: async (missing) => {
        const since = time.now()
        const failure = await this.venues.untilAdded()
        return failure && this.#waitFor(this.venues, failure, { list: this.events, venues: missing, since })
      },
    })
    this.#settings = settings
  }

  get lists(): RecordLists {
    return { events: this.events.list, venues: this.venues.list }
  }

  /** What a snapshot says of both lists; `null` if one cannot provide its part. */
  get snapshotState(): SnapshotState | null {
    const now = this.#time.now()
    const [events, venues] = [this.events.snapshotList, this.venues.snapshotList]
    return events === null || venues === null ? null : { lists: { events, venues }, writtenAtMs: now.wallMs }
  }

  /** Whether old lists are served if the CRM fails. */
  get bridges(): boolean {
    return this.#settings.staleIfErrorMs > 0
  }

  /** Fills the lists from a snapshot, if there is one. Reads that are requested meanwhile wait for it. */
  async resumeFromSnapshot(fill: (lists: RecordLists) => Promise<SnapshotState | null>): Promise<void> {
    const unlock = await Promise.all([this.events.reader.hold(), this.venues.reader.hold()])
    try {
      const snapshot = await fill(this.lists)
      if (snapshot === null) return
      const writtenAt = momentAt(snapshot.writtenAtMs, this.#time.now())
      this.events.resume(snapshot.lists.events, writtenAt)
      this.venues.resume(snapshot.lists.venues, writtenAt)
    } finally {
      for (const go of unlock) go()
    }
  }

  /** Keeps both lists in their order from now on. Existing rows are added in slices of a few milliseconds. */
  async keepIndexes(): Promise<void> {
    await Promise.all([keepIndex(this.events.list, this.#pause), keepIndex(this.venues.list, this.#pause)])
  }

  dropIndexes(): void {
    dropIndex(this.events.list)
    dropIndex(this.venues.list)
  }

  start(): void {
    this.venues.start()
    this.events.start()
  }

  /** Applies changed settings. `formatChanged`: the bodies made so far are outdated. */
  applySettings(formatChanged: boolean): void {
    for (const replica of [this.events, this.venues]) {
      if (formatChanged) replica.list.ready.clear()
      replica.hasten()
    }
  }

  /** Accepts shorter lists at the operator's request. Returns the names of those that were not believed. */
  acceptShorter(): readonly ListName[] {
    return [this.events, this.venues].filter(({ shrunk }) => shrunk !== null).map((list) => list.acceptShorter())
  }

  /** Resolves when the running refreshes of both lists have ended, or new ones begun now. */
  async untilRead(): Promise<void> {
    await Promise.all([this.events.refresh.attempt(), this.venues.refresh.attempt()])
  }

  async stop(): Promise<void> {
    await Promise.all([this.venues.stop(), this.events.stop()])
  }

  /**
   * Returns why a read of `list` must wait for the other list, which could not be read; `null` if it can wait no longer.
   * The venues that it adds or removes without the other list are awaited from then on.
   */
  #waitFor(
    other: EitherReplica,
    { kind, message, ...failure }: Failure,
    {
      list,
      venues,
      since,
    }: { readonly list: EitherReplica; readonly venues: ReadonlySet<Guid>; readonly since: Moment },
  ): Failure | null {
    const now = this.#time.now()
    const { maxAgeMs, staleIfErrorMs } = this.#settings
    // If the other list is answered with 502, no event is visible without its venue.
    const isOtherShown = (other.ageMs(now) ?? Infinity) <= maxAgeMs + staleIfErrorMs
    if (!isOtherShown || (list.ageMs(now) ?? 0) > maxAgeMs / 2) {
      other.awaited.add(venues, since)
      return null
    }
    const which = other === this.venues ? 'the venues that events refer to' : 'the events that refer to removed venues'
    // The cursor and the credentials of the list are not at fault, so its failure must not cause a full read or a long
    // back-off.
    const told = `${which}: ${message}`
    return kind === 'waiting' ? { ...failure, kind, message: told } : failureOf('unreachable', told, 0)
  }

  /**
   * Resolves when no event refers to venues that are about to be removed, or when the CRM confirms that some still do.
   * Returns those to which events still refer that cannot be read.
   */
  async #untilEventsLeft(leaving: ReadonlySet<Guid>): Promise<ReadonlySet<Guid>> {
    const { events } = this
    const { freshness } = events
    const begun = this.#time.now()
    // Pages of a running audit may be older than the venues' read. Only a confirmed read outweighs them.
    if (!events.audit.isRunning) {
      await events.untilRead()
      if (freshness.areDetailsConfirmedSince(begun)) return NONE
      if ((await this.#referredOf(leaving)).size === 0) return NONE
    }
    await events.untilConfirmed()
    return freshness.areDetailsConfirmedSince(begun) ? NONE : this.#referredOf(leaving)
  }

  /** Returns the venues to which served events refer. */
  async #referredOf(venues: ReadonlySet<Guid>): Promise<ReadonlySet<Guid>> {
    const { list } = this.events
    const referred = new Set<Guid>()
    await list.someServed(({ venue }) => {
      if (venues.has(venue)) referred.add(venue)
      return referred.size === venues.size
    }, this.#pause)
    return referred
  }

  /**
   * Returns true if the event newly refers to a venue that is not served. A reference that is already held is not
   * looked up again.
   */
  #pointsAtMissing({ Id, VenueId }: EventRecord): boolean {
    const { reader, list } = this.events
    const {
      list: venues,
      reader: { barrier },
    } = this.venues
    // A venue that is about to be removed may have been created again.
    if (VenueId === EMPTY_GUID || (barrier.removals === 0 && venues.serves(VenueId))) return false
    return !reader.isLoaded || list.get(Id)?.VenueId !== VenueId
  }
}
