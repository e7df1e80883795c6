import type { Cell } from '../mapping/cell.ts'
import { parseLargeCell } from '../mapping/parse-cell.ts'
import type { IgnoredColumns } from './ignored-columns.ts'
import type { CellOf, ListFile } from './list-file.ts'
import { Pace } from './pace.ts'
import type { Taken } from './row-parser.ts'
import type { RowSink } from './row-sink.ts'

/** A row as its cells stand side by side; null is a blank cell. */
export type CsvRow = readonly (string | null)[]

/** Takes a row below the header, and the line it begins in. */
export type TakeCsvRow = (row: CsvRow, line: number) => Taken

/** A longer cell of links is read in parts, between which requests pass. */
const LONG = 32 * 1024
const LINK_MEMBERS: ReadonlySet<string> = new Set(['Rel', 'Href', 'Title'])

/** Takes the header row, and gives what takes the rows below it. */
export function csvRows<Item>(
  list: ListFile<Item>,
  sink: RowSink<Item>,
  columns: IgnoredColumns,
): (header: CsvRow) => TakeCsvRow {
  return (header) => {
    for (const name of header) if (name !== null) columns.sawColumn(name)
    const cellOf: CellOf<readonly Cell[]> = (column) => {
      const index = header.indexOf(column)
      return index === -1 ? (): Cell => null : (row): Cell => row[index] ?? null
    }
    const mapRow = list.mapper(cellOf, 'text')
    const linksAt = header.indexOf('Links')
    const add = (row: readonly Cell[], line: number): null => {
      const where = (): string => sink.whereIs(sink.rows.count, line)
      sink.rows.add(mapRow(row, where), line)
      return null
    }
    const addLater = async (row: CsvRow, links: string, line: number): Promise<null> => {
      const pace = new Pace()
      const parsed = await parseLargeCell(links, LINK_MEMBERS, () => (pace.isOver ? pace.rest() : null))
      await pace.rest()
      // What cannot be read is no more so where it is cut off.
      const read: readonly Cell[] = row
      return add(read.with(linksAt, parsed.ok ? parsed.cell : links.slice(0, 100)), line)
    }
    return (row, line) => {
      const links = row[linksAt] ?? ''
      return links.length > LONG ? addLater(row, links, line) : add(row, line)
    }
  }
}
