import type { Guid } from '../../domain/guid.ts'
import { RowFault } from '../../domain/withheld.ts'
import type { Change } from '../../sync/port.ts'
import { LARGEST_ROW_BYTES } from '../kit/crm-limits.ts'
import { type Cell, type CellObject, isList, isObject } from '../cells/cell.ts'
import type { ListSetting, MappingContext } from '../mapping/list-setting.ts'
import {
  type AvailabilityMapping,
  type ListMapping,
  type RowKind,
  availabilityMapping,
  listMapping,
  mapRow,
  tooLargeRow,
} from '../mapping/map-row.ts'
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
  /** `null` for venues. */
  readonly availability: AvailabilityMapping<CellObject> | null
  mapRow(row: CellObject, where: () => string, version: number): Change<Item>
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
  const context = { ...parts, idNamespace: null, lists: 'text' } as const
  const mapping = listMapping(kind, setting, rows, context)
  const tooLarge = (row: CellObject, where: string, version: number): Change<Item> => {
    const id = mapping.readers.Id(row)
    return tooLargeRow(id instanceof RowFault ? null : id, where, version)
  }
  return {
    name: kind.table.list,
    from: setting.from,
    rows,
    labels,
    unlabelled,
    mapping,
    availability: kind.table.list === 'events' ? availabilityMapping(setting, rows, context) : null,
    mapRow(row, where, version) {
      const change =
        bytesOf(row, LARGEST_ROW_BYTES) > LARGEST_ROW_BYTES
          ? tooLarge(row, where(), version)
          : mapRow(mapping, row, where, version)
      // Only served rows are noted.
      if (change.id !== null) unlabelled.note(change.id, change.kind === 'record' ? rows.missingWords(row) : [])
      return change
    },
  }
}

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
