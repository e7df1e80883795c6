// The feeds of events. In: a call or a query, and the lists. Out: JSON-LD, calendars of one event or a page of them, and
// pages of Atom.

import { Buffer } from 'node:buffer'
import { type Endpoint, type FeedOfMany, routeLabel } from '../contract/endpoints.ts'
import type { EventRecord } from '../domain/event.ts'
import { type Guid, EMPTY_GUID } from '../domain/guid.ts'
import { type Revision, joined, UNREVISED } from '../domain/revision.ts'
import { unreachable } from '../domain/unreachable.ts'
import type { VenueRecord } from '../domain/venue.ts'
import type { Zone } from '../domain/zone.ts'
import { type Body, bodyOf, etagOf, textOf } from '../domain/body.ts'
import { type FeedSettings, FeedFormatter } from '../formats/feed-formatter.ts'
import { type FeedType, type MediaType, feedTypes, isFeed } from '../formats/media-types.ts'
import { type ListIndex, orderIndexOf } from '../order/list-index.ts'
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
  readonly atom: boolean
}

export interface FeedsOptions {
  /** Returns the lists that are served now. */
  readonly served: () => ServedLists
  readonly settings: FeedSettings
  readonly switches: FeedSwitches
  readonly zone: Zone
}

type Written = ReturnType<ServedLists['events']['list']['represent']>

const TYPE_OF = { calendar: 'text/calendar', atom: 'application/atom+xml' } as const

let opened = 0

/**
 * Serves the feeds: JSON-LD of an event, and calendars of one event or of many, and Atom (contract §6). All are bodies of
 * the event, and a feed of many is a page of a list in another frame.
 */
export class Feeds {
  readonly switches: FeedSwitches
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
    this.switches = options.switches
    this.#options = options
    this.#formatter = new FeedFormatter(options.settings)
    this.#negotiate = createNegotiator<FeedType>(undefined, (accept) => negotiateWithFeeds(accept, types))
    this.#madeOf = options.served()
    this.#pages = new ReadyPages(this.#madeOf.events.list.ready)
    const { calendar, atom } = options.switches
    if (calendar || atom) this.#madeOf.events.list.ready.makeRoomForPages()
  }

  /** Returns the feed that a call asks for, by its path or, for an event, by `Accept`; `null` if it asks for none. */
  asked(call: Call, resource: Endpoint): FeedType | null {
    if (resource === 'calendar' || resource === 'event-calendar') return 'text/calendar'
    if (resource === 'atom') return TYPE_OF.atom
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

  /** Parses the query of a feed of many events. Returns a sentence if it has a problem. */
  read(feed: FeedOfMany, target: string): ListQuery | string {
    return readListQuery(feed, queryOf(target), this.#options.zone)
  }

  /** Returns a page of a feed of many events; `null` while the index of the events is not complete. */
  page(feed: FeedOfMany, query: ListQuery, nowMs: number): ReadyPage | null {
    const served = this.#options.served()
    const index = orderIndexOf(served.events.list)
    if (index === null || !index.isWhole) return null
    if (served.events.list !== this.#madeOf.events.list || served.venues.list !== this.#madeOf.venues.list) {
      this.#madeOf = served
      this.#pages = new ReadyPages(served.events.list.ready)
    }
    const changes = served.events.list.changes + served.venues.list.changes
    const key = feed + pathWith(query.named, query.afterGiven)
    const ready = this.#pages.read(key, changes, nowMs)
    if (ready !== null) return ready
    const page = this.#make(served, index, feed, query, nowMs, changes)
    this.#pages.keep(key, page)
    return page
  }

  #make(
    served: ServedLists,
    index: ListIndex,
    feed: FeedOfMany,
    query: ListQuery,
    nowMs: number,
    changes: number,
  ): ReadyPage {
    const formatter = this.#formatter
    const from = query.from ?? { ms: nowMs, ticks: 0 }
    const within = feed === 'calendar' ? { within: formatter.writableMs } : {}
    const { rows, hasMore, goodUntilMs } = scan(index, { ...query, from, ...within })
    const bodies: string[] = []
    let length = 0
    let sinceS = 0
    let last: HeldRow | null = null
    for (const row of rows) {
      // The rows left over are on the next page.
      if (length > LARGEST_PAGE_BYTES) break
      const made = this.#bodyOf(served, TYPE_OF[feed], row, nowMs)
      if (made !== null) bodies.push(textOf(made.body))
      length += made?.body.length ?? 0
      sinceS = Math.max(sinceS, this.#revisionOf(served, row, nowMs).sinceS)
      last = row
    }
    // Another page follows if more rows fit, or if this one was ended early.
    const start = hasMore || last !== rows.at(-1) ? last?.key?.start : undefined
    const after = last === null || start === undefined ? null : writePosition('events', { start, id: last.id })
    const pathTo = (position: string | null): string =>
      formatter.pathOf(`~${routeLabel(feed)}${pathWith(query.named, position)}`)
    const next = after === null ? null : pathTo(after)
    const links = { self: pathTo(query.afterGiven), next, sinceS }
    const text = feed === 'calendar' ? formatter.subscription(bodies) : formatter.feed(bodies, query.named, links)
    const body = Buffer.from(text)
    return { body, etag: etagOf(body), next, changes, ...validity(query, nowMs, goodUntilMs) }
  }

  /** Returns the revision of the text of a row with its venue. It is never in the future, even if a clock was set back. */
  #revisionOf({ venues }: ServedLists, { revision, key }: HeldRow, nowMs: number): Revision {
    const venueId = key?.venue ?? EMPTY_GUID
    const { sinceS, sequence } = joined(revision, venueId === EMPTY_GUID ? UNREVISED : venues.list.revisionOf(venueId))
    return { sinceS: Math.min(sinceS, Math.floor(nowMs / 1000)), sequence }
  }

  /** Returns a row with its venue as a VEVENT, an entry or JSON-LD; `null` if it is not served or cannot be written. */
  #bodyOf(served: ServedLists, type: FeedType, row: HeldRow, nowMs: number): Written {
    const { events, venues } = served
    const { ready, readsPrice } = events.list
    if (row.key === null) return null
    const { venue: venueId } = row.key
    const venueRow = venueId === EMPTY_GUID ? null : venues.list.find(venueId)
    const revision = this.#revisionOf(served, row, nowMs)
    // The body depends on these too: the settings, what is read, when it last changed, and its venue. It is made again if
    // one of them has changed.
    const beside = `${this.#number} ${readsPrice} ${revision.sinceS} ${revision.sequence} ${venueRow?.packed ?? ''}`
    const kept = ready.read(row, type, beside)
    if (kept !== null) return kept
    const event = events.list.read(row)
    if (event === null) return null
    const venue = venueRow === null ? null : venues.list.read(venueRow)
    const text = this.#textOf(type, event, venue, revision, readsPrice)
    return text === null ? null : ready.keep(row, type, text, beside)
  }

  #textOf(
    type: FeedType,
    event: EventRecord,
    venue: VenueRecord | null,
    revision: Revision,
    readsPrice: boolean,
  ): string | null {
    const formatter = this.#formatter
    switch (type) {
      case 'application/ld+json':
        return formatter.jsonLd(event, venue, readsPrice)
      case 'text/calendar':
        return formatter.component(event, formatter.venueLines(venue), revision)
      case 'application/atom+xml':
        return formatter.entry(event, venue, revision)
      default:
        return unreachable(type)
    }
  }
}
