import { setImmediate } from 'node:timers/promises'

/** While nobody asks for anything: as long as a request that comes just then may have to wait. */
const LONGEST_MS = 2
const SHORTEST_MS = 0.25
/** What a rest takes where nothing waited. */
const NOTHING_WAITED_MS = 0.1

/**
 * Shares the processor between a long read and the requests that come meanwhile. Where requests waited, the next slice
 * lasts half as long as they took: a service under load goes on at two thirds of its speed, and the read at a third of its.
 */
export class Pace {
  readonly #nowMs: () => number
  readonly #rest: () => Promise<unknown>
  #sliceMs = LONGEST_MS
  #begunMs: number

  constructor(nowMs: () => number = () => performance.now(), rest: () => Promise<unknown> = setImmediate) {
    this.#nowMs = nowMs
    this.#rest = rest
    this.#begunMs = nowMs()
  }

  /** Whether the slice has lasted long enough. */
  get isOver(): boolean {
    return this.#nowMs() - this.#begunMs >= this.#sliceMs
  }

  /** Lets requests pass, and begins the next slice. */
  async rest(): Promise<void> {
    const fromMs = this.#nowMs()
    await this.#rest()
    this.#begunMs = this.#nowMs()
    const tookMs = this.#begunMs - fromMs
    this.#sliceMs = tookMs < NOTHING_WAITED_MS ? LONGEST_MS : Math.min(LONGEST_MS, Math.max(SHORTEST_MS, tookMs / 2))
  }
}
