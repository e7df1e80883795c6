import type { EventRecord } from '../../domain/event.ts'
import type { VenueRecord } from '../../domain/venue.ts'
import type { Zone } from '../../domain/zone.ts'
import type { Cell } from '../mapping/cell.ts'
import { flagCondition } from '../mapping/flag-condition.ts'
import type { EventMapping, VenueMapping } from '../mapping/list-mapping.ts'
import type { Conversions, Origin, Origins } from '../mapping/readers.ts'
import { eventReaders, venueReaders } from '../mapping/readers.ts'
import { toDateTime } from '../mapping/to-date-time.ts'
import { toId, toVenueId } from '../mapping/to-guid.ts'
import { toLinks, toLinksOfText } from '../mapping/to-links.ts'
import { toTags, toTagsOfText } from '../mapping/to-tags.ts'

/** Gives the cell of a column, null where a row lacks it. */
export type CellOf<Row> = (column: string) => (row: Row) => Cell

export interface FileZones {
  /** What a date without an offset is the wall time of. */
  readonly wall: Zone
  readonly showIn: Zone
}

/** `lists`: whether the format has lists of its own, or one text holds what is in them. */
export function fileEventMapping<Row>(
  cellOf: CellOf<Row>,
  lists: 'native' | 'text',
  zones: FileZones,
): EventMapping<Row> {
  const origin = (column: string): Origin<Row> => ({ column, cell: cellOf(column) })
  const origins: Origins<Row, EventRecord> = {
    Id: origin('Id'),
    Name: origin('Name'),
    VenueId: origin('VenueId'),
    TicketCapacity: origin('TicketCapacity'),
    TicketsAvailable: origin('TicketsAvailable'),
    Start: origin('Start'),
    Finish: origin('Finish'),
    Price: origin('Price'),
    Tags: origin('Tags'),
    Links: origin('Links'),
  }
  const shown = flagCondition(origin('ShowOnWeb'), false, 'not-shown')
  return {
    fields: eventReaders(origins, conversions<Row>(lists, zones)),
    conditions: [flagCondition(origin('Active'), true, 'inactive'), shown],
  }
}

export function fileVenueMapping<Row>(
  cellOf: CellOf<Row>,
  lists: 'native' | 'text',
  zones: FileZones,
): VenueMapping<Row> {
  const origin = (column: string): Origin<Row> => ({ column, cell: cellOf(column) })
  const origins: Origins<Row, VenueRecord> = {
    Id: origin('Id'),
    Name: origin('Name'),
    AddressStreet1: origin('AddressStreet1'),
    AddressStreet2: origin('AddressStreet2'),
    AddressStreet3: origin('AddressStreet3'),
    AddressCity: origin('AddressCity'),
    AddressPostalCode: origin('AddressPostalCode'),
    AddressState: origin('AddressState'),
    AddressCountry: origin('AddressCountry'),
    Longitude: origin('Longitude'),
    Latitude: origin('Latitude'),
    Telephone: origin('Telephone'),
    Description: origin('Description'),
    Website: origin('Website'),
    Links: origin('Links'),
  }
  return {
    fields: venueReaders(origins, conversions<Row>(lists, zones)),
    conditions: [flagCondition(origin('Active'), true, 'inactive')],
  }
}

function conversions<Row>(lists: 'native' | 'text', { wall, showIn }: FileZones): Conversions<Row> {
  const wallZone = (): Zone => wall
  return {
    toId,
    toVenueId,
    toTags: lists === 'text' ? toTagsOfText : toTags,
    toLinks: lists === 'text' ? toLinksOfText : toLinks,
    wallZone: { Start: wallZone, Finish: wallZone },
    toDateTime: { Start: toDateTime, Finish: toDateTime },
    showIn,
  }
}
