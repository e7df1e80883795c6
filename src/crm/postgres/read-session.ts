import { PAGE_ROWS } from '../../sync/port.ts'
import type { Moment } from '../../time/time.ts'
import { Mutex } from '../../time/waiting.ts'
import type { Connection, QueryAnswer } from './connection.ts'
import { Fault } from './fault.ts'
import type { Opener } from './opener.ts'
import { serverOf } from './stamp.ts'

/** What one transaction knows of its server. */
export interface ReadMoment {
  /** When the transaction was asked for: what it shows is not older. */
  readonly begunAt: Moment
  readonly sourceLagMs: number
  /** The server's clock, as a text of PostgreSQL in UTC. */
  readonly serverNow: string
  /** Which server answers, over which connection: what a cursor is worth anything on. */
  readonly server: string
}

/** The server ends a transaction that stands still for longer, and lets go of its locks and of what it kept for it. */
const STANDSTILL_MS = 60_000

// A standby is behind by the age of the last transaction it replayed, unless it has replayed all that it received and is
// still connected to its primary: then nothing happened there. One that never replayed anything shows its last checkpoint.
const STATE = `SELECT now()::text, pg_postmaster_start_time()::text,
  CASE WHEN NOT pg_is_in_recovery() THEN 0
    WHEN pg_last_wal_receive_lsn() = pg_last_wal_replay_lsn() AND EXISTS (SELECT FROM pg_stat_wal_receiver) THEN 0
    ELSE extract(epoch FROM clock_timestamp() - coalesce(pg_last_xact_replay_timestamp(),
      (SELECT checkpoint_time FROM pg_control_checkpoint()))) * 1000 END`

/** One connection, opened when it is needed, on which one transaction after another reads: first come, first served. */
export class ReadSession {
  readonly #opener: Opener
  readonly #greet: ((connection: Connection) => Promise<void>) | null
  readonly #mutex = new Mutex()
  #connection: Connection | null = null
  #connections = 0
  #closed = false

  /** @param greet runs on each new connection before anything is read on it */
  constructor(opener: Opener, greet: ((connection: Connection) => Promise<void>) | null = null) {
    this.#opener = opener
    this.#greet = greet
  }

  /** Waits for its turn and begins a transaction; where the connection turns out to be dead, once more on a fresh one. */
  async begin(): Promise<Transaction | Fault> {
    const unlock = await this.#mutex.lock()
    const begun = await this.#tryBegin(unlock)
    if (!(begun instanceof Fault)) return begun
    const again = begun.lost && begun.failure.kind !== 'refused' && !this.#closed ? await this.#tryBegin(unlock) : begun
    if (again instanceof Fault) unlock()
    return again
  }

  /** Lets `use` have the connection, outside of any transaction. */
  async alone<Result>(use: (connection: Connection) => Promise<Result>): Promise<Result | Fault> {
    const unlock = await this.#mutex.lock()
    const connection = await this.#connect()
    const result = connection instanceof Fault ? connection : await use(connection)
    unlock()
    return result
  }

  async close(): Promise<void> {
    this.#closed = true
    await this.#hangUp()
  }

  async #tryBegin(unlock: () => void): Promise<Transaction | Fault> {
    const connection = await this.#connect()
    if (connection instanceof Fault) return connection
    const begunAt = this.#opener.settings.time.now()
    const state = await connection.query(this.#begin)
    if (state instanceof Fault) {
      await connection.query('ROLLBACK')
      return state
    }
    const [serverNow, startedAt, lagMs] = state.rows[0] ?? []
    const snapshot = {
      begunAt,
      sourceLagMs: Math.max(0, Math.ceil(Number(lagMs ?? 0))),
      serverNow: serverNow ?? '',
      server: serverOf(startedAt ?? '', this.#opener.process, this.#connections),
    }
    return new Transaction(connection, snapshot, unlock)
  }

  /**
   * Constant text, so it goes out in one piece. The settings are local to the transaction, for a pooler may give the next one
   * to another connection. All rows that a cursor finds are fetched, so the planner must not prefer plans that find the
   * first ones soon. Compiling the plan of a slow view took 50 ms, each time, and gained nothing.
   */
  get #begin(): string {
    // The server gives up a little earlier than this side, so a slow statement does not cost the connection; and a lock
    // before the statement that waits for it.
    const { requestTimeoutMs } = this.#opener.settings.limits
    const [statementMs, lockMs] = [0.9, 0.8].map((part) => Math.max(1, Math.floor(requestTimeoutMs * part)))
    return `BEGIN ISOLATION LEVEL REPEATABLE READ, READ ONLY;
      SET LOCAL TimeZone = 'UTC'; SET LOCAL DateStyle = 'ISO'; SET LOCAL extra_float_digits = 1; SET LOCAL bytea_output = 'hex';
      SET LOCAL statement_timeout = ${statementMs}; SET LOCAL lock_timeout = ${lockMs};
      SET LOCAL idle_in_transaction_session_timeout = ${STANDSTILL_MS}; SET LOCAL cursor_tuple_fraction = 1; SET LOCAL jit = off;
      ${STATE}`
  }

  async #connect(): Promise<Connection | Fault> {
    if (this.#connection !== null && !this.#connection.lost) return this.#connection
    const closed = new Fault('unreachable', 'the connection was closed', null, true)
    if (this.#closed) return closed
    const connection = await this.#opener.open()
    if (connection instanceof Fault) return connection
    this.#connection = connection
    this.#connections++
    if (this.#closed) {
      await this.#hangUp()
      return closed
    }
    await this.#greet?.(connection)
    return connection
  }

  async #hangUp(): Promise<void> {
    const connection = this.#connection
    this.#connection = null
    await connection?.close()
  }
}

/** One read-only transaction: all its statements see the same state. Nobody else has the connection until it has ended. */
export class Transaction {
  readonly snapshot: ReadMoment
  readonly #connection: Connection
  readonly #unlock: () => void

  constructor(connection: Connection, snapshot: ReadMoment, unlock: () => void) {
    this.#connection = connection
    this.snapshot = snapshot
    this.#unlock = unlock
  }

  query(text: string, values: readonly (string | number | readonly string[])[] = []): Promise<QueryAnswer | Fault> {
    return this.#connection.query(text, values)
  }

  /**
   * The rows that a `SELECT` finds, in pages of one row at the least and of limited size; the server holds them until the
   * transaction ends. Names tell scans apart that go on side by side.
   */
  async *scan(
    select: string,
    values: readonly (readonly string[])[] = [],
    name = 'marquee_scan',
  ): AsyncGenerator<QueryAnswer, Fault | null, void> {
    const connection = this.#connection
    const declared = await this.query(`DECLARE ${name} NO SCROLL CURSOR FOR ${select}`, values)
    if (declared instanceof Fault) return declared
    let pageRows = FIRST_ROWS
    // Of the rows that were asked for at once, those that are still to come.
    let toCome = 0
    let hasEnded = false
    while (!hasEnded || connection.isBusy) {
      const begunAt = connection.time.now().monotonicMs
      if (!connection.isBusy) toCome = pageRows
      const portion = connection.isBusy
        ? await connection.nextPortion()
        : await connection.portion(`FETCH FORWARD ${pageRows} FROM ${name}`)
      if (portion instanceof Fault) return portion
      const { rows, bytes } = portion
      const tookMs = connection.time.now().monotonicMs - begunAt
      toCome -= rows.length
      if (portion.isLast && toCome > 0) hasEnded = true
      if (rows.length === 0) continue
      const part = Math.max(bytes / PAGE_BYTES, tookMs / (connection.limitMs * PAGE_TIME))
      pageRows = rowsWhere(part / rows.length)
      yield portion
    }
    return null
  }

  async end(): Promise<void> {
    // What a server still has to say to a read that nobody waits for any more could be megabytes.
    if (this.#connection.isBusy) this.#connection.destroy()
    else await this.#connection.query('COMMIT')
    this.#unlock()
  }
}

/** How wide the rows are is not known yet. */
const FIRST_ROWS = 125
/** Parsing a page holds up requests, so wide rows come in smaller ones. */
const PAGE_BYTES = 1_000_000
/** Rows that take the server long, too: a page may take this part of what a statement may. */
const PAGE_TIME = 0.25

/** How many rows make a page of which each is that part; of a few numbers, for a server may keep statistics of each statement's text. */
function rowsWhere(part: number): number {
  let rows = PAGE_ROWS
  while (rows > 1 && rows * part > 1) rows = Math.floor(rows / 2)
  return rows
}
