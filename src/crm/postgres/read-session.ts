import type { Moment, Time } from '../../replica/time.ts'
import type { Answer, Connection } from './connection.ts'
import { Fault } from './fault.ts'
import { SharedTurn } from './shared-turn.ts'
import type { Opener } from './opener.ts'

/** What one transaction knows of its server. */
export interface Snapshot {
  /** When the transaction was asked for: what it shows is not older. */
  readonly begunAt: Moment
  readonly sourceLagMs: number
  /** The server's clock, as a text of PostgreSQL in UTC. */
  readonly serverNow: string
  /** Which server answers, over which connection: what a cursor is worth anything on. */
  readonly server: string
}

// Constant text, so it can go out in one piece. The settings are local to the transaction, for a pooler may give the next
// one to another connection.
const BEGIN = `BEGIN ISOLATION LEVEL REPEATABLE READ, READ ONLY;
SET LOCAL TimeZone = 'UTC'; SET LOCAL DateStyle = 'ISO'; SET LOCAL extra_float_digits = 1; SET LOCAL bytea_output = 'hex'`

// A standby is behind by the age of the last transaction it replayed, unless it has replayed all that it received and is
// still connected to its primary: then nothing happened there. One that never replayed anything shows its last checkpoint.
const STATE = `SELECT set_config('statement_timeout', $1, true), set_config('lock_timeout', $1, true),
  set_config('idle_in_transaction_session_timeout', $2, true),
  now()::text, pg_postmaster_start_time()::text,
  CASE WHEN NOT pg_is_in_recovery() THEN 0
    WHEN pg_last_wal_receive_lsn() = pg_last_wal_replay_lsn() AND EXISTS (SELECT FROM pg_stat_wal_receiver) THEN 0
    ELSE extract(epoch FROM clock_timestamp() - coalesce(pg_last_xact_replay_timestamp(),
      (SELECT checkpoint_time FROM pg_control_checkpoint()))) * 1000 END`

/** Reads on the one connection, a transaction at a time. */
export class ReadSession {
  readonly #opener: Opener
  readonly #time: Time
  readonly #limitMs: number
  readonly #turn = new SharedTurn()
  #connection: Connection | null = null
  #connections = 0
  #closed = false

  constructor(opener: Opener, time: Time, limitMs: number) {
    this.#opener = opener
    this.#time = time
    this.#limitMs = limitMs
  }

  /** Waits for the turn and begins a transaction, where the connection turns out to be dead once more on a fresh one. */
  async begin(): Promise<Transaction | Fault> {
    await this.#turn.take()
    const begun = await this.#tryBegin()
    if (!(begun instanceof Fault)) return begun
    const again = begun.lost && begun.failure.kind !== 'refused' && !this.#closed ? await this.#tryBegin() : begun
    if (again instanceof Fault) this.#turn.leave()
    return again
  }

  async close(): Promise<void> {
    this.#closed = true
    const connection = this.#connection
    this.#connection = null
    await connection?.close()
  }

  async #tryBegin(): Promise<Transaction | Fault> {
    const connection = await this.#connect()
    if (connection instanceof Fault) return connection
    const begunAt = this.#time.now()
    const begun = await connection.query(BEGIN)
    if (begun instanceof Fault) return begun
    // The server gives up a little earlier, so that a slow statement does not cost the connection.
    const statementMs = String(Math.max(1, Math.floor(this.#limitMs * 0.9)))
    const state = await connection.query(STATE, [statementMs, String(Math.ceil(this.#limitMs * 6))])
    if (state instanceof Fault) {
      await connection.query('COMMIT')
      return state
    }
    const [, , , serverNow, startedAt, lagMs] = state.rows[0] ?? []
    return new Transaction(connection, this.#turn, {
      begunAt,
      sourceLagMs: Math.max(0, Math.ceil(Number(lagMs ?? 0))),
      serverNow: serverNow ?? '',
      server: `${startedAt ?? ''} #${this.#connections}`,
    })
  }

  async #connect(): Promise<Connection | Fault> {
    if (this.#closed) return new Fault('unreachable', 'the connection was closed', null, true)
    if (this.#connection !== null && !this.#connection.lost) return this.#connection
    const connection = await this.#opener.open()
    if (connection instanceof Fault) return connection
    if (this.#closed) {
      await connection.close()
      return new Fault('unreachable', 'the connection was closed', null, true)
    }
    this.#connection = connection
    this.#connections++
    return connection
  }
}

/** One read-only transaction: all its statements see the same state. It holds the turn until it has ended. */
export class Transaction {
  readonly snapshot: Snapshot
  readonly #connection: Connection
  readonly #turn: SharedTurn
  #isParked = false

  constructor(connection: Connection, turn: SharedTurn, snapshot: Snapshot) {
    this.#connection = connection
    this.#turn = turn
    this.snapshot = snapshot
  }

  get where(): string {
    return this.#connection.where
  }

  query(text: string, values: readonly (string | number | readonly string[])[] = []): Promise<Answer | Fault> {
    return this.#connection.query(text, values)
  }

  async end(): Promise<void> {
    await this.#connection.query('COMMIT')
    this.#turn.leave()
  }

  /** Lets others have the connection for now: then this transaction ends. */
  park(): void {
    this.#isParked = true
    this.#turn.park(async () => {
      await this.#connection.query('COMMIT')
    })
  }

  /** Whether the transaction is still there; where not, the next one has to be begun. */
  async resume(): Promise<boolean> {
    if (!this.#isParked) return true
    this.#isParked = false
    return this.#turn.resume()
  }
}
