import type { ServedList, ServedLists } from '../sync/served-list.ts'
import type { Moment, Time } from '../time/time.ts'

/**
 * Decides when other lists may replace the served ones: once each of them is confirmed as of a moment after its
 * predecessor's last change, so that no caller sees a record return to an older state.
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

  /** Serves `next` if that is allowed. Returns whether it is served. */
  offer(next: ServedLists): boolean {
    this.look()
    if (next === this.served) return true
    // The rows are the same, and are only kept up to date in another way.
    const isSame = next.events.list === this.served.events.list
    if (!isSame && !this.isLater(next)) return false
    const { events, venues } = this.served
    this.served = next
    // Requests waiting on the old lists must look at the new ones.
    for (const list of [events, venues]) list.help()
    if (!isSame) {
      this.#changes = -1
      // The ready bodies of the replaced lists would count towards the memory limit.
      for (const { list } of [events, venues]) list.ready.clear()
    }
    return true
  }

  /** Whether callers have got nothing but 502 so far. */
  get isNew(): boolean {
    return !this.#isKnown(this.served.events)
  }

  /**
   * Notes whether the served lists have changed since the last call. The sooner after a change this is called, the
   * sooner a cut-over is possible.
   */
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

  /** Returns true if the list has an age. A list without one was not shown, so any other is later. */
  #isKnown<Item>({ freshness }: ServedList<Item>): boolean {
    return freshness.confirmedAgeMs(this.#updatedAt) !== null
  }
}
