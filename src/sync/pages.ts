import { type Page, type PageStream, type ReadOutcome, failed, failedInternally } from './port.ts'
import type { Time } from '../time/time.ts'
import { TIMED_OUT, withTimeout } from '../time/waiting.ts'

type Next<Item> =
  | { readonly kind: 'page'; readonly page: Page<Item> }
  | { readonly kind: 'end'; readonly outcome: ReadOutcome }

/**
 * Reads a source's pages with a time limit for each. A page that comes too late is dropped. A generator that throws
 * ends with an `internal` failure.
 */
export class Pages<Item> {
  readonly #pages: PageStream<Item>
  readonly #controller: AbortController
  readonly #patienceMs: number
  readonly #time: Time

  constructor(read: (signal: AbortSignal) => PageStream<Item>, patienceMs: number, time: Time) {
    this.#controller = new AbortController()
    this.#pages = read(this.#controller.signal)
    this.#patienceMs = patienceMs
    this.#time = time
  }

  async next(): Promise<Next<Item>> {
    try {
      const next = await withTimeout(this.#time, this.#patienceMs, this.#pages.next())
      if (next === TIMED_OUT) {
        return { kind: 'end', outcome: failed('timeout', `no response within ${this.#patienceMs / 1000} s`) }
      }
      return next.done === true ? { kind: 'end', outcome: next.value } : { kind: 'page', page: next.value }
    } catch (cause) {
      return { kind: 'end', outcome: failedInternally(cause) }
    }
  }

  /** Ends the read. Pages that are still on the way are never used. */
  abandon(): void {
    this.#controller.abort()
    this.#pages.return(failed('internal', 'abandoned')).catch(() => {})
  }
}
