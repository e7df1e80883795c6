import type { EventRecord } from '../domain/event.ts'
import type { VenueRecord } from '../domain/venue.ts'
import type { Aged } from './admission.ts'
import type { Freshness } from './freshness.ts'
import type { Failure } from './port.ts'
import type { RecordList } from '../records/record-list.ts'

/** One list that may be answered from, read by this instance or another. */
export interface HeldList<Item> extends Aged {
  readonly list: RecordList<Item>
}

/** Both lists at present. Callers read these properties for each use, because another list may replace one. */
export interface HeldLists {
  readonly events: HeldList<EventRecord>
  readonly venues: HeldList<VenueRecord>
}

/** A list with the details that are shown to operators. */
export interface ToldList<Item> extends HeldList<Item> {
  readonly freshness: Freshness
  /** TicketsAvailable and TicketCapacity are read separately. */
  readonly hasOwnAvailability: boolean
  /** Why the list is not believed, or why the last read failed. */
  readonly lastFailure: Pick<Failure, 'kind' | 'message'> | null
  readonly nextReadInMs: number
  /** The list was read in full at least once. */
  readonly isLoaded: boolean
  /** When the list was first read in full, monotonic ms. */
  readonly loadedAtMs: number
  /** The number of withheld rows without an id of their own, in the order of `FAULTS`. */
  readonly unidentifiedCounts: ArrayLike<number>
  /** Records that changed without being reported by the CRM, found by this instance. */
  readonly drift: { readonly records: number; readonly byColumn: ReadonlyMap<string, number> }
}

/**
 * A list that is served, whichever instance reads it. `hasOwnAvailability` is omitted, because the configuration
 * decides it.
 */
export interface ServedList<Item> extends Omit<ToldList<Item>, 'hasOwnAvailability'> {
  /** Makes waiting requests check the list again. */
  help(): void
}

export interface ServedLists extends HeldLists {
  readonly events: ServedList<EventRecord>
  readonly venues: ServedList<VenueRecord>
}

export interface ToldLists {
  readonly events: ToldList<EventRecord>
  readonly venues: ToldList<VenueRecord>
}

/** Returns the number of withheld rows. */
export function withheldIn({
  list,
  unidentifiedCounts,
}: {
  readonly list: { readonly withheld: number }
  readonly unidentifiedCounts: ArrayLike<number>
}): number {
  return Array.from(unidentifiedCounts).reduce((sum, count) => sum + count, list.withheld)
}
