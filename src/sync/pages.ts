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

/** A refresh that waits for so many times its usual wait may hang. */
const UNUSUAL = 2

/** For how long the running refresh has got no rows from the CRM. */
export class RowWait {
  /** When it last got some, or when a pause that the CRM asked for ends, monotonic ms; `null` if none runs. */
  #sinceMs: number | null = null
  /** The longest wait of the refresh that runs, and of the last one that ended well, ms. */
  #longestMs = 0
  #usualMs = 0

  begins(nowMs: number): void {
    this.#sinceMs = nowMs
    this.#longestMs = 0
  }

  got(nowMs: number): void {
    this.#longestMs = Math.max(this.#longestMs, nowMs - (this.#sinceMs ?? nowMs))
    this.#sinceMs = nowMs
  }

  pauses(nowMs: number, forMs: number): void {
    if (this.#sinceMs !== null) this.#sinceMs = nowMs + forMs
  }

  ends(nowMs: number, isWell: boolean): void {
    if (this.#sinceMs === null) return
    this.got(nowMs)
    this.#sinceMs = null
    if (isWell) this.#usualMs = this.#longestMs
  }

  /** For how long it may have been hanging, in ms; 0 if it waits no longer than a slow CRM usually lets it. */
  hangsForMs(nowMs: number): number {
    const forMs = this.#sinceMs === null ? 0 : nowMs - this.#sinceMs
    return forMs > UNUSUAL * this.#usualMs ? forMs : 0
  }
}

export interface PageLimits {
  /** The time limit of one page, ms. */
  readonly patienceMs: number
  /** The time limit of the whole read, ms. */
  readonly longestMs: number
  /** Told of the rows that come; `null` if nothing depends on them. */
  readonly wait: RowWait | null
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
  readonly #wait: RowWait | null
  #count = 0

  constructor(read: (signal: AbortSignal) => PageStream<Item>, limits: PageLimits, time: Time) {
    this.#controller = new AbortController()
    this.#pages = read(this.#controller.signal)
    this.#patienceMs = limits.patienceMs
    this.#longestMs = Math.max(LEAST_MS, limits.longestMs)
    this.#time = time
    this.#begunMs = time.now().monotonicMs
    this.#wait = limits.wait
    this.#wait?.begins(this.#begunMs)
  }

  async next(): Promise<Next<Item>> {
    const next = await this.#next()
    const nowMs = this.#time.now().monotonicMs
    if (next.kind === 'end') this.#wait?.ends(nowMs, next.outcome.ok)
    // A connector that waits for the CRM yields empty pages.
    else if (next.page.changes.length > 0) this.#wait?.got(nowMs)
    return next
  }

  async #next(): Promise<Next<Item>> {
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
    this.#wait?.ends(this.#time.now().monotonicMs, false)
    this.#controller.abort()
    this.#pages.return(failed('internal', 'abandoned')).catch(() => {})
  }
}
