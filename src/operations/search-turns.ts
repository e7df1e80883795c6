const MOST_SEARCHES = 8

/** One search at a time: several would take the processor from the public side. */
export class SearchTurns {
  #last: Promise<unknown> = Promise.resolve()
  #searches = 0

  /** Null where too many wait already. */
  async run<Found>(search: () => Promise<Found>): Promise<Found | null> {
    if (this.#searches >= MOST_SEARCHES) return null
    this.#searches++
    const running = this.#last.then(search)
    this.#last = running.catch(() => {})
    try {
      return await running
    } finally {
      this.#searches--
    }
  }
}
