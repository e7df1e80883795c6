import { RowFault } from '../../domain/withheld.ts'
import type { CrmSettings } from '../../config/configuration.ts'
import { columnSource } from '../../config/crm/sources.ts'
import { type RecordTable, LINKS } from '../../domain/field.ts'
import type { FurtherField } from '../../domain/further.ts'
import type { Guid } from '../../domain/guid.ts'
import type { Change } from '../../sync/port.ts'
import { type Cell, type RowAccess } from '../cells/cell.ts'
import { zoneNamedBy } from '../../domain/zone.ts'
import {
  type ListSetting,
  type MappingContext,
  columnName,
  declaring,
  mappedColumns,
  settingOf,
} from '../mapping/list-setting.ts'
import { type RowKind, listMapping, mapRow } from '../mapping/map-row.ts'

type Cells = readonly Cell[]

interface Columns {
  readonly columns: { has(column: string): boolean }
  /** Columns that the view defines as NULL. */
  readonly nulls: ReadonlySet<string>
}

export interface ListTable<Item> {
  readonly name: 'events' | 'venues'
  readonly table: TableName
  readonly idColumn: string
  readonly updatedAt: string | null
  /** Whether the configuration has `fields` for the list. */
  readonly saysFields: boolean
  /** The configured zone of an updatedAt column without time zone. */
  readonly updatedAtIn: string | null
  withUpdatedAt(column: string): ListTable<Item>
  rowReading(shape: Columns): RowReading<Item>
}

export interface RowReading<Item> {
  /** The columns to read of each row; the id's column is first. */
  readonly columns: readonly string[]
  /** Returns the configuration key that names a column, relative to the list's section. */
  readonly keyOf: (column: string) => string
  readonly idOf: (cell: Cell) => Guid | null
  readonly mapRow: (row: Cells, where: () => string, version: number) => Change<Item>
}

type TableContext = MappingContext & { readonly further: readonly FurtherField[] }

export function listTable<Item extends { readonly Id: Guid }>(
  kind: RowKind<Item>,
  settings: TableSettings,
  context: TableContext,
): ListTable<Item> {
  const { from, updatedAt, updatedAtIn } = settings
  const { further } = context
  return {
    name: kind.table.list,
    table: tableName(from),
    idColumn: columnName(
      tableSetting(kind.table, settings, further, () => true),
      'Id',
    ),
    updatedAt,
    updatedAtIn: updatedAtIn?.id ?? null,
    saysFields: Object.keys(settings.fields ?? {}).length > 0,
    withUpdatedAt: (column) => listTable(kind, { ...settings, updatedAt: column }, context),
    rowReading({ columns, nulls }) {
      const setting = tableSetting(kind.table, settings, further, (column) => columns.has(column))
      const access = new ColumnAccess(nulls)
      const id = setting.fields.Id
      if (id?.kind === 'column') access.cell(id.column)
      const mapping = listMapping<Cells, Item>(kind, { ...setting, updatedAt }, access, context)
      if (updatedAt !== null) access.cell(updatedAt)
      return {
        columns: access.columns,
        keyOf(column) {
          if (column === updatedAt) return 'updatedAt'
          const key = mappedColumns(setting).find((mapped) => mapped.column === column)?.key ?? 'fields'
          // A condition can only be replaced as a whole.
          return key.startsWith('fields.') ? key : (key.split('.')[0] ?? key)
        },
        idOf(cell) {
          const read = mapping.readers.Id([cell])
          return read instanceof RowFault ? null : read
        },
        mapRow: (row, where, version) => mapRow(mapping, row, where, version),
      }
    },
  }
}

/** Reads rows by column, and collects the columns that are needed. */
class ColumnAccess implements RowAccess<Cells> {
  readonly columns: string[] = []
  readonly #nulls: ReadonlySet<string>

  /** @param nulls columns that the view defines as NULL */
  constructor(nulls: ReadonlySet<string>) {
    this.#nulls = nulls
  }

  isThere(column: string): () => boolean {
    return () => !this.#nulls.has(column)
  }

  cell(column: string): (row: Cells) => Cell {
    const known = this.columns.indexOf(column)
    const index = known === -1 ? this.columns.push(column) - 1 : known
    return (row) => row[index] ?? null
  }

  /** A database has no labels for its codes; the configuration refuses `label`. */
  label(column: string): (row: Cells) => Cell {
    return this.cell(column)
  }

  zoneOf: RowAccess<Cells>['zoneOf'] = zoneNamedBy
}

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
    ...declaring(further),
    active: [{ column: 'active', oneOf: [true] }],
    showOnWeb: list === 'events' ? [{ column: 'show_on_web', oneOf: [true] }] : null,
  }
  return settingOf(stock, said)
}

function snakeCase(name: string): string {
  return name.replaceAll(/(?!^)[A-Z]/g, '_$&').toLowerCase()
}

/** The name of a table or view, in the configuration and in SQL. */
export interface TableName {
  /** The name as configured: `crm.public_events`. */
  readonly written: string
  /** `null` if the server's search path decides. */
  readonly schema: string | null
  readonly name: string
  readonly quoted: string
}

/** Parses `name` or `schema.name`. Both are case-sensitive. */
function tableName(written: string): TableName {
  const dot = written.indexOf('.')
  const schema = dot === -1 ? null : written.slice(0, dot)
  const name = written.slice(dot + 1)
  return { written, schema, name, quoted: schema === null ? quote(name) : `${quote(schema)}.${quote(name)}` }
}

/** Quotes a name for SQL, whatever characters it contains (PostgreSQL documentation, 4.1.1). */
export function quote(name: string): string {
  return `"${name.replaceAll('"', '""')}"`
}
