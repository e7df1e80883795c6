import type { Time } from '../time/time.ts'

/** The state of the service at the end of a minute. */
export interface MinuteSample {
  /** The age of the older list, ms; `null` if one was never read in full. */
  readonly ageMs: number | null
  /** Counts since the start. */
  readonly reads: number
  readonly requests: number
}

const EVERY_MS = 60_000
const MOST = 24 * 60

/** Keeps a sample of each minute of the last day, for dashboards without Prometheus. */
export class Sampling {
  readonly #take: () => MinuteSample
  readonly #time: Time
  readonly #taken: MinuteSample[] = []

  constructor(take: () => MinuteSample, time: Time) {
    this.#take = take
    this.#time = time
  }

  start(): void {
    this.#taken.push(this.#take())
    // One more than is shown, because each minute is a difference of two samples.
    if (this.#taken.length > MOST + 1) this.#taken.shift()
    this.#time.after(EVERY_MS, () => this.start())
  }

  /** The samples, oldest first, with the reads and requests of each single minute. The current minute comes last. */
  get samples() {
    const all = [...this.#taken, this.#take()]
    const each = (of: (sample: MinuteSample) => number): readonly number[] =>
      all.slice(1).map((sample, index) => of(sample) - of(all[index] ?? sample))
    return {
      everyMs: EVERY_MS,
      ageMs: all.slice(1).map(({ ageMs }) => ageMs),
      reads: each(({ reads }) => reads),
      requests: each(({ requests }) => requests),
    }
  }
}
