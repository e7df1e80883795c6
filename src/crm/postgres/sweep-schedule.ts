import type { Moment } from '../../replica/time.ts'
import { elapsedMs } from '../../replica/time.ts'

/** A sweep that comes due a moment after a refresh would otherwise wait for the next. */
const DUE_EARLY = 0.95

/** When all rows are to be compared with what is held. */
export class SweepSchedule {
  readonly #everyMs: number
  #comparedAt: Moment | null = null
  /** When the last sweep ended, well or not, and how long it took: those that are asked for must not fill all the time. */
  #lastSweep: { readonly endedAt: Moment; readonly tookMs: number } | null = null

  constructor(everyMs: number) {
    this.#everyMs = everyMs
  }

  /** Whether it is time: of itself, or because some rows may be gone and as long as the last sweep took has passed since. */
  isDue(now: Moment, isAskedFor: boolean): boolean {
    if (this.#comparedAt === null || elapsedMs(this.#comparedAt, now) >= this.#everyMs * DUE_EARLY) return true
    const last = this.#lastSweep
    return isAskedFor && (last === null || elapsedMs(last.endedAt, now) >= last.tookMs)
  }

  /** All rows were compared as of `begunAt`. */
  compared(begunAt: Moment): void {
    this.#comparedAt = begunAt
  }

  /** A sweep ended, whether or not it came to an end. */
  swept(begunAt: Moment, endedAt: Moment): void {
    this.#lastSweep = { endedAt, tookMs: elapsedMs(begunAt, endedAt) }
  }
}
