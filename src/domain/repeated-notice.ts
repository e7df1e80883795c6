/** The most rows that are named: a table in which every row is odd must not fill the log. */
const MOST_NAMED = 20

/** Decides when to tell of odd rows again: if another row is to be named, or if their number has doubled. */
export class RepeatedNotice {
  #count = 0
  readonly #named = new Set<string>()

  /** Returns true if there is something new to tell. @param id the row that would be named */
  isNew(count: number, id: string | null): boolean {
    if (count === 0) {
      this.#count = 0
      this.#named.clear()
      return false
    }
    const named = id ?? ''
    if (count < Math.max(1, this.#count * 2) && (this.#named.has(named) || this.#named.size >= MOST_NAMED)) return false
    this.#count = Math.max(this.#count, count)
    this.#named.add(named)
    return true
  }
}
