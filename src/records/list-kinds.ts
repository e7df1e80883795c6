import { type EventRecord, EVENTS } from '../domain/event.ts'
import type { FurtherField } from '../domain/further.ts'
import { type ListName, LINKS } from '../domain/field.ts'
import { type Guid, EMPTY_GUID } from '../domain/guid.ts'
import type { Tick } from '../domain/tick.ts'
import { type VenueRecord, VENUES } from '../domain/venue.ts'
import type { Formatter } from '../formats/format.ts'
import type { Shape } from '../formats/media-types.ts'
import {
  type Packable,
  type Packing,
  type SortKey,
  type TableOf,
  packingOf,
  readSortKey,
  readStart,
  readVenueId,
  unpackTags,
} from './packing.ts'

/** The properties of a list that depend on its kind of record. */
export interface ListKind<Item> {
  readonly name: ListName
  readonly packing: Packing<Item>
  readonly format: (item: Item, shape: Shape) => string
  /** Reads parts of a packed record without unpacking it. */
  readonly packed: PackedReader
  /** Returns `details` with the availability of another record; unchanged if the kind has no availability. */
  readonly withAvailability: (details: Item, availability: Availability | Item) => Item
  /** Returns true if `text` is a valid packed record. */
  readonly isPacked: (id: Guid, text: string) => boolean
  /** Returns the names of the fields in which two packed records differ. */
  readonly differences: (id: Guid, before: string, after: string) => readonly string[]
}

interface PackedReader {
  readonly sortKeyOf: (packed: string) => SortKey
  readonly startOf: (packed: string) => Tick
  /** Returns the id of the event's venue; the empty GUID if there is none. */
  readonly venueIdOf: (packed: string) => Guid
  /** Returns the tags of a sort key. */
  readonly tagsOf: (tags: string) => readonly string[]
}

const ALWAYS: Tick = { ms: 0, ticks: 0 }
const NEVER: Tick = { ms: Infinity, ticks: 0 }
/** Venues are ordered by id alone and never end. */
const VENUE: SortKey = { start: ALWAYS, end: NEVER, venue: EMPTY_GUID, tags: '0', isAvailable: false }

interface Availability {
  readonly TicketCapacity: number
  readonly TicketsAvailable: number
}

export function eventKind(formatter: Formatter): ListKind<EventRecord> {
  return {
    ...nameAndPacking<EventRecord>(EVENTS, formatter.further.events),
    packed: { sortKeyOf: readSortKey, startOf: readStart, venueIdOf: readVenueId, tagsOf: unpackTags },
    format: (event, shape) => formatter.event(event, shape),
    withAvailability: (details, { TicketCapacity, TicketsAvailable }) => ({
      ...details,
      TicketCapacity,
      TicketsAvailable,
    }),
  }
}

export function venueKind(formatter: Formatter): ListKind<VenueRecord> {
  return {
    ...nameAndPacking<VenueRecord>(VENUES, formatter.further.venues),
    packed: { sortKeyOf: () => VENUE, startOf: () => ALWAYS, venueIdOf: () => EMPTY_GUID, tagsOf: unpackTags },
    format: (venue, shape) => formatter.venue(venue, shape),
    withAvailability: (details) => details,
  }
}

function nameAndPacking<Item extends Packable<Item>>(
  table: TableOf<Item>,
  further: readonly FurtherField[],
): Pick<ListKind<Item>, 'name' | 'packing' | 'isPacked' | 'differences'> {
  const packing = packingOf<Item>(table, further)
  return {
    name: table.list,
    packing,
    isPacked(id, text) {
      try {
        return packing.pack(packing.unpack(id, text)) === text
      } catch {
        return false
      }
    },
    differences(id, before, after) {
      const [left, right] = [packing.unpack(id, before), packing.unpack(id, after)]
      const own = [...table.fields, LINKS].map(({ name }) => ({ name, was: left[name], is: right[name] }))
      const others = further.map(({ name }, at) => ({ name, was: left.Further?.[at], is: right.Further?.[at] }))
      return [...own, ...others].flatMap(({ name, was, is }) =>
        JSON.stringify(was) === JSON.stringify(is) ? [] : [name],
      )
    },
  }
}
