import type { Time } from '../../replica/time.ts'
import type { Connection } from './connection.ts'
import { Fault } from './fault.ts'
import { Hints } from './hints.ts'
import type { Opener } from './opener.ts'
import { quote } from './table-name.ts'

const FIRST_BACK_OFF_MS = 1000
const LONGEST_BACK_OFF_MS = 30_000
/** A connection that has died in silence is noticed by this. */
const PING_EVERY_MS = 20_000

/** Listens to a channel on a connection of its own, again and again where that is lost; what it hears is only a hint. */
export class ChangeListener {
  readonly #opener: Opener
  readonly #channel: string
  readonly #time: Time
  readonly #onPayload: (payload: string) => void
  readonly #hints: Hints
  #connection: Connection | null = null
  #cancelTimer: () => void = () => {}
  #failures = 0
  #begun = false
  #closed = false

  constructor(opener: Opener, channel: string, time: Time, onPayload: (payload: string) => void) {
    this.#opener = opener
    this.#channel = channel
    this.#time = time
    this.#onPayload = onPayload
    this.#hints = new Hints(time)
  }

  /** Listens from the first callback on, so that nothing listens where nobody wants to know. */
  onHint(callback: () => void): void {
    this.#hints.add(callback)
    if (this.#begun) return
    this.#begun = true
    void this.#listen()
  }

  async close(): Promise<void> {
    this.#closed = true
    this.#cancelTimer()
    this.#hints.close()
    await this.#connection?.close()
  }

  async #listen(): Promise<void> {
    const connection = await this.#opener.open()
    if (this.#closed) {
      if (!(connection instanceof Fault)) await connection.close()
      return
    }
    if (connection instanceof Fault) return this.#later()
    this.#connection = connection
    connection.onLost = () => this.#later()
    connection.onNotification((payload) => {
      this.#onPayload(payload)
      this.#hints.hint()
    })
    const listening = await connection.query(`LISTEN ${quote(this.#channel)}`)
    if (listening instanceof Fault) return connection.destroy()
    // What was notified while nobody listened is lost: one look makes up for it.
    if (this.#failures > 0) this.#hints.hint()
    this.#failures = 0
    this.#pingLater(connection)
  }

  #pingLater(connection: Connection): void {
    if (this.#closed || connection.lost) return
    this.#cancelTimer = this.#time.after(PING_EVERY_MS, () => {
      void connection.query('SELECT 1').then(() => this.#pingLater(connection))
    })
  }

  #later(): void {
    this.#cancelTimer()
    this.#connection = null
    if (this.#closed) return
    const ceilingMs = Math.min(2 ** Math.min(this.#failures++, 10) * FIRST_BACK_OFF_MS, LONGEST_BACK_OFF_MS)
    this.#cancelTimer = this.#time.after(this.#time.random() * ceilingMs, () => void this.#listen())
  }
}
