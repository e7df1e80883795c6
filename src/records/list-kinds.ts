import { type EventRecord, EVENTS } from '../domain/event.ts'
import { type ListName, LINKS } from '../domain/field.ts'
import type { FurtherField } from '../domain/further.ts'
import { statusPosition, statusSaid } from '../domain/event-status.ts'
import { type Guid, EMPTY_GUID } from '../domain/guid.ts'
import { type Tick, isBefore, tickOfDateTime } from '../domain/date-time.ts'
import type { ChangeOfRecord } from '../domain/revision.ts'
import { type VenueRecord, VENUES } from '../domain/venue.ts'
import type { Formatter } from '../formats/format.ts'
import type { Shape } from '../formats/media-types.ts'
import { type Packable, type Packing, type TableOf, packingOf } from './packing.ts'

/** The position of a row in its list, and the values that queries filter by. */
export interface SortKey {
  readonly start: Tick
  /** The later of Start and Finish, with full precision (contract §4.1). */
  readonly end: Tick
  /** The empty GUID if there is none. */
  readonly venue: Guid
  readonly tags: readonly string[]
  readonly isAvailable: boolean
}

/** @param statusAt where the further field is that says whether the event is cancelled; -1 if there is none */
function keyOfEvent(
  { Start, Finish, VenueId, Tags, TicketsAvailable, Further }: EventRecord,
  statusAt: number,
): SortKey {
  const start = tickOfDateTime(Start)
  const finish = tickOfDateTime(Finish)
  const end = isBefore(start, finish) ? finish : start
  const status = Further?.[statusAt]
  const isOff = typeof status === 'string' && statusSaid(status) === 'cancelled'
  return { start, end, venue: VenueId, tags: Tags, isAvailable: TicketsAvailable > 0 && !isOff }
}

const ALWAYS: Tick = { ms: 0, ticks: 0 }
const NEVER: Tick = { ms: Infinity, ticks: 0 }
/** Venues are ordered by id alone and never end. */
const VENUE_KEY: SortKey = { start: ALWAYS, end: NEVER, venue: EMPTY_GUID, tags: [], isAvailable: false }

/** The properties of a list that depend on its kind of record. */
export interface ListKind<Item> {
  readonly name: ListName
  readonly packing: Packing<Item>
  readonly format: (item: Item, shape: Shape) => string
  readonly sortKeyOf: (item: Item) => SortKey
  /** Returns `details` with the availability of another record; unchanged if the kind has no availability. */
  readonly withAvailability: (details: Item, availability: Availability | Item) => Item
  /** Returns true if `text` is a valid packed record. */
  readonly isPacked: (id: Guid, text: string) => boolean
  /** Returns the names of the fields in which two packed records differ. */
  readonly differences: (id: Guid, before: string, after: string) => readonly string[]
  /** Returns what a change of these fields means for calendars. */
  readonly changeOf: (fields: readonly string[]) => ChangeOfRecord
}

interface Availability {
  readonly TicketCapacity: number
  readonly TicketsAvailable: number
}

/** What a change of each field means for calendars. The compiler asks for the meaning of a new field. */
type ChangesByField<Item> = Readonly<Record<Exclude<keyof Item, 'Further'>, ChangeOfRecord>>

/** Calendars show neither tickets nor prices. */
const EVENT_CHANGES: ChangesByField<EventRecord> = {
  Id: 'unseen',
  Name: 'text',
  VenueId: 'time-or-place',
  TicketCapacity: 'unseen',
  TicketsAvailable: 'unseen',
  Start: 'time-or-place',
  Finish: 'time-or-place',
  Price: 'unseen',
  Tags: 'text',
  Links: 'text',
}

/** Calendars show of a venue only where it is. */
const VENUE_CHANGES: ChangesByField<VenueRecord> = {
  Id: 'unseen',
  Name: 'time-or-place',
  AddressStreet1: 'time-or-place',
  AddressStreet2: 'time-or-place',
  AddressStreet3: 'time-or-place',
  AddressCity: 'time-or-place',
  AddressPostalCode: 'time-or-place',
  AddressState: 'time-or-place',
  AddressCountry: 'time-or-place',
  Longitude: 'time-or-place',
  Latitude: 'time-or-place',
  Telephone: 'unseen',
  Description: 'unseen',
  Website: 'unseen',
  Links: 'unseen',
}

/** Returns the function that says what a change of several fields means. `further`: the meaning of further fields. */
function changeBy(
  byField: Readonly<Record<string, ChangeOfRecord>>,
  further: ChangeOfRecord,
): ListKind<never>['changeOf'] {
  const known = new Map(Object.entries(byField))
  return (fields) => {
    const changes = new Set(fields.map((name) => known.get(name) ?? further))
    if (changes.has('time-or-place')) return 'time-or-place'
    return changes.has('text') ? 'text' : 'unseen'
  }
}

export function eventKind(formatter: Formatter): ListKind<EventRecord> {
  const statusAt = statusPosition(formatter.further.events)
  return {
    ...nameAndPacking<EventRecord>(EVENTS, formatter.further.events),
    format: (event, shape) => formatter.event(event, shape),
    sortKeyOf: (event) => keyOfEvent(event, statusAt),
    withAvailability: (details, { TicketCapacity, TicketsAvailable }) => ({
      ...details,
      TicketCapacity,
      TicketsAvailable,
    }),
    // Feeds show some further fields, and names and types decide which.
    changeOf: changeBy(EVENT_CHANGES, 'text'),
  }
}

export function venueKind(formatter: Formatter): ListKind<VenueRecord> {
  return {
    ...nameAndPacking<VenueRecord>(VENUES, formatter.further.venues),
    format: (venue, shape) => formatter.venue(venue, shape),
    sortKeyOf: () => VENUE_KEY,
    withAvailability: (details) => details,
    changeOf: changeBy(VENUE_CHANGES, 'unseen'),
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
        was === is || JSON.stringify(was) === JSON.stringify(is) ? [] : [name],
      )
    },
  }
}
