import { type Change, type Failure, type Page, type PageStream, heartbeat } from '../../sync/port.ts'
import { LARGEST_ROW_BYTES } from '../kit/crm-limits.ts'
import { type Cell, ErrorCell } from '../cells/cell.ts'
import { type MappedRow, tooLargeRow } from '../mapping/map-row.ts'
import { parseShallow } from '../cells/parse-cell.ts'
import type { QueryAnswer } from './connection.ts'
import { PostgresFailure, failureIn } from './postgres-failure.ts'
import type { ReadMoment, ReadSession, Transaction } from './read-session.ts'
import { type ListTable, type RowReading, quote } from './list-table.ts'
import type { TextRow } from './message-limits.ts'
import { microsOf, timestampText } from './updated-at.ts'
import { type TableShape, isWallTime, mustHaveColumns, mustHaveMoments, tableShape, zoneOf } from './table-shape.ts'
import type { Time } from '../../time/time.ts'
import { TIMED_OUT, withTimeout } from '../../time/waiting.ts'

export interface Opened<Item> {
  readonly transaction: Transaction
  readonly known: KnownTable<Item>
}

/**
 * How often a read that waits for another one yields an empty page, in ms; otherwise it would be abandoned as hanging.
 */
const SIGN_OF_LIFE_MS = 1000

/** Shared by all reads of one list on one session: begins transactions and caches the table's shape. */
export class TableReader<Item> {
  readonly #list: ListTable<Item>
  readonly #session: ReadSession
  readonly #time: Time
  #known: KnownTable<Item> | null = null

  constructor(list: ListTable<Item>, session: ReadSession, time: Time) {
    this.#list = list
    this.#session = session
    this.#time = time
  }

  /** Begins a transaction for a read. Yields empty pages while it waits, to show that the read is alive. */
  async *open(): PageStream<Item, Opened<Item>> {
    const opening = this.openNow()
    let opened: Opened<Item> | typeof TIMED_OUT = TIMED_OUT
    try {
      for (;;) {
        opened = await withTimeout(this.#time, SIGN_OF_LIFE_MS, opening)
        if (opened !== TIMED_OUT) return opened
        yield heartbeat(this.#time.now())
      }
    } finally {
      // The read was abandoned, or this has failed.
      if (opened === TIMED_OUT)
        void opening.then(
          ({ transaction }) => transaction.end(),
          () => {},
        )
    }
  }

  /** Explains a failed statement: examines the columns again, which may name the cause more exactly. */
  async explain({ failure, lost }: PostgresFailure): Promise<Failure> {
    if (failure.kind !== 'misconfigured' || lost || this.#known === null) return failure
    this.#known = null
    try {
      const { transaction } = await this.openNow()
      await transaction.end()
      return failure
    } catch (cause) {
      return failureIn(cause).failure
    }
  }

  /** Begins a transaction once the session is free. */
  async openNow(): Promise<Opened<Item>> {
    const transaction = await this.#session.begin()
    try {
      return { transaction, known: await this.#knownIn(transaction) }
    } catch (cause) {
      await transaction.end()
      throw cause
    }
  }

  /** Examines the columns once per connection, so a missing column is named before a statement fails. */
  async #knownIn(transaction: Transaction): Promise<KnownTable<Item>> {
    const { server } = transaction.moment
    if (this.#known?.server === server) return this.#known
    this.#known = null
    const shape = await tableShape(transaction, this.#list)
    const reading = this.#list.rowReading(shape)
    mustHaveColumns(shape, reading, this.#list)
    mustHaveMoments(shape, reading, this.#list)
    const zone = isWallTime(shape, reading)
      ? (this.#list.settings.updatedAtIn?.id ?? (await zoneOf(transaction)))
      : null
    this.#known = new KnownTable(this.#list, server, shape, zone, reading)
    return this.#known
  }
}

const INVALID_PARAMETER = '22023'

export interface ReadRow<Item, Of extends Change<Item> = Change<Item>> {
  readonly change: Of
  /** The id as the database writes it. */
  readonly id: string | null
}

/** A table as one server has it: builds the statements for it, and turns answers into pages. */
export class KnownTable<Item> {
  readonly list: ListTable<Item>
  readonly server: string
  readonly reading: RowReading<Item>
  readonly idColumn: string
  readonly idType: string
  /** The updatedAt column; empty if there is none. */
  readonly updatedAtColumn: string
  /** The zone of an updatedAt column without time zone; `null` if the column has time zones. */
  readonly zone: string | null
  /** The statement that reads all rows; conditions can be appended. */
  readonly select: string
  /** The statement that reads the id and the updatedAt of all rows; conditions can be appended. */
  readonly selectIds: string
  /** The object ids of the array types. */
  readonly #arrays: ReadonlySet<number>
  /** How far an updatedAt without time zone is ahead of UTC, in microseconds. */
  #offset = 0

  constructor(
    list: ListTable<Item>,
    server: string,
    { columns, arrays }: TableShape,
    zone: string | null,
    reading: RowReading<Item>,
  ) {
    this.list = list
    this.server = server
    this.reading = reading
    this.zone = zone
    this.idColumn = reading.columns[0] ?? ''
    this.idType = columns.get(this.idColumn) ?? ''
    this.updatedAtColumn = reading.updatedAt ?? ''
    const updatedAt = reading.updatedAt === null ? 'NULL' : `date_part('epoch', ${quote(reading.updatedAt)})`
    this.#arrays = new Set([...ARRAYS, ...arrays])
    this.select = `SELECT ${reading.columns.map(quote).join(', ')}, ${updatedAt} FROM ${list.quoted}`
    this.selectIds = `SELECT ${quote(this.idColumn)}, ${updatedAt} FROM ${list.quoted}`
  }

  /**
   * Builds the statement that reads the rows whose updatedAt is in a window. Both ends matter: given only one, a
   * planner without statistics of the column expects a third of all rows and ignores the index.
   */
  selectUpdated(after: number, last: number): string {
    const column = quote(this.updatedAtColumn)
    return `${this.select} WHERE ${column} > '${timestampText(after)}' AND ${column} <= '${timestampText(last)}'`
  }

  /** Maps the rows of an answer to `select`. Consumes the answer: its texts are replaced by cells. */
  rowsOf({ rows, oids }: QueryAnswer): readonly ReadRow<Item, MappedRow<Item>>[] {
    const decoders = oids.map((oid) => (this.#arrays.has(oid) ? decodeArray : DECODERS.get(oid)))
    return rows.map((row) => {
      const id = row[0] ?? null
      const version = this.reading.updatedAt === null ? Number.NaN : microsOf(row.at(-1) ?? null)
      const change = isTooLarge(row)
        ? tooLargeRow(id === null ? null : this.reading.idOf(id), this.placeOf(id), version)
        : this.reading.mapRow(decodeRow(row, decoders), () => this.placeOf(id), version)
      return { change, id }
    })
  }

  /** The server's clock as a column of updatedAt shows it, in microseconds. */
  async clock(transaction: Transaction): Promise<number> {
    const { serverMicros } = transaction.moment
    if (this.zone === null) return serverMicros
    const asked = transaction.query("SELECT date_part('epoch', now() AT TIME ZONE $1)", [this.zone])
    const { rows } = await asked.catch((cause: unknown) => {
      const { code, lost } = failureIn(cause)
      if (code !== INVALID_PARAMETER) throw cause
      const message = `crm.${this.list.name}.updatedAtIn: PostgreSQL does not know the time zone ${this.zone}`
      throw new PostgresFailure('misconfigured', message, code, lost)
    })
    const wall = microsOf(rows[0]?.[0] ?? null)
    this.#offset = wall - serverMicros
    return wall
  }

  pageOf({ begunAt, sourceLagMs }: ReadMoment, rows: readonly ReadRow<Item>[], pass = 0): Page<Item> {
    return {
      begunAt,
      sourceLagMs,
      pass,
      changes: rows.map(({ change }) => change),
      whereIs: (index) => this.placeOf(rows[index]?.id ?? null),
      updatedAtMs: (index) => {
        const change = rows[index]?.change
        return change !== undefined && 'version' in change ? (change.version - this.#offset) / 1000 : Number.NaN
      },
    }
  }

  placeOf(id: string | null): string {
    const { written } = this.list
    return id === null ? `${written}, a row without an id` : `${written}, id ${id.slice(0, 80)}`
  }
}

/** The most bytes in UTF-8 for one UTF-16 code unit. */
const WIDEST = 3

function isTooLarge(row: TextRow): boolean {
  let chars = 0
  for (const text of row) chars += text?.length ?? 0
  return chars * WIDEST > LARGEST_ROW_BYTES && Buffer.byteLength(row.join('')) > LARGEST_ROW_BYTES
}

type Decode = (text: string) => Cell

// Arrays of text and number types: char, name, int2, int4, int8, text, bpchar, varchar, float4, float8, numeric, uuid.
// Arrays of types that are defined in the database come from its catalogue.
const ARRAYS: readonly number[] = [1002, 1003, 1005, 1007, 1016, 1009, 1014, 1015, 1021, 1022, 1231, 2951]

/** The other types whose text form differs from what a person would write: bool, json, jsonb, money (pg_type.dat). */
const DECODERS: ReadonlyMap<number, Decode> = new Map<number, Decode>([
  [16, (text) => text === 't'],
  [114, decodeJson],
  [3802, decodeJson],
  // Its text depends on the server's lc_monetary: 1,250.00 or 1.250,00.
  [790, (text) => new ErrorCell(`${text} of the type money`, { kind: 'stored', instead: 'of-money' })],
])

function decodeJson(text: string): Cell {
  const parsed = parseShallow(text)
  return parsed.ok ? parsed.cell : text
}

/**
 * Decodes an array in PostgreSQL's text form, for example `{a,"b c",NULL}`; nested arrays become nested lists
 * (documentation, 8.15.6). A vector, such as an `int2vector`, has no braces and stays a text. With `postgres-array`,
 * which pg installs, a full read takes 9 to 16 % more processor time (Bun, 50,000 rows with two tags).
 */
export function decodeArray(text: string): Cell {
  const all: Cell[] = []
  const open = [all]
  // Lower bounds other than 1 come first: `[0:1]={a,b}`.
  const start = text.indexOf('{')
  for (let at = start === -1 ? text.length : start; at < text.length; at++) {
    const list = open.at(-1) ?? all
    const first = text[at]
    if (first === '{') {
      const inner: Cell[] = []
      list.push(inner)
      open.push(inner)
    } else if (first === '}') {
      open.pop()
    } else if (first === '"') {
      const end = endOfQuoted(text, at + 1)
      list.push(unescaped(text.slice(at + 1, end)))
      at = end
    } else if (first !== ',') {
      const end = endOfBare(text, at)
      const bare = text.slice(at, end)
      list.push(bare === 'NULL' ? null : bare)
      at = end - 1
    }
  }
  return all[0] ?? text
}

function endOfQuoted(text: string, from: number): number {
  let end = from
  while (end < text.length && text[end] !== '"') end += text[end] === '\\' ? 2 : 1
  return end
}

function endOfBare(text: string, from: number): number {
  let end = from
  while (end < text.length && text[end] !== ',' && text[end] !== '}') end++
  return end
}

function unescaped(item: string): string {
  return item.includes('\\') ? item.replaceAll(/\\(.)/gs, '$1') : item
}

/** Decodes a row. A text that is not valid for its type stays a text. */
function decodeRow(row: TextRow, columns: readonly (Decode | undefined)[]): readonly Cell[] {
  const cells: Cell[] = row
  for (const [index, decode] of columns.entries()) {
    const text = row[index]
    if (decode !== undefined && text !== null && text !== undefined) cells[index] = decode(text)
  }
  return cells
}
