import type { CrmLimits } from '../kit/crm-limits.ts'
import type { Socket } from 'node:net'
import type { ConnectionOptions } from 'node:tls'
import { type QueryArrayResult, Client, Connection as Wire } from 'pg'
import type { PostgresAddress } from '../../config/postgres-address.ts'
import type { Time } from '../../time/time.ts'
import { type Descriptors, PLENTY } from '../kit/file-descriptors.ts'
import { Fault, faultOf } from './fault.ts'
import { MessageLimits } from './message-limits.ts'
import { type RowBatch, type TextRow, Portions } from './row-batches.ts'
import { TIMED_OUT, withTimeout } from '../../time/waiting.ts'

/** A way to connect: false is without encryption. */
export type Encryption = false | ConnectionOptions

export interface ConnectionSettings {
  readonly time: Time
  readonly limits: Pick<CrmLimits, 'requestTimeoutMs'>
  readonly descriptors?: Descriptors
}

/** What a statement was answered. */
export type QueryAnswer = Pick<RowBatch, 'rows' | 'oids'>

/** Every type as its text: a float or a `Date` would lose digits. */
const AS_TEXT = { getTypeParser: () => (text: string) => text }

/** One open connection. Every wait on it has a limit by this machine's clock; past it the connection is destroyed. */
export class Connection {
  /** Called once when the connection is lost, however. */
  onLost: () => void = () => {}
  lost = false
  readonly where: string
  readonly time: Time
  readonly #client: Client
  readonly #socket: Socket
  readonly #limits: ConnectionSettings['limits']
  readonly #messages = new MessageLimits()
  #lastFault: Fault | null = null
  #portions: Portions | null = null

  private constructor(client: Client, socket: Socket, where: string, { time, limits }: ConnectionSettings) {
    this.#client = client
    this.#socket = socket
    this.where = where
    this.time = time
    this.#limits = limits
    // Without a listener an error event would end the process. What the server said when it ended the connection is told
    // to whoever uses it next.
    client.on('error', (cause) => {
      this.#lastFault ??= faultOf(cause, where)
      this.destroy()
    })
    client.on('end', () => this.destroy())
  }

  /** The longest anything may take. */
  get limitMs(): number {
    return this.#limits.requestTimeoutMs
  }

  static async open(
    address: PostgresAddress,
    encryption: Encryption,
    settings: ConnectionSettings,
  ): Promise<Connection | Fault> {
    const socket = (settings.descriptors ?? PLENTY).newSocket()
    const wire = new Wire({ ssl: encryption, keepAlive: true, stream: () => socket })
    // A variable of its own, for the types of `pg` do not know `connection`.
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
    // With TLS the stream is another one from then on.
    wire.once(encryption === false ? 'connect' : 'sslconnect', () => connection.#messages.watch(wire.stream))
    const { limitMs } = connection
    try {
      const connected = await withTimeout(settings.time, limitMs, client.connect())
      if (connected !== TIMED_OUT) return connection
    } catch (cause) {
      connection.destroy()
      return faultOf(cause, where)
    }
    connection.destroy()
    return new Fault('timeout', `${where}: no connection within ${limitMs / 1000} s`, null, true)
  }

  async query(
    text: string,
    values: readonly (string | number | readonly string[])[] = [],
  ): Promise<QueryAnswer | Fault> {
    if (this.lost) return this.#lostFault()
    const config = { text, rowMode: 'array' as const, types: AS_TEXT }
    this.#messages.byPortions = false
    const asked = this.#client.query<TextRow>(values.length === 0 ? config : { ...config, values: [...values] })
    const result = await this.#withinLimit(asked)
    return result instanceof Fault ? result : answerOf(result)
  }

  /** The rows of a statement, by portions: after one that is not the last nothing else may be asked but `nextPortion`. */
  portion(text: string): Promise<RowBatch | Fault> {
    if (this.lost) return Promise.resolve(this.#lostFault())
    this.#messages.byPortions = true
    this.#portions = this.#client.query(new Portions(text))
    return this.nextPortion()
  }

  async nextPortion(): Promise<RowBatch | Fault> {
    if (this.lost || this.#portions === null) return this.#lostFault()
    return await this.#withinLimit(this.#portions.next())
  }

  /** Whether rows of a statement are still to come. */
  get isBusy(): boolean {
    return this.#portions?.isOver === false
  }

  async #withinLimit<Value>(asked: Promise<Value>): Promise<Value | Fault> {
    try {
      const value = await withTimeout(this.time, this.limitMs, asked)
      if (value !== TIMED_OUT) return value
    } catch (cause) {
      const fault = faultOf(cause, this.where)
      if (fault.lost) this.destroy()
      return fault
    }
    this.destroy()
    return new Fault('timeout', `${this.where}: no answer within ${this.limitMs / 1000} s`, null, true)
  }

  onNotification(channel: string, callback: (payload: string) => void): void {
    this.#client.on('notification', (message) => {
      if (message.channel === channel) callback(message.payload ?? '')
    })
  }

  /** Says goodbye where the server listens, else just leaves. */
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

  #lostFault(): Fault {
    return this.#lastFault ?? new Fault('unreachable', `${this.where}: the connection was lost`, null, true)
  }
}

/** The answer of the last of several statements. */
function answerOf(result: QueryArrayResult<TextRow> | readonly QueryArrayResult<TextRow>[]): QueryAnswer {
  const last = [result].flat().at(-1)
  return { rows: last?.rows ?? [], oids: (last?.fields ?? []).map((field) => field.dataTypeID) }
}

function placeOf({ host, port, database }: PostgresAddress): string {
  const authority = host.includes(':') && !host.startsWith('/') ? `[${host}]` : host
  return `PostgreSQL at ${authority}:${port}/${database}`
}
