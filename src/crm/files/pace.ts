import { setImmediate } from 'node:timers/promises'

/** The length of a time slice without load, in ms: a request that arrives then may have to wait this long. */
const LONGEST_MS = 2
const SHORTEST_MS = 0.1
/** If a pause is shorter than this, no request waited, in ms. */
const NOTHING_WAITED_MS = 0.1

/**
 * The length of a time slice, relative to the duration of the requests before it. A long read gets more, so it ends.
 */
const GENTLE_SHARE = 1 / 6
const FIRM_SHARE = 1
const GENTLE_FOR_MS = 5000
/** How many bytes to parse between two looks at the clock. */
const SLICE_BYTES = 4 * 1024
const FIRST_SLICE_BYTES = 16 * 1024

/**
 * Shares the processor between a long read and requests. If requests waited, the next time slice lasts a sixth of what
 * they took, so a service under load hardly slows down. After 5 s the read gets half of the processor, because the
 * served list must not become too old.
 */
export class Pace {
  readonly sliceBytes: number
  /** The number of slices so far: it grows as long as the read makes progress. */
  slices = 0
  readonly #isFirst: boolean
  readonly #nowMs: () => number
  readonly #rest: () => Promise<unknown>
  readonly #gentleUntilMs: number
  #sliceMs = LONGEST_MS
  #begunMs: number

  /** @param isFirst whether this is the first read. Nothing can be answered before it ends, so it shares less. */
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

  get isOver(): boolean {
    return this.#nowMs() - this.#begunMs >= this.#sliceMs
  }

  /** Lets requests run, then begins the next time slice. */
  async rest(): Promise<void> {
    this.slices++
    const fromMs = this.#nowMs()
    await this.#rest()
    this.#begunMs = this.#nowMs()
    const tookMs = this.#begunMs - fromMs
    const share = this.#begunMs < this.#gentleUntilMs ? GENTLE_SHARE : FIRM_SHARE
    const sliceMs = Math.min(LONGEST_MS, Math.max(SHORTEST_MS, tookMs * share))
    this.#sliceMs = this.#isFirst || tookMs < NOTHING_WAITED_MS ? LONGEST_MS : sliceMs
  }
}
