import type { Time } from '../replica/time.ts'
import { TOO_LATE, within } from '../replica/waiting.ts'
import type { Store, StoreConnection } from './store.ts'
import { StoreFailure } from './store.ts'

/**
 * One connection to the store, with a limit on every command. At the first failure it is over: what is true of the store is then
 * learned on another. What a command brings late is never used.
 */
export class Session {
  readonly #connection: StoreConnection
  readonly #time: Time
  readonly #limitMs: number
  readonly #signal: AbortSignal

  private constructor(connection: StoreConnection, time: Time, limitMs: number, signal: AbortSignal) {
    this.#connection = connection
    this.#time = time
    this.#limitMs = limitMs
    this.#signal = signal
  }

  static async open(store: Store, time: Time, limitMs: number, signal: AbortSignal): Promise<Session> {
    const connecting = store.connect()
    const connection = await within(time, limitMs, connecting, signal)
    if (connection !== TOO_LATE) return new Session(connection, time, limitMs, signal)
    connecting.then((late) => late.destroy()).catch(() => {})
    throw new StoreFailure('lost', tooLate(limitMs))
  }

  /** The answer to one command, which may wait for so long; a full store fails nothing but the command. */
  async ask<Value>(command: (store: StoreConnection) => Promise<Value>, waitMs = 0): Promise<Value> {
    const limitMs = this.#limitMs + waitMs
    try {
      const value = await within(this.#time, limitMs, command(this.#connection), this.#signal)
      if (value !== TOO_LATE) return value
      throw new StoreFailure('lost', tooLate(limitMs))
    } catch (cause) {
      if (!(cause instanceof StoreFailure) || cause.fault !== 'full') this.close()
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
