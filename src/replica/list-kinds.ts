import type { EventRecord } from '../domain/event.ts'
import { EVENTS } from '../domain/event.ts'
import type { Field, RecordTable } from '../domain/field.ts'
import { LINKS } from '../domain/field.ts'
import type { VenueRecord } from '../domain/venue.ts'
import { VENUES } from '../domain/venue.ts'
import type { Formatter } from '../formats/format.ts'
import type { Packing } from './packing.ts'
import { eventPacking, venuePacking } from './packing.ts'
import type { ListKind } from './record-list.ts'
import { eventPlacing, venuePlacing } from './row-places.ts'

export function eventKind(formatter: Formatter): ListKind<EventRecord> {
  return {
    ...nameAndPacking(EVENTS, eventPacking),
    placing: eventPlacing,
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
    ...nameAndPacking(VENUES, venuePacking),
    placing: venuePlacing,
    format: (venue, shape) => formatter.venue(venue, shape),
    withAvailability: (details) => details,
  }
}

function nameAndPacking<Item extends Pick<EventRecord, 'Links'>>(
  { list, fields }: RecordTable<readonly (Field & { readonly name: keyof Item })[]>,
  packing: Packing<Item>,
): Pick<ListKind<Item>, 'name' | 'packing' | 'differences'> {
  return {
    name: list,
    packing,
    differences(id, before, after) {
      const [left, right] = [packing.unpack(id, before), packing.unpack(id, after)]
      return [...fields, LINKS].flatMap(({ name }) =>
        JSON.stringify(left[name]) === JSON.stringify(right[name]) ? [] : [name],
      )
    },
  }
}
