import type { Time } from '../time/time.ts'

const LONG_MS = 5000
/** How many times longer a step has taken at each further report. */
const PATIENCE = 3
const SAME_PAUSE_MS = 1000

interface Pause {
  readonly why: string
  readonly untilMs: number
}

/** Reports steps that keep a person waiting, and what they wait for. */
export class SlowSteps {
  readonly #report: (line: string) => void
  readonly #time: Time
  #pause: Pause | null = null
  /** The running step, once it has been reported. */
  #reported: string | null = null

  constructor(report: (line: string) => void, time: Time) {
    this.#report = report
    this.#time = time
  }

  /**
   * Resolves with the step's result. If it takes longer than 5 s, reports what it is and how far it has come; again
   * after 15 s, 45 s and so on.
   */
  async watch<Result>(step: Promise<Result>, doing: string, progress: () => string = () => ''): Promise<Result> {
    const report = (afterMs: number): void => {
      this.#reported = doing
      const details = [progress(), this.#waitsFor()].filter((detail) => detail !== '')
      const soFar = details.length === 0 ? '' : `: ${details.join('; ')}`
      this.#report(`Still ${doing} after ${afterMs / 1000} s${soFar}.`)
      cancel = plan(afterMs, afterMs * PATIENCE)
    }
    const plan = (sinceMs: number, untilMs: number): (() => void) =>
      this.#time.after(untilMs - sinceMs, () => report(untilMs))
    let cancel = plan(0, LONG_MS)
    try {
      return await step
    } finally {
      cancel()
      this.#reported = null
    }
  }

  /** Notes that the running step waits. If the step has been reported already, reports the wait too. */
  pause(why: string, untilMs: number): void {
    // All requests that wait together report the same pause.
    const isKnown = this.#pause?.why === why && untilMs - this.#pause.untilMs < SAME_PAUSE_MS
    if (isKnown) return
    this.#pause = { why, untilMs }
    const waitsFor = this.#waitsFor()
    if (this.#reported !== null && waitsFor !== '') this.#report(`Still ${this.#reported}: ${waitsFor}.`)
  }

  #waitsFor(): string {
    if (this.#pause === null || this.#pause.untilMs <= this.#time.now().wallMs) return ''
    return `${this.#pause.why} until ${new Date(this.#pause.untilMs).toISOString().slice(11, 19)} UTC`
  }
}
