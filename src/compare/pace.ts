import type { Time } from '../time/time.ts'
import { sleep } from '../time/waiting.ts'

/** Spaces the requests to one service evenly, and holds all of them back while the service asks for a pause. */
export class Pace {
  readonly #time: Time
  readonly #intervalMs: number
  #nextMs = Number.NEGATIVE_INFINITY
  #pausedUntilMs = Number.NEGATIVE_INFINITY

  constructor(time: Time, perSecond: number) {
    this.#time = time
    this.#intervalMs = 1000 / perSecond
  }

  pauseFor(ms: number): void {
    this.#pausedUntilMs = Math.max(this.#pausedUntilMs, this.#time.now().monotonicMs + ms)
  }

  /** Resolves when the next request may be sent, or when the signal aborts. */
  async turn(signal: AbortSignal): Promise<void> {
    while (!signal.aborted) {
      const nowMs = this.#time.now().monotonicMs
      const atMs = Math.max(nowMs, this.#nextMs, this.#pausedUntilMs)
      if (atMs <= nowMs) {
        // A timer that fires late does not slow the next request; a longer time without requests is not made up for.
        const dueMs = nowMs - this.#nextMs < this.#intervalMs ? this.#nextMs : nowMs
        this.#nextMs = dueMs + this.#intervalMs
        return
      }
      await sleep(atMs - nowMs, this.#time, signal)
    }
  }
}
