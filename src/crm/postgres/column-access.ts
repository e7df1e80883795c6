import type { Zone } from '../../domain/zone.ts'
import { openNamedZone } from '../mapping/dates.ts'
import type { RowAccess } from '../mapping/reader.ts'
import type { Cells } from './list-table.ts'

/** Looks into rows by column, and gathers which columns there have to be. */
export class ColumnAccess implements RowAccess<Cells> {
  readonly columns: string[] = []

  cell(column: string): (row: Cells) => Cells[number] {
    const index = this.#indexOf(column)
    return (row) => row[index] ?? null
  }

  /** A database has no words for its codes; the configuration does not let anyone ask. */
  label(column: string): (row: Cells) => Cells[number] {
    return this.cell(column)
  }

  zoneOf(cell: Cells[number]): Zone | null {
    return typeof cell === 'string' ? openNamedZone(cell.trim()) : null
  }

  #indexOf(column: string): number {
    const known = this.columns.indexOf(column)
    return known === -1 ? this.columns.push(column) - 1 : known
  }
}
