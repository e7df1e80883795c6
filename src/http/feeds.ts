// The feeds of events. In: a call or a query, and the lists. Out: JSON-LD, and calendars of one event or a page of them.

import { Buffer } from 'node:buffer'
import type { Endpoint } from '../contract/endpoints.ts'
import { type Guid, EMPTY_GUID } from '../domain/guid.ts'
import { type Revision, joined, UNREVISED } from '../domain/revision.ts'
import type { Zone } from '../domain/zone.ts'
import { type Body, bodyOf, etagOf, textOf } from '../domain/body.ts'
import { type FeedSettings, FeedFormatter } from '../formats/feed-formatter.ts'
import { type FeedType, type MediaType, feedTypes, isFeed } from '../formats/media-types.ts'
import { type ListIndex, indexOf } from '../order/list-index.ts'
import { scan } from '../order/list-scan.ts'
import type { HeldRow } from '../records/held-row.ts'
import type { ServedLists } from '../sync/served-list.ts'
import type { Call } from './call.ts'
import { LARGEST_PAGE_BYTES, pathWith, validity } from './list-pages.ts'
import { type ListQuery, readListQuery, queryOf, writePosition } from './list-query.ts'
import { createNegotiator, negotiateWithFeeds } from './negotiation.ts'
import { type ReadyPage, ReadyPages } from './ready-pages.ts'

/** Which feeds are on. */
interface FeedSwitches {
  readonly calendar: boolean
  readonly jsonLd: boolean
}

export interface FeedsOptions {
  /** Returns the lists that are served now. */
  readonly served: () => ServedLists
  readonly settings: FeedSettings
  readonly switches: FeedSwitches
  readonly zone: Zone
}

type Written = ReturnType<ServedLists['events']['list']['represent']>

let opened = 0

/**
 * Serves the feeds: JSON-LD of an event, and calendars of one event or of many (contract §6). Both are bodies of the
 * event, and a calendar of many is a page of a list in another frame.
 */
export class Feeds {
  readonly hasCalendars: boolean
  readonly #options: FeedsOptions
  readonly #formatter: FeedFormatter
  readonly #negotiate: (accept: string | null) => MediaType | FeedType
  /** Distinguishes the bodies of this object from those with the settings before a reload. */
  readonly #number = ++opened
  #pages: ReadyPages
  /** The lists of which the pages were made. */
  #madeOf: ServedLists

  constructor(options: FeedsOptions) {
    const types = feedTypes(options.switches)
    this.hasCalendars = options.switches.calendar
    this.#options = options
    this.#formatter = new FeedFormatter(options.settings)
    this.#negotiate = createNegotiator<FeedType>(undefined, (accept) => negotiateWithFeeds(accept, types))
    this.#madeOf = options.served()
    this.#pages = new ReadyPages(this.#madeOf.events.list.ready)
    if (this.hasCalendars) this.#madeOf.events.list.ready.makeRoomForPages()
  }

  /** Returns the feed that a call asks for, by its path or, for an event, by `Accept`; `null` if it asks for none. */
  asked(call: Call, resource: Endpoint): FeedType | null {
    if (resource === 'calendar' || resource === 'event-calendar') return 'text/calendar'
    if (resource !== 'event') return null
    const mediaType = this.#negotiate(call.header('accept'))
    return isFeed(mediaType) ? mediaType : null
  }

  /** Returns the calendar or JSON-LD of an event; `null` if it is not served, or iCalendar cannot write its dates. */
  event(type: FeedType, id: Guid, nowMs: number): { readonly body: Body; readonly etag: string } | null {
    const served = this.#options.served()
    const row = served.events.list.find(id)
    const found = row === null ? null : this.#bodyOf(served, type, row, nowMs)
    if (found === null || type === 'application/ld+json') return found
    const body = bodyOf(this.#formatter.calendar(textOf(found.body)))
    return { body, etag: etagOf(body) }
  }

  /** Parses the query of the calendar of all events. Returns a sentence if it has a problem. */
  read(target: string): ListQuery | string {
    return readListQuery('calendar', queryOf(target), this.#options.zone)
  }

  /** Returns a page of the calendar of many events; `null` while the index of the events is not complete. */
  calendar(query: ListQuery, nowMs: number): ReadyPage | null {
    const served = this.#options.served()
    const index = indexOf(served.events.list)
    if (index === null || !index.isWhole) return null
    if (served.events.list !== this.#madeOf.events.list || served.venues.list !== this.#madeOf.venues.list) {
      this.#madeOf = served
      this.#pages = new ReadyPages(served.events.list.ready)
    }
    const changes = served.events.list.changes + served.venues.list.changes
    const key = pathWith(query.named, query.afterGiven)
    const ready = this.#pages.read(key, changes, nowMs)
    if (ready !== null) return ready
    const page = this.#make(served, index, query, nowMs, changes)
    this.#pages.keep(key, page)
    return page
  }

  #make(served: ServedLists, index: ListIndex, query: ListQuery, nowMs: number, changes: number): ReadyPage {
    const formatter = this.#formatter
    const from = query.from ?? { ms: nowMs, ticks: 0 }
    const { rows, hasMore, goodUntilMs } = scan(index, { ...query, from, within: formatter.writableMs })
    const components: string[] = []
    let length = 0
    let last: HeldRow | null = null
    for (const row of rows) {
      if (length > LARGEST_PAGE_BYTES) break
      const component = this.#bodyOf(served, 'text/calendar', row, nowMs)
      if (component !== null) components.push(textOf(component.body))
      length += component?.body.length ?? 0
      last = row
    }
    const body = Buffer.from(formatter.subscription(components))
    const start = hasMore || last !== rows.at(-1) ? last?.key?.start : undefined
    const after = last === null || start === undefined ? null : writePosition('events', { start, id: last.id })
    const next = after === null ? null : formatter.pathOf(`~/events.ics${pathWith(query.named, after)}`)
    return { body, etag: etagOf(body), next, changes, ...validity(query, nowMs, goodUntilMs) }
  }

  /** Returns the VEVENT or the JSON-LD of a row with its venue; `null` if it is not served or cannot be written. */
  #bodyOf({ events, venues }: ServedLists, type: FeedType, row: HeldRow, nowMs: number): Written {
    const { ready, readsPrice } = events.list
    if (row.key === null) return null
    const { venue: venueId } = row.key
    const venueRow = venueId === EMPTY_GUID ? null : venues.list.find(venueId)
    const venueRevision = venueId === EMPTY_GUID ? UNREVISED : venues.list.revisionOf(venueId)
    const { sinceS, sequence } = joined(row.revision, venueRevision)
    // It is never in the future, even if a clock was set back.
    const revision: Revision = { sinceS: Math.min(sinceS, Math.floor(nowMs / 1000)), sequence }
    // The body depends on these too. It is made again if one of them has changed.
    const beside = `${this.#number} ${readsPrice} ${revision.sinceS} ${sequence} ${venueRow?.packed ?? ''}`
    const kept = ready.read(row, type, beside)
    if (kept !== null) return kept
    const event = events.list.read(row)
    if (event === null) return null
    const venue = venueRow === null ? null : venues.list.read(venueRow)
    const formatter = this.#formatter
    const text =
      type === 'application/ld+json'
        ? formatter.jsonLd(event, venue, readsPrice)
        : formatter.component(event, formatter.venueLines(venue), revision)
    return text === null ? null : ready.keep(row, type, text, beside)
  }
}
