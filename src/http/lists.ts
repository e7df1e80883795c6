import type { EventRecord } from '../domain/event.ts'
import type { ListName } from '../domain/field.ts'
import type { VenueRecord } from '../domain/venue.ts'
import type { Zone } from '../domain/zone.ts'
import type { Formatter } from '../formats/format.ts'
import type { Shape } from '../formats/media-types.ts'
import type { ServedLists } from '../sync/served-list.ts'
import { ListPages } from './list-pages.ts'
import { type ListQuery, readListQuery } from './list-query.ts'
import { queryOf } from './query-pairs.ts'
import type { ReadyPage } from './ready-pages.ts'

/** Serves `/api/events` and `/api/venues` if lists are on (contract §4). */
export class Lists {
  #events: ListPages<EventRecord>
  #venues: ListPages<VenueRecord>
  readonly #served: () => ServedLists
  readonly #formatter: Formatter
  readonly #zone: Zone

  constructor(served: () => ServedLists, formatter: Formatter, zone: Zone) {
    const { events, venues } = served()
    this.#events = new ListPages(events.list, formatter, venues.list)
    this.#venues = new ListPages(venues.list, formatter)
    this.#served = served
    this.#formatter = formatter
    this.#zone = zone
  }

  /** Parses the query of a request target. Returns a sentence if it has a problem. */
  read(list: ListName, target: string): ListQuery | string {
    return readListQuery(list, queryOf(target), this.#zone)
  }

  /** Returns the page as of `nowMs`, epoch ms; `null` while the list is not ready. */
  page(list: ListName, query: ListQuery, shape: Shape, nowMs: number): ReadyPage | null {
    const { events, venues } = this.#served()
    // The lists may have been replaced.
    if (this.#events.list !== events.list || this.#events.venues !== venues.list)
      this.#events = new ListPages(events.list, this.#formatter, venues.list)
    if (this.#venues.list !== venues.list) this.#venues = new ListPages(venues.list, this.#formatter)
    return (list === 'events' ? this.#events : this.#venues).page(query, shape, nowMs)
  }
}
