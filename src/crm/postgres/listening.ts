import type { Time } from '../../time/time.ts'
import { TIMED_OUT, withTimeout } from '../../time/waiting.ts'
import type { Connection } from './connection.ts'
import { READ_ONLY, failureIn } from './postgres-failure.ts'
import type { ReadSession } from './read-session.ts'
import { quote } from './list-table.ts'

/** The longest delay before a connection that was lost between reads is reopened; the actual delay is random. */
const RECONNECT_WITHIN_MS = 1000
const ARRIVES_WITHIN_MS = 1000

/** Takes a hint, as `watch` of a connector gives it. */
export type OnHint = (ids?: readonly string[] | 'all') => void

interface ListeningSettings {
  readonly channel: string
  readonly time: Time
  /** Reports something that an operator should know. */
  readonly notice: (message: string) => void
}

/**
 * Listens to a channel on a connection that is also used for reads: the server delivers notifications between its
 * transactions. A notification is only a hint to read.
 */
export class Listening {
  readonly #settings: ListeningSettings
  readonly #hints: Hints
  /** A connection that was opened before the first subscription. */
  #unheard: Connection | null = null
  #isRefused = false
  #cancelReconnect: () => void = () => {}
  #closed = false

  constructor(settings: ListeningSettings) {
    this.#settings = settings
    this.#hints = new Hints(settings.time)
  }

  /**
   * Subscribes to hints. It listens from the first subscription on: an instance of a cluster that does not read the
   * CRM must not be woken by each change.
   */
  subscribe(onHint: OnHint, session: ReadSession): () => void {
    const end = this.#hints.add(onHint)
    const connection = this.#unheard
    this.#unheard = null
    // If the session has replaced the connection, the new one already listens.
    if (connection !== null) void session.alone(async (open) => open === connection && this.greet(open))
    return end
  }

  /** Starts listening on a newly opened connection, if anyone has subscribed. */
  async greet(connection: Connection): Promise<void> {
    if (!this.#hints.areWanted) {
      this.#unheard = connection
      return
    }
    const { channel, time, notice } = this.#settings
    connection.onNotification(channel, (payload) => this.#hints.hint(payload))
    // The hint causes a read, which opens a new connection.
    connection.onLost = () => {
      if (!this.#closed)
        this.#cancelReconnect = time.after(time.random() * RECONNECT_WITHIN_MS, () => this.#hints.hint(''))
    }
    try {
      await connection.query(`LISTEN ${quote(channel)}`)
      // Notifications sent before the LISTEN are lost; one read makes up for them.
      this.#hints.hint('')
    } catch (cause) {
      const { lost, code, message } = failureIn(cause)
      if (this.#isRefused || lost) return
      this.#isRefused = true
      const isStandby = code === READ_ONLY
      const why = isStandby ? `${connection.where}: the server is a standby, which cannot LISTEN (${code})` : message
      notice(`crm.listen: ${why}: changes are seen with the next refresh`)
    }
  }

  /** Sends a notification on a test channel between two connections, and reports if it does not arrive. */
  async test(listens: ReadSession, notifies: ReadSession): Promise<void> {
    const { time, notice } = this.#settings
    const channel = `marquee_test_${Math.floor(time.random() * 1e15)}`
    // Lock in this order: audits wait for refreshes, and no refresh waits for an audit.
    const arrived = await notifies.alone((from) => listens.alone((to) => arrives(channel, from, to, time)))
    if (arrived !== false) return
    notice(
      'crm.listen: notifications do not arrive, most likely because of a pooler such as PgBouncer in transaction mode: changes are seen with the next refresh. Connect Marquee directly to the database, or to a pool in session mode',
    )
  }

  close(): void {
    this.#closed = true
    this.#cancelReconnect()
    this.#hints.close()
  }
}

/** Returns true if a notification arrives. */
async function arrives(channel: string, from: Connection, to: Connection, time: Time): Promise<boolean> {
  const { promise: heard, resolve } = Promise.withResolvers<void>()
  to.onNotification(channel, () => resolve())
  await to.query(`LISTEN ${quote(channel)}`)
  await from.query(`NOTIFY ${quote(channel)}`)
  const arrival = await withTimeout(time, ARRIVES_WITHIN_MS, heard)
  await to.query(`UNLISTEN ${quote(channel)}`)
  return arrival !== TIMED_OUT
}

/** The shortest time between two hints, in ms: any number of notifications causes at most twenty reads a second. */
const EVERY_MS = 50
/** Stands for all rows, in the payload of a notification about more rows than it can name. */
const ALL = '*'
const MOST_IDS = 1000

/** Passes on what notifications say: ids separated by commas, `*` for all rows, or nothing. */
export class Hints {
  readonly #time: Time
  readonly #callbacks = new Set<OnHint>()
  /** The ids that were named since the last hint; `null` if there was no notification. */
  #ids: Set<string> | null = null
  #cancel: (() => void) | null = null

  constructor(time: Time) {
    this.#time = time
  }

  add(onHint: OnHint): () => void {
    this.#callbacks.add(onHint)
    return () => void this.#callbacks.delete(onHint)
  }

  get areWanted(): boolean {
    return this.#callbacks.size > 0
  }

  hint(payload: string): void {
    this.#ids ??= new Set()
    for (const id of payload === '' ? [] : payload.split(',')) this.#ids.add(id.trim())
    if (this.#ids.size > MOST_IDS) this.#ids = new Set([ALL])
    if (this.#cancel === null) this.#tell()
  }

  #tell(): void {
    const ids = this.#ids
    this.#ids = null
    this.#cancel = this.#time.after(EVERY_MS, () => {
      this.#cancel = null
      if (this.#ids !== null) this.#tell()
    })
    if (ids === null) return
    for (const onHint of this.#callbacks) onHint(ids.has(ALL) ? 'all' : [...ids])
  }

  close(): void {
    this.#callbacks.clear()
    this.#cancel?.()
    this.#cancel = null
    this.#ids = null
  }
}
