import { type Moment, elapsedMs } from '../../time/time.ts'
import type { Hint } from './row-host.ts'

/**
 * The part of the interval after which a comparison is due: it runs with a refresh slightly early rather than wait for
 * the next.
 */
const DUE_EARLY = 0.95

/** Decides when to compare all rows with the rows in memory. */
export class Comparisons {
  /** As of when all rows were last compared; `null` before. */
  at: Moment | null = null
  readonly #everyMs: () => number
  /** When the last comparison ended, and how long it took. */
  #last: { readonly endedAt: Moment; readonly tookMs: number } | null = null

  constructor(everyMs: () => number) {
    this.#everyMs = everyMs
  }

  /** How long ago all rows were last compared, in ms. */
  sinceMs(now: Moment): number {
    return this.at === null ? Number.POSITIVE_INFINITY : elapsedMs(this.at, now)
  }

  /**
   * Returns true if a comparison is due: its interval is over, or a hint asks for one and the last one ended at least
   * its own duration ago, so that comparisons never take all the time.
   */
  isDue(now: Moment, isAskedFor: boolean): boolean {
    if (this.sinceMs(now) >= this.#everyMs() * DUE_EARLY) return true
    const last = this.#last
    return isAskedFor && (last === null || elapsedMs(last.endedAt, now) >= last.tookMs)
  }

  /** Records that all rows were compared as of `begunAt`. */
  compared(begunAt: Moment): void {
    this.at = begunAt
  }

  /** Records that a comparison ended, successfully or not. */
  ended(startedAt: Moment, endedAt: Moment): void {
    this.#last = { endedAt, tookMs: elapsedMs(startedAt, endedAt) }
  }
}

/** The rows of which a connector said that they may have changed. `all`: any row may have. */
export interface Hinted {
  readonly ids: ReadonlySet<string>
  readonly all: boolean
}

export const NOTHING_HINTED: Hinted = { ids: new Set(), all: false }
const MOST_HINTED = 1000

/** Collects hints until the next read. */
export class HintedRows {
  #ids = new Set<string>()
  #all = false

  add(hint: Hint): void {
    if (hint === 'all') this.#all = true
    else this.giveBack({ ids: new Set(hint), all: false })
  }

  /** Takes all that was hinted so far, for a read that begins later. */
  take(): Hinted {
    const taken = { ids: this.#ids, all: this.#all }
    ;[this.#ids, this.#all] = [new Set(), false]
    return taken
  }

  giveBack({ ids, all }: Hinted): void {
    for (const id of ids) this.#ids.add(id)
    this.#all ||= all
    if (this.#ids.size <= MOST_HINTED) return
    ;[this.#ids, this.#all] = [new Set(), true]
  }
}
