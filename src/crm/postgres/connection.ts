import type { CrmLimits, Descriptors } from '../kit/crm-limits.ts'
import type { Socket } from 'node:net'
import { type ConnectionOptions, checkServerIdentity } from 'node:tls'
import { type QueryArrayResult, Client, Connection as Wire } from 'pg'
import type { PostgresAddress } from '../../config/crm/sources.ts'
import type { Time } from '../../time/time.ts'
import { PostgresFailure, failureIn, postgresFailureOf } from './postgres-failure.ts'
import { type RowBatch, type TextRow, RowBatches } from './row-batches.ts'
import { TIMED_OUT, withTimeout } from '../../time/waiting.ts'
import { readFileSync, statSync } from 'node:fs'
import type { Secret } from '../../domain/secret.ts'
import { unreachable } from '../../domain/unreachable.ts'

/** TLS options, or false for no encryption. */
type Encryption = false | ConnectionOptions

interface ConnectionSettings {
  readonly time: Time
  readonly limits: () => Pick<CrmLimits, 'requestTimeoutMs'>
  readonly descriptors: Descriptors
}

export type QueryAnswer = Pick<RowBatch, 'rows' | 'oids'>
export type QueryValues = readonly (string | readonly string[])[]

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
    return this.#limits().requestTimeoutMs
  }

  static async open(
    address: PostgresAddress,
    encryption: Encryption,
    settings: ConnectionSettings,
  ): Promise<Connection> {
    const socket = settings.descriptors.newSocket()
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
    const { limitMs } = connection
    try {
      const connected = await withTimeout(settings.time, limitMs, client.connect())
      if (connected !== TIMED_OUT) return connection
    } catch (cause) {
      connection.destroy()
      throw postgresFailureOf(cause, where)
    }
    connection.destroy()
    throw new PostgresFailure('timeout', `${where}: no connection within ${limitMs / 1000} s`, null, true)
  }

  async query(text: string, values: QueryValues = []): Promise<QueryAnswer> {
    if (this.lost) throw this.#whyLost()
    const config = { text, rowMode: 'array' as const, types: AS_TEXT }
    const reply = this.#client.query<TextRow>(values.length === 0 ? config : { ...config, values: [...values] })
    return answerOf(await this.#withinLimit(reply))
  }

  /**
   * Starts a statement and returns its first batch of rows. Until the last batch is read, only `nextBatch` may be
   * called.
   */
  async firstBatch(text: string): Promise<RowBatch> {
    if (this.lost) throw this.#whyLost()
    this.#batches = this.#client.query(new RowBatches(text))
    return this.nextBatch()
  }

  async nextBatch(): Promise<RowBatch> {
    if (this.lost || this.#batches === null) throw this.#whyLost()
    return this.#withinLimit(this.#batches.next())
  }

  /** Whether more rows of the current statement are to come. */
  get isBusy(): boolean {
    return this.#batches?.isOver === false
  }

  async #withinLimit<Value>(reply: Promise<Value>): Promise<Value> {
    try {
      const value = await withTimeout(this.time, this.limitMs, reply)
      if (value !== TIMED_OUT) return value
    } catch (cause) {
      const failed = postgresFailureOf(cause, this.where)
      if (failed.lost) this.destroy()
      throw failed
    }
    this.destroy()
    throw new PostgresFailure('timeout', `${this.where}: no answer within ${this.limitMs / 1000} s`, null, true)
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

interface OpenerSettings extends ConnectionSettings {
  readonly url: Secret
  /** Parses the URL. Returns the rest of a sentence if it is invalid. */
  readonly addressIn: (url: string) => PostgresAddress | string
  /** The absolute path of certificates to trust if the URL names none; `null` to trust the runtime's then. */
  readonly ca: string | null
  /** Resolves a path of the URL. */
  readonly absolute: (path: string) => string
}

/** Opens connections to the configured URL, reading its password file again if the server refuses the password. */
export class Opener {
  readonly settings: OpenerSettings
  #url: Secret

  constructor(settings: OpenerSettings) {
    this.settings = settings
    this.#url = settings.url
  }

  open(): Promise<Connection> {
    return this.#openWith(this.#url).catch(async (cause: unknown) => {
      const { code, message } = failureIn(cause)
      if (code !== '28P01' && code !== '28000') throw cause
      const refreshed = await this.#url.refresh()
      if (!refreshed.ok) throw new PostgresFailure('refused', `${message}; ${refreshed.message}`, code, true)
      if (refreshed.secret === this.#url) throw cause
      this.#url = refreshed.secret
      return this.#openWith(this.#url)
    })
  }

  async #openWith(url: Secret): Promise<Connection> {
    const address = this.settings.addressIn(url.reveal())
    if (typeof address === 'string') {
      throw new PostgresFailure('refused', `crm.url (${url.from}) ${address}`, null, true)
    }
    const [first, second] = tlsAttempts(address, this.#certificates(address))
    return Connection.open(address, first, this.settings).catch((cause: unknown) => {
      if (second === undefined || !isAboutEncryption(failureIn(cause), first)) throw cause
      return Connection.open(address, second, this.settings)
    })
  }

  #certificates({ sslRootCert, sslCert, sslKey }: PostgresAddress): Certificates {
    const { ca, absolute, descriptors } = this.settings
    const root = sslRootCert === 'system' ? null : (sslRootCert ?? ca)
    const certificates: Certificates = {}
    for (const [name, configuredPath] of [
      ['ca', root] as const,
      ['cert', sslCert] as const,
      ['key', sslKey] as const,
    ]) {
      if (configuredPath === null) continue
      const path = absolute(configuredPath)
      try {
        certificates[name] = descriptors.take(() => regularText(path))
      } catch {
        throw new PostgresFailure('misconfigured', `the certificate or key ${path} cannot be read`, null, true)
      }
    }
    return certificates
  }
}

/** Reads a regular file only: opening a pipe would block the process until something writes to it. */
function regularText(path: string): string {
  if (!statSync(path).isFile()) throw new Error('not a regular file')
  return readFileSync(path, 'utf8')
}

/**
 * Returns true if the other attempt of `prefer` or `allow` may succeed: the server has no TLS, or pg_hba.conf requires
 * the other kind of connection.
 */
function isAboutEncryption({ code, failure }: PostgresFailure, encryption: Encryption): boolean {
  return code === '28000' || (encryption !== false && failure.kind === 'refused' && code !== '28P01')
}

/** The contents of certificate and key files; without `ca`, only the runtime's certificates are trusted. */
interface Certificates {
  ca?: string
  cert?: string
  key?: string
}

/** The connection attempts for `sslmode`, in order (libpq, table 34.1). */
function tlsAttempts(
  { sslMode, host }: PostgresAddress,
  certificates: Certificates,
): readonly [first: Encryption, second?: Encryption] {
  // Unix sockets have no TLS, and libpq ignores sslmode for them.
  if (host.startsWith('/')) return [false]
  const { ca, ...own } = certificates
  const anyone: ConnectionOptions = { ...own, rejectUnauthorized: false }
  const trusted = { ...certificates, rejectUnauthorized: true }
  const anyHost: ConnectionOptions = { ...trusted, checkServerIdentity: () => undefined }
  // Checks the host by name, since `pg` sets no server name for an IP address.
  const thisHost: ConnectionOptions = { ...trusted, checkServerIdentity: (_, peer) => checkServerIdentity(host, peer) }
  switch (sslMode) {
    case 'disable':
      return [false]
    case 'allow':
      return [false, anyone]
    case 'prefer':
      return [anyone, false]
    case 'require':
      // With a root certificate, `require` verifies the chain, because libpq does and operators rely on it.
      return [ca === undefined ? anyone : anyHost]
    case 'verify-ca':
      return [anyHost]
    case 'verify-full':
      return [thisHost]
    default:
      return unreachable(sslMode)
  }
}
