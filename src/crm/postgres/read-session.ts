import { PAGE_ROWS } from '../../sync/port.ts'
import { Mutex } from '../../time/waiting.ts'
import type { Connection, Opener, QueryAnswer, QueryValues } from './connection.ts'
import { PostgresFailure, failureIn } from './postgres-failure.ts'

/** The server ends a transaction that is idle for longer, which releases its locks and old row versions. */
const STANDSTILL_MS = 60_000

// The lag of a standby is the age of the last transaction that it replayed. It lags by 0 if it has replayed everything
// received and is still connected to its primary. If it has never replayed anything, it shows its last checkpoint.
const LAG = `SELECT CASE WHEN NOT pg_is_in_recovery() THEN 0
    WHEN pg_last_wal_receive_lsn() = pg_last_wal_replay_lsn() AND EXISTS (SELECT FROM pg_stat_wal_receiver) THEN 0
    ELSE extract(epoch FROM clock_timestamp() - coalesce(pg_last_xact_replay_timestamp(),
      (SELECT checkpoint_time FROM pg_control_checkpoint()))) * 1000 END`

/** A connection, opened on demand, for one transaction at a time; callers wait in order. */
export class ReadSession {
  /** Called when the connection is replaced by a new one, which may be to another server. */
  onReplaced: () => void = () => {}
  readonly #opener: Opener
  readonly #greet: ((connection: Connection) => Promise<void>) | null
  readonly #mutex = new Mutex()
  #connection: Connection | null = null
  #isFirst = true
  #closed = false

  /** @param greet prepares each new connection before anything is read on it */
  constructor(opener: Opener, greet: ((connection: Connection) => Promise<void>) | null = null) {
    this.#opener = opener
    this.#greet = greet
  }

  /** Waits for the connection and begins a transaction; if the connection is dead, retries once on a new one. */
  async begin(): Promise<Transaction> {
    const unlock = await this.#mutex.lock()
    try {
      return await this.#tryBegin(unlock).catch((cause: unknown) => {
        const { lost, failure } = failureIn(cause)
        if (!lost || failure.kind === 'refused' || this.#closed) throw cause
        return this.#tryBegin(unlock)
      })
    } catch (cause) {
      // A transaction unlocks as it ends.
      unlock()
      throw cause
    }
  }

  /** Runs `use` with exclusive access to the connection, outside any transaction. Returns `null` if that fails. */
  alone<Result>(use: (connection: Connection) => Promise<Result>): Promise<Result | null> {
    return this.#mutex.run(async () => {
      try {
        return await use(await this.#connect())
      } catch (cause) {
        failureIn(cause)
        return null
      }
    })
  }

  async close(): Promise<void> {
    this.#closed = true
    await this.#hangUp()
  }

  async #tryBegin(unlock: () => void): Promise<Transaction> {
    const connection = await this.#connect()
    const state = await connection.query(this.#begin).catch(async (cause: unknown) => {
      await connection.query('ROLLBACK').catch(failureIn)
      throw cause
    })
    const lagMs = Math.max(0, Math.ceil(Number(state.rows[0]?.[0] ?? 0)))
    return new Transaction(connection, lagMs, unlock)
  }

  /**
   * Constant text without parameters, so it goes out in one packet. Settings are local to the transaction, because a
   * pooler may give the next one another connection. Cursors are read to the end, so the planner must not favour plans
   * that return the first rows soon. Compiling a slow view's plan took 50 ms each time, without a gain, so `jit` is
   * off.
   */
  get #begin(): string {
    // The server's limits expire slightly before Marquee's, so a slow statement does not cost the connection. The lock
    // limit expires before the limit of the statement that waits for it.
    const { requestTimeoutMs } = this.#opener.settings.limits()
    const [statementMs, lockMs] = [0.9, 0.8].map((part) => Math.max(1, Math.floor(requestTimeoutMs * part)))
    return `BEGIN ISOLATION LEVEL REPEATABLE READ, READ ONLY;
      SET LOCAL TimeZone = 'UTC'; SET LOCAL DateStyle = 'ISO'; SET LOCAL extra_float_digits = 1; SET LOCAL bytea_output = 'hex';
      SET LOCAL statement_timeout = ${statementMs}; SET LOCAL lock_timeout = ${lockMs};
      SET LOCAL idle_in_transaction_session_timeout = ${STANDSTILL_MS}; SET LOCAL cursor_tuple_fraction = 1; SET LOCAL jit = off;
      ${LAG}`
  }

  async #connect(): Promise<Connection> {
    if (this.#connection !== null && !this.#connection.lost) return this.#connection
    this.#mustBeOpen()
    const connection = await this.#opener.open()
    this.#connection = connection
    if (this.#closed) await this.#hangUp()
    this.#mustBeOpen()
    await this.#greet?.(connection)
    if (!this.#isFirst) this.onReplaced()
    this.#isFirst = false
    return connection
  }

  #mustBeOpen(): void {
    if (this.#closed) throw new PostgresFailure('unreachable', 'the connection was closed', null, true)
  }

  async #hangUp(): Promise<void> {
    const connection = this.#connection
    this.#connection = null
    await connection?.close()
  }
}

/** A read-only transaction: all its statements see the same state. It has the connection exclusively until it ends. */
export class Transaction {
  /** How far behind its primary the server was, in ms. */
  readonly lagMs: number
  readonly connection: Connection
  readonly #unlock: () => void

  constructor(connection: Connection, lagMs: number, unlock: () => void) {
    this.connection = connection
    this.lagMs = lagMs
    this.#unlock = unlock
  }

  query(text: string, values?: QueryValues): Promise<QueryAnswer> {
    return this.connection.query(text, values)
  }

  /**
   * Reads the rows of a `SELECT` in pages of limited size, with at least one row each. The server holds the result
   * until the transaction ends. A transaction makes one scan.
   */
  async *scan(select: string, values?: QueryValues): AsyncGenerator<QueryAnswer, void, void> {
    const connection = this.connection
    await this.query(`DECLARE marquee_rows NO SCROLL CURSOR FOR ${select}`, values)
    let pageRows = FIRST_ROWS
    // How many of the rows fetched last have not been received yet.
    let toCome = 0
    let hasEnded = false
    while (!hasEnded || connection.isBusy) {
      const begunAt = connection.time.now().monotonicMs
      if (!connection.isBusy) toCome = pageRows
      const batch = connection.isBusy
        ? await connection.nextBatch()
        : await connection.firstBatch(`FETCH FORWARD ${pageRows} FROM marquee_rows`)
      const { rows, bytes } = batch
      const tookMs = connection.time.now().monotonicMs - begunAt
      toCome -= rows.length
      if (batch.isLast && toCome > 0) hasEnded = true
      if (rows.length === 0) continue
      const part = Math.max(bytes / PAGE_BYTES, tookMs / (connection.limitMs * PAGE_TIME))
      pageRows = rowsWhere(part / rows.length)
      yield batch
    }
  }

  async end(): Promise<void> {
    // The rest of an abandoned answer could be megabytes, so the connection is dropped instead of drained.
    try {
      if (this.connection.isBusy) this.connection.destroy()
      else await this.connection.query('COMMIT').catch(failureIn)
    } finally {
      this.#unlock()
    }
  }
}

const FIRST_ROWS = 125
/** The target size of a page in bytes: parsing it delays requests. */
const PAGE_BYTES = 1_000_000
/** The part of the statement time limit that a page may take, for rows that the server computes slowly. */
const PAGE_TIME = 0.25

/**
 * The number of rows in a page if each row takes this part of one. Powers of two only: the server may keep statistics
 * per statement text.
 */
function rowsWhere(part: number): number {
  let rows = PAGE_ROWS
  while (rows > 1 && rows * part > 1) rows = Math.floor(rows / 2)
  return rows
}
