import { setImmediate } from 'node:timers/promises'

/** While nobody asks for anything: as long as a request that comes just then may have to wait. */
const LONGEST_MS = 2
const SHORTEST_MS = 0.1
/** What a rest takes where nothing waited. */
const NOTHING_WAITED_MS = 0.1

/** A slice lasts this part of what the requests before it took; once a read has gone on for a while it must come to its end. */
const GENTLE_SHARE = 1 / 6
const FIRM_SHARE = 1
const GENTLE_FOR_MS = 5000
/** Some rows: how often the clock is looked at. */
const SLICE_BYTES = 4 * 1024
const FIRST_SLICE_BYTES = 16 * 1024

/**
 * Shares the processor between a long read and the requests that come meanwhile: where requests waited, the next slice lasts
 * a sixth as long as they took, and a service under load hardly loses speed. A read that takes long even so gets half of
 * the processor: what is held must not become too old to be served.
 */
export class Pace {
  readonly sliceBytes: number
  readonly #isFirst: boolean
  readonly #nowMs: () => number
  readonly #rest: () => Promise<unknown>
  readonly #gentleUntilMs: number
  #sliceMs = LONGEST_MS
  #begunMs: number

  /** @param isFirst nobody is answered from the list before this read has ended: who waits, waits for that */
  constructor(
    isFirst = false,
    nowMs: () => number = () => performance.now(),
    rest: () => Promise<unknown> = setImmediate,
  ) {
    this.sliceBytes = isFirst ? FIRST_SLICE_BYTES : SLICE_BYTES
    this.#isFirst = isFirst
    this.#nowMs = nowMs
    this.#rest = rest
    this.#begunMs = nowMs()
    this.#gentleUntilMs = this.#begunMs + GENTLE_FOR_MS
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
    const share = this.#begunMs < this.#gentleUntilMs ? GENTLE_SHARE : FIRM_SHARE
    const sliceMs = Math.min(LONGEST_MS, Math.max(SHORTEST_MS, tookMs * share))
    this.#sliceMs = this.#isFirst || tookMs < NOTHING_WAITED_MS ? LONGEST_MS : sliceMs
  }
}
