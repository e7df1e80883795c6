import type { Zone } from '../domain/zone.ts'
import { civilFromDays, daysFromCivil } from '../domain/civil.ts'
import { type DateTime, type Instant, parseDateTimeText } from '../domain/date-time.ts'
import type { EventRecord } from '../domain/event.ts'
import type { Revision } from '../domain/revision.ts'
import type { VenueRecord } from '../domain/venue.ts'
import { trimWhiteSpace } from '../domain/white-space.ts'
import { type EventMeanings, hasCoordinates, partsOf, wholeDaysOf } from './event-meanings.ts'
import { Buffer } from 'node:buffer'

/** The longest content line, in octets without the line break (RFC 5545 §3.1). */
const LINE_OCTETS = 75
/** The most memory that is kept from one text to the next. */
const KEPT_BYTES = 256 * 1024
/** The most octets that a UTF-16 code unit becomes: three, and its share of the line breaks of folding. */
const MOST_OCTETS = 4

const TAB = 0x09
const LF = 0x0a
const CR = 0x0d
const BLANK = 0x20
const COMMA = 0x2c
const SEMICOLON = 0x3b
const BACKSLASH = 0x5c
const LETTER_N = 0x6e
const DELETE = 0x7f
const NEXT_LINE = 0x85
const LINE_SEPARATOR = 0x2028
const PARAGRAPH_SEPARATOR = 0x2029
const UNKNOWN = 0xfffd

/**
 * Writes content lines (RFC 5545 §3.1): escapes, encodes and folds them in one pass, because a calendar of 1,000 events
 * has 10,000 of them.
 */
class ContentLines {
  #bytes: Buffer = Buffer.alloc(0)
  #length = 0
  /** The octets of the line being written. */
  #octets = 0
  #isAscii = true

  /** Writes a part of a line as it is. */
  raw(part: string): this {
    this.#reserve(part)
    for (let at = 0; at < part.length; at++) {
      const code = part.charCodeAt(at)
      if (code < DELETE) this.#octet(code)
      else if (this.#character(part.codePointAt(at) ?? UNKNOWN)) at++
    }
    return this
  }

  /** Writes a TEXT value (RFC 5545 §3.3.11). Control characters, which it cannot contain, become U+FFFD. */
  text(value: string): this {
    this.#reserve(value)
    for (let at = 0; at < value.length; at++) {
      const code = value.charCodeAt(at)
      if (code === COMMA || code === SEMICOLON || code === BACKSLASH) {
        this.#octet(BACKSLASH)
        this.#octet(code)
      } else if (code >= BLANK && code < DELETE) this.#octet(code)
      else if (isLineBreak(code)) {
        if (code === CR && value.charCodeAt(at + 1) === LF) at++
        this.#octet(BACKSLASH)
        this.#octet(LETTER_N)
      } else if (code === TAB) this.#octet(TAB)
      else if (code < 0xa0) this.#character(UNKNOWN)
      else if (this.#character(value.codePointAt(at) ?? UNKNOWN)) at++
    }
    return this
  }

  /** Ends the line. */
  end(): this {
    this.#reserve('')
    this.#break()
    this.#octets = 0
    return this
  }

  /** Adds finished lines. */
  lines(finished: string): this {
    this.#reserve(finished)
    const written = this.#bytes.write(finished, this.#length)
    this.#isAscii &&= written === finished.length
    this.#length += written
    return this
  }

  /** Returns the lines that were written, and begins again. */
  take(): string {
    const text = this.#bytes.toString(this.#isAscii ? 'latin1' : 'utf8', 0, this.#length)
    if (this.#bytes.length > KEPT_BYTES) this.#bytes = Buffer.alloc(0)
    this.#length = 0
    this.#isAscii = true
    return text
  }

  /** Makes room for a text and a line break. */
  #reserve({ length }: string): void {
    const needed = this.#length + (length + 1) * MOST_OCTETS
    if (needed <= this.#bytes.length) return
    const larger = Buffer.allocUnsafeSlow(Math.max(needed * 2, 4096))
    this.#bytes.copy(larger, 0, 0, this.#length)
    this.#bytes = larger
  }

  #octet(octet: number): void {
    if (this.#octets === LINE_OCTETS) this.#fold()
    this.#bytes[this.#length++] = octet
    this.#octets++
  }

  /** Writes a character as UTF-8, all of it on one line. Returns whether it takes two UTF-16 code units. */
  #character(point: number): boolean {
    const isLone = point >= 0xd800 && point <= 0xdfff
    const character = String.fromCodePoint(isLone ? UNKNOWN : point)
    const size = point < 0x800 ? (point < 0x80 ? 1 : 2) : point < 0x10000 ? 3 : 4
    if (this.#octets + size > LINE_OCTETS) this.#fold()
    this.#length += this.#bytes.write(character, this.#length)
    this.#octets += size
    this.#isAscii &&= size === 1
    return size === 4
  }

  #fold(): void {
    this.#break()
    this.#bytes[this.#length++] = BLANK
    // The blank counts towards the limit.
    this.#octets = 1
  }

  #break(): void {
    this.#bytes[this.#length++] = CR
    this.#bytes[this.#length++] = LF
  }
}

function isLineBreak(code: number): boolean {
  return code === LF || code === CR || code === NEXT_LINE || code === LINE_SEPARATOR || code === PARAGRAPH_SEPARATOR
}

/** The STATUS of RFC 5545 §3.8.1.11. The date of a postponed event is no longer certain. */
const STATUS_WORDS: Readonly<Record<NonNullable<EventMeanings['status']>, string>> = {
  scheduled: 'CONFIRMED',
  cancelled: 'CANCELLED',
  postponed: 'TENTATIVE',
  rescheduled: 'CONFIRMED',
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
  readonly zone: Zone | undefined
  /** `representation.namespace`. */
  readonly namespace: string
  /** The lines of its venue, from `placeLines`; empty if the venue is unknown or not served. */
  readonly place: string
  /** The address of its web page. */
  readonly page: string | null
  readonly revision: Revision
}

/** The earliest start and the latest end, epoch ms, that iCalendar can write: the years 1 to 9999 in UTC. */
export const WRITABLE_MS: readonly [startMs: number, endMs: number] = [
  Date.parse('0001-01-01T00:00:00Z'),
  Date.parse('9999-12-31T23:59:59.999Z'),
]

/** Returns the VEVENT of an event; `null` if its year in UTC is not from 1 to 9999, which iCalendar cannot write. */
export function calendarEvent(
  event: EventRecord,
  { namespace, place, page, revision, description, zone, ...meanings }: CalendarEventSettings,
): string | null {
  const [start, finish] = [instantOf(event.Start), instantOf(event.Finish)]
  const startText = utcText(start)
  const finishText = finish.epochSeconds > start.epochSeconds ? utcText(finish) : startText
  if (startText === null || finishText === null) return null
  written.raw('BEGIN:VEVENT').end()
  written.raw('UID:').text(event.Id).raw('@').text(namespace.toLowerCase()).end()
  const since = utcText({ epochSeconds: revision.sinceS }) ?? startText
  written.raw('DTSTAMP:').raw(since).end().raw('LAST-MODIFIED:').raw(since).end()
  written.raw('SEQUENCE:').raw(String(revision.sequence)).end()
  const days = wholeDaysOf(event, zone)
  const after = days === null ? null : dayAfter(days[1])
  if (days !== null && after !== null) {
    written.raw('DTSTART;VALUE=DATE:').raw(days[0].replaceAll('-', '')).end()
    written.raw('DTEND;VALUE=DATE:').raw(after).end()
  } else {
    written.raw('DTSTART:').raw(startText).end()
    if (finishText !== startText) written.raw('DTEND:').raw(finishText).end()
  }
  const summary = summaryOf(event, meanings)
  if (summary !== '') written.raw('SUMMARY:').text(summary).end()
  if (description) written.raw('DESCRIPTION:').text(description).end()
  written.lines(place)
  writeCategories(event.Tags)
  if (meanings.status !== null) written.raw('STATUS:').raw(STATUS_WORDS[meanings.status]).end()
  if (page !== null) written.raw('URL:').raw(page).end()
  return written.raw('END:VEVENT').end().take()
}

/** Returns the name of an event. If its date changed, the words for that follow, since few programs show STATUS. */
function summaryOf(
  { Name }: EventRecord,
  { status, statusText }: Pick<EventMeanings, 'status' | 'statusText'>,
): string {
  const hasMoved = status === 'postponed' || status === 'rescheduled'
  return hasMoved && statusText !== null ? `${Name ?? ''} (${trimWhiteSpace(statusText)})`.trimStart() : (Name ?? '')
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
function utcText({ epochSeconds }: Pick<Instant, 'epochSeconds'>): string | null {
  const days = Math.floor(epochSeconds / SECONDS_PER_DAY)
  const { year, month, day } = civilFromDays(days)
  if (year < 1 || year > 9999) return null
  const second = epochSeconds - days * SECONDS_PER_DAY
  const minute = Math.floor(second / 60)
  const time = Math.floor(minute / 60) * 10_000 + (minute % 60) * 100 + (second % 60)
  return `${digits(year * 10_000 + month * 100 + day, 8)}T${digits(time, 6)}Z`
}

/** Formats the day after a day as `20360510`, which ends it (RFC 5545 section 3.6.1); `null` after the year 9999. */
function dayAfter(day: string): string | null {
  const days = daysFromCivil(Number(day.slice(0, 4)), Number(day.slice(5, 7)), Number(day.slice(8))) + 1
  const { year, month, day: next } = civilFromDays(days)
  return year > 9999 ? null : digits(year * 10_000 + month * 100 + next, 8)
}

function digits(number: number, count: number): string {
  return String(number).padStart(count, '0')
}
