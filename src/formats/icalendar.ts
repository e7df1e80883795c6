import { civilFromDays } from '../domain/civil.ts'
import { type DateTime, type Instant, parseDateTimeText } from '../domain/date-time.ts'
import type { EventRecord } from '../domain/event.ts'
import type { VenueRecord } from '../domain/venue.ts'
import { ContentLines } from './content-lines.ts'
import type { EventMeanings } from './event-meanings.ts'
import { hasCoordinates, partsOf } from './venue-parts.ts'

/** The STATUS of RFC 5545 §3.8.1.11, which has no word for the other statuses. */
const STATUS_WORDS: Partial<Record<NonNullable<EventMeanings['status']>, string>> = {
  scheduled: 'CONFIRMED',
  cancelled: 'CANCELLED',
}

/** The properties of a calendar itself. */
export interface CalendarHead {
  /** `representation.namespace`. */
  readonly namespace: string
  /**
   * The name that a calendar program shows. Present only for calendars to subscribe to, which also get a refresh
   * interval.
   */
  readonly subscription: { readonly name: string | null } | null
}

/** Where lines are written. They are taken within the same call, so one is enough. */
const written = new ContentLines()

/** Returns a VCALENDAR with these components, as `text/calendar` (RFC 5545; contract §6). */
export function calendarOf({ namespace, subscription }: CalendarHead, components: readonly string[]): string {
  written.raw('BEGIN:VCALENDAR').end().raw('VERSION:2.0').end()
  written.raw('PRODID:-//Marquee//').text(namespace).raw('//EN').end()
  if (subscription?.name) for (const name of ['X-WR-CALNAME:', 'NAME:']) written.raw(name).text(subscription.name).end()
  if (subscription !== null) written.raw('REFRESH-INTERVAL;VALUE=DURATION:PT1H').end().raw('X-PUBLISHED-TTL:PT1H').end()
  return `${written.take()}${components.join('')}END:VCALENDAR\r\n`
}

/** The settings and texts that the VEVENT of an event needs besides its record. */
interface CalendarEventSettings extends EventMeanings {
  /** `representation.namespace`. */
  readonly namespace: string
  /** The lines of its venue, from `placeLines`; empty if the venue is unknown or not served. */
  readonly place: string
  /** The address of its web page. */
  readonly page: string | null
}

/** Returns the VEVENT of an event; `null` if its year in UTC is not from 1 to 9999, which iCalendar cannot write. */
export function calendarEvent(
  event: EventRecord,
  { namespace, place, page, description, status }: CalendarEventSettings,
): string | null {
  const [start, finish] = [instantOf(event.Start), instantOf(event.Finish)]
  const startText = utcText(start)
  const finishText = finish.epochSeconds > start.epochSeconds ? utcText(finish) : startText
  if (startText === null || finishText === null) return null
  written.raw('BEGIN:VEVENT').end()
  written.raw('UID:').text(event.Id).raw('@').text(namespace.toLowerCase()).end()
  written.raw('DTSTAMP:').raw(startText).end().raw('DTSTART:').raw(startText).end()
  if (finishText !== startText) written.raw('DTEND:').raw(finishText).end()
  if (event.Name) written.raw('SUMMARY:').text(event.Name).end()
  if (description) written.raw('DESCRIPTION:').text(description).end()
  written.lines(place)
  writeCategories(event.Tags)
  const shownStatus = status === null ? undefined : STATUS_WORDS[status]
  if (shownStatus !== undefined) written.raw('STATUS:').raw(shownStatus).end()
  if (page !== null) written.raw('URL:').raw(page).end()
  return written.raw('END:VEVENT').end().take()
}

/** Returns the lines about a venue within a VEVENT; empty if the venue has neither a name nor a place. */
export function placeLines(venue: VenueRecord): string {
  const location = partsOf(venue).join(', ')
  if (location !== '') written.raw('LOCATION:').text(location).end()
  if (hasCoordinates(venue)) written.raw('GEO:').raw(venue.Latitude).raw(';').raw(venue.Longitude).end()
  return written.take()
}

function writeCategories(tags: readonly string[]): void {
  let before = 'CATEGORIES:'
  for (const tag of tags) {
    if (tag === '') continue
    written.raw(before).text(tag)
    before = ','
  }
  if (before === ',') written.end()
}

function instantOf(canonical: DateTime): Instant {
  const read = parseDateTimeText(canonical)
  if (read?.kind !== 'instant') throw new Error('a canonical date-time has an offset')
  return read.instant
}

const SECONDS_PER_DAY = 86_400

/** Formats an instant as `20360509T183000Z`, without fractions; `null` if the year in UTC is not from 1 to 9999. */
function utcText({ epochSeconds }: Instant): string | null {
  const days = Math.floor(epochSeconds / SECONDS_PER_DAY)
  const { year, month, day } = civilFromDays(days)
  if (year < 1 || year > 9999) return null
  const second = epochSeconds - days * SECONDS_PER_DAY
  const minute = Math.floor(second / 60)
  const time = Math.floor(minute / 60) * 10_000 + (minute % 60) * 100 + (second % 60)
  return `${digits(year * 10_000 + month * 100 + day, 8)}T${digits(time, 6)}Z`
}

function digits(number: number, count: number): string {
  return String(number).padStart(count, '0')
}
