import type { Zone } from '../domain/zone.ts'
import type { EventRecord } from '../domain/event.ts'
import type { Link } from '../domain/field.ts'
import { isBefore, tickOfDateTime } from '../domain/date-time.ts'
import type { VenueRecord } from '../domain/venue.ts'
import { jsonString } from '../domain/escape.ts'
import {
  type EventMeanings,
  hasCoordinates,
  isZero,
  saysSomething,
  streetOf,
  ticketsHref,
  wholeDaysOf,
} from './event-meanings.ts'
import { resolveHref } from './hal-json.ts'
import { jsonDecimal } from './plain-json.ts'

const SCHEMA = 'https://schema.org'

const STATUS_NAMES: Readonly<Record<NonNullable<EventMeanings['status']>, string>> = {
  scheduled: 'EventScheduled',
  cancelled: 'EventCancelled',
  postponed: 'EventPostponed',
  rescheduled: 'EventRescheduled',
}

/** The settings and links that the JSON-LD of an event needs besides its record. */
export interface JsonLdSettings extends EventMeanings {
  readonly zone: Zone | undefined
  /** The path in front of `/api`; empty for the root. */
  readonly basePath: string
  /** The event's own web page. */
  readonly page: string | null
  /** The currency code (ISO 4217). */
  readonly currency: string
  /** Whether Price is read from a column. If it is not, the price is 0, but the event must not be called free. */
  readonly hasPrice: boolean
  /** Whether Price is the lowest of prices whose highest is not known. */
  readonly isLowestPrice: boolean
  /** All links of the event, its own first. */
  readonly links: readonly Link[]
}

/**
 * Returns an event as `application/ld+json`: schema.org's Event, with the properties that search engines read (contract
 * §6). `<`, `>` and `&` are escaped, so the text is safe inside a `script` element.
 */
export function jsonLd(event: EventRecord, venue: VenueRecord | null, settings: JsonLdSettings): string {
  const { page, description, image, status, organizer, performers, basePath } = settings
  const tags = event.Tags.filter(saysSomething)
  const [startDate, endDate] = wholeDaysOf(event, settings.zone) ?? timesOf(event)
  return members([
    ['@context', text(SCHEMA)],
    ['@type', text('Event')],
    ['@id', text(page)],
    ['url', text(page)],
    ['name', text(event.Name)],
    ['startDate', text(startDate)],
    ['endDate', text(endDate)],
    ['description', text(description)],
    ['image', url(image, basePath)],
    ['eventStatus', text(`${SCHEMA}/${STATUS_NAMES[status ?? 'scheduled']}`)],
    ['eventAttendanceMode', venue === null ? null : text(`${SCHEMA}/OfflineEventAttendanceMode`)],
    ['location', venue === null ? null : placeOf(venue, basePath)],
    ['organizer', namedAs('Organization', organizer)],
    ['performer', listOf(performers.map((name) => namedAs('PerformingGroup', name)))],
    // A cancelled event has no tickets to sell.
    ...(status === 'cancelled' ? [] : offerMembers(event, settings)),
    ['keywords', listOf(tags.map(text))],
  ])
}

function listOf(items: readonly (string | null)[]): string | null {
  return items.length === 0 ? null : `[${items.join(',')}]`
}

function namedAs(type: string, name: string | null): string | null {
  return typed(type, [['name', text(name)]])
}

function timesOf({ Start, Finish }: EventRecord): readonly [string, string | null] {
  return [Start, isBefore(tickOfDateTime(Start), tickOfDateTime(Finish)) ? Finish : null]
}

type Member = readonly [name: string, value: string | null]

/** Returns a JSON object as text, without the members that are `null`. */
function members(all: readonly Member[]): string {
  let written = ''
  for (const [name, value] of all) if (value !== null) written += `${written === '' ? '' : ','}"${name}":${value}`
  return `{${written}}`
}

/** Like `members`, with `@type` first; `null` if all other members are `null`. */
function typed(type: string, all: readonly Member[]): string | null {
  return all.every(([, value]) => value === null) ? null : members([['@type', text(type)], ...all])
}

const MARKUP: Readonly<Record<string, string>> = { '<': '\\u003c', '>': '\\u003e', '&': '\\u0026' }

/** Returns a text as a JSON string; `null` for a blank text. */
function text(given: string | null): string | null {
  return saysSomething(given) ? jsonString(given).replace(/[<>&]/g, (mark) => MARKUP[mark] ?? mark) : null
}

/** Returns a URL that is valid on other sites: http, https, or a path of this service; `null` for any other text. */
function url(given: string | null, basePath: string): string | null {
  if (given === null) return null
  if (given.startsWith('~/')) return text(resolveHref(given, basePath))
  return /^https?:\/\//i.test(given) && URL.canParse(given) ? text(given) : null
}

function placeOf(venue: VenueRecord, basePath: string): string | null {
  return typed('Place', [
    ['name', text(venue.Name)],
    [
      'address',
      typed('PostalAddress', [
        ['streetAddress', text(streetOf(venue).join(', '))],
        ['addressLocality', text(venue.AddressCity)],
        ['postalCode', text(venue.AddressPostalCode)],
        ['addressRegion', text(venue.AddressState)],
        ['addressCountry', text(venue.AddressCountry)],
      ]),
    ],
    [
      'geo',
      hasCoordinates(venue)
        ? typed('GeoCoordinates', [
            ['latitude', jsonDecimal(venue.Latitude)],
            ['longitude', jsonDecimal(venue.Longitude)],
          ])
        : null,
    ],
    ['telephone', text(venue.Telephone)],
    ['url', url(venue.Website, basePath)],
  ])
}

function offerMembers(
  { Price, TicketCapacity, TicketsAvailable }: EventRecord,
  { hasPrice, isLowestPrice, highestPrice, onSaleFrom, currency, links, basePath }: JsonLdSettings,
): readonly Member[] {
  const isBelow = Number(Price) < Number(highestPrice ?? Number.NaN)
  const isLowest = highestPrice === undefined ? isLowestPrice : isBelow
  const availability = TicketsAvailable > 0 ? 'InStock' : 'SoldOut'
  // A CRM without prices may count no capacities either.
  const isCounted = TicketCapacity > 0 || (!hasPrice && TicketsAvailable > 0)
  const offer = typed(isLowest ? 'AggregateOffer' : 'Offer', [
    [isLowest ? 'lowPrice' : 'price', hasPrice ? text(Price) : null],
    ['highPrice', hasPrice && isBelow ? text(highestPrice ?? null) : null],
    ['priceCurrency', hasPrice ? text(currency) : null],
    ['availability', isCounted ? text(`${SCHEMA}/${availability}`) : null],
    ['validFrom', text(onSaleFrom)],
    ['url', url(ticketsHref(links), basePath)],
  ])
  return [
    ['offers', offer],
    // If the lowest price is 0, others may pay.
    ['isAccessibleForFree', hasPrice && !isLowest && isZero(Price) ? 'true' : null],
  ]
}
