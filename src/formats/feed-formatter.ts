import type { EventRecord } from '../domain/event.ts'
import { encodeAddress, isWebAddress } from '../domain/field.ts'
import { NO_FURTHER } from '../domain/further.ts'
import type { Revision } from '../domain/revision.ts'
import type { VenueRecord } from '../domain/venue.ts'
import { trimWhiteSpace } from '../domain/white-space.ts'
import type { Zone } from '../domain/zone.ts'
import { type AtomHead, DatesInWords, atomEntry, atomFeed } from './atom.ts'
import { type EventMeanings, meaningsOf, ticketsHref } from './event-meanings.ts'
import type { FormatSettings } from './format.ts'
import { WRITABLE_MS, calendarEvent, calendarOf, placeLines } from './icalendar.ts'
import { resolveHref } from './hal-json.ts'
import { jsonLd } from './json-ld.ts'
import { Resources } from './resource.ts'

/** The operator's settings for feeds (contract §6). */
export interface FeedSettings extends FormatSettings {
  /** The event's own web page, with `{Id}` and other fields to fill in; `null` if there is none. */
  readonly page: string | null
  /** ISO 4217; `null` if no JSON-LD is served. */
  readonly currency: string | null
  /** Whether Price is the lowest of several prices; absent if it is the only one. */
  readonly isLowestPrice?: boolean
  /** The name of the calendar, and of the Atom feed, to subscribe to. */
  readonly calendarName: string | null
  /** The language of dates in words (BCP 47). */
  readonly language: string
  /** The zone of dates: it may have days without midnight. */
  readonly zone?: Zone
}

/** Turns events and their venues into calendars, Atom and JSON-LD: a pure function of both records and the settings. */
export class FeedFormatter {
  /** An event that starts before the first of these, or ends after the second, epoch ms, has no VEVENT. */
  readonly writableMs: readonly [startMs: number, endMs: number] = WRITABLE_MS
  readonly #settings: FeedSettings
  readonly #sellsTickets: boolean
  readonly #resources: Resources
  readonly #meaningsOf: (event: EventRecord) => EventMeanings
  #dates: DatesInWords | null = null

  constructor(settings: FeedSettings) {
    this.#settings = settings
    this.#sellsTickets = settings.links.event.some(({ rel }) => rel === 'tickets')
    const further = settings.further ?? NO_FURTHER
    this.#resources = new Resources(further)
    this.#meaningsOf = meaningsOf(further.events)
  }

  /** Returns the lines of a venue, which the VEVENTs of its events share. */
  venueLines(venue: VenueRecord | null): string {
    return venue === null ? '' : placeLines(venue)
  }

  /**
   * Returns the VEVENT of an event; `null` if iCalendar cannot write its dates.
   * @param place the lines of its venue
   * @param revision of both
   */
  component(event: EventRecord, place: string, revision: Revision): string | null {
    const { namespace } = this.#settings
    const meanings = this.#meaningsOf(event)
    const page = this.#addressOf(event, meanings)
    return calendarEvent(event, { namespace, place, revision, zone: this.#settings.zone, page, ...meanings })
  }

  /** Returns the Atom entry of an event with its venue. */
  entry(event: EventRecord, venue: VenueRecord | null, { sinceS }: Revision): string {
    const { language, zone } = this.#settings
    const meanings = this.#meaningsOf(event)
    const when = (this.#dates ??= new DatesInWords(language)).of(event, zone)
    return atomEntry(event, { when, venue, page: this.#addressOf(event, meanings), sinceS, ...meanings })
  }

  /** Returns an Atom feed of several events. `query` has its filters, and names it among others. */
  feed(entries: readonly string[], query: string, links: Pick<AtomHead, 'self' | 'next' | 'sinceS'>): string {
    const { basePath, namespace, page, calendarName, language } = this.#settings
    const name = `${page ?? namespace} ${basePath} events.atom${query}`
    return atomFeed({ name, title: calendarName ?? namespace, language, ...links }, entries)
  }

  /** Returns the path of a link of the service. */
  pathOf(href: string): string {
    const { basePath } = this.#settings
    return resolveHref(href, basePath === '/' ? '' : basePath)
  }

  /** Returns a calendar of one event. */
  calendar(component: string): string {
    return calendarOf({ namespace: this.#settings.namespace, subscription: null }, [component])
  }

  /** Returns a calendar of several events, to subscribe to. */
  subscription(components: readonly string[]): string {
    const { namespace, calendarName } = this.#settings
    return calendarOf({ namespace, subscription: { name: calendarName } }, components)
  }

  /** @param hasPrice whether the mapping reads prices from the CRM */
  jsonLd(event: EventRecord, venue: VenueRecord | null, hasPrice: boolean): string {
    const { basePath, currency, links, isLowestPrice = false } = this.#settings
    return jsonLd(event, venue, {
      basePath: basePath === '/' ? '' : basePath,
      page: this.#pageOf(event),
      currency: currency ?? '',
      hasPrice,
      isLowestPrice,
      zone: this.#settings.zone,
      links: this.#resources.event(event, links.event).links,
      ...this.#meaningsOf(event),
    })
  }

  /** Returns the one address of an event: its page, or if it has none, where to buy tickets. */
  #addressOf(event: EventRecord, { status }: EventMeanings): string | null {
    return this.#pageOf(event) ?? (status === 'cancelled' ? null : this.#ticketsOf(event))
  }

  /**
   * Returns where to buy tickets, for a calendar: it has one URL (RFC 5545 §3.8.4.6), and without a page of the event this
   * is what people look for. A path of this service is no address there.
   */
  #ticketsOf(event: EventRecord): string | null {
    if (event.Links.length === 0 && !this.#sellsTickets) return null
    const href = ticketsHref(this.#resources.event(event, this.#settings.links.event).links)
    return href !== null && isWebAddress(href) ? encodeAddress(trimWhiteSpace(href)) : null
  }

  #pageOf(event: EventRecord): string | null {
    const { page } = this.#settings
    if (page === null) return null
    // Nearly every page is named by the id alone, which needs no encoding.
    const at = page.indexOf('{')
    const isById = at === page.lastIndexOf('{') && page.startsWith('{Id}', at)
    return isById ? page.slice(0, at) + event.Id + page.slice(at + '{Id}'.length) : this.#resources.fillIn(page, event)
  }
}
