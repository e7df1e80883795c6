// The port to the store that the instances of a cluster share, and the sessions that use it within time limits. Requests
// to Marquee never wait for it.

import type { Buffer } from 'node:buffer'
import type { Time } from '../time/time.ts'
import { TIMED_OUT, withTimeout } from '../time/waiting.ts'

/** A store; Redis or Valkey in production. */
export interface Store {
  /** Opens a separate connection. It must not queue or repeat commands. */
  connect(): Promise<StoreConnection>
}

/** An entry of the log: its head (JSON), its body, and the signature of both. */
export interface StoredEntry {
  /** `<epoch>-<number>`. */
  readonly id: string
  readonly h: string
  readonly b: Buffer | null
  readonly s: string | null
}

/** The keys that have fields: a nonce for each instance, and the number of chunks so far of each snapshot. */
export type FieldsKey = 'nonces' | 'snapshots'

/** `refused`: the id is not above the last one. `no-log`: there is no log, and it was not to be created. */
export type Appended = 'added' | 'refused' | 'no-log'

/** After `destroy`, every command fails soon. `Session` sets the time limits. */
export interface StoreConnection {
  append(entry: StoredEntry, mayCreate: boolean): Promise<Appended>
  /** Reads up to `count` entries after `id`; waits up to `waitMs` if there are none. */
  readAfter(id: string, waitMs: number, count: number): Promise<readonly StoredEntry[]>
  /**
   * Waits up to `waitMs` for a new entry of the log. Returns true if there is one. Reads no earlier entries, which may
   * be too large.
   */
  moves(waitMs: number): Promise<boolean>
  /** Reads from `id` on, inclusive. */
  readFrom(id: string, count: number): Promise<readonly StoredEntry[]>
  /** Returns the last entry; `null` if there is no log. */
  top(): Promise<StoredEntry | null>
  /** Removes the entries before `id`. */
  trimBefore(id: string): Promise<void>
  /** Removes the log, keys with fields, and blobs, by their names. */
  drop(keys: readonly string[]): Promise<void>
  putBlob(name: string, bytes: Buffer): Promise<void>
  getBlob(name: string): Promise<Buffer | null>
  /** Returns how many of these blobs exist. */
  countBlobs(names: readonly string[]): Promise<number>
  writeField(key: FieldsKey, name: string, text: string): Promise<void>
  /** Returns all fields; `null` if there are more than `most`. */
  readFields(key: FieldsKey, most: number): Promise<ReadonlyMap<string, string> | null>
  dropFields(key: FieldsKey, names: readonly string[]): Promise<void>
  ping(): Promise<void>
  /** Returns true if this server is the primary, not a replica. */
  isPrimary(): Promise<boolean>
  destroy(): void
}

/**
 * `full`: there is no room to write. `refused`: the user or the command is not allowed. `foreign`: the key has data of
 * another application. `late`: no answer within the time limit. `lost`: anything else.
 */
export type StoreFault = 'full' | 'refused' | 'foreign' | 'late' | 'lost'

export class StoreFailure extends Error {
  readonly fault: StoreFault

  constructor(fault: StoreFault, message: string, options?: ErrorOptions) {
    super(message, options)
    this.name = 'StoreFailure'
    this.fault = fault
  }
}

/** Returns true if a command to the store failed for this reason. */
export function isFault(cause: unknown, fault: StoreFault): cause is StoreFailure {
  return cause instanceof StoreFailure && cause.fault === fault
}

type Direction = 'written' | 'read'

const KINDS = ['claim', 'rows', 'read', 'heartbeat', 'leave'] as const
const DIRECTIONS: readonly Direction[] = ['written', 'read']

/** Counts the entries and bytes that are written to the store and read from it. */
export class Traffic {
  readonly entries: readonly { readonly kind: string; readonly direction: Direction; count: number }[] = KINDS.flatMap(
    (kind) => DIRECTIONS.map((direction) => ({ kind, direction, count: 0 })),
  )
  readonly bytes: Record<Direction, number> = { written: 0, read: 0 }
  /** The number of claims seen; each has its own epoch. */
  epochs = 0
  #highestEpoch = 0

  count({ id, h, b }: StoredEntry, direction: Direction): void {
    this.bytes[direction] += h.length + (b?.length ?? 0)
    // The kind is at a fixed position (entries.ts): nothing else of an unverified head is read.
    const kind = /^\{"kind":"(\w{1,9})"/.exec(h)?.[1] ?? ''
    const counted = this.entries.find((one) => one.kind === kind && one.direction === direction)
    if (counted === undefined) return
    counted.count++
    const epoch = Number(id.split('-')[0])
    if (kind !== 'claim' || epoch <= this.#highestEpoch) return
    this.#highestEpoch = epoch
    this.epochs++
  }
}

/** The range of the time limit of a command. */
const COMMAND_MS = { least: 1000, most: 5000 } as const

/** The time limit of a command to the store, for a maximum age. */
export function commandLimitMs({ maxAgeMs }: { readonly maxAgeMs: number }): number {
  return Math.min(COMMAND_MS.most, Math.max(COMMAND_MS.least, maxAgeMs / 4))
}

/**
 * One connection to the store, with a time limit for every command. It ends at its first failure: the state of the
 * store is then read again on another connection. Late results are never used.
 */
export class Session {
  readonly openedAtMs: number
  readonly limitMs: number
  readonly #connection: StoreConnection
  readonly #time: Time
  readonly #signal: AbortSignal
  readonly #traffic: Traffic

  private constructor(connection: StoreConnection, time: Time, limitMs: number, signal: AbortSignal, traffic: Traffic) {
    this.#connection = connection
    this.#time = time
    this.limitMs = limitMs
    this.#signal = signal
    this.#traffic = traffic
    this.openedAtMs = time.now().monotonicMs
  }

  static async open(
    store: Store,
    time: Time,
    limitMs: number,
    signal: AbortSignal,
    traffic: Traffic = new Traffic(),
  ): Promise<Session> {
    const connecting = store.connect()
    const connection = await withTimeout(time, limitMs, connecting, signal)
    if (connection !== TIMED_OUT) return new Session(connection, time, limitMs, signal, traffic)
    connecting.then((late) => late.destroy()).catch(() => {})
    throw new StoreFailure('late', tooLate(limitMs))
  }

  /**
   * Runs one command, which may wait for `waitMs`. A full store and a key of another type fail only the command, not
   * the session.
   */
  async ask<Value>(command: (store: StoreConnection) => Promise<Value>, waitMs = 0): Promise<Value> {
    const limitMs = this.limitMs + waitMs
    try {
      const value = await withTimeout(this.#time, limitMs, command(this.#connection), this.#signal)
      if (value !== TIMED_OUT) return value
      throw new StoreFailure('late', tooLate(limitMs))
    } catch (cause) {
      if (!isFault(cause, 'full') && !isFault(cause, 'foreign')) this.close()
      if (cause instanceof StoreFailure) throw cause
      throw new StoreFailure('lost', cause instanceof Error ? cause.message : 'the connection failed', { cause })
    }
  }

  async append(entry: StoredEntry, mayCreate: boolean): Promise<Appended> {
    const appended = await this.ask((store) => store.append(entry, mayCreate))
    if (appended === 'added') this.#traffic.count(entry, 'written')
    return appended
  }

  async readAfter(id: string, waitMs: number, count: number): Promise<readonly StoredEntry[]> {
    const entries = await this.ask((store) => store.readAfter(id, waitMs, count), waitMs)
    for (const entry of entries) this.#traffic.count(entry, 'read')
    return entries
  }

  async putBlob(name: string, bytes: Buffer): Promise<void> {
    await this.ask((store) => store.putBlob(name, bytes))
    this.#traffic.bytes.written += bytes.length
  }

  /** Reads a blob; `null` if there is none. Data of other applications counts as none. */
  async getBlob(name: string): Promise<Buffer | null> {
    const bytes = await this.ask((store) => store.getBlob(name)).catch((cause: unknown) => {
      if (isFault(cause, 'foreign')) return null
      throw cause
    })
    this.#traffic.bytes.read += bytes?.length ?? 0
    return bytes
  }

  close(): void {
    this.#connection.destroy()
  }
}

function tooLate(limitMs: number): string {
  return `the store did not answer within ${limitMs / 1000} s`
}
