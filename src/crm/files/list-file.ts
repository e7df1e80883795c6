import type { EventRecord } from '../../domain/event.ts'
import type { VenueRecord } from '../../domain/venue.ts'
import type { Change } from '../../replica/port.ts'
import { mapEvent, mapVenue } from '../mapping/map-row.ts'
import type { CellOf, FileZones } from './file-mapping.ts'
import { fileEventMapping, fileVenueMapping } from './file-mapping.ts'
import type { ListName } from './list-columns.ts'

/** What differs between the two lists. */
export interface ListFile<Item> {
  readonly name: ListName
  /** How a row of a format becomes what the port carries. A file has no version of a row but its bytes. */
  mapper<Row>(
    cellOf: CellOf<Row>,
    lists: 'native' | 'text',
  ): (row: Row, where: () => string, version?: number) => Change<Item>
}

export function eventsFile(zones: FileZones): ListFile<EventRecord> {
  return {
    name: 'events',
    mapper(cellOf, lists) {
      const mapping = fileEventMapping(cellOf, lists, zones)
      return (row, where, version = Number.NaN) => mapEvent(mapping, row, where, version)
    },
  }
}

export function venuesFile(zones: FileZones): ListFile<VenueRecord> {
  return {
    name: 'venues',
    mapper(cellOf, lists) {
      const mapping = fileVenueMapping(cellOf, lists, zones)
      return (row, where, version = Number.NaN) => mapVenue(mapping, row, where, version)
    },
  }
}
