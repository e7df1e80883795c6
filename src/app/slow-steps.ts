import type { Time } from '../time/time.ts'

const LONG_MS = 5000

/** Reports steps that keep a person waiting. */
export class SlowSteps {
  readonly #report: (line: string) => void
  readonly #time: Time

  constructor(report: (line: string) => void, time: Time) {
    this.#report = report
    this.#time = time
  }

  /** Resolves with the step's result. If it takes longer than 5 s, reports once what it is and how far it has come. */
  async watch<Result>(step: Promise<Result>, doing: string, progress: () => string = () => ''): Promise<Result> {
    const cancel = this.#time.after(LONG_MS, () => {
      const soFar = progress()
      this.#report(`Still ${doing} after ${LONG_MS / 1000} s${soFar === '' ? '' : `: ${soFar}`}.`)
    })
    try {
      return await step
    } finally {
      cancel()
    }
  }
}
