import type { Time } from '../time/time.ts'
import { TIMED_OUT, withTimeout } from '../time/waiting.ts'
import { type Appended, type Store, type StoreConnection, type StoredEntry, StoreFailure } from './store.ts'
import { Traffic } from './traffic.ts'

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
  /**
   * Whether an entry was written, or a heartbeat carried our nonce. A store that only accepts connections or nonces is
   * not usable yet.
   */
  #isProven = false
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
      const endsCommandOnly = cause instanceof StoreFailure && (cause.fault === 'full' || cause.fault === 'foreign')
      if (!endsCommandOnly) this.close()
      if (cause instanceof StoreFailure) throw cause
      throw new StoreFailure('lost', cause instanceof Error ? cause.message : 'the connection failed', { cause })
    }
  }

  get isProven(): boolean {
    return this.#isProven
  }

  prove(): void {
    this.#isProven = true
  }

  async append(entry: StoredEntry, mayCreate: boolean): Promise<Appended> {
    const appended = await this.ask((store) => store.append(entry, mayCreate))
    if (appended === 'added') {
      this.prove()
      this.#traffic.count(entry, 'written')
    }
    return appended
  }

  async readAfter(id: string, waitMs: number, count: number): Promise<readonly StoredEntry[]> {
    const entries = await this.ask((store) => store.readAfter(id, waitMs, count), waitMs)
    for (const entry of entries) this.#traffic.count(entry, 'read')
    return entries
  }

  async putBlob(name: string, bytes: Uint8Array): Promise<void> {
    await this.ask((store) => store.putBlob(name, bytes))
    this.#traffic.bytes.written += bytes.length
  }

  /** Reads a blob; `null` if there is none. Data of other applications counts as none. */
  async getBlob(name: string): Promise<Uint8Array | null> {
    const bytes = await this.ask((store) => store.getBlob(name)).catch((cause: unknown) => {
      if (cause instanceof StoreFailure && cause.fault === 'foreign') return null
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
