import { xmlAttribute, xmlText } from '../domain/escape.ts'
import type { EventRecord } from '../domain/event.ts'
import { type Guid, parseGuid } from '../domain/guid.ts'
import { namedIds } from '../domain/named-ids.ts'
import type { VenueRecord } from '../domain/venue.ts'
import { trimWhiteSpace } from '../domain/white-space.ts'
import type { Zone } from '../domain/zone.ts'
import { type EventMeanings, partsOf, saysSomething, wholeDaysOf } from './event-meanings.ts'
import { XML_DECLARATION } from './hal-xml.ts'

/** Writes the dates of events in the words of a language. */
export class DatesInWords {
  readonly #days: Intl.DateTimeFormat
  readonly #times: Intl.DateTimeFormat

  /** @param language a language tag (BCP 47) */
  constructor(language: string) {
    // Events have the time of their place, so the words are of that time, whatever its zone.
    const format = { timeZone: 'UTC', calendar: 'gregory', dateStyle: 'full' } as const
    this.#days = new Intl.DateTimeFormat(language, format)
    this.#times = new Intl.DateTimeFormat(language, { ...format, timeStyle: 'short' })
  }

  of(event: EventRecord, zone: Zone | undefined): string {
    const days = wholeDaysOf(event, zone)
    const [format, start, finish] =
      days === null
        ? ([this.#times, wallOf(event.Start), wallOf(event.Finish)] as const)
        : ([this.#days, Date.parse(days[0]), Date.parse(days[1])] as const)
    const words = start < finish ? format.formatRange(start, finish) : format.format(start)
    // The runtimes differ in their blanks.
    return words.replaceAll(/\s/g, ' ')
  }
}

/** Returns the wall time of a canonical date-time as if it were UTC, epoch ms. */
function wallOf(canonical: string): number {
  return Date.parse(`${canonical.slice(0, 'YYYY-MM-DDThh:mm'.length)}Z`)
}

/** The texts that the entry of an event needs besides its record. */
interface AtomEntrySettings extends EventMeanings {
  readonly when: string
  readonly venue: VenueRecord | null
  /** The address of its web page. */
  readonly page: string | null
  /** Since when this text has been served, whole seconds since 1970. */
  readonly sinceS: number
}

/** Returns the entry of an event (RFC 4287 §4.1.2; contract §6). */
export function atomEntry({ Id, Name, Tags }: EventRecord, settings: AtomEntrySettings): string {
  const { when, venue, page, sinceS, status, statusText, description, image } = settings
  const place = venue === null ? '' : partsOf(venue).join(', ')
  const name = saysSomething(Name) ? Name : when
  // Few readers show more than the title.
  const isOff = status !== null && status !== 'scheduled' && statusText !== null
  const title = isOff ? `${name} (${trimWhiteSpace(statusText)})` : name
  const shown = image !== null && /^https?:\/\//i.test(image) && URL.canParse(image) ? image : null
  const content = [
    ...(shown === null ? [] : [`<p><img src="${xmlAttribute(shown)}" alt=""></p>`]),
    ...[when, place].filter(saysSomething).map((line) => `<p>${xmlText(line)}</p>`),
    ...paragraphsOf(description ?? '').map((text) => `<p>${xmlText(text).replaceAll('\n', '<br>')}</p>`),
  ].join('')
  return [
    `<entry><id>urn:uuid:${Id}</id>`,
    `<title>${xmlText(title)}</title>`,
    `<updated>${momentOf(sinceS)}</updated>`,
    page === null ? '' : `<link rel="alternate" type="text/html" href="${xmlAttribute(page)}"/>`,
    ...Tags.filter(saysSomething).map((tag) => `<category term="${xmlAttribute(tag)}"/>`),
    `<summary>${xmlText([when, place].filter(saysSomething).join(', '))}</summary>`,
    `<content type="html">${xmlText(content)}</content></entry>\n`,
  ].join('')
}

/** The properties of a feed itself. */
export interface AtomHead {
  /** Names the feed: it stays the same on all its pages, and as long as the settings do. */
  readonly name: string
  readonly title: string
  readonly language: string
  /** The paths of this page and of the next. */
  readonly self: string
  readonly next: string | null
  /** Since when the newest text of its entries has been served, whole seconds since 1970. */
  readonly sinceS: number
}

/** Returns a feed with these entries, as `application/atom+xml` (RFC 4287; contract §6). */
export function atomFeed({ name, title, language, self, next, sinceS }: AtomHead, entries: readonly string[]): string {
  return [
    `${XML_DECLARATION}<feed xmlns="http://www.w3.org/2005/Atom" xml:lang="${xmlAttribute(language)}">\n`,
    `<id>urn:uuid:${idOf(name)}</id><title>${xmlText(title)}</title><author><name>${xmlText(title)}</name></author>`,
    `<updated>${momentOf(sinceS)}</updated>${linkTo('self', self)}${next === null ? '' : linkTo('next', next)}\n`,
    ...entries,
    '</feed>\n',
  ].join('')
}

function linkTo(rel: string, path: string): string {
  return `<link rel="${rel}" type="application/atom+xml" href="${xmlAttribute(path)}"/>`
}

/** The namespace of ids that are made of URLs (RFC 9562 §6.6). */
const URLS = parseGuid('6ba7b811-9dad-11d1-80b4-00c04fd430c8')

function idOf(name: string): Guid {
  if (URLS === null) throw new Error('the namespace of URLs is a UUID')
  return namedIds(URLS, '')(name)
}

function momentOf(sinceS: number): string {
  return new Date(sinceS * 1000).toISOString().replace('.000', '')
}

/** Returns the parts of a text between blank lines, with `\n` as the only line break. */
function paragraphsOf(text: string): readonly string[] {
  return text
    .replaceAll(/\r\n?|[\u0085\u2028\u2029]/g, '\n')
    .split(/\n[^\S\n]*\n/)
    .map(trimWhiteSpace)
    .filter((part) => part !== '')
}
