import { RowFault } from '../../domain/withheld.ts'
import type { EventRecord } from '../../domain/event.ts'
import type { Guid } from '../../domain/guid.ts'
import type { Change } from '../../sync/port.ts'
import { LARGEST_ROW_BYTES } from '../kit/crm-limits.ts'
import { type Cell, type CellObject, isList, isObject } from '../cells/cell.ts'
import { type ListSetting, type MappingContext, mappedColumns } from '../mapping/list-setting.ts'
import { type ListMapping, type RowKind, EVENT_ROWS, listMapping, mapRow, withheldRow } from '../mapping/map-row.ts'
import type { Labels } from './labels.ts'
import { TableRows, UnlabelledRows } from './table-rows.ts'
import type { ZoneCodes } from './zone-codes.ts'

/** One list in Dataverse, and how its rows become records. */
export interface EntityTable<Item> {
  readonly name: 'events' | 'venues'
  readonly from: string
  readonly rows: TableRows
  readonly labels: Labels
  readonly unlabelled: UnlabelledRows
  readonly mapping: ListMapping<CellObject, Item>
  /** The columns of a read of availability; empty if availability is not read separately. */
  readonly availabilityColumns: readonly string[]
  mapRow(row: CellObject, where: () => string, version: number): Change<Item>
  /** Maps a row of a read of availability; `null` if its values cannot be read. */
  mapAvailability(row: CellObject): Change<Item> | null
}

export interface TableParts extends Pick<MappingContext, 'zone' | 'showIn' | 'venuesFrom' | 'suspicions' | 'htmlText'> {
  readonly labels: Labels
  readonly zones: ZoneCodes
}

export function entityTable<Item extends { readonly Id: Guid }>(
  kind: RowKind<Item>,
  setting: ListSetting,
  { labels, zones, ...parts }: TableParts,
): EntityTable<Item> {
  const rows = new TableRows(setting, labels, zones)
  const unlabelled = new UnlabelledRows()
  const mapping = listMapping(kind, setting, rows, { ...parts, idNamespace: null, lists: 'text' })
  const tooLarge = (row: CellObject, where: string, version: number): Change<Item> => {
    const id = mapping.readers.Id(row)
    return withheldRow(TOO_LARGE, id instanceof RowFault ? null : id, where, version)
  }
  return {
    name: kind.table.list,
    from: setting.from,
    rows,
    labels,
    unlabelled,
    mapping,
    availabilityColumns: [],
    mapRow(row, where, version) {
      const change =
        bytesOf(row, LARGEST_ROW_BYTES) > LARGEST_ROW_BYTES
          ? tooLarge(row, where(), version)
          : mapRow(mapping, row, where, version)
      // Only served rows are noted.
      if (change.id !== null) unlabelled.note(change.id, change.kind === 'record' ? rows.missingWords(row) : [])
      return change
    },
    mapAvailability: () => null,
  }
}

const TOO_LARGE: RowFault = new RowFault('too-large', null, null)
/** Shorter texts are counted as if their characters were ASCII. */
const SHORT_TEXT = 1024

/** Returns the approximate bytes of a cell as JSON. Stops counting at `most`. */
function bytesOf(cell: Cell, most: number): number {
  if (typeof cell === 'string') return 2 + (cell.length <= SHORT_TEXT ? cell.length : Buffer.byteLength(cell))
  let bytes = 2
  if (isList(cell)) {
    for (const item of cell) if ((bytes += 1 + bytesOf(item, most - bytes)) > most) break
  } else if (isObject(cell)) {
    for (const name of Object.keys(cell))
      if ((bytes += 4 + name.length + bytesOf(cell[name] ?? null, most - bytes)) > most) break
  }
  return bytes
}

/** The table of events, whose availability can be read separately. */
export function eventsTable(setting: ListSetting, parts: TableParts): EntityTable<EventRecord> {
  const table = entityTable(EVENT_ROWS, setting, parts)
  const { readers } = table.mapping
  const { Id = null, TicketCapacity = null, TicketsAvailable = null } = setting.fields
  const counted = { ...setting, fields: { Id, TicketCapacity, TicketsAvailable }, active: null, showOnWeb: null }
  return {
    ...table,
    availabilityColumns: mappedColumns(counted).map(({ column }) => column),
    mapAvailability(row) {
      const [id, capacity, available] = [readers.Id(row), readers.TicketCapacity(row), readers.TicketsAvailable(row)]
      if (id instanceof RowFault || capacity instanceof RowFault || available instanceof RowFault) return null
      return { kind: 'availability', id, TicketCapacity: capacity, TicketsAvailable: available }
    },
  }
}
