import type { Guid } from '../../src/domain/guid.ts'
import { EMPTY_GUID } from '../../src/domain/guid.ts'
import type { Replica } from '../../src/replica/replica.ts'

/** What an answer tells of one row: the epoch of its details, null where it was not shown; and the tickets sold. */
export interface Glimpse {
  readonly list: 'events' | 'venues'
  readonly id: Guid
  readonly epoch: number | null
  readonly sold: number | null
  readonly venue: Guid
}

export function glimpseEvent({ events }: Replica, id: Guid): Glimpse {
  const event = events.list.get(id)
  const epoch = event === null ? null : Number(event.Name)
  return { list: 'events', id, epoch, sold: event?.TicketsAvailable ?? null, venue: event?.VenueId ?? EMPTY_GUID }
}

export function glimpseVenue({ venues }: Replica, id: Guid): Glimpse {
  const venue = venues.list.get(id)
  return { list: 'venues', id, epoch: venue === null ? null : Number(venue.Name), sold: null, venue: EMPTY_GUID }
}
