import { Mutex, yieldToEventLoop } from '../time/waiting.ts'

const MOST_SEARCHES = 8
const SLICE_ROWS = 500

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

/** Looks at rows in slices, between which requests run. Ends early if nobody waits for the result any longer. */
export async function scanRows<Row>(
  rows: Iterable<Row>,
  signal: AbortSignal,
  look: (row: Row) => void,
  pause: () => Promise<void> = yieldToEventLoop,
): Promise<void> {
  let looked = 0
  for (const row of rows) {
    look(row)
    if (++looked % SLICE_ROWS > 0) continue
    await pause()
    if (signal.aborted) return
  }
}
