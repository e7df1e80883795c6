import type { EventRecord } from '../../domain/event.ts'
import type { VenueRecord } from '../../domain/venue.ts'
import type { Zone } from '../../domain/zone.ts'
import type { Change } from '../../replica/port.ts'
import type { CellObject } from '../mapping/cell.ts'
import { configuredEventMapping, configuredVenueMapping } from '../mapping/configured-mapping.ts'
import { mapEvent, mapVenue } from '../mapping/map-row.ts'
import type { EventsSetting, VenuesSetting } from '../mapping/mapping-settings.ts'
import { mappedColumns } from '../mapping/mapped-columns.ts'
import { Refusal } from '../mapping/refusal.ts'
import type { Labels } from './labels.ts'
import { TableRows } from './table-rows.ts'
import { UnlabelledRows } from './unlabelled-rows.ts'
import type { ZoneCodes } from './zone-codes.ts'

/** One list as Dataverse holds it, and how its rows become records. */
export interface ListTable<Item> {
  readonly name: 'events' | 'venues'
  /** The entity set. */
  readonly from: string
  readonly rows: TableRows
  readonly labels: Labels
  readonly unlabelled: UnlabelledRows
  /** The columns of a read of availability alone; empty where there is none. */
  readonly availabilityColumns: readonly string[]
  mapRow(row: CellObject, where: () => string, version: number): Change<Item>
  /** The availability of a row, null where it has none to tell. */
  mapAvailability(row: CellObject): Change<Item> | null
}

export interface TableParts {
  readonly labels: Labels
  readonly zones: ZoneCodes
  readonly zone: Zone
  readonly showIn: Zone
  readonly venuesFrom: string
}

export function eventsTable(
  setting: EventsSetting,
  { labels, zones, zone, showIn, venuesFrom }: TableParts,
): ListTable<EventRecord> {
  const rows = new TableRows(setting, labels, zones)
  const unlabelled = new UnlabelledRows()
  const surroundings = { idNamespace: null, venuesFrom, zone, showIn }
  const mapping = configuredEventMapping(setting, rows, surroundings)
  const { Id, TicketCapacity, TicketsAvailable } = setting.fields
  const fields = {
    ...setting.fields,
    Name: null,
    VenueId: null,
    Start: null,
    Finish: null,
    Price: null,
    Tags: null,
    Links: null,
  }
  const counted = {
    ...setting,
    fields: { ...fields, Id, TicketCapacity, TicketsAvailable },
    active: null,
    showOnWeb: null,
  }
  return {
    name: 'events',
    from: setting.from,
    rows,
    labels,
    unlabelled,
    availabilityColumns: mappedColumns(counted).map(({ column }) => column),
    mapRow: (row, where, version) => noted(mapEvent(mapping, row, where, version), row, rows, unlabelled),
    mapAvailability(row) {
      const id = mapping.fields.Id(row)
      const capacity = mapping.fields.TicketCapacity(row)
      const available = mapping.fields.TicketsAvailable(row)
      if (id instanceof Refusal || capacity instanceof Refusal || available instanceof Refusal) return null
      return { kind: 'availability', id, TicketCapacity: capacity, TicketsAvailable: available }
    },
  }
}

export function venuesTable(setting: VenuesSetting, { labels, zones }: TableParts): ListTable<VenueRecord> {
  const rows = new TableRows(setting, labels, zones)
  const unlabelled = new UnlabelledRows()
  const mapping = configuredVenueMapping(setting, rows, { idNamespace: null })
  return {
    name: 'venues',
    from: setting.from,
    rows,
    labels,
    unlabelled,
    availabilityColumns: [],
    mapRow: (row, where, version) => noted(mapVenue(mapping, row, where, version), row, rows, unlabelled),
    mapAvailability: () => null,
  }
}

/** The change, its row noted where it is served without a word. */
function noted<Item>(change: Change<Item>, row: CellObject, rows: TableRows, unlabelled: UnlabelledRows): Change<Item> {
  if (change.id !== null) unlabelled.note(change.id, change.kind === 'record' ? rows.missingWords(row) : [])
  return change
}
