import type { EventRecord } from '../domain/event.ts'
import type { VenueRecord } from '../domain/venue.ts'
import type { Aged } from './admission.ts'
import type { Freshness } from './freshness.ts'
import type { Failure } from './port.ts'
import type { RecordList } from '../records/record-list.ts'

/** One list that may be answered from, whoever reads it. */
export interface HeldList<Item> extends Aged {
  readonly list: RecordList<Item>
}

/** Both lists as they are answered from now: whoever keeps this asks it again each time, since another may take a list's place. */
export interface HeldLists {
  readonly events: HeldList<EventRecord>
  readonly venues: HeldList<VenueRecord>
}

/** What operators are told of a list besides. */
export interface ToldList<Item> extends HeldList<Item> {
  readonly freshness: Freshness
  /** TicketsAvailable and TicketCapacity are read on their own. */
  readonly hasOwnAvailability: boolean
  /** Why it is not believed, or could not be read since. */
  readonly lastFailure: Pick<Failure, 'kind' | 'message'> | null
  readonly nextReadInMs: number
  /** It was read in full once. */
  readonly isLoaded: boolean
  /** When that was, by the monotonic clock. */
  readonly loadedAtMs: number
  /** How many rows have no place of their own, in the order of the faults. */
  readonly unidentifiedCounts: ArrayLike<number>
  /** Records that had changed without the CRM reporting it, found here. */
  readonly drift: { readonly records: number; readonly byColumn: ReadonlyMap<string, number> }
}

/** Whoever serves it: here or elsewhere it is read as the configuration says. */
export interface ServedList<Item> extends Omit<ToldList<Item>, 'hasOwnAvailability'> {
  /** Who waits looks again. */
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

/** Rows that are not served. */
export function withheldIn({
  list,
  unidentifiedCounts,
}: {
  readonly list: { readonly withheld: number }
  readonly unidentifiedCounts: ArrayLike<number>
}): number {
  return Array.from(unidentifiedCounts).reduce((sum, count) => sum + count, list.withheld)
}
