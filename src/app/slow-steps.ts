import type { Time } from '../time/time.ts'

const LONG_MS = 5000
/** How many times longer a step has taken at each further report. */
const PATIENCE = 3

/** Reports steps that keep a person waiting, and what they wait for. */
export class SlowSteps {
  readonly #report: (line: string) => void
  readonly #time: Time
  #pause: { readonly why: string; readonly untilMs: number } | null = null

  constructor(report: (line: string) => void, time: Time) {
    this.#report = report
    this.#time = time
  }

  /**
   * Resolves with the step's result. If it takes longer than 5 s, reports what it is and how far it has come; again
   * after 15 s, 45 s and so on.
   */
  async watch<Result>(step: Promise<Result>, doing: string, progress: () => string = () => ''): Promise<Result> {
    let afterMs = LONG_MS
    const report = (): void => {
      const details = [progress(), this.#waitsFor()].filter((detail) => detail !== '')
      const soFar = details.length === 0 ? '' : `: ${details.join('; ')}`
      this.#report(`Still ${doing} after ${afterMs / 1000} s${soFar}.`)
      cancel = this.#time.after(afterMs * (PATIENCE - 1), report)
      afterMs *= PATIENCE
    }
    let cancel = this.#time.after(afterMs, report)
    try {
      return await step
    } finally {
      cancel()
    }
  }

  /** Notes that the running step waits, for the next report. */
  pause(why: string, untilMs: number): void {
    this.#pause = { why, untilMs }
  }

  #waitsFor(): string {
    if (this.#pause === null || this.#pause.untilMs <= this.#time.now().wallMs) return ''
    return `${this.#pause.why} until ${new Date(this.#pause.untilMs).toISOString().slice(11, 19)} UTC`
  }
}
