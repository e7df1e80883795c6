// The data of the CRM in memory, kept up to date. A ListReplica polls one list; its ListReader reads pages (port.ts) into
// a Staging, and writes the differences to the RecordList at the end of the read. Begin with port.ts.

import { dropIndex, keepIndex } from '../order/list-index.ts'
import type { EventRecord } from '../domain/event.ts'
import { type Guid, EMPTY_GUID } from '../domain/guid.ts'
import type { VenueRecord } from '../domain/venue.ts'
import type { ListName } from '../domain/field.ts'
import type { Observe } from '../observe/observation.ts'
import type { HeldRow } from '../records/held-row.ts'
import type { RecordLists } from '../records/row-records.ts'
import type { MemoryUse } from './read-memory.ts'
import { ListReplica } from './list-replica.ts'
import type { RefreshSettings, ResumeState, SnapshotState } from './served-list.ts'
import { type Crm, type Failure, failureOf } from './port.ts'
import { type Time, momentAt } from '../time/time.ts'

export interface ReplicaOptions {
  readonly crm: Crm
  /** Empty, or with the rows of an earlier reader. */
  readonly lists: RecordLists
  /** Returns the settings now in force, like `limits`. A reload replaces them and then calls `applySettings`. */
  readonly settings: () => RefreshSettings
  readonly limits: () => { readonly memoryBytes: number }
  readonly time: Time
  readonly observe: Observe
  readonly pause: () => Promise<void>
  readonly resumeState?: Readonly<Record<ListName, ResumeState>>
}

type EitherReplica = Replica[ListName]

/**
 * The events and venues of the CRM in memory, kept up to date. An event is never visible without its venue:
 * - Before a read of the events writes an event that refers to an unknown venue, it adds what a new read of the venues
 * finds (`ListReplica.add`).
 * - Venues are removed after a new read of the events has *ended*. If events still refer to them, that read must report
 * all deletions, which may take long (an id scan).
 *
 * A refresh of the venues that waits for the events lets such additions be read meanwhile, so there is no deadlock. If
 * the other list cannot be read, the read fails and is repeated until the other list is past the maximum age: then
 * callers get no venue of an event at all.
 */
export class Replica {
  readonly events: ListReplica<EventRecord>
  readonly venues: ListReplica<VenueRecord>
  readonly #pause: () => Promise<void>
  readonly #time: Time
  readonly #settings: () => RefreshSettings

  constructor({ crm, lists, settings, limits, time, observe, pause, resumeState }: ReplicaOptions) {
    this.#pause = pause
    this.#time = time
    const { events, venues } = lists
    // The applied part of a list that was too large stays until a smaller list has been read, so both count together.
    const memory = (): MemoryUse => ({
      takenBytes: events.sizeBytes + venues.sizeBytes,
      limitBytes: limits().memoryBytes,
    })
    const shared = { time, observe, pause, memory }
    this.venues = new ListReplica(settings, {
      ...shared,
      ...(resumeState === undefined ? {} : { resumeState: resumeState.venues }),
      list: venues,
      source: crm.venues,
      beforeRemoval: async (leaving) => {
        // Events that the shrink guard keeps are served although the CRM does not show them: their venues may be gone.
        const isKnown = (await this.#untilEventsLeft(leaving)) || this.events.shrunk !== null
        const failure = isKnown ? null : this.events.refresh.lastFailure
        return failure && this.#waitFor(this.events, failure)
      },
    })
    this.events = new ListReplica(settings, {
      ...shared,
      ...(resumeState === undefined ? {} : { resumeState: resumeState.events }),
      list: events,
      source: crm.events,
      missingFor: ({ VenueId }, row) => this.#missingFor(VenueId, row),
      beforePointing: async (missing) => {
        const failure = await this.venues.add(missing)
        return failure && this.#waitFor(this.venues, failure)
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
    return this.#settings().staleIfErrorMs > 0
  }

  /** Fills the lists from a snapshot, if there is one. Reads that are requested meanwhile wait for it. */
  async resumeFromSnapshot(fill: (lists: RecordLists) => Promise<SnapshotState | null>): Promise<void> {
    const unlock = await Promise.all([this.events.reader.turns.hold(), this.venues.reader.turns.hold()])
    try {
      const snapshot = await fill(this.lists)
      if (snapshot === null) return
      const writtenAt = momentAt(snapshot.writtenAtMs, this.#time.now())
      const { events, venues } = snapshot.lists
      // Within a process, both lists keep a pause of their CRM, even if only one of them was asked for it.
      const askedUntilMs = Math.max(events.askedUntilMs ?? 0, venues.askedUntilMs ?? 0)
      this.events.resume({ ...events, askedUntilMs }, writtenAt)
      this.venues.resume({ ...venues, askedUntilMs }, writtenAt)
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

  /** Returns why a read must wait for the other list, which could not be read; `null` if it can wait no longer. */
  #waitFor(other: EitherReplica, { kind, message, ...failure }: Failure): Failure | null {
    const isOtherShown = (other.ageMs(this.#time.now()) ?? Infinity) <= this.#settings().maxAgeMs
    if (!isOtherShown) {
      other.leaveBehind()
      return null
    }
    const which = other === this.venues ? 'the venues that events refer to' : 'the events that refer to removed venues'
    const told = `${which}: ${message}`
    if (kind === 'waiting' || kind === 'throttled') return { ...failure, kind, message: told }
    // The cursor and the credentials of this list are not at fault, so the failure must not cause a full read or a long
    // back-off.
    return failureOf('unreachable', told, 0)
  }

  /**
   * Resolves with true when no event refers to venues that are about to be removed, or when the CRM confirms that some
   * still do; with false if the events cannot be read.
   */
  async #untilEventsLeft(leaving: ReadonlySet<Guid>): Promise<boolean> {
    const { events } = this
    const { freshness } = events
    const begun = this.#time.now()
    // What a running audit writes may be older than the venues' read. Only a confirmed read outweighs it.
    if (!events.audit.isRunning) {
      await events.untilRead()
      if (freshness.isConfirmedSince(begun) || !(await this.#areReferred(leaving))) return true
    }
    await events.untilConfirmed()
    return freshness.isConfirmedSince(begun) || !(await this.#areReferred(leaving))
  }

  /** Returns true if a served event refers to any of the venues. */
  #areReferred(venues: ReadonlySet<Guid>): Promise<boolean> {
    const { list } = this.events
    return list.someServed(({ venue }) => venues.has(venue), this.#pause)
  }

  /**
   * Returns the venue to which the event newly refers and that is not served. A reference that is already held is not
   * looked up again.
   */
  #missingFor(venue: Guid, row: HeldRow | null): Guid | null {
    const { venues } = this
    // A venue that is about to be removed may have been created again.
    if (venue === EMPTY_GUID || (venues.list.serves(venue) && !venues.reader.turns.leaving.has(venue))) return null
    return this.events.isLoaded && row?.key?.venue === venue ? null : venue
  }
}
