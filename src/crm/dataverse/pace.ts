import type { Cursor } from '../../replica/port.ts'
import type { Moment, Time } from '../../replica/time.ts'
import { elapsedMs } from '../../replica/time.ts'

// Of the 6000 requests in 300 s that a web server grants a user, the reads of one list take no more than 1500.
const MS_PER_REQUEST = 200

export type Turn =
  | { readonly kind: 'read' }
  /** The last full read is recent enough. */
  | { readonly kind: 'rest'; readonly asOf: Moment }
  /** It is not, but the limits allow no other yet. */
  | { readonly kind: 'wait'; readonly waitMs: number }

/** How often a table without change tracking is read in full: as often as the bound needs, and as the limits allow. */
export class Pace {
  readonly #boundMs: number
  readonly #time: Time
  #last: { readonly begunAt: Moment; readonly requests: number; readonly cursor: Cursor } | null = null
  #count = 0

  constructor(boundMs: number, time: Time) {
    this.#boundMs = boundMs
    this.#time = time
  }

  /** `cursor` is what the replica kept of the last read: of one that it did not believe, nothing. */
  turn(cursor: Cursor | null): Turn {
    const last = this.#last
    if (last === null) return { kind: 'read' }
    const ageMs = elapsedMs(last.begunAt, this.#time.now())
    const leastMs = last.requests * MS_PER_REQUEST
    if (ageMs < leastMs && (cursor !== last.cursor || ageMs >= this.#boundMs)) {
      return { kind: 'wait', waitMs: leastMs - ageMs }
    }
    // Twice within the bound, so that the next one has ended before this one is too old.
    const rests = cursor === last.cursor && ageMs < Math.max(leastMs, this.#boundMs / 2)
    return rests ? { kind: 'rest', asOf: last.begunAt } : { kind: 'read' }
  }

  /** A full read has ended; gives the cursor that stands for it. */
  ended(begunAt: Moment, requests: number): Cursor {
    // oxlint-disable-next-line typescript/consistent-type-assertions, typescript/no-unsafe-type-assertion -- cursors are a connector's own
    const cursor = `untracked ${++this.#count}` as Cursor
    this.#last = { begunAt, requests, cursor }
    return cursor
  }
}
