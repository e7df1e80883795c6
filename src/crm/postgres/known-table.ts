import { type Cell, ErrorCell } from '../cells/cell.ts'
import { parseShallow } from '../cells/parse-cell.ts'
import type { IdPair } from '../connector/marquee-connector.d.ts'
import type { TextRow } from './row-batches.ts'
import type { QueryAnswer } from './connection.ts'
import { type ListTable, columnFor, quote } from './list-table.ts'
import { PostgresFailure, failureIn } from './postgres-failure.ts'
import type { Transaction } from './read-session.ts'
import { isWallTime, mustHaveColumns, mustHaveMoments, tableShape, zoneOf } from './table-shape.ts'

/** How far writers' clocks may be ahead of the server's. Rows that are further ahead are found by comparisons. */
const AHEAD = "interval '5 seconds'"
/** A beginning that is ahead of the server's clock is set back so far: the clock was set back, or repeats an hour. */
const BACK = "interval '1 minute'"
/** A beginning that is further ahead is meant so: it finds whether the time is heeded. */
const MOST_BACK = "interval '1 day'"
const INVALID_PARAMETER = '22023'

/** A table as one connection has it: the statements for it, and the cells of its rows. */
export interface KnownTable {
  /** Reads all rows; conditions can be appended. */
  readonly select: string
  /** Reads the id and the time of change of all rows. */
  readonly selectIds: string
  /**
   * Reads the rows that changed at the time `$1` or later. Both ends matter: given only one, a planner without
   * statistics of the column expects a third of all rows and ignores the index.
   */
  readonly selectSince: string
  /** Reads the rows with the ids `$1`. */
  readonly selectByIds: string
  /** The columns that are blank in every row. */
  readonly blank: readonly string[]
  readonly idType: string
  /** The updatedAt column that is read; `null` if there is none. */
  readonly updatedAt: string | null
  /** The zone in which an updatedAt without a time zone is read although nobody said so; `null` if there is none. */
  readonly guessedZone: string | null
  /** Returns the cells of the rows of an answer, which is consumed. */
  readonly rowsOf: (answer: QueryAnswer) => readonly { readonly [column: string]: Cell }[]
}

export async function knownTable(transaction: Transaction, list: ListTable): Promise<KnownTable> {
  const shape = await tableShape(transaction, list)
  const { columns, nulls } = shape
  mustHaveColumns(shape, list)
  const { updatedAt: key, updatedAtIn } = list.tableSettings
  const updatedAt = key === null ? null : (columnFor(key, list, columns) ?? null)
  mustHaveMoments(shape, updatedAt, list)
  const isWall = isWallTime(shape, updatedAt)
  const zone = isWall ? (updatedAtIn?.id ?? (await zoneOf(transaction))) : null
  if (zone !== null) await mustBeKnown(zone, transaction, list)
  const names = [...new Set([list.idColumn, ...list.named.map(({ column }) => column)])].filter((name) => name !== key)
  const found = names.map((name) => [name, columnFor(name, list, columns) ?? null] as const)
  // A column that the view defines as NULL is not there, on purpose.
  const read = found.flatMap(([name, of]) => (of === null || nulls.has(of) ? [] : [[name, of] as const]))
  const time = updatedAt === null ? null : timeIn(quote(updatedAt), zone)
  const fields = [...read, ...(key === null || updatedAt === null ? [] : [[key, updatedAt] as const])]
  const expressions = fields.map(([name, of]) => (name === key ? time : quote(of)))
  const id = quote(list.idColumn)
  const select = `SELECT ${expressions.join(', ')} FROM ${list.quoted}`
  const cellNames = fields.map(([name]) => name)
  return {
    select,
    selectIds: `SELECT ${id}, ${time ?? 'NULL'} FROM ${list.quoted}`,
    selectSince: updatedAt === null ? '' : `${select} WHERE ${inWindow(quote(updatedAt), zone)}`,
    selectByIds: `${select} WHERE ${id} = ANY ($1)`,
    blank: found.map(([name]) => name).filter((name) => !cellNames.includes(name)),
    idType: columns.get(list.idColumn) ?? '',
    updatedAt,
    guessedZone: updatedAtIn === null ? zone : null,
    rowsOf: ({ rows, oids }) => {
      const decoders = oids.map((oid) => (ARRAYS.has(oid) || shape.arrays.has(oid) ? decodeArray : DECODERS.get(oid)))
      return rows.map((row) => cellsOf(row, cellNames, decoders))
    },
  }
}

/** The column as a moment. One without a time zone is wall time of a zone. */
function timeIn(column: string, zone: string | null): string {
  return zone === null ? column : `${column} AT TIME ZONE ${literal(zone)}`
}

/** The condition that a row changed at the moment `$1` or later. The column is compared as it is, for its index. */
function inWindow(column: string, zone: string | null): string {
  const asWritten = (moment: string): string => (zone === null ? moment : `(${moment} AT TIME ZONE ${literal(zone)})`)
  const [from, now] = [asWritten('$1::timestamptz'), asWritten('now()')]
  const isAhead = `${from} > ${now} AND ${from} < ${now} + ${MOST_BACK}`
  return `${column} >= CASE WHEN ${isAhead} THEN ${now} - ${BACK} ELSE ${from} END AND ${column} <= ${now} + ${AHEAD}`
}

async function mustBeKnown(zone: string, transaction: Transaction, { name }: ListTable): Promise<void> {
  await transaction.query('SELECT now() AT TIME ZONE $1', [zone]).catch((cause: unknown) => {
    const { code, lost } = failureIn(cause)
    if (code !== INVALID_PARAMETER) throw cause
    const message = `crm.${name}.updatedAtIn: PostgreSQL does not know the time zone ${zone}`
    throw new PostgresFailure('misconfigured', message, code, lost)
  })
}

function literal(text: string): string {
  return `'${text.replaceAll("'", "''")}'`
}

/** The id and the time of change of each row of an answer to `selectIds`. */
export function idPairs({ rows }: QueryAnswer): readonly IdPair[] {
  return rows.map(([id = null, time = null]) => [id ?? '', time])
}

const WHOLE_NUMBER = /^-?\d{1,18}$/
// Types with only one text form per value. An id of another type may be written differently than the table does.
const PLAIN_TYPES: ReadonlyMap<string, RegExp> = new Map([
  ['uuid', /^[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i],
  ['smallint', WHOLE_NUMBER],
  ['integer', WHOLE_NUMBER],
  ['bigint', WHOLE_NUMBER],
])

/** Returns an id as the database writes it; `null` if it is not of the type, or the type allows several forms. */
export function plainId(id: string, type: string): string | null {
  if (PLAIN_TYPES.get(type)?.test(id) !== true) return null
  return type === 'uuid' ? id.toLowerCase() : String(BigInt(id))
}

export function hasPlainIds(type: string): boolean {
  return PLAIN_TYPES.has(type)
}

type Decode = (text: string) => Cell

/** Decodes a row. A text that is not valid for its type stays a text. */
function cellsOf(
  row: TextRow,
  names: readonly string[],
  decoders: readonly (Decode | undefined)[],
): { readonly [column: string]: Cell } {
  const cells: Record<string, Cell> = {}
  for (let index = 0; index < names.length; index++) {
    const text = row[index] ?? null
    const decode = decoders[index]
    cells[names[index] ?? ''] = text === null || decode === undefined ? text : decode(text)
  }
  return cells
}

// Arrays of text and number types: char, name, int2, int4, int8, text, bpchar, varchar, float4, float8, numeric, uuid.
// Arrays of types that are defined in the database come from its catalogue.
const ARRAYS: ReadonlySet<number> = new Set([1002, 1003, 1005, 1007, 1016, 1009, 1014, 1015, 1021, 1022, 1231, 2951])

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
