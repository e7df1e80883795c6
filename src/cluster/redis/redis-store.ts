import { Buffer } from 'node:buffer'
import { X509Certificate } from 'node:crypto'
import { RESP_TYPES, createClient } from '@redis/client'
import type { ListName } from '../../domain/field.ts'
import {
  type Claim,
  type WritePosition,
  type Sizes,
  type Store,
  type StoreConnection,
  type StoredEntry,
  type StoreState,
  StoreFailure,
  type Write,
} from '../store.ts'
import { type RawReply, entriesOf, isOfOtherType, listOf, namedIn, storeFailureOf, strange, textIn } from './replies.ts'
import { CLAIM, FILL, WRITE } from './scripts.ts'
import { readSmallFile, readText } from '../../time/read-text.ts'

/** A secret URL that can be read again from its source. */
interface StoreAddress {
  reveal(): string
  refresh(): Promise<{ readonly ok: true; readonly secret: StoreAddress } | { readonly ok: false }>
}

export interface RedisSettings {
  /** `rediss://user:password@host:6379/0`, the primary. */
  readonly url: StoreAddress
  /** Returns true if a URL that was read again, or that a sentinel names, may be used. */
  readonly mayUse?: (url: Pick<StoreAddress, 'reveal'>) => boolean
  /** The sentinels that know the primary, and by what name; `null` if the URL names it. */
  readonly sentinel: { readonly name: string; readonly nodes: readonly string[] } | null
  /** The PEM file of certificates to trust; `null` means the system's. */
  readonly ca: string | null
  /** Separates several Marquees in one store. */
  readonly name: string
}

/** Keys expire a day after a leader last wrote. Nothing relies on this. */
const EXPIRES_MS = 24 * 3_600_000
const SCOPES_LISTED = 1000

const UNUSABLE =
  'cluster.url was read again and cannot be used: it must have the form rediss://user:password@host:6379/0'

type Send = (parts: readonly (string | Buffer)[]) => Promise<RawReply>

/**
 * Redis or Valkey 6.2 or later. The client must not reconnect, queue or repeat commands: it would hide the loss of the
 * store, or write twice. It has no time limits either, so the session sets them.
 */
export class RedisStore implements Store {
  readonly #settings: RedisSettings
  readonly #scope: string
  #url: StoreAddress

  constructor(settings: RedisSettings, scope: string) {
    this.#settings = settings
    this.#scope = scope
    this.#url = settings.url
  }

  async connect(): Promise<RedisConnection> {
    try {
      return await this.#open()
    } catch (cause) {
      // The password or the address may have changed.
      const read = await this.#url.refresh()
      if (!read.ok || read.secret === this.#url) throw storeFailureOf(cause)
      if (!this.#mayUse(read.secret)) throw new StoreFailure('refused', UNUSABLE)
      this.#url = read.secret
      return this.#open().catch((again: unknown) => Promise.reject(storeFailureOf(again)))
    }
  }

  #mayUse(url: Pick<StoreAddress, 'reveal'>): boolean {
    return this.#settings.mayUse?.(url) ?? true
  }

  async #open(): Promise<RedisConnection> {
    const { ca, name } = this.#settings
    const trusted = ca === null ? {} : { ca: await readTrusted(ca) }
    const url = await this.#primary(trusted)
    const { send, end } = await connected(url, trusted)
    return new RedisConnection(send, end, name, this.#scope)
  }

  /** Asks all sentinels at once: one that is stopped must not keep the others waiting. */
  async #primary(trusted: { readonly ca?: string }): Promise<string> {
    const { sentinel } = this.#settings
    const url = new URL(this.#url.reveal())
    if (sentinel === null) return url.href
    const open: (() => void)[] = []
    const ask = async (node: string): Promise<string> => {
      const { send, end } = await connected(`${url.protocol}//${node}`, trusted, (own) => open.push(own))
      open.push(end)
      const [host, port] = listOf(await send(['SENTINEL', 'GET-MASTER-ADDR-BY-NAME', sentinel.name])).map(textIn)
      if (host === undefined || port === undefined) {
        throw new StoreFailure('refused', `no sentinel of cluster.sentinel.nodes knows ${sentinel.name}`)
      }
      url.hostname = host.includes(':') ? `[${host}]` : host
      url.port = port
      return url.href
    }
    try {
      const primary = await Promise.any(sentinel.nodes.map((node) => ask(node)))
      if (this.#mayUse({ reveal: () => primary })) return primary
      throw new StoreFailure('refused', 'the sentinels name a primary on another machine: cluster.url must be rediss:')
    } catch (cause) {
      const first: unknown = cause instanceof AggregateError ? cause.errors[0] : cause
      throw first
    } finally {
      for (const end of open) end()
    }
  }
}

async function connected(
  url: string,
  trusted: { readonly ca?: string },
  opens: (end: () => void) => void = () => {},
): Promise<{ readonly send: Send; readonly end: () => void }> {
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
  const end = (): void => client.destroy()
  opens(end)
  try {
    await client.connect()
    // A server that hangs, or of another kind, also accepts connections.
    if (textIn(await bytes.sendCommand<RawReply>(['PING'])) !== 'PONG') throw strange()
  } catch (cause) {
    end()
    throw cause
  }
  return { send: (parts) => bytes.sendCommand<RawReply>([...parts]), end }
}

export class RedisConnection implements StoreConnection {
  readonly #send: Send
  readonly #end: () => void
  readonly #name: string
  readonly #scope: string
  readonly #keys: Readonly<Record<'state' | 'log' | ListName | 'members', string>>
  readonly #scripts: readonly string[]

  constructor(send: Send, end: () => void, name: string, scope: string) {
    this.#send = send
    this.#end = end
    this.#name = name
    this.#scope = scope
    // The braces keep all keys in one slot of a Redis Cluster.
    const key = (last: string): string => `${name}:{${scope}}:${last}`
    this.#keys = {
      state: key('state'),
      log: key('log'),
      events: key('events'),
      venues: key('venues'),
      members: key('members'),
    }
    const { state, log, events, venues, members } = this.#keys
    this.#scripts = ['5', state, log, events, venues, members]
  }

  async state(): Promise<StoreState> {
    const fields = ['token', 'seq', 'epoch', 'ready', 'beat']
    // A key of another type is none: the next claim removes it.
    const reply = await this.#command('HMGET', this.#keys.state, ...fields).catch(ifOfOtherType)
    const [token, seq, epoch, ready, beat] = listOf(reply)
    return {
      token: textIn(token),
      seq: numberIn(seq),
      epoch: numberIn(epoch),
      isReady: textIn(ready) === '1',
      beat: Buffer.isBuffer(beat) ? textIn(beat) : null,
    }
  }

  async claim({ token, seen, highest, after, isNew, who }: Claim): Promise<{ seq: number; epoch: number } | null> {
    const afterSeq = after?.seq ?? highest.seq
    const given = [token, seen.token, String(seen.seq), String(highest.epoch), after?.token ?? '', String(afterSeq)]
    const reply = await this.#command('EVAL', CLAIM, ...this.#scripts, ...given, isNew ? '1' : '0', who)
    const [isTaken, seq, epoch] = listOf(reply).map(numberIn)
    if (isTaken !== 1 || seq === undefined || epoch === undefined) return null
    // No instance needs it.
    void this.#noteScope()
    return { seq, epoch }
  }

  async write({ at, beat, cutSeq, ready, notes, rows }: Write): Promise<Sizes | null> {
    const given = [at.token, String(at.seq), beat ?? '', String(cutSeq), ready ? '1' : '', notes, String(EXPIRES_MS)]
    const reply = await this.#command('EVAL', WRITE, ...this.#scripts, ...given, ...rows)
    const [isWritten, events = 0, venues = 0] = listOf(reply).map(numberIn)
    return isWritten === 1 ? { events, venues } : null
  }

  async fill(token: string, rows: readonly Buffer[]): Promise<boolean> {
    return numberIn(await this.#command('EVAL', FILL, ...this.#scripts, token, ...rows)) === 1
  }

  async readAfter(seq: number, waitMs: number, count: number): Promise<readonly StoredEntry[]> {
    // 0 would block for ever.
    const block = waitMs > 0 ? ['BLOCK', String(Math.ceil(waitMs))] : []
    const after = ['STREAMS', this.#keys.log, `${seq}-0`]
    const streams = await this.#command('XREAD', 'COUNT', String(count), ...block, ...after).catch(ifOfOtherType)
    const [stream] = listOf(streams)
    return entriesOf(listOf(stream)[1])
  }

  async scan(list: ListName, cursor: string, count: number): Promise<{ cursor: string; rows: readonly Buffer[] }> {
    const reply = await this.#command('HSCAN', this.#keys[list], cursor, 'COUNT', String(count)).catch(ifOfOtherType)
    const [next, fields] = listOf(reply)
    const rows = listOf(fields).filter((part, at) => at % 2 === 1 && Buffer.isBuffer(part))
    return { cursor: textIn(next ?? '0'), rows: rows.filter((row) => Buffer.isBuffer(row)) }
  }

  async tick(instance: string, said: string): Promise<void> {
    await this.#command('HSET', this.#keys.members, instance, said).catch(ifOfOtherType)
  }

  async members(): Promise<ReadonlyMap<string, string>> {
    try {
      const flat = listOf(await this.#command('HGETALL', this.#keys.members)).map(textIn)
      return new Map(flat.flatMap((name, at) => (at % 2 === 0 ? [[name, flat[at + 1] ?? ''] as const] : [])))
    } catch (cause) {
      if (!isOfOtherType(cause)) throw cause
      await this.#command('UNLINK', this.#keys.members)
      return new Map()
    }
  }

  async dropMembers(instances: readonly string[]): Promise<void> {
    if (instances.length > 0) await this.#command('HDEL', this.#keys.members, ...instances).catch(ifOfOtherType)
  }

  /** Returns the server's INFO, by name. */
  async info(): Promise<ReadonlyMap<string, string>> {
    return namedIn(await this.#command('INFO'))
  }

  /** Notes for `check` that this scope is in use. In a Redis Cluster the key may be on another node. */
  async #noteScope(): Promise<void> {
    const key = `${this.#name}:scopes`
    await this.#command('HSET', key, this.#scope, '1').catch(() => null)
    await this.#command('PEXPIRE', key, String(EXPIRES_MS)).catch(() => null)
  }

  /** Returns the write positions of the scopes under this name but for one. */
  async otherScopes(own: string): Promise<ReadonlyMap<string, WritePosition>> {
    const found = new Map<string, WritePosition>()
    const reply = await this.#command('HGETALL', `${this.#name}:scopes`).catch(() => null)
    const names = listOf(reply)
      .map(textIn)
      .filter((scope, at) => at % 2 === 0 && scope !== own && /^[0-9a-f]{12}$/.test(scope))
    for (const scope of names.slice(0, SCOPES_LISTED)) {
      const state = await this.#command('HMGET', `${this.#name}:{${scope}}:state`, 'token', 'seq').catch(() => null)
      const [token, seq] = listOf(state)
      found.set(scope, { token: textIn(token), seq: numberIn(seq) })
    }
    return found
  }

  /** Tries each command that instances send or run in scripts. Returns those that the server refuses to this user. */
  async refusedRights(): Promise<readonly string[]> {
    const { state, log, events, members } = this.#keys
    const tries: readonly (readonly string[])[] = [
      ['EVAL', 'return 1', '1', state],
      ['HSET', members, 'a', '1'],
      ['HGET', members, 'a'],
      ['HMGET', state, 'token'],
      ['HGETALL', members],
      ['HLEN', members],
      ['HSCAN', events, '0'],
      ['HDEL', members, 'a'],
      ['XADD', log, '1-0', 't', 'a'],
      ['XREAD', 'COUNT', '1', 'STREAMS', log, '0'],
      ['TYPE', state],
      ['PEXPIRE', log, '60000'],
      ['UNLINK', log],
    ]
    const refused: string[] = []
    for (const parts of tries) {
      await this.#command(...parts).catch((cause: unknown) => {
        if (!(cause instanceof StoreFailure) || cause.fault !== 'refused') throw cause
        const ofKeys = /key/i.test(cause.message) ? ` (${cause.message})` : ''
        refused.push(`+${(parts[0] ?? '').toLowerCase()}${ofKeys}`)
      })
    }
    return refused
  }

  /** Removes all keys, for a probe of the rights. */
  async remove(): Promise<void> {
    await this.#command('UNLINK', ...Object.values(this.#keys))
  }

  destroy(): void {
    this.#end()
  }

  async #command(...parts: readonly (string | Buffer)[]): Promise<RawReply> {
    try {
      return await this.#send(parts)
    } catch (cause) {
      throw storeFailureOf(cause)
    }
  }
}

function ifOfOtherType(cause: unknown): null {
  if (isOfOtherType(cause)) return null
  throw cause
}

function numberIn(reply: RawReply): number {
  const value = Number(textIn(reply))
  return Number.isSafeInteger(value) ? value : 0
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
