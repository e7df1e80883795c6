import { plainText } from '../cells/cell.ts'
import type { Batch, Batches, Context, IdPair, Stream } from '../connector/marquee-connector.d.ts'
import { rowOfCells } from '../connector/row-host.ts'
import type { QueryValues } from './connection.ts'
import { type KnownTable, hasPlainIds, knownTable, idPairs, plainId } from './known-table.ts'
import type { ListTable } from './list-table.ts'
import type { OnHint } from './listening.ts'
import { PostgresFailure, failureIn } from './postgres-failure.ts'
import type { ReadSession, Transaction } from './read-session.ts'

interface Opened {
  readonly transaction: Transaction
  readonly known: KnownTable
}

/** One table on one session: begins transactions, and keeps the table's shape for as long as the connection lasts. */
export class TableLane {
  readonly #list: ListTable
  readonly #session: ReadSession
  #known: { readonly of: Transaction['connection']; readonly table: KnownTable } | null = null

  constructor(list: ListTable, session: ReadSession) {
    this.#list = list
    this.#session = session
  }

  /** Begins a transaction once the session is free. */
  async open(): Promise<Opened> {
    const transaction = await this.#session.begin()
    try {
      const { connection } = transaction
      if (this.#known?.of !== connection)
        this.#known = { of: connection, table: await knownTable(transaction, this.#list) }
      return { transaction, known: this.#known.table }
    } catch (cause) {
      await transaction.end()
      throw cause
    }
  }

  /** Explains a failed statement: examines the columns again, which may name the cause more exactly. */
  async explained(failed: PostgresFailure): Promise<PostgresFailure> {
    if (failed.failure.kind !== 'misconfigured' || failed.lost || this.#known === null) return failed
    this.#known = null
    try {
      const { transaction } = await this.open()
      await transaction.end()
      return failed
    } catch (cause) {
      return failureIn(cause)
    }
  }
}

interface Lanes {
  readonly refreshes: TableLane
  /** On a connection of its own, so that refreshes never wait for an audit. */
  readonly audits: TableLane
}

type Read<Item> = (opened: Opened) => AsyncGenerator<Batch<Item>, void>

const LOCK_NOT_AVAILABLE = '55P03'
const GAVE_WAY = 'the full read stopped because another session is waiting for a lock on the table'

/** One table or view. Each read is one transaction, which shows one moment. */
export function tableStream(list: ListTable, lanes: Lanes, watch: ((hint: OnHint) => () => void) | null): Stream {
  /** The last refresh did not get a lock. A statement that alters the table may be waiting for an audit to end. */
  let isLockedOut = false

  async function* inTransaction<Item>({ purpose }: Context, read: Read<Item>): Batches<Item> {
    const isAudit = purpose === 'audit'
    const lane = isAudit ? lanes.audits : lanes.refreshes
    try {
      const opened = await lane.open()
      try {
        for await (const batch of read(opened)) {
          yield { ...batch, lagMs: opened.transaction.lagMs, stable: 'moment' }
          if (isAudit && isLockedOut) throw new PostgresFailure('timeout', GAVE_WAY, null, false)
        }
      } finally {
        await opened.transaction.end()
      }
      if (!isAudit) isLockedOut = false
    } catch (cause) {
      const failed = failureIn(cause)
      if (!isAudit) isLockedOut = failed.code === LOCK_NOT_AVAILABLE
      throw await lane.explained(failed)
    }
  }

  async function* full(context: Context): Batches {
    yield* inTransaction(context, async function* ({ transaction, known }) {
      const { guessedZone, updatedAt } = known
      if (guessedZone !== null)
        context.notice(
          `${updatedAt} has no time zone, and is read as local time in ${guessedZone}; if its zone is another one, set crm.${list.name}.updatedAtIn`,
        )
      yield* rowsIn(transaction, known, known.select)
    })
  }

  const stream: Stream = { ...list.stock, repeats: 'neither', full }
  if (list.tableSettings.updatedAt === null)
    return watch === null ? stream : { ...stream, watch: (_, hint) => watch(hint) }
  return {
    ...stream,
    updatedAt: list.tableSettings.updatedAt,
    since: (context, from) =>
      inTransaction(context, ({ transaction, known }) => rowsIn(transaction, known, known.selectSince, [from])),
    ids: (context) =>
      inTransaction(context, async function* ({ transaction, known }): AsyncGenerator<Batch<IdPair>, void> {
        for await (const answer of transaction.scan(known.selectIds)) yield { rows: idPairs(answer) }
        yield NO_MORE
      }),
    byId: (context, ids) =>
      inTransaction(context, async function* ({ transaction, known }) {
        const missing = new Map(ids.map((id) => [plainId(id, known.idType), id]))
        missing.delete(null)
        // A text that is no UUID would be an error where the column is of UUIDs.
        const idsToFind = hasPlainIds(known.idType) ? [...missing.values()] : ids
        for await (const answer of transaction.scan(known.selectByIds, [idsToFind])) {
          const rows = known.rowsOf(answer)
          for (const row of rows) missing.delete(plainId(plainText(row[list.idColumn] ?? null) ?? '', known.idType))
          yield { rows: rows.map(rowOfCells) }
        }
        // An id that its type allows to be written in several forms may be in the table all the same.
        yield { rows: [], deleted: [...missing.values()] }
      }),
    ...(watch === null ? {} : { watch: (_, hint) => watch(hint) }),
  }
}

async function* rowsIn(
  transaction: Transaction,
  known: KnownTable,
  select: string,
  values?: QueryValues,
): AsyncGenerator<Batch, void> {
  for await (const answer of transaction.scan(select, values))
    yield { rows: known.rowsOf(answer).map(rowOfCells), blank: known.blank }
  yield NO_MORE
}

/** Ends a read: the lag of the server counts even if there are no rows. */
const NO_MORE = { rows: [] } as const
