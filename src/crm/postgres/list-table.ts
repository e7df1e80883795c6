import type { CrmSettings } from '../../config/configuration.ts'
import { columnSource } from '../../config/crm/sources.ts'
import { type RecordTable, LINKS } from '../../domain/field.ts'
import type { FurtherField } from '../../domain/further.ts'
import type { Stream } from '../connector/marquee-connector.d.ts'
import { type ListSetting, type MappedColumn, columnName, mappedColumns, settingOf } from '../mapping/list-setting.ts'

export type TableSettings = CrmSettings<'postgres'>['events'] | CrmSettings<'postgres'>['venues']

/** A table or view of the database, and which of its columns are read. */
export interface ListTable {
  readonly name: 'events' | 'venues'
  /** The name of the table or view, as it is configured: `crm.public_events`. */
  readonly written: string
  /** The name in SQL. Its parts are case-sensitive. */
  readonly quoted: string
  readonly tableSettings: TableSettings
  readonly idColumn: string
  /** The mapping of a view made for Marquee, as the stream declares it. */
  readonly stock: Pick<Stream, 'fields' | 'active' | 'showOnWeb'>
  /** All columns that are read, with the configuration keys that name them, relative to the list's section. */
  readonly named: readonly Pick<MappedColumn, 'column' | 'key'>[]
  /** The column that is read if the table lacks one; `null` for a column that is blank then. */
  readonly instead: ReadonlyMap<string, string | null>
}

/** A common older name of the updatedAt column, used if `updated_at` does not exist. */
const OLDER_NAME = 'changed_at'

/**
 * The mapping of a view made for Marquee, whose columns are the contract's names in snake_case, with the
 * configuration's changes.
 */
export function listTable(
  { list, fields }: RecordTable,
  tableSettings: TableSettings,
  further: readonly FurtherField[],
): ListTable {
  const own = [...fields, LINKS, ...further].map(({ name }) => [name, snakeCase(name)] as const)
  const isStock = (name: string): boolean => !Object.hasOwn(tableSettings.fields, name)
  const showOnWeb = list === 'events' ? [{ column: 'show_on_web', oneOf: [true] }] : null
  const setting: ListSetting = settingOf(
    {
      fields: Object.fromEntries(own.map(([name, column]) => [name, columnSource(column)])),
      active: [{ column: 'active', oneOf: [true] }],
      showOnWeb,
    },
    tableSettings,
  )
  const named = mappedColumns(setting)
  const idColumn = columnName(setting, 'Id')
  return {
    name: list,
    written: tableSettings.from,
    quoted: tableSettings.from.split('.').map(quote).join('.'),
    tableSettings,
    idColumn,
    stock: {
      fields: { Id: snakeCase('Id'), ...Object.fromEntries(own) },
      active: { active: [true] },
      ...(showOnWeb === null ? {} : { showOnWeb: { show_on_web: [true] } }),
    },
    named: tableSettings.updatedAt === null ? named : [...named, { column: tableSettings.updatedAt, key: 'updatedAt' }],
    instead: new Map<string, string | null>([
      ...(isStock(LINKS.name) ? [[snakeCase(LINKS.name), null] as const] : []),
      // A further field may have its own name as well: nobody makes a view for it.
      ...further.filter(({ name }) => isStock(name)).map(({ name }) => [snakeCase(name), name] as const),
      ...(tableSettings.updatedAt === 'updated_at' ? [['updated_at', OLDER_NAME] as const] : []),
    ]),
  }
}

/** Returns the column that is read for a named one; `null` if it is blank, undefined if the table lacks it. */
export function columnFor(
  column: string,
  { instead }: ListTable,
  columns: { has(column: string): boolean },
): string | null | undefined {
  if (columns.has(column)) return column
  const other = instead.get(column)
  return other === null || (other !== undefined && columns.has(other)) ? other : undefined
}

function snakeCase(name: string): string {
  return name.replaceAll(/(?!^)[A-Z]/g, '_$&').toLowerCase()
}

/** Quotes a name for SQL, whatever characters it contains (PostgreSQL documentation, 4.1.1). */
export function quote(name: string): string {
  return `"${name.replaceAll('"', '""')}"`
}
