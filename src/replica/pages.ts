import type { CrmFailure, Page, ReadOutcome } from './port.ts'
import type { Time } from './time.ts'

type Next<Item> =
  | { readonly kind: 'page'; readonly page: Page<Item> }
  | { readonly kind: 'end'; readonly outcome: ReadOutcome }

/**
 * Reads a source's pages with a limit on each: one that does not come in time is given up, and what it brings late is
 * dropped with it. A generator that throws ends as an `internal` failure.
 */
export class Pages<Item> {
  readonly #pages: AsyncGenerator<Page<Item>, ReadOutcome, void>
  readonly #controller: AbortController
  readonly #patienceMs: number
  readonly #time: Time

  constructor(
    read: (signal: AbortSignal) => AsyncGenerator<Page<Item>, ReadOutcome, void>,
    patienceMs: number,
    time: Time,
  ) {
    this.#controller = new AbortController()
    this.#pages = read(this.#controller.signal)
    this.#patienceMs = patienceMs
    this.#time = time
  }

  async next(): Promise<Next<Item>> {
    const { promise: late, resolve } = Promise.withResolvers<Next<Item>>()
    const seconds = this.#patienceMs / 1000
    const cancel = this.#time.after(this.#patienceMs, () =>
      resolve(failed({ kind: 'timeout', message: `no answer came within ${seconds} s`, retryAfterMs: null })),
    )
    const page = this.#pages.next().then(
      (result): Next<Item> =>
        result.done ? { kind: 'end', outcome: result.value } : { kind: 'page', page: result.value },
      (cause: unknown) => failed({ kind: 'internal', message: messageOf(cause), retryAfterMs: null }),
    )
    const next = await Promise.race([page, late])
    cancel()
    return next
  }

  /** Ends the read; what is still under way is never used. */
  abandon(): void {
    this.#controller.abort()
    this.#pages
      .return({ ok: false, failure: { kind: 'internal', message: 'abandoned', retryAfterMs: null } })
      .catch(() => {})
  }
}

function failed(failure: CrmFailure): { readonly kind: 'end'; readonly outcome: ReadOutcome } {
  return { kind: 'end', outcome: { ok: false, failure } }
}

function messageOf(cause: unknown): string {
  return cause instanceof Error ? `${cause.name}: ${cause.message}` : 'the connector failed'
}
