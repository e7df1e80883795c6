import { Mutex } from '../time/waiting.ts'

const MOST_SEARCHES = 8

/** One search at a time: several would take the processor from the public side. */
export class SearchTurns {
  readonly #mutex = new Mutex()
  #searches = 0

  /** Null where too many wait already. */
  async run<Found>(search: () => Promise<Found>): Promise<Found | null> {
    if (this.#searches >= MOST_SEARCHES) return null
    this.#searches++
    return this.#mutex.run(search).finally(() => this.#searches--)
  }
}
