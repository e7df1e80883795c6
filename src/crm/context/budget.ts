/** The most requests in any period of a given length. */
export interface RequestBudget {
  readonly most: number
  readonly perMs: number
}

/** Decides when the next request may be sent. */
export class Budget {
  readonly #budget: RequestBudget
  /** The times of the last requests, oldest first. */
  readonly #sent: number[] = []

  constructor(budget: RequestBudget) {
    this.#budget = budget
  }

  /** Returns how long the next request must wait, in ms. If the result is 0, counts the request. */
  take(nowMs: number): number {
    const { most, perMs } = this.#budget
    while (this.#sent.length > 0 && (this.#sent[0] ?? 0) <= nowMs - perMs) this.#sent.shift()
    if (this.#sent.length >= most) return (this.#sent[0] ?? nowMs) + perMs - nowMs
    this.#sent.push(nowMs)
    return 0
  }
}
