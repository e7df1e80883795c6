import type { Lists } from '../support/files-directory.ts'

/** Served, at VENUE. */
export const EVENT = '7a1c8f52-3b60-4e9d-a1f4-0c5be2d98761'
export const WITHOUT_VENUE = '0f4be7a9-6a35-4c1b-8d52-91e7c3f0a2b4'
export const AT_CLOSED_VENUE = '3d9a6e01-58c7-4f2a-b6e3-f27d40c18b95'
export const AT_UNKNOWN_VENUE = 'c25e70d8-914b-4a6f-9f0c-38b1d6e4a72f'
/** Not marked `show on web`. */
export const DRAFT = '91b3d4c6-e07f-4258-8c9a-5d6ef1a0b734'
export const CANCELLED = 'e8f02a7d-4c19-4b83-a5d6-7b9c01e3f248'
export const VENUE = '5b7d21f0-c8e4-4f36-9a07-e6d13b9c4a58'
export const CLOSED_VENUE = 'a60e9f13-7d5b-4c28-b4f1-2c8d07e5936b'
/** An id of no record. */
export const NEVER = 'd4196b8e-2fa0-47c5-8e3b-60f9a7c5d12e'
const UNKNOWN_VENUE = '18c7e5a2-d3f6-4b90-a7e8-4f5d2b61c039'

type Row = Readonly<Record<string, unknown>>

export const EVENT_ROW: Row = event(EVENT, { VenueId: VENUE })
const VENUE_ROW: Row = {
  Id: VENUE,
  Name: 'Guildhall',
  AddressCity: 'London',
  Longitude: '-0.0919',
  Latitude: '51.5158',
}

/** One row of each kind that the contract distinguishes. */
export const LISTS: Lists = {
  events: JSON.stringify([
    EVENT_ROW,
    event(WITHOUT_VENUE, {}),
    event(AT_CLOSED_VENUE, { VenueId: CLOSED_VENUE }),
    event(AT_UNKNOWN_VENUE, { VenueId: UNKNOWN_VENUE }),
    event(DRAFT, { VenueId: VENUE, ShowOnWeb: false }),
    event(CANCELLED, { VenueId: VENUE, Active: false }),
  ]),
  venues: JSON.stringify([VENUE_ROW, { Id: CLOSED_VENUE, Name: 'Corn Exchange', Active: false }]),
}

function event(Id: string, more: Row): Row {
  return {
    Id,
    Name: 'Annual Dinner',
    TicketCapacity: 250,
    TicketsAvailable: 42,
    Start: '2036-07-12T19:30:00+01:00',
    Finish: '2036-07-12T23:00:00+01:00',
    Price: '12.50',
    Tags: ['Dinner'],
    ShowOnWeb: true,
    ...more,
  }
}
