import type { Guid } from '../../domain/guid.ts'
import type { Change, Page } from '../../replica/port.ts'
import type { Cell } from '../mapping/cell.ts'
import type { Answer } from './connection.ts'
import { decodeRow, decoders } from './decode-row.ts'
import type { ListTable, RowReading } from './list-table.ts'
import type { Snapshot } from './read-session.ts'
import { microsOf } from './stamp.ts'
import { quote } from './table-name.ts'
import type { TableShape } from './table-shape.ts'

export interface ReadRow<Item> {
  readonly change: Change<Item>
  readonly version: number
  /** The id as the database writes it. */
  readonly id: string | null
}

/** What is told where nothing was found: when, and how far behind (the port's rule for sources that lag). */
export function emptyPage({ begunAt, sourceLagMs }: Snapshot): Page<never> {
  return { begunAt, sourceLagMs, changes: [], whereIs: () => '' }
}

/** A table as one server has it: what is asked of it, and how its answers become pages. */
export class KnownTable<Item> {
  readonly server: string
  readonly idColumn: string
  /** Empty where nothing tells of changes. */
  readonly stampColumn: string
  readonly #list: ListTable<Item>
  readonly #shape: TableShape
  readonly #reading: RowReading<Item>
  readonly #stampAt: number

  constructor(list: ListTable<Item>, server: string, shape: TableShape, reading: RowReading<Item>) {
    this.#list = list
    this.server = server
    this.#shape = shape
    this.#reading = reading
    this.idColumn = reading.columns[0] ?? ''
    this.stampColumn = list.changedAt ?? ''
    this.#stampAt = list.changedAt === null ? -1 : reading.columns.indexOf(list.changedAt)
  }

  /** What is read of each row: the id's column first. */
  get columns(): readonly string[] {
    return this.#reading.columns
  }

  /** The type of the id's column, in words. */
  get idType(): string {
    return this.#shape.columns.get(this.idColumn) ?? ''
  }

  /** The id of a row by its cell alone, null where it is none. */
  idOf(cell: Cell): Guid | null {
    return this.#reading.idOf(cell)
  }

  /** The statement that reads columns of all rows; conditions go behind it. */
  select(columns: readonly string[] = this.columns): string {
    return `SELECT ${columns.map(quote).join(', ')} FROM ${this.#list.table.quoted}`
  }

  /** The rows of an answer to `select`, which is used up: its texts become cells in place. */
  rowsOf({ rows, oids }: Answer): readonly ReadRow<Item>[] {
    const types = decoders(oids, this.#shape.arrays)
    return rows.map((row) => {
      const id = row[0] ?? null
      const version = this.#stampAt === -1 ? Number.NaN : microsOf(row[this.#stampAt] ?? null)
      const change = this.#reading.mapRow(decodeRow(row, types), () => this.#placeOf(id), version)
      return { change, version, id }
    })
  }

  /** The stamp and the id of the last row, null where the answer is empty or they are NULL. */
  lastOf({ rows }: Answer): readonly [string, string] | null {
    const last = rows.at(-1)
    const stamp = last?.[this.#stampAt]
    const id = last?.[0]
    return stamp === null || stamp === undefined || id === null || id === undefined ? null : [stamp, id]
  }

  /** The page of rows that were read. */
  pageOf({ begunAt, sourceLagMs }: Snapshot, rows: readonly ReadRow<Item>[]): Page<Item> {
    return {
      begunAt,
      sourceLagMs,
      changes: rows.map(({ change }) => change),
      whereIs: (index) => this.#placeOf(rows[index]?.id ?? null),
    }
  }

  /** The page of what is known of rows by their ids alone. */
  pageOfIds({ begunAt, sourceLagMs }: Snapshot, changes: readonly Change<Item>[]): Page<Item> {
    return { begunAt, sourceLagMs, changes, whereIs: () => this.#placeOf(null) }
  }

  #placeOf(id: string | null): string {
    const { written } = this.#list.table
    return id === null ? `${written}, a row without an id` : `${written}, id ${id.slice(0, 80)}`
  }
}
