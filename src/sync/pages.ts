import { type Page, type PageStream, type ReadOutcome, failed, failedInternally } from './port.ts'
import type { Time } from '../time/time.ts'
import { TIMED_OUT, withTimeout } from '../time/waiting.ts'

type Next<Item> =
  | { readonly kind: 'page'; readonly page: Page<Item> }
  | { readonly kind: 'end'; readonly outcome: ReadOutcome }

/** The most pages of a read. No list has more, so the paging of the CRM does not end. */
const MOST_PAGES = 20_000
/** The least time that a read may take, however often the CRM is read in full. */
const LEAST_MS = 60_000

export interface PageLimits {
  /** The time limit of one page, ms. */
  readonly patienceMs: number
  /** The time limit of the whole read, ms. */
  readonly longestMs: number
}

/**
 * Reads a source's pages with time limits for each and for all, and a limit of their number. A page that comes too late
 * is dropped. A generator that throws ends with an `internal` failure.
 */
export class Pages<Item> {
  readonly #pages: PageStream<Item>
  readonly #controller: AbortController
  readonly #patienceMs: number
  readonly #longestMs: number
  readonly #time: Time
  readonly #begunMs: number
  #count = 0

  constructor(read: (signal: AbortSignal) => PageStream<Item>, { patienceMs, longestMs }: PageLimits, time: Time) {
    this.#controller = new AbortController()
    this.#pages = read(this.#controller.signal)
    this.#patienceMs = patienceMs
    this.#longestMs = Math.max(LEAST_MS, longestMs)
    this.#time = time
    this.#begunMs = time.now().monotonicMs
  }

  async next(): Promise<Next<Item>> {
    try {
      const next = await withTimeout(this.#time, this.#patienceMs, this.#pages.next())
      if (next === TIMED_OUT) {
        return { kind: 'end', outcome: failed('timeout', `no response within ${this.#patienceMs / 1000} s`) }
      }
      if (next.done === true) return { kind: 'end', outcome: next.value }
      if (++this.#count > MOST_PAGES) {
        return { kind: 'end', outcome: failed('broken', `the pages do not end: ${MOST_PAGES} came`) }
      }
      if (this.#time.now().monotonicMs - this.#begunMs > this.#longestMs) {
        const longest = `${this.#longestMs / 1000} s`
        return {
          kind: 'end',
          outcome: failed('timeout', `the read did not end within ${longest} (freshness.fullReadEvery)`),
        }
      }
      return { kind: 'page', page: next.value }
    } catch (cause) {
      return { kind: 'end', outcome: failedInternally(cause) }
    }
  }

  /** Ends the read. Pages that arrive later are not used. */
  abandon(): void {
    this.#controller.abort()
    this.#pages.return(failed('internal', 'abandoned')).catch(() => {})
  }
}
