import type { WithheldFault } from '../../domain/withheld.ts'
import type { Zone } from '../../domain/zone.ts'
import type { Cell } from './cell.ts'
import { showCell } from './cell.ts'

/** How the rows of one connector are looked into; each function is asked once, and what it gives is run for each row. */
export interface RowAccess<Row> {
  /** The cell of a column, null where a row lacks it. */
  cell(column: string): (row: Row) => Cell
  /** The words that people see for the codes in a column. */
  label(column: string): (row: Row) => Cell
  /** The zone that a cell names, by a code of the CRM too; null for anything else. */
  zoneOf(cell: Cell): Zone | null
}

/** Reads one thing of a row, or says why the row cannot be served. */
export type Reader<Row, Value> = (row: Row) => Value | Reason

/** A cell that cannot be read as what its field holds. */
export class Misfit {
  /** The end of a sentence: `a date-time such as 2026-07-12T19:30:00+01:00`. */
  readonly expected: string
  readonly found: string

  constructor(expected: string, cell: Cell) {
    this.expected = expected
    this.found = showCell(cell)
  }
}

/** Why a row is withheld, but for where it stands. */
export class Reason {
  readonly fault: WithheldFault
  readonly column: string | null
  readonly expected: string | null
  readonly found: string | null

  constructor(
    fault: WithheldFault,
    column: string | null,
    misfit: { readonly expected: string; readonly found: string | null } | null,
  ) {
    this.fault = fault
    this.column = column
    this.expected = misfit?.expected ?? null
    this.found = misfit?.found ?? null
  }
}
