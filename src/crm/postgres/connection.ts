import { Socket } from 'node:net'
import type { QueryArrayResult } from 'pg'
import { Client } from 'pg'
import type { PostgresAddress } from '../../config/postgres-address.ts'
import type { Time } from '../../replica/time.ts'
import { Fault } from './fault.ts'
import { faultOf } from './fault-of.ts'
import type { Encryption } from './tls-attempts.ts'
import { TOO_LATE, within } from './within.ts'

/** All values are texts as PostgreSQL writes them, null where they are NULL. */
export type TextRow = (string | null)[]

export interface Answer {
  readonly rows: TextRow[]
  /** The type of each column. */
  readonly oids: readonly number[]
}

/** Every type as its text: a float or a `Date` would lose digits. */
const AS_TEXT = { getTypeParser: () => (text: string) => text }

/** One open connection. Every wait on it has a limit by this machine's clock; past it the connection is destroyed. */
export class Connection {
  /** Called once when the connection is lost, however. */
  onLost: () => void = () => {}
  lost = false
  readonly where: string
  readonly #client: Client
  readonly #socket: Socket
  readonly #time: Time
  readonly #limitMs: number

  private constructor(client: Client, socket: Socket, where: string, time: Time, limitMs: number) {
    this.#client = client
    this.#socket = socket
    this.where = where
    this.#time = time
    this.#limitMs = limitMs
    // Without a listener an error event would end the process.
    client.on('error', () => this.destroy())
    client.on('end', () => this.destroy())
  }

  static async open(
    address: PostgresAddress,
    encryption: Encryption,
    { time, limitMs }: { readonly time: Time; readonly limitMs: number },
  ): Promise<Connection | Fault> {
    const socket = new Socket()
    const client = new Client({
      host: address.host,
      port: address.port,
      user: address.user,
      ...(address.password === null ? {} : { password: address.password }),
      database: address.database,
      ssl: encryption,
      application_name: address.applicationName ?? 'marquee',
      keepAlive: true,
      stream: () => socket,
    })
    const where = placeOf(address)
    const connection = new Connection(client, socket, where, time, limitMs)
    try {
      const connected = await within(time, limitMs, client.connect())
      if (connected !== TOO_LATE) return connection
    } catch (cause) {
      connection.destroy()
      return faultOf(cause, where)
    }
    connection.destroy()
    return new Fault('timeout', `${where}: no connection within ${limitMs / 1000} s`, null, true)
  }

  async query(text: string, values: readonly (string | number | readonly string[])[] = []): Promise<Answer | Fault> {
    if (this.lost) return this.#lostFault()
    const config = { text, rowMode: 'array' as const, types: AS_TEXT }
    try {
      const asked = this.#client.query<TextRow>(values.length === 0 ? config : { ...config, values: [...values] })
      const result = await within(this.#time, this.#limitMs, asked)
      if (result !== TOO_LATE) return answerOf(result)
    } catch (cause) {
      const fault = faultOf(cause, this.where)
      if (fault.lost) this.destroy()
      return fault
    }
    this.destroy()
    return new Fault('timeout', `${this.where}: no answer within ${this.#limitMs / 1000} s`, null, true)
  }

  onNotification(callback: (payload: string) => void): void {
    this.#client.on('notification', ({ payload }) => callback(payload ?? ''))
  }

  /** Says goodbye where the server listens, else just leaves. */
  async close(): Promise<void> {
    if (this.lost) return
    this.onLost = () => {}
    await within(this.#time, 1000, this.#client.end())
    this.destroy()
  }

  destroy(): void {
    if (this.lost) return
    this.lost = true
    this.#socket.destroy()
    this.onLost()
  }

  #lostFault(): Fault {
    return new Fault('unreachable', `${this.where}: the connection was lost`, null, true)
  }
}

/** The answer of the last of several statements. */
function answerOf(result: QueryArrayResult<TextRow> | readonly QueryArrayResult<TextRow>[]): Answer {
  const last = isList(result) ? result.at(-1) : result
  return { rows: last?.rows ?? [], oids: (last?.fields ?? []).map((field) => field.dataTypeID) }
}

function isList<Item>(result: Item | readonly Item[]): result is readonly Item[] {
  return Array.isArray(result)
}

function placeOf({ host, port, database }: PostgresAddress): string {
  const authority = host.includes(':') && !host.startsWith('/') ? `[${host}]` : host
  return `PostgreSQL at ${authority}:${port}/${database}`
}
