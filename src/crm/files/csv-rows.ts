import type { Cell } from '../mapping/cell.ts'
import type { IgnoredColumns } from './ignored-columns.ts'
import type { CellOf, ListFile } from './list-file.ts'
import type { RowSink } from './row-sink.ts'

/** A row as its cells stand side by side; null is a blank cell. */
export type CsvRow = readonly (string | null)[]

/** Takes the header row, and gives what takes the rows below it. */
export function csvRows<Item>(
  list: ListFile<Item>,
  sink: RowSink<Item>,
  columns: IgnoredColumns,
): (header: CsvRow) => (row: CsvRow, line: number) => void {
  return (header) => {
    for (const name of header) if (name !== null) columns.sawColumn(name)
    const cellOf: CellOf<CsvRow> = (column) => {
      const index = header.indexOf(column)
      return index === -1 ? (): Cell => null : (row): Cell => row[index] ?? null
    }
    const mapRow = list.mapper(cellOf, 'text')
    return (row, line) => {
      const where = (): string => sink.whereIs(sink.rows.count, line)
      sink.rows.add(mapRow(row, where), line)
    }
  }
}
