import type { Cell } from './cell.ts'
import { isBlank } from './is-blank.ts'
import { listConditions } from './list-condition.ts'
import type { EventMapping, Reader, VenueMapping } from './list-mapping.ts'
import type {
  DateSetting,
  EventsSetting,
  FieldSetting,
  MappingSurroundings,
  SubtractSetting,
  VenuesSetting,
} from './mapping-settings.ts'
import type { DateConversion, Origin } from './readers.ts'
import { eventReaders, venueReaders } from './readers.ts'
import type { RowAccess } from './row-access.ts'
import { subtractReader } from './subtract-reader.ts'
import { toDateTime, toWallDateTime } from './to-date-time.ts'
import { toId, toVenueId } from './to-guid.ts'
import { toLinksOfText } from './to-links.ts'
import { toNamedId, toNamedVenueId } from './to-named-id.ts'
import { toTagsOfText } from './to-tags.ts'
import { wallZoneOf } from './wall-zone.ts'

/** How the rows of a CRM become events, as its stock mapping and the operator say. */
export function configuredEventMapping<Row>(
  { from, fields, active, showOnWeb }: EventsSetting,
  access: RowAccess<Row>,
  { idNamespace, venuesFrom, zone, showIn }: MappingSurroundings,
): EventMapping<Row> {
  const origins = {
    Id: originOf('Id', fields.Id, access),
    Name: originOf('Name', fields.Name, access),
    VenueId: originOf('VenueId', fields.VenueId, access),
    TicketCapacity: originOf('TicketCapacity', fields.TicketCapacity, access),
    TicketsAvailable: originOf('TicketsAvailable', fields.TicketsAvailable, access),
    Start: originOf('Start', fields.Start, access),
    Finish: originOf('Finish', fields.Finish, access),
    Price: originOf('Price', fields.Price, access),
    Tags: originOf('Tags', fields.Tags, access),
    Links: originOf('Links', fields.Links, access),
  }
  const readers = eventReaders<Row>(origins, {
    toId: idNamespace === null ? toId : toNamedId(idNamespace, from),
    toVenueId: idNamespace === null ? toVenueId : toNamedVenueId(idNamespace, venuesFrom),
    toTags: toTagsOfText,
    toLinks: toLinksOfText,
    wallZone: { Start: wallZoneOf(fields.Start, access, zone), Finish: wallZoneOf(fields.Finish, access, zone) },
    toDateTime: { Start: dateConversion(fields.Start), Finish: dateConversion(fields.Finish) },
    showIn,
  })
  return {
    fields: {
      ...readers,
      TicketCapacity: countReader(fields.TicketCapacity, readers.TicketCapacity, access),
      TicketsAvailable: countReader(fields.TicketsAvailable, readers.TicketsAvailable, access),
    },
    conditions: [...listConditions(active, access, 'inactive'), ...listConditions(showOnWeb, access, 'not-shown')],
  }
}

/** How the rows of a CRM become venues. */
export function configuredVenueMapping<Row>(
  { from, fields, active }: VenuesSetting,
  access: RowAccess<Row>,
  { idNamespace }: Pick<MappingSurroundings, 'idNamespace'>,
): VenueMapping<Row> {
  const origins = {
    Id: originOf('Id', fields.Id, access),
    Name: originOf('Name', fields.Name, access),
    AddressStreet1: originOf('AddressStreet1', fields.AddressStreet1, access),
    AddressStreet2: originOf('AddressStreet2', fields.AddressStreet2, access),
    AddressStreet3: originOf('AddressStreet3', fields.AddressStreet3, access),
    AddressCity: originOf('AddressCity', fields.AddressCity, access),
    AddressPostalCode: originOf('AddressPostalCode', fields.AddressPostalCode, access),
    AddressState: originOf('AddressState', fields.AddressState, access),
    AddressCountry: originOf('AddressCountry', fields.AddressCountry, access),
    Longitude: originOf('Longitude', fields.Longitude, access),
    Latitude: originOf('Latitude', fields.Latitude, access),
    Telephone: originOf('Telephone', fields.Telephone, access),
    Description: originOf('Description', fields.Description, access),
    Website: originOf('Website', fields.Website, access),
    Links: originOf('Links', fields.Links, access),
  }
  return {
    fields: venueReaders<Row>(origins, {
      toId: idNamespace === null ? toId : toNamedId(idNamespace, from),
      toLinks: toLinksOfText,
    }),
    conditions: listConditions(active, access, 'inactive'),
  }
}

function originOf<Row>(
  name: string,
  setting: FieldSetting | DateSetting | SubtractSetting | null,
  access: RowAccess<Row>,
): Origin<Row> {
  // What is subtracted has a reader of its own.
  if (setting === null || setting.kind === 'subtract') return { column: name, cell: () => null }
  if (setting.kind === 'value') return { column: name, cell: () => setting.value }
  const { column, whenBlank, label } = setting
  const cellOf = label ? access.label(column) : access.cell(column)
  if (whenBlank === null) return { column, cell: cellOf }
  const cell = (row: Row): Cell => {
    const found = cellOf(row)
    return isBlank(found) ? whenBlank : found
  }
  return { column, cell }
}

function countReader<Row>(
  setting: FieldSetting | SubtractSetting | null,
  reader: Reader<Row, number>,
  access: RowAccess<Row>,
): Reader<Row, number> {
  return setting?.kind === 'subtract' ? subtractReader(setting.columns, access) : reader
}

function dateConversion(setting: DateSetting | null): DateConversion {
  return setting?.kind === 'column' && setting.wallTimeIn !== null ? toWallDateTime : toDateTime
}
