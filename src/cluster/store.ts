// The port to the store that the instances of a cluster share, and the sessions that use it within time limits. Requests
// to Marquee never wait for it.

import type { Buffer } from 'node:buffer'
import type { ListName } from '../domain/field.ts'
import type { Time } from '../time/time.ts'
import { TIMED_OUT, withTimeout } from '../time/waiting.ts'

/** A store; Redis or Valkey in production. */
export interface Store {
  /** Opens a separate connection. It must not queue or repeat commands. */
  connect(): Promise<StoreConnection>
}

/**
 * Names one content of the lists, whatever the store forgets: the owner of a token sends one write at a time, and takes
 * a new token after each write that was not answered.
 */
export interface WritePosition {
  /** 64 random bits, drawn for each claim. */
  readonly token: string
  readonly seq: number
}

/** Which leader may write, and what the store holds. All fields are blank if the store is empty. */
export interface StoreState extends WritePosition {
  /** Rises with each claim. Tells a leader that was deposed from one whose store went back. */
  readonly epoch: number
  /** The hashes hold all rows. */
  readonly isReady: boolean
  readonly beat: string | null
}

export interface Claim {
  readonly token: string
  /** The state that was seen. The claim fails if it is another by now. */
  readonly seen: WritePosition
  /** What this instance knows: the store may have gone back below it. */
  readonly highest: { readonly epoch: number; readonly seq: number }
  /** Who holds exactly this goes on with the claim; `null` if nobody does. */
  readonly after: WritePosition | null
  /** Whether the hashes are to be filled anew. */
  readonly isNew: boolean
  readonly who: string
}

export interface Write {
  readonly at: WritePosition
  readonly beat: string | null
  /** Earlier entries are no longer needed. */
  readonly cutSeq: number
  readonly ready: boolean
  /** What is to be said of the rows. */
  readonly notes: string
  readonly rows: readonly Buffer[]
}

/** An entry of the stream. It claims, or it carries rows, a beat, or both. */
export interface StoredEntry extends WritePosition {
  readonly claim: { readonly epoch: number; readonly after: WritePosition | null; readonly who: string } | null
  readonly rows: Buffer | null
  readonly notes: string
  readonly beat: string | null
}

/** The rows that the store holds of each list. */
export type Sizes = Readonly<Record<ListName, number>>

/** After `destroy`, every command fails soon. `Session` sets the time limits. */
export interface StoreConnection {
  state(): Promise<StoreState>
  /** Returns the number and epoch of the claim; `null` if another has written meanwhile. */
  claim(claim: Claim): Promise<{ readonly seq: number; readonly epoch: number } | null>
  /** Returns the sizes of the hashes; `null` if another leads. */
  write(write: Write): Promise<Sizes | null>
  /** Adds rows to the hashes alone. Returns false if another leads. */
  fill(token: string, rows: readonly Buffer[]): Promise<boolean>
  /** Reads up to `count` entries after a number; waits up to `waitMs` if there are none. */
  readAfter(seq: number, waitMs: number, count: number): Promise<readonly StoredEntry[]>
  /** Reads about `count` rows of a hash, from a cursor on; '0' begins and ends. A row may come more than once. */
  scan(list: ListName, cursor: string, count: number): Promise<{ readonly cursor: string; rows: readonly Buffer[] }>
  /** Writes what this instance says of itself. */
  tick(instance: string, said: string): Promise<void>
  members(): Promise<ReadonlyMap<string, string>>
  dropMembers(instances: readonly string[]): Promise<void>
  destroy(): void
}

/**
 * `full`: there is no room to write. `refused`: the user or the command is not allowed. `late`: no answer within the
 * time limit. `lost`: anything else.
 */
export type StoreFault = 'full' | 'refused' | 'late' | 'lost'

export class StoreFailure extends Error {
  readonly fault: StoreFault

  constructor(fault: StoreFault, message: string, options?: ErrorOptions) {
    super(message, options)
    this.name = 'StoreFailure'
    this.fault = fault
  }
}

/** Counts what passes between this instance and the store. */
export class Traffic {
  readonly entries: Record<'written' | 'read', number> = { written: 0, read: 0 }
  readonly bytes: Record<'written' | 'read', number> = { written: 0, read: 0 }

  count(direction: 'written' | 'read', bytes: number): void {
    this.entries[direction]++
    this.bytes[direction] += bytes
  }
}

/** The range of the time limit of a command. */
const COMMAND_MS = { least: 1000, most: 5000 } as const

/** The time limit of a command to the store, for a maximum age. */
export function commandLimitMs({ maxAgeMs }: { readonly maxAgeMs: number }): number {
  return Math.min(COMMAND_MS.most, Math.max(COMMAND_MS.least, maxAgeMs / 4))
}

/**
 * One connection to the store, with a time limit for every command: a store that is stopped rejects nothing. It ends at
 * its first failure, and the state of the store is then read again on another one. Late results are never used.
 */
export class Session {
  readonly openedAtMs: number
  readonly limitMs: number
  readonly #connection: StoreConnection
  readonly #time: Time
  readonly #signal: AbortSignal

  private constructor(connection: StoreConnection, time: Time, limitMs: number, signal: AbortSignal) {
    this.#connection = connection
    this.#time = time
    this.limitMs = limitMs
    this.#signal = signal
    this.openedAtMs = time.now().monotonicMs
  }

  static async open(store: Store, time: Time, limitMs: number, signal: AbortSignal): Promise<Session> {
    const connecting = store.connect()
    const connection = await withTimeout(time, limitMs, connecting, signal)
    if (connection !== TIMED_OUT) return new Session(connection, time, limitMs, signal)
    connecting.then((late) => late.destroy()).catch(() => {})
    throw new StoreFailure('late', tooLate(limitMs))
  }

  /** Runs one command, which may wait for `waitMs`. */
  async ask<Value>(command: (store: StoreConnection) => Promise<Value>, waitMs = 0): Promise<Value> {
    const limitMs = this.limitMs + waitMs
    try {
      const value = await withTimeout(this.#time, limitMs, command(this.#connection), this.#signal)
      if (value !== TIMED_OUT) return value
      throw new StoreFailure('late', tooLate(limitMs))
    } catch (cause) {
      this.close()
      if (cause instanceof StoreFailure) throw cause
      throw new StoreFailure('lost', cause instanceof Error ? cause.message : 'the connection failed', { cause })
    }
  }

  close(): void {
    this.#connection.destroy()
  }
}

function tooLate(limitMs: number): string {
  return `the store did not answer within ${limitMs / 1000} s`
}
