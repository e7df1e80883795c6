import type { EventRecord } from '../domain/event.ts'
import { EMPTY_GUID } from '../domain/guid.ts'
import type { VenueRecord } from '../domain/venue.ts'
import type { Observe } from '../observe/observation.ts'
import type { Cycle } from './cycle.ts'
import type { RefreshSettings } from './list-replica.ts'
import { ListReplica } from './list-replica.ts'
import type { Formatter } from '../formats/format.ts'
import { eventKind, venueKind } from './list-kinds.ts'
import type { Crm, Page } from './port.ts'
import { RecordList } from './record-list.ts'
import type { Time } from './time.ts'

export interface ReplicaOptions {
  readonly crm: Crm
  readonly formatter: Formatter
  readonly settings: RefreshSettings
  readonly memoryLimitBytes: number
  readonly time: Time
  readonly observe: Observe
  readonly pause: () => Promise<void>
}

/** The events and venues of the CRM, held in memory and kept up to date. */
export class Replica {
  readonly events: ListReplica<EventRecord>
  readonly venues: ListReplica<VenueRecord>
  #eventsWait = 0
  #venuesWait = 0

  constructor({ crm, formatter, settings, memoryLimitBytes, time, observe, pause }: ReplicaOptions) {
    const events = new RecordList(eventKind(formatter))
    const venues = new RecordList(venueKind(formatter))
    const isTooLarge = (): boolean => events.sizeBytes + venues.sizeBytes > memoryLimitBytes
    const shared = { brake: settings.brake, time, observe, pause, isTooLarge }
    this.venues = new ListReplica(settings, {
      ...shared,
      list: venues,
      source: crm.venues,
      beforeRemoval: () => this.#readEventsAnew(),
    })
    this.events = new ListReplica(settings, {
      ...shared,
      list: events,
      source: crm.events,
      beforePage: (page) => this.#readMissingVenues(page),
    })
  }

  start(): void {
    this.venues.start()
    this.events.start()
  }

  async stop(): Promise<void> {
    await Promise.all([this.venues.stop(), this.events.stop()])
  }

  /** Venues come before the events that point at them: a page that names an unknown one waits for a read of the venues. */
  async #readMissingVenues(page: Page<EventRecord>): Promise<void> {
    if (this.venues.isConfirmedSince(page.begunAt)) return
    if (!page.changes.some((change) => change.kind === 'record' && this.#newlyNamesUnknown(change.record))) return
    const { refresh } = this.venues
    // Each waiting for the other would wait for ever; the venues' turn comes right after.
    if (this.#venuesWait > 0) return refresh.hint()
    this.#eventsWait++
    await readAnew(refresh)
    this.#eventsWait--
  }

  /** Whether a venue is named that is not held; one that is already named in vain is not looked for again and again. */
  #newlyNamesUnknown({ Id, VenueId }: EventRecord): boolean {
    if (VenueId === EMPTY_GUID || this.venues.list.holds(VenueId)) return false
    return this.events.list.get(Id)?.VenueId !== VenueId
  }

  /** Venues go after the events that point at them: a read of the events that began now has to end first. */
  async #readEventsAnew(): Promise<void> {
    const { refresh } = this.events
    // Each waiting for the other would wait for ever; the events' turn comes right after.
    if (this.#eventsWait > 0) return refresh.hint()
    this.#venuesWait++
    await readAnew(refresh)
    this.#venuesWait--
  }
}

/** Resolves when an attempt that begins after the call has ended, or at once where the back-off forbids one. */
async function readAnew(cycle: Cycle): Promise<void> {
  if (cycle.isRunning) await cycle.attempt()
  if (!cycle.isBackingOff) await cycle.attempt()
}
