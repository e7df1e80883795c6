import { type Guid, EMPTY_GUID } from '../domain/guid.ts'
import { type Tick, isBefore, tickOfDateTime } from '../domain/tick.ts'
import { readEventKeys, readStart } from './packing.ts'

/** Where a packed row stands in its list, and what a query may ask of it. */
export interface RowPlace {
  readonly start: Tick
  /** The later of Start and Finish, rounded down to whole milliseconds: a whole one is before it or at it just where it is here. */
  readonly endMs: number
  readonly venue: Guid
  /** As they are packed. */
  readonly tags: string
  readonly isAvailable: boolean
}

export interface Placing {
  readonly placeOf: (packed: string) => RowPlace
  /** Its Start alone. */
  readonly startOf: (packed: string) => Tick
}

export const eventPlacing: Placing = {
  placeOf(packed) {
    const { start, finish, venue, tags, ticketsAvailable } = readEventKeys(packed)
    const begin = tickOfDateTime(start)
    return {
      start: begin,
      endMs: laterTick(begin, tickOfDateTime(finish)).ms,
      venue,
      tags,
      isAvailable: ticketsAvailable > 0,
    }
  },
  startOf: (packed) => tickOfDateTime(readStart(packed)),
}

const NO_START: Tick = { ms: 0, ticks: 0 }
const VENUE: RowPlace = { start: NO_START, endMs: Infinity, venue: EMPTY_GUID, tags: '0', isAvailable: false }

/** Venues stand by their ids alone, and are never over. */
export const venuePlacing: Placing = { placeOf: () => VENUE, startOf: () => NO_START }

/** The later of Start and Finish, exactly (contract §4.1). */
export function endOf(packed: string): Tick {
  const { start, finish } = readEventKeys(packed)
  return laterTick(tickOfDateTime(start), tickOfDateTime(finish))
}

function laterTick(left: Tick, right: Tick): Tick {
  return isBefore(left, right) ? right : left
}
