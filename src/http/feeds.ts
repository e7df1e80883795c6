import { Buffer } from 'node:buffer'
import type { EventRecord } from '../domain/event.ts'
import { type Guid, EMPTY_GUID } from '../domain/guid.ts'
import type { VenueRecord } from '../domain/venue.ts'
import type { Zone } from '../domain/zone.ts'
import { etagOf } from '../formats/body.ts'
import type { FeedFormatter } from '../formats/feed-formatter.ts'
import { type FeedType, type MediaType, isFeed } from '../formats/media-types.ts'
import { createNegotiator, negotiateWithFeeds } from '../formats/negotiation.ts'
import { indexOf } from '../order/list-index.ts'
import { scan } from '../order/list-scan.ts'
import { readVenueId } from '../records/packing.ts'
import type { ServedLists } from '../sync/served-list.ts'
import { CalendarQueue } from './calendar-queue.ts'
import type { Call } from './call.ts'
import { type ListQuery, readListQuery } from './list-query.ts'
import { queryOf } from './query-pairs.ts'
import { type ReadyPage, ReadyPages } from './ready-pages.ts'
import type { Endpoint } from './route.ts'

/** What calendars and JSON-LD that were asked for lately take, each of the two kinds of body. */
const ROOM = { pagesBytes: 8 * 1024 * 1024 }
/** A calendar of many events ends where its events reach this: some programs read no more than a part of it. */
const LARGEST_CALENDAR_BYTES = 32 * 1024 * 1024
/** How long events are written before other requests have their turn, and after how many events the clock is read. */
const TURN_MS = 8
const EVENTS_A_LOOK = 16

/** Which feeds are on. */
interface FeedSwitches {
  readonly calendar: boolean
  readonly jsonLd: boolean
}

export interface FeedsOptions {
  /** Returns the lists that are served now. */
  readonly served: () => ServedLists
  readonly formatter: FeedFormatter
  readonly switches: FeedSwitches
  readonly zone: Zone
  /** Whether anything reads the events' prices. */
  readonly hasPrice: () => boolean
  /** Lets other requests pass. */
  readonly pause: () => Promise<void>
}

/** What search engines and calendars read: JSON-LD of an event, calendars of one and of many (contract §6). */
export class Feeds {
  readonly hasCalendars: boolean
  readonly #options: FeedsOptions
  readonly #negotiate: (accept: string | null) => MediaType | FeedType
  #single = new ReadyPages(ROOM)
  #subscriptions = new ReadyPages(ROOM, true)
  /** The lists of which those were made. */
  #madeOf: readonly unknown[] = []
  readonly #queue = new CalendarQueue()
  /** Calendars that wait or are being written, by query. */
  readonly #writing = new Map<string, { readonly changes: number; readonly page: Promise<ReadyPage> }>()

  constructor(options: FeedsOptions) {
    const { calendar, jsonLd } = options.switches
    const types: readonly FeedType[] = [
      ...(calendar ? (['text/calendar'] as const) : []),
      ...(jsonLd ? (['application/ld+json'] as const) : []),
    ]
    this.hasCalendars = calendar
    this.#options = options
    this.#negotiate = createNegotiator<FeedType>(undefined, (accept) => negotiateWithFeeds(accept, types))
  }

  /** The feed that a call asks for, by its path or, at an event, by `Accept`; `null` if it asks for none. */
  asked(call: Call, resource: Endpoint): FeedType | null {
    if (resource === 'calendar' || resource === 'event-calendar') return 'text/calendar'
    if (resource !== 'event') return null
    const mediaType = this.#negotiate(call.header('accept'))
    return isFeed(mediaType) ? mediaType : null
  }

  /** The calendar or the JSON-LD of an event; `null` if the event is not served, or iCalendar cannot write its dates. */
  event(type: FeedType, id: Guid): ReadyPage | null {
    const { events } = this.#options.served()
    const changes = this.#changes()
    const hasPrice = this.#options.hasPrice()
    const key = `${type} ${hasPrice} ${id}`
    const ready = this.#single.read(key, changes, 0)
    if (ready !== null) return ready
    const event = events.list.get(id)
    const text = event && this.#textOf(type, event, hasPrice)
    if (text === null) return null
    const page = pageOf(text, changes, null, Infinity)
    this.#single.keep(key, page)
    return page
  }

  #textOf(type: FeedType, event: EventRecord, hasPrice: boolean): string | null {
    const { formatter, served } = this.#options
    const venue = event.VenueId === EMPTY_GUID ? null : served().venues.list.get(event.VenueId)
    if (type === 'application/ld+json') return formatter.jsonLd(event, venue, hasPrice)
    const component = formatter.component(event, venue)
    return component === null ? null : formatter.calendar(component)
  }

  /** What the query of a request target asks of the calendar of all events, or a sentence about what is wrong with it. */
  read(target: string): ListQuery | string {
    return readListQuery('calendar', queryOf(target), this.#options.zone)
  }

  /** The calendar of the events that a query asks for, as of `nowMs`, epoch ms; `null` while the events are not yet in order, `too-many` if others
   * take all turns. */
  calendar(query: ListQuery, nowMs: number): ReadyPage | Promise<ReadyPage> | 'too-many' | null {
    const index = indexOf(this.#options.served().events.list)
    if (index === null || !index.isWhole) return null
    const changes = this.#changes()
    const ready = this.#subscriptions.read(query.named, changes, nowMs)
    if (ready !== null) return ready
    const writing = this.#writing.get(query.named)
    if (writing?.changes === changes) return writing.page
    const queued = this.#queue.write(() => this.#write(query, this.#changes(), nowMs))
    if (queued === null) return 'too-many'
    const page = queued.finally(() => {
      if (this.#writing.get(query.named)?.page === page) this.#writing.delete(query.named)
    })
    this.#writing.set(query.named, { changes, page })
    return page
  }

  /** Writes the calendar in turns, of records as they all are now. */
  async #write(query: ListQuery, changes: number, nowMs: number): Promise<ReadyPage> {
    const { formatter, served, pause } = this.#options
    const { list } = served().events
    const index = indexOf(list)
    if (index === null) throw new Error('the events are in no order')
    const { rows, goodUntilMs } = scan(index, { ...query, from: query.from ?? { ms: nowMs, ticks: 0 } })
    let turnEndsAt = performance.now() + TURN_MS
    const venueOf = this.#venuesNow()
    // All are read at once, as they are now, and unpacked in turns: that takes longer.
    const events = rows.map((handle) => {
      const [shard, slot] = index.rowOf(handle)
      const packed = shard.read(slot)
      return { id: shard.guid(slot), packed, venue: venueOf(readVenueId(packed)) }
    })
    const components: string[] = []
    let bytes = 0
    for (const [at, { id, packed, venue }] of events.entries()) {
      if (at % EVENTS_A_LOOK === 0 && performance.now() > turnEndsAt) {
        await pause()
        turnEndsAt = performance.now() + TURN_MS
      }
      const component = formatter.component(list.kind.packing.unpack(id, packed), venue)
      if (component === null) continue
      bytes += component.length
      if (bytes > LARGEST_CALENDAR_BYTES) break
      components.push(component)
    }
    const text = formatter.subscription(components)
    const page = pageOf(text, changes, query.from === null ? nowMs : null, goodUntilMs)
    if (this.#madeOf[0] === list) this.#subscriptions.keep(query.named, page)
    return page
  }

  /** Reads each venue once, as it is now. */
  #venuesNow(): (id: Guid) => VenueRecord | null {
    const { list } = this.#options.served().venues
    const read = new Map<Guid, VenueRecord | null>([[EMPTY_GUID, null]])
    return (id) => {
      const known = read.get(id)
      if (known !== undefined) return known
      const venue = list.get(id)
      read.set(id, venue)
      return venue
    }
  }

  /** Counts up with each change of what feeds are made of. Other lists may have taken the place of those. */
  #changes(): number {
    const { events, venues } = this.#options.served()
    if (this.#madeOf[0] !== events.list || this.#madeOf[1] !== venues.list) {
      this.#madeOf = [events.list, venues.list]
      this.#single = new ReadyPages(ROOM)
      this.#subscriptions = new ReadyPages(ROOM, true)
      this.#writing.clear()
    }
    return events.list.changes + venues.list.changes
  }
}

/** @param fromMs since when it is what would be written again; `null` if it does not depend on the time */
function pageOf(text: string, changes: number, fromMs: number | null, goodUntilMs: number): ReadyPage {
  const body = Buffer.from(text)
  return {
    body,
    etag: etagOf(body),
    next: null,
    changes,
    goodFromMs: fromMs ?? -Infinity,
    goodUntilMs: fromMs === null ? Infinity : goodUntilMs,
  }
}
