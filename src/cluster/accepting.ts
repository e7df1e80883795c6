import type { Time } from '../time/time.ts'
import { TIMED_OUT, withTimeout } from '../time/waiting.ts'
import { idOf, type LogPosition } from './entries.ts'
import type { FollowedLists } from './followed-lists.ts'

/** How long an operator waits for the leader. */
const NO_ANSWER_MS = 10_000

/**
 * Passes an operator's acceptance of shorter lists from a follower to the leader. The follower's nonces carry it until
 * a heartbeat confirms it.
 */
export class Accepting {
  readonly #time: Time
  #waiting = 0
  /** The log entries that nonces have named, with the lists that were shrunk then. */
  readonly #named = new Map<string, readonly string[]>()
  #answered = Promise.withResolvers<readonly string[]>()

  constructor(time: Time) {
    this.#time = time
  }

  /** Returns the accepted lists; `null` if no leader answers. */
  async say(): Promise<readonly string[] | null> {
    this.#waiting++
    const lists = await withTimeout(this.#time, NO_ANSWER_MS, this.#answered.promise)
    if (--this.#waiting === 0) this.#named.clear()
    return lists === TIMED_OUT ? null : lists
  }

  /**
   * Returns the entry that the next nonce names: the one that reported the shrunk list. Naming it keeps the acceptance
   * from being replayed for a later loss.
   */
  entryFor(target: FollowedLists | null): LogPosition | null {
    const toldAt = target?.shrunkToldAt ?? null
    if (this.#waiting === 0 || target === null || toldAt === null || target.shrunk.length === 0) return null
    this.#named.set(idOf(toldAt), target.shrunk)
    return toldAt
  }

  /** Handles what a heartbeat says about accepted and shrunk lists. */
  told(accepted: readonly string[], shrunk: readonly string[]): void {
    if (this.#waiting === 0) return
    const lists = accepted.map((id) => this.#named.get(id)).find((named) => named !== undefined)
    if (lists !== undefined || shrunk.length === 0) this.answer(lists ?? [])
  }

  /** Whether an operator is waiting for the leader. */
  get isSaid(): boolean {
    return this.#waiting > 0
  }

  answer(lists: readonly string[]): void {
    this.#answered.resolve(lists)
    this.#answered = Promise.withResolvers()
  }
}
