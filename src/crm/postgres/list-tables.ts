import type { EventsTable, VenuesTable } from '../../config/crm/postgres.ts'
import type { EventRecord } from '../../domain/event.ts'
import type { Guid } from '../../domain/guid.ts'
import type { VenueRecord } from '../../domain/venue.ts'
import { configuredEventMapping, configuredVenueMapping } from '../mapping/configured-mapping.ts'
import type { Reader } from '../mapping/list-mapping.ts'
import { mapEvent, mapVenue } from '../mapping/map-row.ts'
import { mappedColumns } from '../mapping/mapped-columns.ts'
import type { EventsSetting, MappingSurroundings, VenuesSetting } from '../mapping/mapping-settings.ts'
import { Refusal } from '../mapping/refusal.ts'
import { ColumnAccess } from './column-access.ts'
import type { Cells, ListTable, RowReading } from './list-table.ts'
import { eventsSetting, venuesSetting } from './stock-mapping.ts'
import { tableName } from './table-name.ts'

export function eventsTable(settings: EventsTable, surroundings: MappingSurroundings): ListTable<EventRecord> {
  const { from, changedAt, changedAtIn } = settings
  return {
    name: 'events',
    table: tableName(from),
    changedAt,
    changedAtIn: changedAtIn?.id ?? null,
    rowReading(has) {
      const setting = eventsSetting(settings, has)
      const access = accessBehind(setting.fields.Id)
      const mapping = configuredEventMapping<Cells>(setting, access, surroundings)
      return rowReading(access, settings, setting, mapping.fields.Id, (row, where, version) =>
        mapEvent(mapping, row, where, version),
      )
    },
  }
}

export function venuesTable(settings: VenuesTable, surroundings: MappingSurroundings): ListTable<VenueRecord> {
  const { from, changedAt, changedAtIn } = settings
  return {
    name: 'venues',
    table: tableName(from),
    changedAt,
    changedAtIn: changedAtIn?.id ?? null,
    rowReading(has) {
      const setting = venuesSetting(settings, has)
      const access = accessBehind(setting.fields.Id)
      const mapping = configuredVenueMapping<Cells>(setting, access, surroundings)
      return rowReading(access, settings, setting, mapping.fields.Id, (row, where, version) =>
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
  { changedAt }: Pick<EventsTable, 'changedAt'>,
  setting: EventsSetting | VenuesSetting,
  readId: Reader<Cells, Guid>,
  mapRow: RowReading<Item>['mapRow'],
): RowReading<Item> {
  if (changedAt !== null) access.cell(changedAt)
  return {
    columns: access.columns,
    keyOf(column) {
      if (column === changedAt) return 'changedAt'
      const key = mappedColumns(setting).find((mapped) => mapped.column === column)?.key ?? 'fields'
      // A condition is replaced as a whole.
      return key.startsWith('fields.') ? key : (key.split('.')[0] ?? key)
    },
    idOf(cell) {
      const id = readId([cell])
      return id instanceof Refusal ? null : id
    },
    mapRow,
  }
}
