import { Buffer } from 'node:buffer'
import { X509Certificate } from 'node:crypto'
import { RESP_TYPES, createClient } from '@redis/client'
import {
  type Appended,
  type FieldsKey,
  type Store,
  type StoreConnection,
  type StoredEntry,
  StoreFailure,
} from '../store.ts'
import { type RawReply, entriesOf, listOf, namedIn, storeFailureOf, strange, textIn } from './replies.ts'
import { readSmallFile, readText } from '../../time/read-text.ts'

/** A secret URL that can be read again from its source. */
interface StoreAddress {
  reveal(): string
  refresh(): Promise<{ readonly ok: true; readonly secret: StoreAddress } | { readonly ok: false }>
}

export interface RedisSettings {
  /** `rediss://user:password@host:6379/0`, the primary. */
  readonly url: StoreAddress
  /** Returns true if a URL that was read again may be used. */
  readonly mayUse?: (url: StoreAddress) => boolean
  /** The PEM file of certificates to trust; `null` means the system's. */
  readonly ca: string | null
  /** Separates several Marquees in one store. */
  readonly name: string
  /** Whether to test only the rights. Keys that cannot be removed then expire within a minute, and no log is listed. */
  readonly isProbe?: boolean
  /** A clock that is never set. */
  readonly nowMs?: () => number
}

/** Keys expire a day after a leader last wrote. Nothing relies on this. */
const EXPIRES_MS = 24 * 3_600_000
const PROBE_EXPIRES_MS = 60_000
/** The fraction of that time after which it is renewed. */
const RENEWED_PART = 1 / 24
/** The most keys or fields that one command removes: other clients wait meanwhile. */
const MOST_AT_ONCE = 1000
/** The number of fields requested at once from a hash. */
const SCAN_FIELDS = '1000'

/** The names of logs without and with a key (entries.ts), as patterns of Redis. */
const LOG_NAMES = ['', `-${'[0-9a-f]'.repeat(8)}`].map((end) => `${'[0-9a-f]'.repeat(12)}${end}`)
/** The most names of other logs that are read, and the most logs that are examined. */
const MOST_NAMES = 10_000
const MOST_OTHERS = 50

const UNUSABLE =
  'cluster.url was read again and cannot be used: it must have the form rediss://user:password@host:6379/0'

type Command = (parts: readonly (string | Buffer)[]) => Promise<RawReply>

/**
 * Redis or Valkey 6.2 or later. The client must not reconnect, queue or repeat commands: it would hide the loss of the
 * store, or write twice. It has no time limits either, so the session sets them.
 */
export class RedisStore implements Store {
  readonly #settings: RedisSettings
  readonly #logName: string
  #url: StoreAddress

  constructor(settings: RedisSettings, logName: string) {
    this.#settings = settings
    this.#logName = logName
    this.#url = settings.url
  }

  async connect(): Promise<RedisConnection> {
    try {
      return await this.#open()
    } catch (cause) {
      // The password or the address may have changed.
      const read = await this.#url.refresh()
      if (!read.ok || read.secret === this.#url) throw storeFailureOf(cause)
      const { mayUse = () => true } = this.#settings
      if (!mayUse(read.secret)) throw new StoreFailure('refused', UNUSABLE)
      this.#url = read.secret
      return this.#open().catch((again: unknown) => Promise.reject(storeFailureOf(again)))
    }
  }

  async #open(): Promise<RedisConnection> {
    const { ca } = this.#settings
    const url = this.#url.reveal()
    const trusted = ca === null ? {} : { ca: await readTrusted(ca) }
    const tls = url.startsWith('rediss:') ? { tls: true as const, ...trusted } : {}
    const client = createClient({
      url,
      RESP: 2,
      socket: { reconnectStrategy: false, connectTimeout: 0, ...tls },
      disableOfflineQueue: true,
      // Operators need not grant the rights for these commands.
      disableClientInfo: true,
      maintNotifications: 'disabled',
    })
    // Failing commands report the error; without a listener it would end the process.
    client.on('error', () => {})
    const bytes = client.withTypeMapping({ [RESP_TYPES.BLOB_STRING]: Buffer })
    const connection = new RedisConnection(
      (parts) => bytes.sendCommand<RawReply>([...parts]),
      () => client.destroy(),
      this.#settings,
      this.#logName,
    )
    try {
      await client.connect()
      // A server that hangs, or of another kind, also accepts connections.
      await connection.ping()
    } catch (cause) {
      connection.destroy()
      throw cause
    }
    return connection
  }
}

export class RedisConnection implements StoreConnection {
  readonly #send: Command
  readonly #end: () => void
  readonly #name: string
  readonly #logName: string
  readonly #log: string
  readonly #isProbe: boolean
  readonly #expiresMs: string
  readonly #nowMs: () => number
  #renewedAtMs = Number.NEGATIVE_INFINITY

  constructor(send: Command, end: () => void, settings: RedisSettings, logName: string) {
    const { name, isProbe = false, nowMs = () => performance.now() } = settings
    this.#send = send
    this.#end = end
    this.#name = name
    this.#logName = logName
    this.#log = this.#key('log')
    this.#isProbe = isProbe
    this.#expiresMs = String(isProbe ? PROBE_EXPIRES_MS : EXPIRES_MS)
    this.#nowMs = nowMs
  }

  /** The braces keep all keys in one slot of a Redis Cluster. */
  #key(key: string): string {
    return `${this.#name}:{${this.#logName}}:${key}`
  }

  async append({ id, h, b, s }: StoredEntry, mayCreate: boolean): Promise<Appended> {
    const fields = ['h', h, ...(b === null ? [] : ['b', b]), ...(s === null ? [] : ['s', s])]
    const create = mayCreate ? [] : ['NOMKSTREAM']
    try {
      const added = await this.#command('XADD', this.#log, ...create, id, ...fields)
      if (added === null) return 'no-log'
      if (textIn(added) !== id) throw strange()
    } catch (cause) {
      // XADD reports the first for an id that is not above the last one, which ensures that exactly one of several
      // claims succeeds, and the second if the last one is the highest id there is.
      if (cause instanceof StoreFailure && /equal or smaller|exhausted the last/.test(cause.message)) return 'refused'
      throw cause
    }
    const nowMs = this.#nowMs()
    // The interval is a time, not a number of heartbeats, because those may be minutes apart.
    if (nowMs - this.#renewedAtMs >= EXPIRES_MS * RENEWED_PART) {
      await this.#renew()
      this.#renewedAtMs = nowMs
    }
    return 'added'
  }

  async #renew(): Promise<void> {
    for (const key of [this.#log, this.#key('nonces')]) await this.#command('PEXPIRE', key, this.#expiresMs)
    // For `check` only; in a Redis Cluster it may be on another node.
    if (!this.#isProbe) await this.#writeField(`${this.#name}:scopes`, this.#logName, '1').catch(() => {})
  }

  async #writeField(key: string, name: string, text: string): Promise<void> {
    await Promise.all([this.#command('HSET', key, name, text), this.#command('PEXPIRE', key, this.#expiresMs)])
  }

  async readAfter(id: string, waitMs: number, count: number): Promise<readonly StoredEntry[]> {
    // 0 would block for ever.
    const block = waitMs > 0 ? ['BLOCK', String(Math.ceil(waitMs))] : []
    const streams = await this.#command('XREAD', 'COUNT', String(count), ...block, 'STREAMS', this.#log, id)
    const [stream] = listOf(streams)
    return entriesOf(listOf(stream)[1])
  }

  async moves(waitMs: number): Promise<boolean> {
    return (await this.readAfter('$', waitMs, 1)).length > 0
  }

  async readFrom(id: string, count: number): Promise<readonly StoredEntry[]> {
    return entriesOf(await this.#command('XRANGE', this.#log, id, '+', 'COUNT', String(count)))
  }

  top(): Promise<StoredEntry | null> {
    return this.#lastOf(this.#log)
  }

  async #lastOf(log: string): Promise<StoredEntry | null> {
    const [last] = entriesOf(await this.#command('XREVRANGE', log, '+', '-', 'COUNT', '1'))
    return last ?? null
  }

  async trimBefore(id: string): Promise<void> {
    await this.#command('XTRIM', this.#log, 'MINID', id)
  }

  async drop(keys: readonly string[]): Promise<void> {
    const names = keys.map((key) => this.#key(key))
    await this.#each(names, (some) => this.#command('UNLINK', ...some))
  }

  async putBlob(name: string, bytes: Buffer): Promise<void> {
    await this.#command('SET', this.#key(name), bytes, 'PX', this.#expiresMs)
  }

  async getBlob(name: string): Promise<Buffer | null> {
    const bytes = await this.#command('GET', this.#key(name))
    return Buffer.isBuffer(bytes) ? bytes : null
  }

  async countBlobs(names: readonly string[]): Promise<number> {
    return Number(await this.#command('EXISTS', ...names.map((name) => this.#key(name))))
  }

  async writeField(key: FieldsKey, name: string, text: string): Promise<void> {
    // Nonces are frequent, and expire with the log.
    if (key === 'nonces') await this.#command('HSET', this.#key(key), name, text)
    else await this.#writeField(this.#key(key), name, text)
  }

  readFields(key: FieldsKey, most: number): Promise<ReadonlyMap<string, string> | null> {
    return this.#fieldsOf(this.#key(key), most)
  }

  async dropFields(key: FieldsKey, names: readonly string[]): Promise<void> {
    await this.#each(names, (some) => this.#command('HDEL', this.#key(key), ...some))
  }

  async #each(names: readonly string[], ask: (some: readonly string[]) => Promise<RawReply>): Promise<void> {
    for (let at = 0; at < names.length; at += MOST_AT_ONCE) await ask(names.slice(at, at + MOST_AT_ONCE))
  }

  /** Reads the fields of a hash whose names match; `null` if there are more than `most`. */
  async #fieldsOf(key: string, most: number, match = '*'): Promise<ReadonlyMap<string, string> | null> {
    const found = new Map<string, string>()
    let cursor = '0'
    do {
      const [next, fields] = listOf(await this.#command('HSCAN', key, cursor, 'MATCH', match, 'COUNT', SCAN_FIELDS))
      const flat = listOf(fields).map(textIn)
      for (let at = 0; at + 1 < flat.length; at += 2) found.set(flat[at] ?? '', flat[at + 1] ?? '')
      cursor = textIn(next)
    } while (cursor !== '0' && found.size <= most)
    return found.size > most ? null : found
  }

  async ping(): Promise<void> {
    if (textIn(await this.#command('PING')) !== 'PONG') throw strange()
  }

  async isPrimary(): Promise<boolean> {
    return namedIn(await this.#command('INFO', 'replication')).get('role') === 'master'
  }

  /** Returns the server's INFO, by name. */
  async info(): Promise<ReadonlyMap<string, string>> {
    return namedIn(await this.#command('INFO'))
  }

  async otherLogsInUse(waitMs: number): Promise<readonly string[]> {
    const named: string[] = []
    // Other applications with the same `cluster.name` may keep fields of any size under this key.
    for (const match of LOG_NAMES) {
      const fields = await this.#fieldsOf(`${this.#name}:scopes`, MOST_NAMES, match)
      for (const name of fields?.keys() ?? []) if (name !== this.#logName) named.push(name)
    }
    let others: readonly string[] = []
    for (const name of named.slice(0, MOST_OTHERS)) {
      // In a Redis Cluster the key may be on another node, and it may be of any type.
      await this.#moving([name], 0).then(
        () => (others = [...others, name]),
        () => {},
      )
    }
    const found: string[] = []
    const untilMs = this.#nowMs() + waitMs
    for (let leftMs = waitMs; others.length > 0 && leftMs > 0; leftMs = untilMs - this.#nowMs()) {
      const moving = await this.#moving(others, leftMs).catch(ifApart)
      if (moving === null) break
      found.push(...moving)
      others = others.filter((name) => !moving.includes(name))
    }
    return found.toSorted()
  }

  /** Waits up to `waitMs` for a new entry in any of these logs; returns the logs that have one. */
  async #moving(names: readonly string[], waitMs: number): Promise<readonly string[]> {
    const block = waitMs > 0 ? ['BLOCK', String(Math.ceil(waitMs))] : []
    const keys = names.map((name) => `${this.#name}:{${name}}:log`)
    const after = names.map(() => '$')
    const streams = await this.#command('XREAD', 'COUNT', '1', ...block, 'STREAMS', ...keys, ...after)
    const moved = new Set(listOf(streams).map((stream) => textIn(listOf(stream)[0])))
    return names.filter((_, at) => moved.has(keys[at] ?? ''))
  }

  destroy(): void {
    this.#end()
  }

  async #command(...parts: readonly (string | Buffer)[]): Promise<RawReply> {
    try {
      return await this.#send(parts)
    } catch (cause) {
      const key = parts.find((part) => typeof part === 'string' && part.startsWith(`${this.#name}:`))
      throw storeFailureOf(cause, String(key))
    }
  }
}

/** In a Redis Cluster, keys of several logs cannot be read at once. */
function ifApart(cause: unknown): null {
  if (cause instanceof StoreFailure && cause.message.startsWith('CROSSSLOT')) return null
  throw cause
}

/** Reads the certificates of `cluster.ca`. Bun ignores a text without a certificate, and Node reports it as broken. */
async function readTrusted(path: string): Promise<string> {
  const read = await readText(path, readSmallFile)
  if (!read.ok) throw new StoreFailure('lost', `cluster.ca ${read.message}`)
  if (isPem(read.text)) return read.text
  throw new StoreFailure('refused', 'cluster.ca holds no certificate: it must be a PEM file')
}

/** Returns true if the text begins with a readable certificate. */
function isPem(text: string): boolean {
  try {
    return new X509Certificate(text).subject !== ''
  } catch {
    return false
  }
}
