import type { Guid } from '../../domain/guid.ts'
import { parseGuid } from '../../domain/guid.ts'
import type { Change } from '../../replica/port.ts'
import type { CellObject } from '../mapping/cell.ts'
import type { ListTable } from './list-table.ts'

const MOST_ROWS = 1000

/** What a row says. */
export interface RowChange<Item> {
  readonly row: CellObject
  readonly change: Change<Item>
}

/** What some rows of one answer say, each id once: of a row that came twice the later counts. Null where a deletion names nothing. */
export function changesOf<Item>(
  rows: readonly CellObject[],
  table: ListTable<Item>,
): readonly RowChange<Item>[] | null {
  const byId = new Map<Guid, RowChange<Item>>()
  const withoutId: RowChange<Item>[] = []
  for (const row of rows) {
    const change = isDeleted(row) ? deletionOf(row) : table.mapRow(row, () => placeOf(row, table), versionOf(row))
    if (change === null) return null
    if (change.kind === 'deleted') table.unlabelled.note(change.id, [])
    if (change.id === null) withoutId.push({ row, change })
    else byId.set(change.id, { row, change })
  }
  return [...byId.values(), ...withoutId]
}

/** In pages that the replica applies between two requests. */
export function* slices<Entry>(entries: readonly Entry[]): Generator<readonly Entry[]> {
  for (let from = 0; from < entries.length; from += MOST_ROWS) {
    yield entries.length <= MOST_ROWS ? entries : entries.slice(from, from + MOST_ROWS)
  }
}

function isDeleted(row: CellObject): boolean {
  const context = row['@odata.context']
  return (typeof context === 'string' && context.endsWith('/$deletedEntity')) || Object.hasOwn(row, '@odata.removed')
}

/** `id` is a bare GUID (OData 4.0 would have the entity's URL there, whose key is taken as well). */
function deletionOf(row: CellObject): Change<never> | null {
  const text = row['id'] ?? row['@odata.id'] ?? null
  if (typeof text !== 'string') return null
  const id = parseGuid(/\(([^()]+)\)$/.exec(text)?.[1] ?? text)
  return id === null ? null : { kind: 'deleted', id }
}

/** The row's own version, from its ETag `W/"81052965"`; it moves with every change that Dataverse reports. */
function versionOf(row: CellObject): number {
  const etag = row['@odata.etag']
  const digits = typeof etag === 'string' ? /^W\/"(\d+)"$/.exec(etag)?.[1] : undefined
  return digits === undefined ? Number.NaN : Number(digits)
}

function placeOf<Item>(row: CellObject, { from, rows }: ListTable<Item>): string {
  const key = rows.columns.find((column) => column.key === 'fields.Id')?.column
  const id = key === undefined ? null : rows.cell(key)(row)
  return typeof id === 'string' ? `${from}, id ${id.slice(0, 40)}` : from
}
