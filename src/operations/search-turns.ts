import { Mutex } from '../time/waiting.ts'

const MOST_SEARCHES = 8

/** Runs one search at a time, because several would delay requests. */
export class SearchTurns {
  readonly #mutex = new Mutex()
  #searches = 0

  /** Runs the search in turn; `null` if too many are waiting. */
  async run<Found>(search: () => Promise<Found>): Promise<Found | null> {
    if (this.#searches >= MOST_SEARCHES) return null
    this.#searches++
    return this.#mutex.run(search).finally(() => this.#searches--)
  }
}
