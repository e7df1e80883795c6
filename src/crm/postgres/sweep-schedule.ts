import type { Moment } from '../../replica/time.ts'
import { elapsedMs } from '../../replica/time.ts'

/** A sweep that comes due a moment after a refresh would otherwise wait for the next. */
const DUE_EARLY = 0.95

/** When all rows are to be compared with what is held. */
export class SweepSchedule {
  readonly #everyMs: number
  #comparedAt: Moment | null = null
  /** When the last sweep ended and how long it took: those that are asked for must not fill all the time there is. */
  #lastSweep: { readonly endedAt: Moment; readonly tookMs: number } | null = null

  constructor(everyMs: number) {
    this.#everyMs = everyMs
  }

  /** Whether it is time, though nobody asked for it. */
  isDue(now: Moment): boolean {
    return this.#comparedAt === null || elapsedMs(this.#comparedAt, now) >= this.#everyMs * DUE_EARLY
  }

  /** Whether as long as the last sweep took has passed since, so that one may run before it is due. */
  hasRested(now: Moment): boolean {
    const last = this.#lastSweep
    return last === null || elapsedMs(last.endedAt, now) >= last.tookMs
  }

  /** All rows were read, which is as good as a sweep. */
  readInFull(begunAt: Moment): void {
    this.#comparedAt = begunAt
  }

  swept(begunAt: Moment, endedAt: Moment): void {
    this.#comparedAt = begunAt
    this.#lastSweep = { endedAt, tookMs: elapsedMs(begunAt, endedAt) }
  }
}
