import type { Guid } from '../../domain/guid.ts'
import type { Change } from '../../replica/port.ts'
import type { Cell } from '../mapping/cell.ts'
import type { HasColumn } from './stock-mapping.ts'
import type { TableName } from './table-name.ts'

/** The cells of a row, in the order of the columns that were asked for. */
export type Cells = readonly Cell[]

/** One list as the database holds it. */
export interface ListTable<Item> {
  readonly name: 'events' | 'venues'
  readonly table: TableName
  /** The column that moves when a row changes; null where there is none. */
  readonly changedAt: string | null
  /** In which zone that column is wall time, where the configuration says so. */
  readonly changedAtIn: string | null
  /** How its rows become records, now that it is known which columns there are. */
  rowReading(has: HasColumn): RowReading<Item>
}

export interface RowReading<Item> {
  /** What is read of each row, and nothing else: the id's column first. */
  readonly columns: readonly string[]
  /** The key of the configuration, below the list's own, that names a column. */
  readonly keyOf: (column: string) => string
  /** The id of a row by its cell alone, null where it is none. */
  readonly idOf: (cell: Cell) => Guid | null
  readonly mapRow: (row: Cells, where: () => string, version: number) => Change<Item>
}
