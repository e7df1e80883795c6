import { nearestName } from '../../config/nearest-name.ts'
import type { MappedColumn } from '../mapping/list-setting.ts'
import type { Attributes } from './metadata.ts'

const LOOKUPS: ReadonlySet<string> = new Set(['Lookup', 'Customer', 'Owner'])

/** What the Web API calls the columns that the configuration names: a lookup `x` is `_x_value` there. */
export type ColumnNames = ReadonlyMap<string, string>

/** What can be said without asking: an event's venue is a lookup. */
export function likelyNames(columns: readonly MappedColumn[]): ColumnNames {
  return new Map(columns.map(({ column, key }) => [column, key === 'fields.VenueId' ? lookupName(column) : column]))
}

/** The names by the table's definition, or what is wrong with them, all of it in one sentence. */
export function definedNames(
  columns: readonly MappedColumn[],
  attributes: Attributes,
  list: string,
): ColumnNames | string {
  const names = new Map<string, string>()
  const missing = new Map<string, string>()
  for (const { column, key } of columns) {
    const logical = attributes.has(column) ? column : column.replace(/^_(.+)_value$/, '$1')
    const type = attributes.get(logical)
    if (type === undefined) missing.set(column, key)
    else names.set(column, LOOKUPS.has(type) ? lookupName(logical) : logical)
  }
  return missing.size === 0 ? names : missingWords(missing, attributes, list)
}

function lookupName(column: string): string {
  return /^_.+_value$/.test(column) ? column : `_${column}_value`
}

function missingWords(missing: ReadonlyMap<string, string>, attributes: Attributes, list: string): string {
  const words = Array.from(missing, ([column, key]) => {
    const near = nearestName(column, attributes.keys())
    return `${column} (crm.${list}.${key}${near === null ? '' : `; did you mean ${near}?`})`
  })
  return `the table has no column ${words.join(', ')}; name another, or null for none`
}
