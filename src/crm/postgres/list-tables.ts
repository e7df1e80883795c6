import type { EventsTable, VenuesTable } from '../../config/crm/postgres.ts'
import type { EventRecord } from '../../domain/event.ts'
import type { Guid } from '../../domain/guid.ts'
import type { VenueRecord } from '../../domain/venue.ts'
import { configuredEventMapping, configuredVenueMapping } from '../mapping/configured-mapping.ts'
import type { Reader } from '../mapping/list-mapping.ts'
import { mapEvent, mapVenue } from '../mapping/map-row.ts'
import type { MappingSurroundings } from '../mapping/mapping-settings.ts'
import { Refusal } from '../mapping/refusal.ts'
import { ColumnAccess } from './column-access.ts'
import type { Cells, ListTable, RowReading } from './list-table.ts'
import { eventsSetting, venuesSetting } from './stock-mapping.ts'
import { tableName } from './table-name.ts'

export function eventsTable(settings: EventsTable, surroundings: MappingSurroundings): ListTable<EventRecord> {
  const { from, changedAt } = settings
  return {
    name: 'events',
    table: tableName(from),
    changedAt,
    rowReading(has) {
      const setting = eventsSetting(settings, has)
      const access = accessBehind(setting.fields.Id)
      const mapping = configuredEventMapping<Cells>(setting, access, surroundings)
      return rowReading(access, changedAt, mapping.fields.Id, (row, where, version) =>
        mapEvent(mapping, row, where, version),
      )
    },
  }
}

export function venuesTable(settings: VenuesTable, surroundings: MappingSurroundings): ListTable<VenueRecord> {
  const { from, changedAt } = settings
  return {
    name: 'venues',
    table: tableName(from),
    changedAt,
    rowReading(has) {
      const setting = venuesSetting(settings, has)
      const access = accessBehind(setting.fields.Id)
      const mapping = configuredVenueMapping<Cells>(setting, access, surroundings)
      return rowReading(access, changedAt, mapping.fields.Id, (row, where, version) =>
        mapVenue(mapping, row, where, version),
      )
    },
  }
}

/** Access whose first column is the id's. */
function accessBehind(id: { readonly kind: string; readonly column?: string } | null): ColumnAccess {
  const access = new ColumnAccess()
  if (id?.column !== undefined) access.cell(id.column)
  return access
}

function rowReading<Item>(
  access: ColumnAccess,
  changedAt: string | null,
  readId: Reader<Cells, Guid>,
  mapRow: RowReading<Item>['mapRow'],
): RowReading<Item> {
  if (changedAt !== null) access.cell(changedAt)
  return {
    columns: access.columns,
    idOf(cell) {
      const id = readId([cell])
      return id instanceof Refusal ? null : id
    },
    mapRow,
  }
}
