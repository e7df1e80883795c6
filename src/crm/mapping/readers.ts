import type { EventRecord } from '../../domain/event.ts'
import type { Fault } from '../../domain/withheld.ts'
import type { VenueRecord } from '../../domain/venue.ts'
import type { DateTime } from '../../domain/date-time.ts'
import type { Guid } from '../../domain/guid.ts'
import type { Link } from '../../domain/link.ts'
import type { Zone } from '../../domain/zone.ts'
import type { Cell } from './cell.ts'
import type { ListMapping, Reader } from './list-mapping.ts'
import { Misfit } from './misfit.ts'
import { Refusal } from './refusal.ts'
import { toDecimal, toInt32 } from './to-number.ts'
import { toText } from './to-text.ts'

/** Where a field's value comes from: its cell in a row (null where the row lacks it), and what the CRM calls it. */
export interface Origin<Row> {
  readonly column: string
  readonly cell: (row: Row) => Cell
}

/** What differs from CRM to CRM in reading a cell. */
export interface Conversions<Row> {
  readonly toId: (cell: Cell) => Guid | Misfit
  readonly toVenueId: (cell: Cell) => Guid | Misfit
  readonly toTags: (cell: Cell) => readonly string[] | Misfit
  readonly toLinks: (cell: Cell) => readonly Link[] | Misfit
  /** What a date without an offset is the wall time of; a misfit where the row names no zone. */
  readonly wallZone: { readonly [Name in 'Start' | 'Finish']: (row: Row) => Zone | Misfit }
  readonly toDateTime: { readonly [Name in 'Start' | 'Finish']: DateConversion }
  readonly showIn: Zone
}

export type DateConversion = (cell: Cell, wallZone: Zone, showIn: Zone) => DateTime | null | Misfit

export type Origins<Row, Item> = { readonly [Name in keyof Item]: Origin<Row> }

export function eventReaders<Row>(
  origins: Origins<Row, EventRecord>,
  conversions: Conversions<Row>,
): ListMapping<Row, EventRecord>['fields'] {
  const { toVenueId, toTags, toLinks, wallZone, toDateTime, showIn } = conversions
  return {
    Id: reader(origins.Id, conversions.toId, 'no-id'),
    Name: reader(origins.Name, toText),
    VenueId: reader(origins.VenueId, toVenueId),
    TicketCapacity: reader(origins.TicketCapacity, toInt32),
    TicketsAvailable: reader(origins.TicketsAvailable, toInt32),
    Start: dateReader(origins.Start, wallZone.Start, toDateTime.Start, showIn),
    Finish: dateReader(origins.Finish, wallZone.Finish, toDateTime.Finish, showIn),
    Price: reader(origins.Price, toDecimal),
    Tags: reader(origins.Tags, toTags),
    Links: reader(origins.Links, toLinks),
  }
}

export function venueReaders<Row>(
  origins: Origins<Row, VenueRecord>,
  { toId, toLinks }: Pick<Conversions<Row>, 'toId' | 'toLinks'>,
): ListMapping<Row, VenueRecord>['fields'] {
  return {
    Id: reader(origins.Id, toId, 'no-id'),
    Name: reader(origins.Name, toText),
    AddressStreet1: reader(origins.AddressStreet1, toText),
    AddressStreet2: reader(origins.AddressStreet2, toText),
    AddressStreet3: reader(origins.AddressStreet3, toText),
    AddressCity: reader(origins.AddressCity, toText),
    AddressPostalCode: reader(origins.AddressPostalCode, toText),
    AddressState: reader(origins.AddressState, toText),
    AddressCountry: reader(origins.AddressCountry, toText),
    Longitude: reader(origins.Longitude, toDecimal),
    Latitude: reader(origins.Latitude, toDecimal),
    Telephone: reader(origins.Telephone, toText),
    Description: reader(origins.Description, toText),
    Website: reader(origins.Website, toText),
    Links: reader(origins.Links, toLinks),
  }
}

function reader<Row, Value>(
  { column, cell }: Origin<Row>,
  convert: (cell: Cell) => Value | Misfit,
  fault: Fault = 'unreadable',
): Reader<Row, Value> {
  return (row) => {
    const value = convert(cell(row))
    return value instanceof Misfit ? new Refusal(fault, column, value) : value
  }
}

function dateReader<Row>(
  { column, cell }: Origin<Row>,
  wallZone: (row: Row) => Zone | Misfit,
  convert: DateConversion,
  showIn: Zone,
): Reader<Row, DateTime> {
  return (row) => {
    const zone = wallZone(row)
    if (zone instanceof Misfit) return new Refusal('unreadable', column, zone)
    const value = convert(cell(row), zone, showIn)
    if (value instanceof Misfit) return new Refusal('unreadable', column, value)
    return value ?? new Refusal('missing', column, { expected: 'a date-time', found: null })
  }
}
