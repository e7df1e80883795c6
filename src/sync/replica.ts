// What is held of the CRM, and how it stays new. A ListReplica has the cycles of reads of one list; its ListReader makes a read
// of pages (port.ts), each of which a PageApplier applies to the RecordList: the rows in memory, in shards. Begin with port.ts.

import { keepIndex } from '../order/list-index.ts'
import type { EventRecord } from '../domain/event.ts'
import { type Guid, EMPTY_GUID } from '../domain/guid.ts'
import type { VenueRecord } from '../domain/venue.ts'
import type { ListName } from '../domain/field.ts'
import type { Observe } from '../observe/observation.ts'
import type { SnapshotLists, ResumeState } from './snapshot-list.ts'
import type { RecordLists } from '../records/row-records.ts'
import { type RefreshSettings, ListReplica } from './list-replica.ts'
import type { Formatter } from '../formats/format.ts'
import { eventKind, venueKind } from '../records/list-kinds.ts'
import { readVenueId } from '../records/packing.ts'
import { type Crm, failureOf } from './port.ts'
import { RecordList } from '../records/record-list.ts'
import type { Time } from '../time/time.ts'

export interface ReplicaOptions {
  readonly crm: Crm
  readonly formatter: Formatter
  /** Live, as the limits and the formatter are: what they hold may change between two reads, and `adopt` follows it. */
  readonly settings: RefreshSettings
  readonly limits: { readonly memoryBytes: number }
  readonly time: Time
  readonly observe: Observe
  readonly pause: () => Promise<void>
  /** What is held already, and what is known of it. */
  readonly lists?: RecordLists
  readonly carried?: Readonly<Record<ListName, ResumeState>>
}

/** Both lists, of which nothing is known yet. */
export function newLists(formatter: Formatter): RecordLists {
  return { events: new RecordList(eventKind(formatter)), venues: new RecordList(venueKind(formatter)) }
}

/**
 * The events and venues of the CRM, held in memory and kept up to date. An event never shows before its venue, nor after it:
 * a page of events that points at an unknown venue waits until a read of the venues that begins then has *applied its pages*;
 * venues go when a read of the events that begins then has *ended*; where events still point at them, one that tells what is
 * gone, which may be a long one (an id scan). The first of these waits for nothing but the CRM, so
 * there is no cycle: where the venues' own refresh is the one that waits, what was added meanwhile is read beside it. Where the
 * venues cannot be read, such a page is read again, for half the maxAge: broken venues do not take the events down.
 */
export class Replica {
  readonly events: ListReplica<EventRecord>
  readonly venues: ListReplica<VenueRecord>
  readonly #pause: () => Promise<void>
  readonly #time: Time
  readonly #settings: RefreshSettings

  constructor({ crm, formatter, settings, limits, time, observe, pause, lists, carried }: ReplicaOptions) {
    this.#pause = pause
    this.#time = time
    const { events, venues } = lists ?? newLists(formatter)
    const isTooLarge = (readingBytes: number): boolean => {
      return events.sizeBytes + venues.sizeBytes + readingBytes > limits.memoryBytes
    }
    const shared = { time, observe, pause, isTooLarge }
    this.venues = new ListReplica(settings, {
      ...shared,
      ...(carried === undefined ? {} : { carried: carried.venues }),
      list: venues,
      source: crm.venues,
      beforeRemoval: (leaving) => this.#untilEventsLeft(leaving),
    })
    this.events = new ListReplica(settings, {
      ...shared,
      ...(carried === undefined ? {} : { carried: carried.events }),
      list: events,
      source: crm.events,
      pointsAtMissing: ({ changes }) =>
        changes.some((change) => change.kind === 'record' && this.#pointsAtMissing(change.record)),
      beforePointing: async () => {
        const failure = await this.venues.untilAdded()
        if (failure === null || !this.#eventsMayWait()) return null
        // Neither their cursor nor their credentials are at fault: they are not read in full for it, nor less often.
        const message = `venues that events point at: ${failure.message}`
        return failure.kind === 'waiting' ? { ...failure, message } : failureOf('unreachable', message, 0)
      },
    })
    this.#settings = settings
  }

  get lists(): RecordLists {
    return { events: this.events.list, venues: this.venues.list }
  }

  /** What a snapshot says of both lists; null where one was never read in full. */
  get snapshotLists(): SnapshotLists | null {
    const [events, venues] = [this.events.reader.snapshotList, this.venues.reader.snapshotList]
    return events === null || venues === null ? null : { events, venues }
  }

  /** Has the lists filled from a snapshot, where there is one: reads that are asked for meanwhile wait for it. */
  async adoptSnapshot(fill: (lists: RecordLists) => Promise<SnapshotLists | null>): Promise<void> {
    const unlock = await Promise.all([this.events.reader.hold(), this.venues.reader.hold()])
    try {
      const snapshot = await fill(this.lists)
      if (snapshot === null) return
      this.events.adopt(snapshot.events)
      this.venues.adopt(snapshot.venues)
    } finally {
      for (const go of unlock) go()
    }
  }

  /**
   * Keeps both lists in the order in which they are listed, from now on. What is held is taken in in turns: where nothing is yet,
   * at once.
   */
  async keepIndexes(): Promise<void> {
    await Promise.all([keepIndex(this.events.list, this.#pause), keepIndex(this.venues.list, this.#pause)])
  }

  /** No longer: what they took is let go. */
  dropIndexes(): void {
    this.events.list.order = null
    this.venues.list.order = null
  }

  start(): void {
    this.venues.start()
    this.events.start()
  }

  /** The settings, or what records look like, have changed; the records stay. */
  adopt(looksOther: boolean): void {
    for (const replica of [this.events, this.venues]) {
      if (looksOther) replica.list.forgetBodies()
      replica.hasten()
    }
  }

  /** The operator says that the shorter lists are right; returns those that were not believed. */
  acceptShorter(): readonly ListName[] {
    return [this.events, this.venues].filter(({ shrunk }) => shrunk !== null).map((list) => list.acceptShorter())
  }

  /** Resolves when both lists were read, or could not be: at once, or with the reads under way. */
  async untilRead(): Promise<void> {
    await Promise.all([this.events.refresh.attempt(), this.venues.refresh.attempt()])
  }

  /** Resolves when no read is under way. */
  async untilReadsEnd(): Promise<void> {
    const running = [this.events.refresh, this.venues.refresh].filter((cycle) => cycle.isRunning)
    await Promise.all(running.map((cycle) => cycle.attempt()))
  }

  async stop(): Promise<void> {
    await Promise.all([this.venues.stop(), this.events.stop()])
  }

  /** Venues past the maximum age are answered 502, not 404: no event shows without its venue then. */
  #eventsMayWait(): boolean {
    const now = this.#time.now()
    const { maxAgeMs } = this.#settings
    return (this.venues.ageMs(now) ?? Infinity) <= maxAgeMs && (this.events.ageMs(now) ?? 0) <= maxAgeMs / 2
  }

  /** Resolves when no event points at venues that are about to go, or the CRM still has those that do. */
  async #untilEventsLeft(leaving: ReadonlySet<Guid>): Promise<void> {
    const { events } = this
    const { freshness } = events.reader
    const begun = this.#time.now()
    // Pages of an audit may be older than the venues' read, and are outweighed only by what is confirmed since.
    if (!events.audit.isRunning) {
      await events.untilRead()
      if (freshness.areDetailsConfirmedSince(begun)) return
      if (!(await events.list.someServed((packed) => leaving.has(readVenueId(packed)), this.#pause))) return
    }
    await events.untilConfirmed()
  }

  /** Whether a venue is named that is not served; one that is already named and missing is not looked for again and again. */
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
