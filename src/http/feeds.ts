import { Buffer } from 'node:buffer'
import type { Endpoint } from '../contract/endpoints.ts'
import type { EventRecord } from '../domain/event.ts'
import { type Guid, EMPTY_GUID } from '../domain/guid.ts'
import { type Revision, isSameRevision, joined, UNREVISED } from '../domain/revision.ts'
import type { Zone } from '../domain/zone.ts'
import { etagOf } from '../domain/body.ts'
import { type FeedSettings, FeedFormatter } from '../formats/feed-formatter.ts'
import { type FeedType, type MediaType, feedTypes, isFeed } from '../formats/media-types.ts'
import { indexOf } from '../order/list-index.ts'
import { scan } from '../order/list-scan.ts'
import type { ServedLists } from '../sync/served-list.ts'
import type { Call } from './call.ts'
import { type ListQuery, readListQuery, queryOf } from './list-query.ts'
import { createNegotiator, negotiateWithFeeds } from './negotiation.ts'
import { type ReadyPage, ReadyPages } from './ready-pages.ts'
import { Mutex } from '../time/waiting.ts'

/** The memory for recently requested calendars; JSON-LD has as much of its own. */
const ROOM = { pagesBytes: 8 * 1024 * 1024 }
/** The most kept text of VEVENTs, in UTF-16 code units; the lines of venues may have a quarter of it. */
const COMPONENTS_ROOM = 8 * 1024 * 1024
/** A calendar ends when its events reach this size: some programs read only a part of a larger one. */
const LARGEST_CALENDAR_BYTES = 32 * 1024 * 1024
/**
 * The longest time of writing events before other requests run, and the number of events between two looks at the
 * clock.
 */
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
  readonly settings: FeedSettings
  readonly switches: FeedSwitches
  readonly zone: Zone
  /** Lets other requests run. */
  readonly pause: () => Promise<void>
  readonly maxAgeMs: number
}

/** A calendar of many events. */
interface Calendar extends ReadyPage {
  /** The latest moment, monotonic ms, as of which the calendar is known to be right. */
  asOfMs: number
}

/** A calendar that waits or is being written. */
interface Writing {
  /** The lists' count of changes when writing began; `null` while it waits: it will show later changes too. */
  readonly shows: { changes: number | null }
  readonly page: Promise<Calendar>
}

/** The lines of a venue, and its revision. */
interface Place {
  readonly lines: string
  readonly revision: Revision
}

/** When a calendar is requested: by the wall clock, and by the monotonic one. */
interface RequestTime {
  readonly nowMs: number
  readonly monotonicMs: number
  /** The age of the lists. */
  readonly ageMs: number
}

/** A calendar, and the age of what it shows. */
export interface CalendarAnswer {
  readonly page: ReadyPage
  readonly ageMs: number
}

/** Serves the feeds: JSON-LD of an event, and calendars of one event or of many (contract §6). */
export class Feeds {
  readonly hasCalendars: boolean
  readonly #options: FeedsOptions
  readonly #formatter: FeedFormatter
  readonly #negotiate: (accept: string | null) => MediaType | FeedType
  #single = new ReadyPages(ROOM)
  #subscriptions = new ReadyPages<Calendar>(ROOM, true)
  #components = new KeptTexts(COMPONENTS_ROOM)
  #places = new KeptTexts(COMPONENTS_ROOM / 4)
  /** The lists from which the kept bodies were made. */
  #madeOf: readonly unknown[] = []
  readonly #queue = new CalendarQueue()
  /** Calendars that are waiting or being written, by query. */
  readonly #writing = new Map<string, Writing>()

  constructor(options: FeedsOptions) {
    const types = feedTypes(options.switches)
    this.hasCalendars = options.switches.calendar
    this.#options = options
    this.#formatter = new FeedFormatter(options.settings)
    this.#negotiate = createNegotiator<FeedType>(undefined, (accept) => negotiateWithFeeds(accept, types))
  }

  /** Returns the feed that a call asks for, by its path or, for an event, by `Accept`; `null` if it asks for none. */
  asked(call: Call, resource: Endpoint): FeedType | null {
    if (resource === 'calendar' || resource === 'event-calendar') return 'text/calendar'
    if (resource !== 'event') return null
    const mediaType = this.#negotiate(call.header('accept'))
    return isFeed(mediaType) ? mediaType : null
  }

  /** Returns the calendar or JSON-LD of an event; `null` if it is not served, or iCalendar cannot write its dates. */
  event(type: FeedType, id: Guid, nowMs: number): ReadyPage | null {
    const { events } = this.#options.served()
    const changes = this.#changes()
    const { readsPrice } = events.list
    const key = `${type} ${readsPrice} ${id}`
    const ready = this.#single.read(key, changes, 0)
    if (ready !== null) return ready
    const event = events.list.get(id)
    const text = event && this.#textOf(type, event, readsPrice, nowMs)
    if (text === null) return null
    const page = pageOf(text, changes, null, Infinity)
    this.#single.keep(key, page)
    return page
  }

  #textOf(type: FeedType, event: EventRecord, readsPrice: boolean, nowMs: number): string | null {
    const formatter = this.#formatter
    const { events, venues } = this.#options.served()
    const venue = event.VenueId === EMPTY_GUID ? null : venues.list.get(event.VenueId)
    if (type === 'application/ld+json') return formatter.jsonLd(event, venue, readsPrice)
    const revision = revisionOf(events.list.revisionOf(event.Id), this.#placeRevision(event.VenueId), nowMs)
    const component = formatter.component(event, formatter.place(venue), revision)
    return component === null ? null : formatter.calendar(component)
  }

  /** Parses the query of the calendar of all events. Returns a sentence if it has a problem. */
  read(target: string): ListQuery | string {
    return readListQuery('calendar', queryOf(target), this.#options.zone)
  }

  /**
   * Returns the calendar of the events that a query selects: `null` while the index of the events is not complete,
   * `too-many` if too many calendars are waiting or were written lately, and this one was not.
   */
  calendar(query: ListQuery, at: RequestTime): CalendarAnswer | Promise<CalendarAnswer> | 'too-many' | null {
    const index = indexOf(this.#options.served().events.list)
    if (index === null || !index.isWhole) return null
    const { nowMs, monotonicMs, ageMs } = at
    const asOfMs = monotonicMs - ageMs
    const changes = this.#changes()
    const last = this.#subscriptions.last(query.named)
    const page = this.#subscriptions.read(query.named, changes, nowMs)
    if (page !== null) {
      page.asOfMs = Math.max(page.asOfMs, asOfMs)
      return { page, ageMs }
    }
    const before = this.#writing.get(query.named)
    if (before !== undefined && (before.shows.changes ?? changes) === changes) return answerLater(before.page, ageMs)
    const shows: Writing['shows'] = { changes: null }
    const queued = this.#queue.write(() => {
      shows.changes = this.#changes()
      return this.#write(query, shows.changes, { nowMs, asOfMs })
    })
    if (queued === null) {
      // The lists change faster than a large calendar can be written. Its last version serves until it is too old.
      const lastAgeMs = last === null ? Infinity : monotonicMs - last.asOfMs
      return last !== null && lastAgeMs <= this.#options.maxAgeMs ? { page: last, ageMs: lastAgeMs } : 'too-many'
    }
    const written = queued.finally(() => {
      if (this.#writing.get(query.named)?.page === written) this.#writing.delete(query.named)
    })
    this.#writing.set(query.named, { shows, page: written })
    return answerLater(written, ageMs)
  }

  /** Writes the calendar in slices, from the records as they are now. */
  async #write(
    query: ListQuery,
    changes: number,
    { nowMs, asOfMs }: { readonly nowMs: number; readonly asOfMs: number },
  ): Promise<Calendar> {
    const { served, pause } = this.#options
    const { list } = served().events
    const index = indexOf(list)
    if (index === null) throw new Error('the events are in no order')
    const from = query.from ?? { ms: nowMs, ticks: 0 }
    const { rows, goodUntilMs } = scan(index, { ...query, from, within: this.#formatter.writableMs })
    let turnEndsAt = performance.now() + TURN_MS
    const placeOf = this.#placesNow()
    // All records are read at once, so that the calendar shows one state. Unpacking takes longer, and is done in
    // slices.
    const events = rows.map((row) => {
      const { id, packed, key } = row
      const place = placeOf(key?.venue ?? EMPTY_GUID)
      return { id, packed: packed ?? '', place: place.lines, revision: revisionOf(row.revision, place.revision, nowMs) }
    })
    const components: string[] = []
    let bytes = 0
    for (const [at, { id, packed, place, revision }] of events.entries()) {
      if (at % EVENTS_A_LOOK === 0 && performance.now() > turnEndsAt) {
        await pause()
        turnEndsAt = performance.now() + TURN_MS
      }
      const make = (): string | null => this.#formatter.component(list.kind.packing.unpack(id, packed), place, revision)
      const component = this.#components.of(id, packed, place, make, revision)
      if (component === null) continue
      bytes += component.length
      if (bytes > LARGEST_CALENDAR_BYTES) break
      components.push(component)
    }
    const text = this.#formatter.subscription(components)
    const page = { ...pageOf(text, changes, query.from === null ? nowMs : null, goodUntilMs), asOfMs }
    if (this.#madeOf[0] === list) this.#subscriptions.keep(query.named, page)
    return page
  }

  #placeRevision(venue: Guid): Revision {
    return venue === EMPTY_GUID ? UNREVISED : this.#options.served().venues.list.revisionOf(venue)
  }

  /** Returns a function that gives the lines of a venue as it is now. A venue of many events is looked up once. */
  #placesNow(): (id: Guid) => Place {
    const { list } = this.#options.served().venues
    const places = new Map<Guid, Place>()
    return (id) => {
      const known = places.get(id)
      if (known !== undefined) return known
      const packed = id === EMPTY_GUID ? null : (list.find(id)?.packed ?? null)
      const make = (text: string): string => this.#formatter.place(list.kind.packing.unpack(id, text))
      const lines = packed === null ? '' : (this.#places.of(id, packed, '', () => make(packed)) ?? '')
      const place = { lines, revision: this.#placeRevision(id) }
      places.set(id, place)
      return place
    }
  }

  /** Returns a number that rises with each change of the lists. If the lists were replaced, drops the kept bodies. */
  #changes(): number {
    const { events, venues } = this.#options.served()
    if (this.#madeOf[0] !== events.list || this.#madeOf[1] !== venues.list) {
      this.#madeOf = [events.list, venues.list]
      this.#single = new ReadyPages(ROOM)
      this.#subscriptions = new ReadyPages<Calendar>(ROOM, true)
      this.#components = new KeptTexts(COMPONENTS_ROOM)
      this.#places = new KeptTexts(COMPONENTS_ROOM / 4)
      this.#writing.clear()
    }
    return events.list.changes + venues.list.changes
  }
}

/** Returns the revision of an event and its place. It is never in the future, even if a clock was set back. */
function revisionOf(event: Revision, place: Revision, nowMs: number): Revision {
  const { sinceS, sequence } = joined(event, place)
  return { sinceS: Math.min(sinceS, Math.floor(nowMs / 1000)), sequence }
}

/** @param ageMs the age of the lists now: what is written later shows them as they are then, or newer */
async function answerLater(written: Promise<Calendar>, ageMs: number): Promise<CalendarAnswer> {
  const begunAt = performance.now()
  const page = await written
  return { page, ageMs: ageMs + Math.max(0, performance.now() - begunAt) }
}

/** @param fromMs the time from which the text is valid, epoch ms; `null` if it does not depend on the time */
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

/** The most calendars that wait. With more, a proxy would consider the service dead before the last was written. */
const MOST_WAITING = 4
/** The bytes of large calendars written in one window. Slow readers hold them until they are sent. */
const MOST_BYTES = 64 * 1024 * 1024
const LARGE_BYTES = 1024 * 1024
const WINDOW_MS = 10_000

/**
 * Writes calendars one after another, because one calendar may cost as much as a hundred records. Written together,
 * calendars would delay all other requests.
 */
class CalendarQueue {
  readonly #mutex = new Mutex()
  #waiting = 0
  #written: { readonly atMs: number; readonly bytes: number }[] = []

  /** Writes a calendar when its turn comes. Returns `null` if too many are waiting or were written lately. */
  write(write: () => Promise<Calendar>): Promise<Calendar> | null {
    const nowMs = performance.now()
    this.#written = this.#written.filter(({ atMs }) => atMs > nowMs - WINDOW_MS)
    const bytes = this.#written.reduce((sum, each) => sum + each.bytes, 0)
    if (this.#waiting >= MOST_WAITING || bytes > MOST_BYTES) return null
    this.#waiting++
    return this.#mutex.run(write).then(
      (page) => {
        this.#waiting--
        if (page.body.length >= LARGE_BYTES) this.#written.push({ atMs: performance.now(), bytes: page.body.length })
        return page
      },
      (cause: unknown) => {
        this.#waiting--
        throw cause
      },
    )
  }
}

interface KeptText {
  readonly packed: string
  readonly beside: string
  readonly revision: Revision
  readonly text: string
}

/**
 * Keeps texts that were made of records until these records change. A calendar is written again after every change of
 * the lists, although nearly all of its events are unchanged.
 */
export class KeptTexts {
  readonly #most: number
  #texts = new Map<Guid, KeptText>()
  #length = 0

  /** @param most how many UTF-16 code units of records and texts are kept */
  constructor(most: number) {
    this.#most = most
  }

  /**
   * Returns the text of a record, made by `make` unless it is kept; `null` if there is none.
   * @param packed the record
   * @param beside what else the text is made of, with the revision
   */
  of(
    id: Guid,
    packed: string,
    beside: string,
    make: () => string | null,
    revision: Revision = UNREVISED,
  ): string | null {
    const kept = this.#texts.get(id)
    const isKept = kept?.packed === packed && kept.beside === beside && isSameRevision(kept.revision, revision)
    if (isKept) return kept.text
    const text = make()
    if (text === null) return null
    if (kept !== undefined) this.#length -= lengthOf(kept)
    const made = { packed, beside, revision, text }
    this.#length += lengthOf(made)
    this.#texts.set(id, made)
    // All texts are dropped at once: those still in use are made again once, and no order has to be tracked.
    if (this.#length > this.#most) {
      this.#texts = new Map()
      this.#length = 0
    }
    return text
  }
}

/** `beside` is not counted: many records share it. */
function lengthOf({ packed, text }: KeptText): number {
  return packed.length + text.length
}
