import { type Page, heartbeat } from '../../sync/port.ts'
import { type Moment, type Time, elapsedMs } from '../../time/time.ts'
import { TIMED_OUT, withTimeout } from '../../time/waiting.ts'
import type { Pace } from './pace.ts'

interface Signs {
  readonly time: Time
  /** The longest time without a page while the read makes progress, ms. */
  readonly everyMs: number
  readonly begunAt: Moment
  readonly pace: Pick<Pace, 'slices'>
  readonly signal: AbortSignal
}

/**
 * Yields empty pages while a file is read whose rows are held back until its end. Otherwise a slow share or a busy
 * processor would look like a file that does not answer. A read without progress yields none, and times out.
 */
export class SignsOfLife<Item> {
  readonly #signs: Signs
  #since: Moment

  constructor(signs: Signs) {
    this.#signs = signs
    this.#since = signs.begunAt
  }

  async *during<Next>(pending: Promise<Next>): AsyncGenerator<Page<Item>, Next, void> {
    const { time, everyMs, begunAt, pace, signal } = this.#signs
    for (;;) {
      const before = pace.slices
      const leftMs = Math.max(0, everyMs - elapsedMs(this.#since, time.now()))
      const next = await withTimeout(time, leftMs, pending, signal)
      if (next !== TIMED_OUT && leftMs > 0) return next
      if (signal.aborted) return pending
      if (next !== TIMED_OUT || pace.slices > before) yield heartbeat(begunAt)
      this.#since = time.now()
      if (next !== TIMED_OUT) return next
    }
  }
}
