import type { Change, Failure, Page, PageStream } from '../../sync/port.ts'
import { LARGEST_ROW_BYTES } from '../kit/crm-limits.ts'
import type { Cell } from '../cells/cell.ts'
import { tooLargeRow } from '../mapping/map-row.ts'
import { parseShallow } from '../cells/parse-cell.ts'
import type { QueryAnswer } from './connection.ts'
import { PostgresFailure } from './postgres-failure.ts'
import type { ReadMoment, ReadSession, Transaction } from './read-session.ts'
import { type ListTable, type RowReading, quote } from './list-table.ts'
import type { TextRow } from './message-limits.ts'
import { microsOf } from './updated-at.ts'
import { type TableShape, isWallTime, missingColumns, tableShape, unfitUpdatedAt, zoneOf } from './table-shape.ts'
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
  async *open(): PageStream<Item, Opened<Item> | PostgresFailure> {
    const opening = this.openNow()
    let opened: Opened<Item> | PostgresFailure | typeof TIMED_OUT = TIMED_OUT
    try {
      for (;;) {
        opened = await withTimeout(this.#time, SIGN_OF_LIFE_MS, opening)
        if (opened !== TIMED_OUT) return opened
        yield emptyPage({ begunAt: this.#time.now(), sourceLagMs: 0 })
      }
    } finally {
      // The read was abandoned.
      if (opened === TIMED_OUT)
        void opening.then((late) => (late instanceof PostgresFailure ? null : late.transaction.end()))
    }
  }

  /** Explains a failed statement: examines the columns again, which may name the cause more exactly. */
  async explain({ failure }: PostgresFailure): Promise<Failure> {
    if (failure.kind !== 'misconfigured' || this.#known === null) return failure
    this.#known = null
    const opened = await this.openNow()
    if (opened instanceof PostgresFailure) return opened.failure
    await opened.transaction.end()
    return failure
  }

  /** Begins a transaction once the session is free. */
  async openNow(): Promise<Opened<Item> | PostgresFailure> {
    const transaction = await this.#session.begin()
    if (transaction instanceof PostgresFailure) return transaction
    let known: KnownTable<Item> | PostgresFailure | null = null
    try {
      known = await this.#knownIn(transaction)
      return known instanceof PostgresFailure ? known : { transaction, known }
    } finally {
      if (!(known instanceof KnownTable)) await transaction.end()
    }
  }

  /** Examines the columns once per connection, so a missing column is named before a statement fails. */
  async #knownIn(transaction: Transaction): Promise<KnownTable<Item> | PostgresFailure> {
    const { server } = transaction.moment
    if (this.#known?.server === server) return this.#known
    this.#known = null
    const shape = await tableShape(transaction, this.#list.table, this.#list.name)
    if (shape instanceof PostgresFailure) return shape
    const list = hasOlderName(this.#list, shape) ? this.#list.withUpdatedAt(OLDER_NAME) : this.#list
    const reading = list.rowReading(shape)
    const failed = missingColumns(shape, reading, list) ?? unfitUpdatedAt(shape, list)
    if (failed !== null) return failed
    const zone = isWallTime(shape, list) ? (list.updatedAtIn ?? (await zoneOf(transaction))) : null
    if (zone instanceof PostgresFailure) return zone
    this.#known = new KnownTable(list, server, shape, zone, reading)
    return this.#known
  }
}

/** A common older name of the updatedAt column, used if `updated_at` does not exist. */
const OLDER_NAME = 'changed_at'

function hasOlderName({ updatedAt }: ListTable<unknown>, { columns }: TableShape): boolean {
  return updatedAt === 'updated_at' && !columns.has(updatedAt) && columns.has(OLDER_NAME)
}

const INVALID_PARAMETER = '22023'

interface ReadRow<Item> {
  readonly change: Change<Item>
  readonly version: number
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
   * Builds the statement that reads the rows whose updatedAt is in a window. Both ends matter: given only one, a
   * planner without statistics of the column expects a third of all rows and ignores the index.
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
    const message = `crm.${this.list.name}.updatedAtIn: PostgreSQL does not know the time zone ${this.zone}`
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

  placeOf(id: string | null): string {
    const { written } = this.list.table
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

/** Types whose text form differs from what a person would write (pg_type.dat). */
const BOOL = 16
const JSON_TYPES: ReadonlySet<number> = new Set([114, 3802])
// Arrays of text and number types: char, name, int2, int4, int8, text, bpchar, varchar, float4, float8, numeric, uuid.
// Arrays of types that are defined in the database come from its catalogue.
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

/**
 * Parses an array in PostgreSQL's text form, for example `{a,"b c",NULL}`; nested arrays become nested lists
 * (documentation, 8.15.6). Returns `null` if the text is not an array. With `postgres-array`, which pg installs, a full
 * read takes 9 to 16 % more processor time (Bun, 50,000 rows with two tags), and any text counts as an array.
 */
export function parseArray(text: string): readonly Cell[] | null {
  // Lower bounds other than 1 come first: `[0:1]={a,b}`.
  const start = text.startsWith('[') ? text.indexOf('=') + 1 : 0
  const parser = { text, at: start }
  const list = readList(parser, 0)
  return list !== null && parser.at === text.length ? list : null
}

interface Parser {
  readonly text: string
  at: number
}

/** PostgreSQL has at most six dimensions. */
const DEEPEST = 6

function readList(parser: Parser, depth: number): Cell[] | null {
  if (parser.text[parser.at] !== '{' || depth === DEEPEST) return null
  parser.at++
  const list: Cell[] = []
  if (parser.text[parser.at] === '}') {
    parser.at++
    return list
  }
  for (;;) {
    const item = readItem(parser, depth)
    if (item === undefined) return null
    list.push(item)
    const next = parser.text[parser.at++]
    if (next === '}') return list
    if (next !== ',') return null
  }
}

function readItem(parser: Parser, depth: number): Cell | undefined {
  const first = parser.text[parser.at]
  if (first === '{') return readList(parser, depth + 1) ?? undefined
  if (first === '"') return readQuoted(parser)
  const end = endOfBare(parser)
  const bare = parser.text.slice(parser.at, end)
  parser.at = end
  return bare === 'NULL' ? null : bare
}

function readQuoted(parser: Parser): string | undefined {
  let item = ''
  let from = ++parser.at
  for (; parser.at < parser.text.length; parser.at++) {
    const character = parser.text[parser.at]
    if (character !== '"' && character !== '\\') continue
    item += parser.text.slice(from, parser.at)
    from = parser.at + 1
    if (character === '"') {
      parser.at++
      return item
    }
    parser.at++
  }
  return undefined
}

function endOfBare({ text, at }: Parser): number {
  let end = at
  while (end < text.length && text[end] !== ',' && text[end] !== '}') end++
  return end
}
