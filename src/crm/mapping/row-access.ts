import type { Zone } from '../../domain/zone.ts'
import type { Cell } from './cell.ts'

/** How the rows of one connector are looked into; each function is asked once, and what it gives is run for each row. */
export interface RowAccess<Row> {
  /** The cell of a column, null where a row lacks it. */
  cell(column: string): (row: Row) => Cell
  /** The words that people see for the codes in a column. */
  label(column: string): (row: Row) => Cell
  /** The zone that a cell names, by a code of the CRM's own too; null for what is none. */
  zoneOf(cell: Cell): Zone | null
}
