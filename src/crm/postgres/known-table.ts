import type { Change, Page } from '../../sync/port.ts'
import { LARGEST_ROW_BYTES } from '../kit/crm-limits.ts'
import type { Cell } from '../cells/cell.ts'
import { tooLargeRow } from '../mapping/map-row.ts'
import { parseShallow } from '../cells/parse-cell.ts'
import type { QueryAnswer } from './connection.ts'
import { PostgresFailure } from './postgres-failure.ts'
import type { ReadMoment, Transaction } from './read-session.ts'
import { type ListTable, type RowReading, quote } from './list-table.ts'
import { parseArray } from './parse-array.ts'
import type { TextRow } from './row-batches.ts'
import { microsOf } from './updated-at.ts'
import type { TableShape } from './table-shape.ts'

/** The SQLSTATE of an unknown time zone. */
const INVALID_PARAMETER = '22023'

export interface ReadRow<Item> {
  readonly change: Change<Item>
  readonly version: number
  /** The id as the database writes it; `null` if the row has none. */
  readonly id: string | null
}

/** A page without changes: it says when the read began and how far the server lags. */
export function emptyPage({ begunAt, sourceLagMs }: Pick<ReadMoment, 'begunAt' | 'sourceLagMs'>): Page<never> {
  return { begunAt, sourceLagMs, changes: [], whereIs: () => '' }
}

/** A table as one server has it: builds the statements for it, and turns answers into pages. */
export class KnownTable<Item> {
  readonly list: ListTable<Item>
  readonly server: string
  readonly reading: RowReading<Item>
  readonly idColumn: string
  /** The type of the id column, as the database names it. */
  readonly idType: string
  /** The updatedAt column; empty if there is none. */
  readonly updatedAtColumn: string
  readonly #arrays: TableShape['arrays']
  readonly #updatedAtIndex: number
  /** The zone of an updatedAt column without time zone; `null` if the column has time zones. */
  readonly zone: string | null
  /** How far an updatedAt without time zone is ahead of UTC, in microseconds. */
  #offset = 0

  constructor(
    list: ListTable<Item>,
    server: string,
    shape: TableShape,
    zone: string | null,
    reading: RowReading<Item>,
  ) {
    this.list = list
    this.server = server
    this.reading = reading
    this.zone = zone
    this.idColumn = reading.columns[0] ?? ''
    this.idType = shape.columns.get(this.idColumn) ?? ''
    this.updatedAtColumn = list.updatedAt ?? ''
    this.#arrays = shape.arrays
    this.#updatedAtIndex = list.updatedAt === null ? -1 : reading.columns.indexOf(list.updatedAt)
  }

  /** Builds the statement that reads columns of all rows; conditions can be appended. */
  select(columns: readonly string[] = this.reading.columns): string {
    return `SELECT ${columns.map(quote).join(', ')} FROM ${this.list.table.quoted}`
  }

  /**
   * Builds the statement that reads the rows whose updatedAt is in a window. Both ends matter: without statistics of
   * the column, the planner expects a third of all rows for one end and does not use the index.
   */
  selectUpdated(after: string, last: string): string {
    const column = quote(this.updatedAtColumn)
    return `${this.select()} WHERE ${column} > '${after}' AND ${column} <= '${last}'`
  }

  /** Maps the rows of an answer to `select`. Consumes the answer: its texts are replaced by cells. */
  rowsOf({ rows, oids }: QueryAnswer): readonly ReadRow<Item>[] {
    const types = decoders(oids, this.#arrays)
    return rows.map((row) => {
      const id = row[0] ?? null
      const version = this.#updatedAtIndex === -1 ? Number.NaN : microsOf(row[this.#updatedAtIndex] ?? null)
      const change = isTooLarge(row)
        ? tooLargeRow(id === null ? null : this.reading.idOf(id), this.placeOf(id), version)
        : this.reading.mapRow(decodeRow(row, types), () => this.placeOf(id), version)
      return { change, version, id }
    })
  }

  /** The server's clock as a column of updatedAt shows it, in microseconds. */
  async clock(transaction: Transaction): Promise<number | PostgresFailure> {
    const serverNow = microsOf(transaction.moment.serverNow)
    if (this.zone === null) return serverNow
    const answer = await transaction.query('SELECT (now() AT TIME ZONE $1)::text', [this.zone])
    if (answer instanceof PostgresFailure) return answer.code === INVALID_PARAMETER ? this.#unknownZone(answer) : answer
    const wall = microsOf(answer.rows[0]?.[0] ?? null)
    this.#offset = wall - serverNow
    return wall
  }

  #unknownZone({ code, lost }: PostgresFailure): PostgresFailure {
    const key = `crm.${this.list.name}.updatedAtIn`
    const message = `${key}: PostgreSQL does not know the time zone ${this.zone} (if ${key} is not set, it is timeZone)`
    return new PostgresFailure('misconfigured', message, code, lost)
  }

  pageOf(moment: ReadMoment, rows: readonly ReadRow<Item>[], pass = 0): Page<Item> {
    const changes = rows.map(({ change }) => change)
    return {
      ...this.pageOfIds(moment, changes, (index) => rows[index]?.id ?? null, pass),
      updatedAtMs: (index) => ((rows[index]?.version ?? Number.NaN) - this.#offset) / 1000,
    }
  }

  /** Makes a page of changes; `idAt` gives their rows' ids as the database writes them. */
  pageOfIds(
    { begunAt, sourceLagMs }: ReadMoment,
    changes: readonly Change<Item>[],
    idAt: (index: number) => string | null,
    pass = 0,
  ): Page<Item> {
    return { begunAt, sourceLagMs, pass, changes, whereIs: (index) => this.placeOf(idAt(index)) }
  }

  /** Describes the row of an id for messages. */
  placeOf(id: string | null): string {
    const { written } = this.list.table
    return id === null ? `${written}, a row without an id` : `${written}, id ${id.slice(0, 80)}`
  }
}

/** The most bytes of a character in UTF-8, counted in UTF-16 code units. */
const WIDEST = 3

function isTooLarge(row: TextRow): boolean {
  let chars = 0
  for (const text of row) chars += text?.length ?? 0
  return chars * WIDEST > LARGEST_ROW_BYTES && Buffer.byteLength(row.join('')) > LARGEST_ROW_BYTES
}

/** Types whose text form differs from what a person would write (pg_type.dat). */
const BOOL = 16
const JSON_TYPES: ReadonlySet<number> = new Set([114, 3802])
// Arrays of text and number types: char, name, int2, int4, int8, text, bpchar, varchar, float4, float8, numeric, uuid.
// The catalogue lists the arrays of types that the database defines itself.
const ARRAYS: readonly number[] = [1002, 1003, 1005, 1007, 1016, 1009, 1014, 1015, 1021, 1022, 1231, 2951]

type Decode = (text: string) => Cell

/** Returns a decoder for each column; `null` for columns that stay texts. */
function decoders(oids: readonly number[], ownArrays: ReadonlySet<number>): readonly (Decode | null)[] {
  return oids.map((oid) => {
    if (oid === BOOL) return decodeFlag
    if (JSON_TYPES.has(oid)) return decodeJson
    return ARRAYS.includes(oid) || ownArrays.has(oid) ? decodeArray : null
  })
}

const decodeFlag: Decode = (text) => (text === 't' ? true : text === 'f' ? false : text)
const decodeArray: Decode = (text) => parseArray(text) ?? text
const decodeJson: Decode = (text) => {
  const parsed = parseShallow(text)
  return parsed.ok ? parsed.cell : text
}

/** Decodes a row. A text that is not valid for its type stays a text. */
function decodeRow(row: TextRow, columns: readonly (Decode | null)[]): readonly Cell[] {
  const cells: Cell[] = row
  for (const [index, decode] of columns.entries()) {
    const text = row[index]
    if (decode !== null && text !== null && text !== undefined) cells[index] = decode(text)
  }
  return cells
}
