import type { Guid } from '../domain/guid.ts'
import type { Moment } from '../time/time.ts'
import type { Freshness } from './served-list.ts'

/** Venues that are not served although an event refers to them, until a list that could not be read is read again. */
export class AwaitedVenues {
  readonly #freshness: Freshness
  readonly #venues = new Set<Guid>()
  #since: Moment | null = null

  constructor(freshness: Freshness) {
    this.#freshness = freshness
  }

  /** @param since Only a read that begins later tells whether they exist. */
  add(venues: Iterable<Guid>, since: Moment): void {
    if (this.#isOver) this.#venues.clear()
    for (const venue of venues) this.#venues.add(venue)
    this.#since = since
  }

  has(venue: Guid): boolean {
    return this.#venues.has(venue) && !this.#isOver
  }

  get #isOver(): boolean {
    return this.#since !== null && this.#freshness.areDetailsConfirmedSince(this.#since)
  }
}
