import type { PostgresSettings } from '../../config/crm/postgres.ts'
import { columnSource } from '../../config/crm/sources.ts'
import { type RecordTable, LINKS } from '../../domain/field.ts'
import type { Guid } from '../../domain/guid.ts'
import type { Zone } from '../../domain/zone.ts'
import type { Change } from '../../sync/port.ts'
import { type Cell, type RowAccess, Reason } from '../mapping/cell.ts'
import { openNamedZone } from '../mapping/dates.ts'
import { type ListSetting, type MappingSurroundings, mappedColumns, settingOf } from '../mapping/list-setting.ts'
import { type RowKind, listMapping, mapRow } from '../mapping/map-row.ts'

/** The cells of a row, in the order of the columns that were asked for. */
type Cells = readonly Cell[]

/** The columns that a table has. */
interface Columns {
  readonly columns: { has(column: string): boolean }
  /** Those that a view fills with NULL on purpose. */
  readonly nulls: ReadonlySet<string>
}

/** One list as the database holds it. */
export interface ListTable<Item> {
  readonly name: 'events' | 'venues'
  readonly table: TableName
  /** The column that moves when a row changes; null where there is none. */
  readonly updatedAt: string | null
  /** The configuration has `fields` for it. */
  readonly saysFields: boolean
  /** In which zone that column is wall time, where the configuration says so. */
  readonly updatedAtIn: string | null
  /** The same list, with another column that moves when a row changes. */
  withUpdatedAt(column: string): ListTable<Item>
  /** How its rows become records, now that it is known which columns there are. */
  rowReading(shape: Columns): RowReading<Item>
}

export interface RowReading<Item> {
  /** What is read of each row, and nothing else: the id's column first. */
  readonly columns: readonly string[]
  /** The key of the configuration, below the list's own, that names a column. */
  readonly keyOf: (column: string) => string
  /** The id of a row by its cell alone, null where it is not one. */
  readonly idOf: (cell: Cell) => Guid | null
  readonly mapRow: (row: Cells, where: () => string, version: number) => Change<Item>
}

export function listTable<Item extends { readonly Id: Guid }>(
  kind: RowKind<Item>,
  settings: TableSettings,
  surroundings: MappingSurroundings,
): ListTable<Item> {
  const { from, updatedAt, updatedAtIn } = settings
  return {
    name: kind.table.list,
    table: tableName(from),
    updatedAt,
    updatedAtIn: updatedAtIn?.id ?? null,
    saysFields: Object.keys(settings.fields ?? {}).length > 0,
    withUpdatedAt: (column) => listTable(kind, { ...settings, updatedAt: column }, surroundings),
    rowReading({ columns, nulls }) {
      const setting = tableSetting(kind.table, settings, (column) => columns.has(column))
      const access = new ColumnAccess(nulls)
      // The id's column comes first.
      const id = setting.fields.Id
      if (id?.kind === 'column') access.cell(id.column)
      const mapping = listMapping<Cells, Item>(kind, setting, access, surroundings)
      if (updatedAt !== null) access.cell(updatedAt)
      return {
        columns: access.columns,
        keyOf(column) {
          if (column === updatedAt) return 'updatedAt'
          const key = mappedColumns(setting).find((mapped) => mapped.column === column)?.key ?? 'fields'
          // A condition is replaced as a whole.
          return key.startsWith('fields.') ? key : (key.split('.')[0] ?? key)
        },
        idOf(cell) {
          const read = mapping.readers.Id([cell])
          return read instanceof Reason ? null : read
        },
        mapRow: (row, where, version) => mapRow(mapping, row, where, version),
      }
    },
  }
}

/** Looks into rows by column, and gathers which columns there have to be. */
class ColumnAccess implements RowAccess<Cells> {
  readonly columns: string[] = []
  readonly #nulls: ReadonlySet<string>

  /** @param nulls columns that the view fills with NULL on purpose */
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

  /** A database has no words for its codes; the configuration does not let anyone ask. */
  label(column: string): (row: Cells) => Cell {
    return this.cell(column)
  }

  zoneOf(cell: Cell): Zone | null {
    return typeof cell === 'string' ? openNamedZone(cell.trim()) : null
  }
}

/** What the configuration says of a table. */
export type TableSettings = PostgresSettings['events'] | PostgresSettings['venues']

/** Whether the table has a column; only `links` may be missing from the stock ones. */
type HasColumn = (column: string) => boolean

/** The columns of a view made for Marquee: the contract's names in snake_case, with what the operator says instead. */
function tableSetting({ list, fields }: RecordTable, said: TableSettings, has: HasColumn): ListSetting {
  const columns = [...fields, LINKS].map(({ name }) => {
    const column = name.replaceAll(/(?!^)[A-Z]/g, '_$&').toLowerCase()
    return [name, name === LINKS.name && !has(column) ? null : columnSource(column)] as const
  })
  const stock = {
    fields: Object.fromEntries(columns),
    active: [{ column: 'active', oneOf: [true] }],
    showOnWeb: list === 'events' ? [{ column: 'show_on_web', oneOf: [true] }] : null,
  }
  return settingOf(stock, said)
}

/** A table or view, as the configuration names it and as SQL does. */
export interface TableName {
  /** As it was written: `crm.public_events`. */
  readonly written: string
  /** Null where the server's search path decides. */
  readonly schema: string | null
  readonly name: string
  readonly quoted: string
}

/** Reads `name` or `schema.name`; both are case-sensitive. */
function tableName(written: string): TableName {
  const dot = written.indexOf('.')
  const schema = dot === -1 ? null : written.slice(0, dot)
  const name = written.slice(dot + 1)
  return { written, schema, name, quoted: schema === null ? quote(name) : `${quote(schema)}.${quote(name)}` }
}

/** A name as SQL takes it, whatever it holds (PostgreSQL documentation, 4.1.1). */
export function quote(name: string): string {
  return `"${name.replaceAll('"', '""')}"`
}
