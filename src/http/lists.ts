import type { EventRecord } from '../domain/event.ts'
import type { ListName } from '../domain/field.ts'
import type { VenueRecord } from '../domain/venue.ts'
import type { Zone } from '../domain/zone.ts'
import type { Formatter } from '../formats/format.ts'
import type { Shape } from '../formats/media-types.ts'
import type { HeldLists } from '../sync/held-lists.ts'
import { ListPages } from './list-pages.ts'
import { type ListQuery, readListQuery } from './list-query.ts'
import { queryOf } from './query-pairs.ts'
import type { ReadyPage } from './ready-pages.ts'

/** Serves `/api/events` and `/api/venues` if lists are on (contract §4). */
export class Lists {
  #events: ListPages<EventRecord>
  #venues: ListPages<VenueRecord>
  readonly #held: HeldLists
  readonly #formatter: Formatter
  readonly #zone: Zone

  constructor(held: HeldLists, formatter: Formatter, zone: Zone) {
    this.#events = new ListPages(held.events.list, formatter, held.venues.list)
    this.#venues = new ListPages(held.venues.list, formatter)
    this.#held = held
    this.#formatter = formatter
    this.#zone = zone
  }

  /** Parses the query of a request target. Returns a sentence if it has a problem. */
  read(list: ListName, target: string): ListQuery | string {
    return readListQuery(list, queryOf(target), this.#zone)
  }

  /** Returns the page as of `nowMs`, epoch ms; `null` while the list is not ready. */
  page(list: ListName, query: ListQuery, shape: Shape, nowMs: number): ReadyPage | null {
    const { events, venues } = this.#held
    // Other lists may have replaced them.
    if (this.#events.list !== events.list || this.#events.venues !== venues.list)
      this.#events = new ListPages(events.list, this.#formatter, venues.list)
    if (this.#venues.list !== venues.list) this.#venues = new ListPages(venues.list, this.#formatter)
    return (list === 'events' ? this.#events : this.#venues).page(query, shape, nowMs)
  }
}
