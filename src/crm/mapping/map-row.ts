import type { EventRecord } from '../../domain/event.ts'
import type { Guid } from '../../domain/guid.ts'
import type { VenueRecord } from '../../domain/venue.ts'
import type { Change } from '../../replica/port.ts'
import type { EventMapping, ListMapping, VenueMapping } from './list-mapping.ts'
import { Refusal } from './refusal.ts'

type Mapped<Item> = Extract<Change<Item>, { readonly kind: 'record' | 'withheld' }>

/** The event of a row, or the first reason why it is withheld: its id, then its conditions, then its values. */
export function mapEvent<Row>(
  mapping: EventMapping<Row>,
  row: Row,
  where: () => string,
  version: number,
): Mapped<EventRecord> {
  return mapRow(mapping, row, where, version, eventOf)
}

/** The venue of a row, or the first reason why it is withheld. */
export function mapVenue<Row>(
  mapping: VenueMapping<Row>,
  row: Row,
  where: () => string,
  version: number,
): Mapped<VenueRecord> {
  return mapRow(mapping, row, where, version, venueOf)
}

/** A row that is withheld as a whole. */
export function withheldRow(refusal: Refusal, id: Guid | null, where: string, version: number): Mapped<never> {
  const { fault, column, expected, found } = refusal
  return { kind: 'withheld', id, withheld: { fault, column, where, expected, found }, version }
}

function mapRow<Row, Item extends { readonly Id: Guid }>(
  mapping: ListMapping<Row, Item>,
  row: Row,
  where: () => string,
  version: number,
  recordOf: (fields: ListMapping<Row, Item>['fields'], row: Row, id: Guid) => Item | Refusal,
): Mapped<Item> {
  const id = mapping.fields.Id(row)
  if (id instanceof Refusal) return withheldRow(id, null, where(), version)
  for (const condition of mapping.conditions) {
    const refusal = condition(row)
    if (refusal !== null) return withheldRow(refusal, id, where(), version)
  }
  const record = recordOf(mapping.fields, row, id)
  if (record instanceof Refusal) return withheldRow(record, id, where(), version)
  return { kind: 'record', id, record, version }
}

// Field by field rather than in a loop: the runtime then gives all records one shape, and the compiler sees each type.
function eventOf<Row>(fields: EventMapping<Row>['fields'], row: Row, Id: Guid): EventRecord | Refusal {
  const Name = fields.Name(row)
  if (Name instanceof Refusal) return Name
  const VenueId = fields.VenueId(row)
  if (VenueId instanceof Refusal) return VenueId
  const TicketCapacity = fields.TicketCapacity(row)
  if (TicketCapacity instanceof Refusal) return TicketCapacity
  const TicketsAvailable = fields.TicketsAvailable(row)
  if (TicketsAvailable instanceof Refusal) return TicketsAvailable
  const Start = fields.Start(row)
  if (Start instanceof Refusal) return Start
  const Finish = fields.Finish(row)
  if (Finish instanceof Refusal) return Finish
  const Price = fields.Price(row)
  if (Price instanceof Refusal) return Price
  const Tags = fields.Tags(row)
  if (Tags instanceof Refusal) return Tags
  const Links = fields.Links(row)
  if (Links instanceof Refusal) return Links
  return { Id, Name, VenueId, TicketCapacity, TicketsAvailable, Start, Finish, Price, Tags, Links }
}

function venueOf<Row>(fields: VenueMapping<Row>['fields'], row: Row, Id: Guid): VenueRecord | Refusal {
  const Name = fields.Name(row)
  if (Name instanceof Refusal) return Name
  const AddressStreet1 = fields.AddressStreet1(row)
  if (AddressStreet1 instanceof Refusal) return AddressStreet1
  const AddressStreet2 = fields.AddressStreet2(row)
  if (AddressStreet2 instanceof Refusal) return AddressStreet2
  const AddressStreet3 = fields.AddressStreet3(row)
  if (AddressStreet3 instanceof Refusal) return AddressStreet3
  const AddressCity = fields.AddressCity(row)
  if (AddressCity instanceof Refusal) return AddressCity
  const AddressPostalCode = fields.AddressPostalCode(row)
  if (AddressPostalCode instanceof Refusal) return AddressPostalCode
  const AddressState = fields.AddressState(row)
  if (AddressState instanceof Refusal) return AddressState
  const AddressCountry = fields.AddressCountry(row)
  if (AddressCountry instanceof Refusal) return AddressCountry
  const Longitude = fields.Longitude(row)
  if (Longitude instanceof Refusal) return Longitude
  const Latitude = fields.Latitude(row)
  if (Latitude instanceof Refusal) return Latitude
  const Telephone = fields.Telephone(row)
  if (Telephone instanceof Refusal) return Telephone
  const Description = fields.Description(row)
  if (Description instanceof Refusal) return Description
  const Website = fields.Website(row)
  if (Website instanceof Refusal) return Website
  const Links = fields.Links(row)
  if (Links instanceof Refusal) return Links
  return {
    Id,
    Name,
    AddressStreet1,
    AddressStreet2,
    AddressStreet3,
    AddressCity,
    AddressPostalCode,
    AddressState,
    AddressCountry,
    Longitude,
    Latitude,
    Telephone,
    Description,
    Website,
    Links,
  }
}
