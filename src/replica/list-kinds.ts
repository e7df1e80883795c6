import type { EventRecord } from '../domain/event.ts'
import { EVENT_FIELDS } from '../domain/event.ts'
import type { VenueRecord } from '../domain/venue.ts'
import { VENUE_FIELDS } from '../domain/venue.ts'
import type { Formatter } from '../formats/format.ts'
import { eventPacking, venuePacking } from './packing.ts'
import type { ListKind } from './record-list.ts'

export function eventKind(formatter: Formatter): ListKind<EventRecord> {
  return {
    name: 'events',
    packing: eventPacking,
    format: (event, shape) => formatter.event(event, shape),
    withAvailability: (details, { TicketCapacity, TicketsAvailable }) => ({
      ...details,
      TicketCapacity,
      TicketsAvailable,
    }),
    differences(id, before, after) {
      const [left, right] = [eventPacking.unpack(id, before), eventPacking.unpack(id, after)]
      return differing([...EVENT_FIELDS.map((field) => field.name), 'Links' as const], left, right)
    },
  }
}

export function venueKind(formatter: Formatter): ListKind<VenueRecord> {
  return {
    name: 'venues',
    packing: venuePacking,
    format: (venue, shape) => formatter.venue(venue, shape),
    withAvailability: (details) => details,
    differences(id, before, after) {
      const [left, right] = [venuePacking.unpack(id, before), venuePacking.unpack(id, after)]
      return differing([...VENUE_FIELDS.map((field) => field.name), 'Links' as const], left, right)
    },
  }
}

function differing<Item>(names: readonly (keyof Item & string)[], left: Item, right: Item): readonly string[] {
  return names.filter((name) => JSON.stringify(left[name]) !== JSON.stringify(right[name]))
}
