import type { Time } from '../../time/time.ts'
import { TIMED_OUT, withTimeout } from '../../time/waiting.ts'
import type { Connection } from './connection.ts'
import { Fault } from './fault.ts'
import type { ReadSession } from './read-session.ts'
import { quote } from './list-table.ts'

/** A connection that was lost while nothing was read is noticed at once, but not opened again that fast. */
const RECONNECT_WITHIN_MS = 1000
const ARRIVES_WITHIN_MS = 1000

export interface ListeningSettings {
  readonly channel: string
  readonly time: Time
  readonly onPayload: (payload: string) => void
  /** Takes what an operator should know. */
  readonly notice: (message: string) => void
}

/**
 * Listens to a channel on a connection that also reads: the server tells between its transactions what was notified. What is
 * heard is only a hint.
 */
export class Listening {
  readonly #settings: ListeningSettings
  readonly hints: Hints
  #isRefused = false
  #cancelReconnect: () => void = () => {}
  #closed = false

  constructor(settings: ListeningSettings) {
    this.#settings = settings
    this.hints = new Hints(settings.time)
  }

  /** Listens on a connection that was just opened. */
  async greet(connection: Connection): Promise<void> {
    const { channel, time, onPayload, notice } = this.#settings
    connection.onNotification(channel, (payload) => {
      onPayload(payload)
      this.hints.hint()
    })
    // A read opens the next one.
    connection.onLost = () => {
      if (!this.#closed)
        this.#cancelReconnect = time.after(time.random() * RECONNECT_WITHIN_MS, () => this.hints.hint())
    }
    const listening = await connection.query(`LISTEN ${quote(channel)}`)
    // What was notified while nobody listened is lost: one look makes up for it.
    if (!(listening instanceof Fault)) return this.hints.hint()
    if (this.#isRefused || listening.lost) return
    this.#isRefused = true
    notice(`crm.listen: ${listening.failure.message}: changes are seen with the next refresh`)
  }

  /** Sends a notification on a test channel from one connection to another, and says so where it does not arrive. */
  async test(listens: ReadSession, notifies: ReadSession): Promise<void> {
    const { time, notice } = this.#settings
    const channel = `marquee_test_${Math.floor(time.random() * 1e15)}`
    // Audits wait for reads and no read for an audit, so the turns are taken in this order.
    const arrived = await notifies.alone((from) => listens.alone((to) => arrives(channel, from, to, time)))
    if (arrived !== false) return
    notice(
      'crm.listen: a notification does not arrive, most likely because of a pooler such as PgBouncer in transaction mode: changes are seen with the next refresh. Have Marquee connect to the database itself, or in session mode',
    )
  }

  close(): void {
    this.#closed = true
    this.#cancelReconnect()
    this.hints.close()
  }
}

/** Whether a notification arrives; a fault where it could not even be sent. */
async function arrives(channel: string, from: Connection, to: Connection, time: Time): Promise<boolean | Fault> {
  const { promise: heard, resolve } = Promise.withResolvers<void>()
  to.onNotification(channel, () => resolve())
  const listening = await to.query(`LISTEN ${quote(channel)}`)
  if (listening instanceof Fault) return listening
  const notified = await from.query(`NOTIFY ${quote(channel)}`)
  if (notified instanceof Fault) return notified
  const arrival = await withTimeout(time, ARRIVES_WITHIN_MS, heard)
  await to.query(`UNLISTEN ${quote(channel)}`)
  return arrival !== TIMED_OUT
}

/** A storm of notifications becomes twenty reads a second at most. */
const EVERY_MS = 50

/** Passes a hint on at once, and those that follow closely as one when that time is over. */
export class Hints {
  readonly #time: Time
  readonly #callbacks = new Set<() => void>()
  #cancel: (() => void) | null = null
  #again = false

  constructor(time: Time) {
    this.#time = time
  }

  /** Call what it gives to hear no more. */
  add(callback: () => void): () => void {
    this.#callbacks.add(callback)
    return () => void this.#callbacks.delete(callback)
  }

  hint(): void {
    if (this.#cancel !== null) {
      this.#again = true
      return
    }
    this.#cancel = this.#time.after(EVERY_MS, () => {
      this.#cancel = null
      if (!this.#again) return
      this.#again = false
      this.hint()
    })
    for (const callback of this.#callbacks) callback()
  }

  close(): void {
    this.#callbacks.clear()
    this.#cancel?.()
    this.#cancel = null
    this.#again = false
  }
}
