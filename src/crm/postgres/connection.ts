import { type CrmLimits, type Descriptors, PLENTY } from '../kit/crm-limits.ts'
import type { Socket } from 'node:net'
import type { ConnectionOptions } from 'node:tls'
import { type QueryArrayResult, Client, Connection as Wire } from 'pg'
import type { PostgresAddress } from '../../config/crm/sources.ts'
import type { Time } from '../../time/time.ts'
import { PostgresFailure, postgresFailureOf } from './postgres-failure.ts'
import { type RowBatch, type TextRow, MessageLimits, RowBatches } from './message-limits.ts'
import { TIMED_OUT, withTimeout } from '../../time/waiting.ts'

/** TLS options, or false for no encryption. */
export type Encryption = false | ConnectionOptions

export interface ConnectionSettings {
  readonly time: Time
  readonly limits: Pick<CrmLimits, 'requestTimeoutMs'>
  readonly descriptors?: Descriptors
}

export type QueryAnswer = Pick<RowBatch, 'rows' | 'oids'>

/** Returns every type as text: a float or a `Date` would lose digits. */
const AS_TEXT = { getTypeParser: () => (text: string) => text }

/**
 * An open connection. Every wait on it has a time limit by this machine's clock; if it expires, the connection is
 * destroyed.
 */
export class Connection {
  /** Called once when the connection is lost, for whatever reason. */
  onLost: () => void = () => {}
  lost = false
  readonly where: string
  readonly time: Time
  readonly #client: Client
  readonly #socket: Socket
  readonly #limits: ConnectionSettings['limits']
  readonly #messages = new MessageLimits()
  #lastFailure: PostgresFailure | null = null
  #batches: RowBatches | null = null

  private constructor(client: Client, socket: Socket, where: string, { time, limits }: ConnectionSettings) {
    this.#client = client
    this.#socket = socket
    this.where = where
    this.time = time
    this.#limits = limits
    // Without a listener, an error event would end the process. The next caller gets the server's last error.
    client.on('error', (cause) => {
      this.#lastFailure ??= postgresFailureOf(cause, where)
      this.destroy()
    })
    client.on('end', () => this.destroy())
  }

  /** The time limit of any exchange, in ms. */
  get limitMs(): number {
    return this.#limits.requestTimeoutMs
  }

  static async open(
    address: PostgresAddress,
    encryption: Encryption,
    settings: ConnectionSettings,
  ): Promise<Connection | PostgresFailure> {
    const socket = (settings.descriptors ?? PLENTY).newSocket()
    const wire = new Wire({ ssl: encryption, keepAlive: true, stream: () => socket })
    // A separate variable, since the types of `pg` lack `connection`.
    const config = {
      host: address.host,
      port: address.port,
      user: address.user,
      ...(address.password === null ? {} : { password: address.password }),
      database: address.database,
      ssl: encryption,
      application_name: address.applicationName ?? 'marquee',
      connection: wire,
    }
    const client = new Client(config)
    const where = placeOf(address)
    const connection = new Connection(client, socket, where, settings)
    // With TLS, `pg` replaces the stream once encryption is on.
    wire.once(encryption === false ? 'connect' : 'sslconnect', () => connection.#messages.watch(wire.stream))
    const { limitMs } = connection
    try {
      const connected = await withTimeout(settings.time, limitMs, client.connect())
      if (connected !== TIMED_OUT) return connection
    } catch (cause) {
      connection.destroy()
      return postgresFailureOf(cause, where)
    }
    connection.destroy()
    return new PostgresFailure('timeout', `${where}: no connection within ${limitMs / 1000} s`, null, true)
  }

  async query(
    text: string,
    values: readonly (string | number | readonly string[])[] = [],
  ): Promise<QueryAnswer | PostgresFailure> {
    if (this.lost) return this.#whyLost()
    const config = { text, rowMode: 'array' as const, types: AS_TEXT }
    this.#messages.byBatches = false
    const asked = this.#client.query<TextRow>(values.length === 0 ? config : { ...config, values: [...values] })
    const result = await this.#withinLimit(asked)
    return result instanceof PostgresFailure ? result : answerOf(result)
  }

  /**
   * Starts a statement and returns its first batch of rows. Until the last batch is read, only `nextBatch` may be
   * called.
   */
  firstBatch(text: string): Promise<RowBatch | PostgresFailure> {
    if (this.lost) return Promise.resolve(this.#whyLost())
    this.#messages.byBatches = true
    this.#batches = this.#client.query(new RowBatches(text))
    return this.nextBatch()
  }

  async nextBatch(): Promise<RowBatch | PostgresFailure> {
    if (this.lost || this.#batches === null) return this.#whyLost()
    return await this.#withinLimit(this.#batches.next())
  }

  /** Whether more rows of the current statement are to come. */
  get isBusy(): boolean {
    return this.#batches?.isOver === false
  }

  async #withinLimit<Value>(asked: Promise<Value>): Promise<Value | PostgresFailure> {
    try {
      const value = await withTimeout(this.time, this.limitMs, asked)
      if (value !== TIMED_OUT) return value
    } catch (cause) {
      const failed = postgresFailureOf(cause, this.where)
      if (failed.lost) this.destroy()
      return failed
    }
    this.destroy()
    return new PostgresFailure('timeout', `${this.where}: no answer within ${this.limitMs / 1000} s`, null, true)
  }

  onNotification(channel: string, callback: (payload: string) => void): void {
    this.#client.on('notification', (message) => {
      if (message.channel === channel) callback(message.payload ?? '')
    })
  }

  /** Closes the connection. Tells the server first, unless a statement is still running. */
  async close(): Promise<void> {
    if (this.lost) return
    this.onLost = () => {}
    if (!this.isBusy) await withTimeout(this.time, 1000, this.#client.end())
    this.destroy()
  }

  destroy(): void {
    if (this.lost) return
    this.lost = true
    this.#socket.destroy()
    this.onLost()
  }

  #whyLost(): PostgresFailure {
    return this.#lastFailure ?? new PostgresFailure('unreachable', `${this.where}: the connection was lost`, null, true)
  }
}

/** Returns the answer of the last statement of several. */
function answerOf(result: QueryArrayResult<TextRow> | readonly QueryArrayResult<TextRow>[]): QueryAnswer {
  const last = [result].flat().at(-1)
  return { rows: last?.rows ?? [], oids: (last?.fields ?? []).map((field) => field.dataTypeID) }
}

function placeOf({ host, port, database }: PostgresAddress): string {
  const authority = host.includes(':') && !host.startsWith('/') ? `[${host}]` : host
  return `PostgreSQL at ${authority}:${port}/${database}`
}
