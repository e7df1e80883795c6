import { type DateTime, type Instant, parseDateTimeText, writeDateTime } from '../domain/date-time.ts'
import type { EventRecord } from '../domain/event.ts'
import type { VenueRecord } from '../domain/venue.ts'
import type { EventMeanings } from './event-meanings.ts'
import { hasCoordinates, partsOf } from './venue-parts.ts'

const CRLF = '\r\n'
/** The longest content line, in octets without the line break (RFC 5545 §3.1). */
const LINE_OCTETS = 75

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

/** Returns a VCALENDAR with these components, as `text/calendar` (RFC 5545; contract §6). */
export function calendarOf({ namespace, subscription }: CalendarHead, components: readonly string[]): string {
  const name = subscription?.name ? escapeText(subscription.name) : null
  const head = [
    'BEGIN:VCALENDAR',
    'VERSION:2.0',
    `PRODID:-//Marquee//${escapeText(namespace)}//EN`,
    ...(name === null ? [] : [`X-WR-CALNAME:${name}`, `NAME:${name}`]),
    ...(subscription === null ? [] : ['REFRESH-INTERVAL;VALUE=DURATION:PT1H', 'X-PUBLISHED-TTL:PT1H']),
  ]
  return `${head.map(foldLine).join('')}${components.join('')}END:VCALENDAR${CRLF}`
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
  let lines = `BEGIN:VEVENT${CRLF}${foldLine(`UID:${escapeText(`${event.Id}@${namespace.toLowerCase()}`)}`)}`
  lines += `DTSTAMP:${startText}${CRLF}DTSTART:${startText}${CRLF}`
  if (finishText !== startText) lines += `DTEND:${finishText}${CRLF}`
  if (event.Name) lines += foldLine(`SUMMARY:${escapeText(event.Name)}`)
  if (description) lines += foldLine(`DESCRIPTION:${escapeText(description)}`)
  lines += place + categoriesLine(event.Tags)
  const shownStatus = status === null ? undefined : STATUS_WORDS[status]
  if (shownStatus !== undefined) lines += `STATUS:${shownStatus}${CRLF}`
  if (page !== null) lines += foldLine(`URL:${page}`)
  return `${lines}END:VEVENT${CRLF}`
}

/** Returns the lines about a venue within a VEVENT; empty if the venue has neither a name nor a place. */
export function placeLines(venue: VenueRecord): string {
  const location = partsOf(venue).join(', ')
  const lines = location === '' ? '' : foldLine(`LOCATION:${escapeText(location)}`)
  return hasCoordinates(venue) ? lines + foldLine(`GEO:${venue.Latitude};${venue.Longitude}`) : lines
}

function categoriesLine(tags: readonly string[]): string {
  let categories = ''
  for (const tag of tags) if (tag !== '') categories += `${categories === '' ? '' : ','}${escapeText(tag)}`
  return categories === '' ? '' : foldLine(`CATEGORIES:${categories}`)
}

function instantOf(canonical: DateTime): Instant {
  const read = parseDateTimeText(canonical)
  if (read?.kind !== 'instant') throw new Error('a canonical date-time has an offset')
  return read.instant
}

/** Formats an instant as `20360509T183000Z`, without fractions; `null` if the year in UTC is not from 1 to 9999. */
function utcText({ epochSeconds }: Instant): string | null {
  const utc = writeDateTime({ seconds: epochSeconds, ticks: 0 }, 0)
  if (utc === null) return null
  const date = utc.slice(0, 4) + utc.slice(5, 7) + utc.slice(8, 10)
  return `${date}T${utc.slice(11, 13)}${utc.slice(14, 16)}${utc.slice(17, 19)}Z`
}

const TEXT_SPECIAL = /[\\;,\u0000-\u0008\u000a-\u001f\u007f-\u009f\u2028\u2029\ud800-\udfff]/
const LINE_BREAKS = /\r\n|[\r\n\u0085\u2028\u2029]/g
const CONTROLS = /[\u0000-\u0008\u000b\u000c\u000e-\u001f\u007f-\u0084\u0086-\u009f]/g

/** Escapes a text as a TEXT value (RFC 5545 §3.3.11). Control characters, which it cannot contain, become U+FFFD. */
function escapeText(text: string): string {
  if (!TEXT_SPECIAL.test(text)) return text
  return text
    .toWellFormed()
    .replace(/[\\;,]/g, String.raw`\$&`)
    .replace(LINE_BREAKS, String.raw`\n`)
    .replace(CONTROLS, '\ufffd')
}

const NOT_ASCII = /[^\u0000-\u007f]/

function foldAscii(line: string): string {
  if (line.length <= LINE_OCTETS) return line + CRLF
  let folded = line.slice(0, LINE_OCTETS)
  for (let at = LINE_OCTETS; at < line.length; at += LINE_OCTETS - 1)
    folded += `${CRLF} ${line.slice(at, at + LINE_OCTETS - 1)}`
  return folded + CRLF
}

/**
 * Folds a content line into lines of at most 75 octets, without splitting a character, and ends it with a line break.
 */
function foldLine(line: string): string {
  if (!NOT_ASCII.test(line)) return foldAscii(line)
  let folded = ''
  let octets = 0
  let from = 0
  for (let at = 0; at < line.length;) {
    const point = line.codePointAt(at) ?? 0
    const size = point < 0x80 ? 1 : point < 0x800 ? 2 : point < 0x10000 ? 3 : 4
    if (octets + size > LINE_OCTETS) {
      folded += `${line.slice(from, at)}${CRLF} `
      from = at
      // The blank at the start of a continued line counts towards the limit.
      octets = 1
    }
    octets += size
    at += size === 4 ? 2 : 1
  }
  return folded + line.slice(from) + CRLF
}
