import type { Moment, Time } from '../replica/time.ts'
import type { HeldList, ServedLists } from '../replica/held-lists.ts'

/**
 * What callers get, and when something else may take its place: once that is confirmed as of a moment after the old one last
 * changed, list by list. So nothing goes back, whatever either of them did not know.
 */
export class Swap {
  served: ServedLists
  readonly #time: Time
  #changes = 0
  #changedAt: Moment

  constructor(served: ServedLists, time: Time) {
    this.served = served
    this.#time = time
    this.#changedAt = time.now()
  }

  /** Serves `next` where that may be; whether it is served. */
  offer(next: ServedLists): boolean {
    if (next === this.served) return true
    // The same rows, brought up to date by other means.
    const isSame = next.events.list === this.served.events.list
    if (!isSame && !this.isLater(next)) return false
    const { events, venues } = this.served
    this.served = next
    // Who waits for what was served until now looks again.
    for (const list of [events, venues]) list.help()
    if (!isSame) this.#changes = -1
    return true
  }

  isLater(next: ServedLists): boolean {
    const { events, venues } = this.served
    const changes = events.list.changes + venues.list.changes
    if (changes !== this.#changes) this.#changedAt = this.#time.now()
    this.#changes = changes
    const isAhead = <Item>(old: HeldList<Item>, other: HeldList<Item>): boolean =>
      old.list.changes === 0 || other.isConfirmedSince(this.#changedAt)
    return isAhead(events, next.events) && isAhead(venues, next.venues)
  }
}
