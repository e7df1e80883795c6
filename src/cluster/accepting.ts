import type { Time } from '../time/time.ts'
import { TIMED_OUT, withTimeout } from '../time/waiting.ts'
import type { FollowedLists } from './followed-lists.ts'

/** How long an operator waits for the leader. */
const NO_ANSWER_MS = 10_000

/**
 * Passes an operator's acceptance of shorter lists from a follower to the leader. The follower's ticks carry it until a
 * beat confirms it.
 */
export class Accepting {
  readonly #time: Time
  #waiting = 0
  /** The losses that ticks have named, with their lists. Naming one accepts no later one. */
  readonly #named = new Map<string, string>()
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

  /** Returns the losses that the next tick names. */
  losses(followed: FollowedLists | null): readonly string[] {
    if (this.#waiting === 0 || followed === null) return []
    for (const { loss, list } of followed.losses) this.#named.set(loss, list)
    return [...this.#named.keys()]
  }

  /** Handles what a beat says about accepted and present losses. */
  told(accepted: readonly string[], followed: FollowedLists): void {
    if (this.#waiting === 0) return
    const lists = accepted.flatMap((loss) => this.#named.get(loss) ?? [])
    if (lists.length > 0 || followed.losses.length === 0) this.answer(lists)
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
