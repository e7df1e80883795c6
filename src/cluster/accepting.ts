import type { Time } from '../time/time.ts'
import { TIMED_OUT, withTimeout } from '../time/waiting.ts'
import { idOf, type LogPosition } from './entries.ts'
import type { Following } from './follower.ts'

/** So long an operator waits for the leader. */
const NO_ANSWER_MS = 10_000

/** That shorter lists are right, said to an instance that does not read: its nonces carry it until a heartbeat names it. */
export class Accepting {
  readonly #time: Time
  #waiting = 0
  #lists: readonly string[] = []
  /** The entries that nonces have named. */
  readonly #named = new Set<string>()
  #answered = Promise.withResolvers<readonly string[]>()

  constructor(time: Time) {
    this.#time = time
  }

  /** Resolves with the lists that are accepted; null where no leader answers. */
  async say(): Promise<readonly string[] | null> {
    this.#waiting++
    const lists = await withTimeout(this.#time, NO_ANSWER_MS, this.#answered.promise)
    if (--this.#waiting === 0) this.#named.clear()
    return lists === TIMED_OUT ? null : lists
  }

  /** What the next nonce names: the entry that told of what is not believed, which cannot be played again for another loss. */
  entryFor(target: Following | null): LogPosition | null {
    const toldAt = target?.shrunkToldAt ?? null
    if (this.#waiting === 0 || target === null || toldAt === null || target.shrunk.length === 0) return null
    this.#lists = target.shrunk
    this.#named.add(idOf(toldAt))
    return toldAt
  }

  /** A heartbeat has come. */
  told(accepted: readonly string[], shrunk: readonly string[]): void {
    if (this.#waiting === 0) return
    if (accepted.some((id) => this.#named.has(id))) this.answer(this.#lists)
    else if (shrunk.length === 0) this.answer([])
  }

  /** An operator waits for it. */
  get isSaid(): boolean {
    return this.#waiting > 0
  }

  answer(lists: readonly string[]): void {
    this.#answered.resolve(lists)
    this.#answered = Promise.withResolvers()
  }
}
