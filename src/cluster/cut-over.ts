import type { Moment, Time } from '../time/time.ts'
import type { ServedList, ServedLists } from '../sync/held-lists.ts'

/**
 * What callers get, and when something else may take its place: once that is confirmed as of a moment after the old one last
 * changed, list by list. So nothing goes back, whatever either of them did not know.
 */
export class CutOver {
  served: ServedLists
  readonly #time: Time
  #changes = 0
  #updatedAt: Moment

  constructor(served: ServedLists, time: Time) {
    this.served = served
    this.#time = time
    this.#updatedAt = time.now()
  }

  /** Serves `next` where that may be; whether it is served. */
  offer(next: ServedLists): boolean {
    this.look()
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

  /** Nobody was answered from anything yet. */
  get isNew(): boolean {
    return !this.#isKnown(this.served.events)
  }

  /** Notes that what is served has changed since the last look: the nearer to the change, the sooner something else may be later. */
  look(): void {
    const { events, venues } = this.served
    const changes = events.list.changes + venues.list.changes
    if (changes !== this.#changes) this.#updatedAt = this.#time.now()
    this.#changes = changes
  }

  isLater(next: ServedLists): boolean {
    const { events, venues } = this.served
    const isAhead = <Item>(old: ServedList<Item>, other: ServedList<Item>): boolean =>
      old.list.changes === 0 || (!this.#isKnown(old) && this.#isKnown(other)) || other.isConfirmedSince(this.#updatedAt)
    return isAhead(events, next.events) && isAhead(venues, next.venues)
  }

  /** Of a list without an age nobody was ever shown anything: any age is later. */
  #isKnown<Item>({ freshness }: ServedList<Item>): boolean {
    return freshness.confirmedAgeMs(this.#updatedAt) !== null
  }
}
