import type { Guid } from '../domain/guid.ts'
import { EMPTY_GUID } from '../domain/guid.ts'
import type { Tick } from '../domain/tick.ts'
import { isBefore, tickOfDateTime } from '../domain/tick.ts'
import { readEventKeys } from './packing.ts'

/** Where a packed row stands in its list, and what a query may ask of it. */
export interface Place {
  readonly start: Tick
  /** The later of Start and Finish, rounded down to whole milliseconds: a whole one is before it or at it just where it is here. */
  readonly endMs: number
  readonly venue: Guid
  readonly tags: readonly string[]
  readonly isAvailable: boolean
}

export type PlaceOf = (packed: string) => Place

export function eventPlace(packed: string): Place {
  const { Start, Finish, VenueId, Tags, TicketsAvailable } = readEventKeys(packed)
  const start = tickOfDateTime(Start)
  const end = laterTick(start, tickOfDateTime(Finish))
  return {
    start,
    endMs: end.ms,
    venue: VenueId,
    tags: Tags,
    isAvailable: TicketsAvailable > 0,
  }
}

/** Venues stand by their ids alone, and are never over. */
const VENUE: Place = { start: { ms: 0, ticks: 0 }, endMs: Infinity, venue: EMPTY_GUID, tags: [], isAvailable: false }

export function venuePlace(): Place {
  return VENUE
}

/** The later of Start and Finish, exactly (contract §4.1). */
export function endOf(packed: string): Tick {
  const { Start, Finish } = readEventKeys(packed)
  return laterTick(tickOfDateTime(Start), tickOfDateTime(Finish))
}

function laterTick(left: Tick, right: Tick): Tick {
  return isBefore(left, right) ? right : left
}
