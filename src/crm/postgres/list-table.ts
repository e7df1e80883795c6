import { RowFault } from '../../domain/withheld.ts'
import type { CrmSettings } from '../../config/configuration.ts'
import { columnSource } from '../../config/crm/sources.ts'
import { type RecordTable, LINKS } from '../../domain/field.ts'
import type { FurtherField } from '../../domain/further.ts'
import type { Guid } from '../../domain/guid.ts'
import { type Cell, type RowAccess } from '../cells/cell.ts'
import { zoneNamedBy } from '../../domain/zone.ts'
import {
  type ListSetting,
  type MappedColumn,
  type MappingContext,
  columnName,
  mappedColumns,
  settingOf,
} from '../mapping/list-setting.ts'
import { type MappedRow, type RowKind, listMapping, mapRow } from '../mapping/map-row.ts'

type Cells = readonly Cell[]

interface Columns {
  readonly columns: { has(column: string): boolean }
  /** Columns that the view defines as NULL. */
  readonly nulls: ReadonlySet<string>
}

export interface ListTable<Item> {
  readonly name: 'events' | 'venues'
  /** The name of the table or view, as it is configured: `crm.public_events`. */
  readonly written: string
  /** The name in SQL. Its parts are case-sensitive. */
  readonly quoted: string
  readonly idColumn: string
  readonly settings: TableSettings
  rowReading(shape: Columns): RowReading<Item>
}

/** How the rows of the table are read. Each has the columns, then its updatedAt. */
export interface RowReading<Item> {
  /** The columns to read of each row; the id's column is first. */
  readonly columns: readonly string[]
  /** The updatedAt column that the table has. */
  readonly updatedAt: string | null
  /** All columns, with the configuration keys that name them, relative to the list's section. */
  readonly named: readonly Pick<MappedColumn, 'column' | 'key'>[]
  readonly idOf: (cell: Cell) => Guid | null
  readonly mapRow: (row: Cells, where: () => string, version: number) => MappedRow<Item>
}

type TableContext = MappingContext & { readonly further: readonly FurtherField[] }

export function listTable<Item extends { readonly Id: Guid }>(
  kind: RowKind<Item>,
  settings: TableSettings,
  { further, ...context }: TableContext,
): ListTable<Item> {
  const stock = tableSetting(kind.table, settings, further, () => true)
  const idColumn = columnName(stock, 'Id')
  return {
    name: kind.table.list,
    written: settings.from,
    quoted: settings.from.split('.').map(quote).join('.'),
    idColumn,
    settings,
    rowReading(shape) {
      const has = (column: string): boolean => shape.columns.has(column)
      const setting = tableSetting(kind.table, settings, further, has)
      const isOlder = settings.updatedAt === 'updated_at' && !has('updated_at') && has(OLDER_NAME)
      const updatedAt = isOlder ? OLDER_NAME : settings.updatedAt
      const mapped = mappedColumns(setting)
      const columns = [...new Set([idColumn, ...mapped.map(({ column }) => column)])]
      const cell = (column: string): ((row: Cells) => Cell) => {
        const found = columns.indexOf(column)
        if (found === -1 && column !== updatedAt) throw new Error(`the column ${column} is not read`)
        const index = found === -1 ? columns.length : found
        return (row) => row[index] ?? null
      }
      // A database has no labels for its codes; the configuration refuses `label`.
      const isThere = (column: string) => () => !shape.nulls.has(column)
      const access: RowAccess<Cells> = { cell, label: cell, isThere, zoneOf: zoneNamedBy }
      const mapping = listMapping<Cells, Item>(kind, { ...setting, updatedAt }, access, context)
      return {
        columns,
        updatedAt,
        named: updatedAt === null ? mapped : [...mapped, { column: updatedAt, key: 'updatedAt' }],
        idOf(id) {
          const read = mapping.readers.Id([id])
          return read instanceof RowFault ? null : read
        },
        mapRow: (row, where, version) => mapRow(mapping, row, where, version),
      }
    },
  }
}

/** A common older name of the updatedAt column, used if `updated_at` does not exist. */
const OLDER_NAME = 'changed_at'

export type TableSettings = CrmSettings<'postgres'>['events'] | CrmSettings<'postgres'>['venues']

/** Whether the table has a column. Of the stock columns, only `links` may be missing. */
type HasColumn = (column: string) => boolean

/**
 * The mapping of a view made for Marquee, whose columns are the contract's names in snake_case, with the
 * configuration's changes.
 */
function tableSetting(
  { list, fields }: RecordTable,
  said: TableSettings,
  further: readonly FurtherField[],
  has: HasColumn,
): ListSetting {
  const columns = [...fields, LINKS].map(({ name }) => {
    const column = snakeCase(name)
    return [name, name === LINKS.name && !has(column) ? null : columnSource(column)] as const
  })
  // A further field may have its own name as well: nobody makes a view for it.
  const others = further.map(({ name }) => {
    const column = snakeCase(name)
    return [name, columnSource(!has(column) && has(name) ? name : column)] as const
  })
  const stock = {
    fields: Object.fromEntries([...columns, ...others]),
    further,
    active: [{ column: 'active', oneOf: [true] }],
    showOnWeb: list === 'events' ? [{ column: 'show_on_web', oneOf: [true] }] : null,
  }
  return settingOf(stock, said)
}

function snakeCase(name: string): string {
  return name.replaceAll(/(?!^)[A-Z]/g, '_$&').toLowerCase()
}

/** Quotes a name for SQL, whatever characters it contains (PostgreSQL documentation, 4.1.1). */
export function quote(name: string): string {
  return `"${name.replaceAll('"', '""')}"`
}
