import type { DateTime } from '../../src/domain/date-time.ts'
import type { Decimal } from '../../src/domain/number.ts'
import type { EventRecord } from '../../src/domain/event.ts'
import type { Guid } from '../../src/domain/guid.ts'
import { EMPTY_GUID } from '../../src/domain/guid.ts'
import type { VenueRecord } from '../../src/domain/venue.ts'
import { Formatter } from '../../src/formats/format.ts'

export const formatter: Formatter = new Formatter(() => ({
  basePath: '/',
  namespace: 'EventsApi',
  links: { event: [], venue: [] },
}))

/** Returns the id with this number. */
export function guidOf(number: number): Guid {
  return `${number.toString(16).padStart(8, '0')}-0000-4000-8000-000000000000` as Guid
}

/** Returns true if the event ends with the season: seven of ten do. */
export function endsWithSeason(id: Guid): boolean {
  return Number.parseInt(id.slice(0, 8), 16) % 10 < 7
}

/** Returns the fields of an event that ends with the season, wall ms; none if it ends later. */
export function endOfSeason(id: Guid, endMs: number): Partial<EventRecord> {
  const Finish = new Date(endMs).toISOString().replace('.000Z', '+00:00') as DateTime
  return endsWithSeason(id) ? { Start: Finish, Finish } : {}
}

/** Returns an event of which only the given fields matter. */
export function eventOf(Id: Guid, given: Partial<EventRecord> = {}): EventRecord {
  return {
    Id,
    Name: 'A',
    VenueId: EMPTY_GUID,
    TicketCapacity: 100,
    TicketsAvailable: 50,
    Start: '2026-07-12T19:30:00+01:00' as DateTime,
    Finish: '2026-07-12T21:30:00+01:00' as DateTime,
    Price: '9.50' as Decimal,
    Tags: [],
    Links: [],
    ...given,
  }
}

/** Returns a venue of which only the name matters. */
export function venueOf(Id: Guid, Name: string): VenueRecord {
  return {
    Id,
    Name,
    AddressStreet1: null,
    AddressStreet2: null,
    AddressStreet3: null,
    AddressCity: null,
    AddressPostalCode: null,
    AddressState: null,
    AddressCountry: null,
    Longitude: '0' as Decimal,
    Latitude: '0' as Decimal,
    Telephone: null,
    Description: null,
    Website: null,
    Links: [],
  }
}
