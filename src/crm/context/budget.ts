/** A number of requests that must not be exceeded in any period of a length. */
export interface RequestBudget {
  readonly most: number
  readonly perMs: number
}

/** Says when the next request may be sent. */
export class Budget {
  readonly #budget: RequestBudget
  /** When the last requests were sent, oldest first. */
  readonly #sent: number[] = []

  constructor(budget: RequestBudget) {
    this.#budget = budget
  }

  /** Returns how long the next request has to wait, in ms. If it need not wait, it is counted. */
  take(nowMs: number): number {
    const { most, perMs } = this.#budget
    while (this.#sent.length > 0 && (this.#sent[0] ?? 0) <= nowMs - perMs) this.#sent.shift()
    if (this.#sent.length >= most) return (this.#sent[0] ?? nowMs) + perMs - nowMs
    this.#sent.push(nowMs)
    return 0
  }
}
