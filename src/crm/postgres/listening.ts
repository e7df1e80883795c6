import type { Time } from '../../time/time.ts'
import { TIMED_OUT, withTimeout } from '../../time/waiting.ts'
import type { Connection } from './connection.ts'
import { READ_ONLY, failureIn } from './postgres-failure.ts'
import type { ReadSession } from './read-session.ts'
import { quote } from './list-table.ts'
import type { Guid } from '../../domain/guid.ts'
import type { Held } from '../../sync/port.ts'

/** The longest delay before a connection that was lost between reads is reopened; the actual delay is random. */
const RECONNECT_WITHIN_MS = 1000
const ARRIVES_WITHIN_MS = 1000

interface ListeningSettings {
  readonly channel: string
  readonly time: Time
  readonly onPayload: (payload: string) => void
  /** Reports something that an operator should know. */
  readonly notice: (message: string) => void
}

/**
 * Listens to a channel on a connection that is also used for reads: the server delivers notifications between its
 * transactions. A notification is only a hint to read.
 */
export class Listening {
  readonly #settings: ListeningSettings
  readonly hints: Hints
  /** A connection that was opened before the first subscription. */
  #unheard: Connection | null = null
  #isRefused = false
  #cancelReconnect: () => void = () => {}
  #closed = false

  constructor(settings: ListeningSettings) {
    this.#settings = settings
    this.hints = new Hints(settings.time)
  }

  /**
   * Subscribes to hints. It listens from the first subscription on: an instance of a cluster that does not read the
   * CRM must not be woken by each change.
   */
  subscribe(callback: () => void, session: ReadSession): () => void {
    const end = this.hints.add(callback)
    const connection = this.#unheard
    this.#unheard = null
    // If the session has replaced the connection, the new one already listens.
    if (connection !== null) void session.alone(async (open) => open === connection && this.greet(open))
    return end
  }

  /** Starts listening on a newly opened connection, if anyone has subscribed. */
  async greet(connection: Connection): Promise<void> {
    if (!this.hints.areWanted) {
      this.#unheard = connection
      return
    }
    const { channel, time, onPayload, notice } = this.#settings
    connection.onNotification(channel, (payload) => {
      onPayload(payload)
      this.hints.hint()
    })
    // The hint causes a read, which opens a new connection.
    connection.onLost = () => {
      if (!this.#closed)
        this.#cancelReconnect = time.after(time.random() * RECONNECT_WITHIN_MS, () => this.hints.hint())
    }
    try {
      await connection.query(`LISTEN ${quote(channel)}`)
      // Notifications sent before the LISTEN are lost; one read makes up for them.
      this.hints.hint()
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
    this.hints.close()
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

export class Hints {
  readonly #time: Time
  readonly #callbacks = new Set<() => void>()
  #cancel: (() => void) | null = null
  #again = false

  constructor(time: Time) {
    this.#time = time
  }

  add(callback: () => void): () => void {
    this.#callbacks.add(callback)
    return () => void this.#callbacks.delete(callback)
  }

  get areWanted(): boolean {
    return this.#callbacks.size > 0
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

/** Stands for all rows, in the payload of a notification about more rows than it can name. */
export const ALL = '*'
const MOST = 1000

const WHOLE_NUMBER = /^-?\d{1,18}$/
// Types with only one text form per value. A notification may write an id of another type differently than the table
// does, and the row would then seem deleted.
const PLAIN_TYPES: ReadonlyMap<string, RegExp> = new Map([
  ['uuid', /^[0-9a-f-]{36}$/i],
  ['smallint', WHOLE_NUMBER],
  ['integer', WHOLE_NUMBER],
  ['bigint', WHOLE_NUMBER],
])

/** Collects the ids that notifications name: rows that may be gone. They are only a hint to look. */
export class SuspectQueue {
  #ids = new Set<string>()

  /** Adds ids separated by commas, or `*` for all rows; other texts match no row. */
  add(payload: string): void {
    if (payload !== '') this.giveBack(payload.split(',').map((id) => id.trim()))
  }

  /** Takes all suspects collected so far, to be checked in a transaction that begins later. */
  take(): ReadonlySet<string> {
    const taken = this.#ids
    this.#ids = new Set()
    return taken
  }

  giveBack(ids: Iterable<string>): void {
    for (const id of ids) this.#ids.add(id)
    if (this.#ids.size > MOST) this.#ids = new Set([ALL])
  }
}

/**
 * Returns the suspects that are rows of this list, by id. `hasOthers`: some of them cannot be looked up in the table,
 * because a value of their type can be written in several ways.
 */
export function heldOf(
  suspects: ReadonlySet<string>,
  held: Held,
  idOf: (text: string) => Guid | null,
  type: string,
): { readonly wanted: ReadonlyMap<Guid, string>; readonly hasOthers: boolean } {
  const wanted = new Map<Guid, string>()
  let hasOthers = false
  for (const text of suspects) {
    const id = idOf(text)
    // The id is not in this list.
    if (id === null || Number.isNaN(held.version(id))) continue
    if (PLAIN_TYPES.get(type)?.test(text) === true) wanted.set(id, text)
    else hasOthers = true
  }
  return { wanted, hasOthers }
}
