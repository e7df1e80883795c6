import { type Tick, parseDateTimeText, isBefore, tickOf, TICKS_PER_MS } from '../domain/date-time.ts'
import { type ListParameter, type Listing, LIMITS, LIST_PARAMETERS, takenBy } from '../contract/endpoints.ts'
import { type Guid, parseGuid } from '../domain/guid.ts'
import { type Zone, instantOfWall } from '../domain/zone.ts'
import { type ListName, percentEncode } from '../domain/field.ts'
import type { Wanted } from '../order/list-scan.ts'
import { Buffer } from 'node:buffer'
import { sha1 } from '../domain/sha1.ts'
import type { ListPosition } from '../order/list-index.ts'

/** A caller's query of a list (contract §4.1). */
export interface ListQuery extends Omit<Wanted, 'from'> {
  /** The earliest event; `null` for the present moment. */
  readonly from: Tick | null
  /** The page also contains the venues of its events (contract §4.4). */
  readonly includesVenues: boolean
  /** The parameters except `after`, as written in links; empty if there are none. */
  readonly named: string
  /** `after` as the caller sent it; `null` if absent. */
  readonly afterGiven: string | null
}

/** The longest query, and the longest of its `next` link, that proxies accept in a `Link` header (contract §4.1). */
const LONGEST_QUERY = 4000

/** Parses a query in linear time. Returns the first problem as a sentence if there is one. */
export function readListQuery(list: Listing, query: string, zone: Zone): ListQuery | string {
  if (query.length > LONGEST_QUERY) return TOO_LONG
  const given = new Map<ListParameter, string[]>()
  for (const [name, value] of pairsOf(query)) {
    const known = LIST_PARAMETERS[list].find((each) => each === name)
    if (known === undefined)
      return `${shownValue(name)} is not a parameter of this list. Its parameters are ${inWords(LIST_PARAMETERS[list])}.`
    const values = given.get(known)
    if (values === undefined) given.set(known, [value])
    else if (known === 'venue' || known === 'tag') values.push(value)
    else return `${known} is given more than once. It takes ${takenBy(known, list)}, once.`
  }
  const read = new QueryReader(list, given, zone).read()
  if (typeof read === 'string' || list === 'tags') return read
  // Checked even without a next page: the same query must not be refused on one day and answered on another.
  const nextLength = queryWithAfter(read.named, 'x'.repeat(positionLength(pagedBy(list)))).length
  return nextLength > LONGEST_QUERY ? TOO_LONG : read
}

/** Returns a query as written in links: the parameters, and `after` if there is one. */
export function queryWithAfter(named: string, after: string | null): string {
  if (after === null) return named
  return `${named}${named === '' ? '' : '&'}after=${after}`
}

const TOO_LONG =
  'A query may have at most 4,000 characters, and so may the query of its next link, which adds after and percent-encodes every value. Use fewer venue and tag parameters.'

/** Returns the list by whose positions a listing is paged. */
function pagedBy(listing: Exclude<Listing, 'tags'>): ListName {
  return listing === 'venues' ? 'venues' : 'events'
}

class QueryReader {
  readonly #list: Listing
  readonly #given: ReadonlyMap<ListParameter, readonly string[]>
  readonly #zone: Zone
  #named = ''
  #problem: string | null = null

  constructor(list: Listing, given: ReadonlyMap<ListParameter, readonly string[]>, zone: Zone) {
    this.#list = list
    this.#given = given
    this.#zone = zone
  }

  read(): ListQuery | string {
    const list = this.#list
    const from = this.#queryTime('from')
    const to = this.#queryTime('to')
    // The end of a day is already the next day's beginning, so `from` must be before it. A moment may equal `from`.
    if (from !== null && to !== null && (to.day ? !isBefore(from.start, to.end) : isBefore(to.end, from.start))) {
      this.#refuse('to')
    }
    const venues = this.#all('venue', parseGuid)
    const tags = this.#all('tag', (text) => (text === '' ? null : text))
    const available = this.#all('available', (text) => (text === 'true' ? text : null))
    const [limit = LIMITS[list].usual] = this.#all('limit', (text) => readLimit(text, LIMITS[list].most))
    const include = this.#all('include', (text) => (text === 'venue' ? text : null))
    const named = this.#named
    const [afterGiven = null] = this.#given.get('after') ?? []
    const after = afterGiven === null || list === 'tags' ? null : readPosition(pagedBy(list), afterGiven)
    if (after === null && afterGiven !== null) this.#refuse('after')
    return (
      this.#problem ?? {
        from: from?.start ?? null,
        to: to?.end ?? null,
        venues,
        tags,
        available: available.length > 0,
        limit,
        includesVenues: include.length > 0,
        after,
        named,
        afterGiven,
      }
    )
  }

  /** Records the first problem. */
  #refuse(name: ListParameter): void {
    const value = (this.#given.get(name) ?? []).at(0) ?? ''
    this.#problem ??= `${name} takes ${takenBy(name, this.#list)}.${value === '' || name === 'venue' || name === 'tag' ? '' : ` ${shownValue(value)} is not valid.`}`
  }

  #queryTime(name: 'from' | 'to'): QueryTime | null {
    const [text] = this.#given.get(name) ?? []
    if (text === undefined) return null
    // Form decoding turns an unescaped `+` into a space.
    const written = text.replace(BLANK_BEFORE_OFFSET, '+$1')
    this.#name(name, written)
    const read = readQueryTime(written, this.#zone)
    if (read === null) this.#refuse(name)
    return read
  }

  /** Returns the values of a parameter without duplicates. */
  #all<Value extends string | number>(name: ListParameter, read: (text: string) => Value | null): readonly Value[] {
    const values = new Set<Value>()
    for (const text of this.#given.get(name) ?? []) {
      const value = read(text)
      if (value === null) this.#refuse(name)
      else values.add(value)
    }
    for (const value of values) this.#name(name, String(value))
    return [...values]
  }

  #name(name: ListParameter, value: string): void {
    this.#named += `${this.#named === '' ? '' : '&'}${name}=${percentEncode(value)}`
  }
}

/** A day, or a moment with equal `start` and `end`. */
interface QueryTime {
  readonly start: Tick
  readonly end: Tick
  readonly day: boolean
}

const BLANK_BEFORE_OFFSET = / (\d\d(?::\d\d)?)$/
const DATE = /^\d{4}-\d{2}-\d{2}$/
const DATE_TIME = /^\d{4}-\d{2}-\d{2}T\d{2}:\d{2}(?::\d{2}(?:[.,]\d{1,7})?)?(?:Z|[+-]\d{2}(?::\d{2})?)$/

/** Parses a `from` or `to` (contract §4.1). A day is one of the configured zone. */
function readQueryTime(text: string, zone: Zone): QueryTime | null {
  if (DATE.test(text)) {
    const read = parseDateTimeText(`${text}T00:00`)
    if (read?.kind !== 'wall') return null
    const nextDay = { seconds: read.wall.seconds + SECONDS_PER_DAY, ticks: 0 }
    return { start: tickOf(instantOfWall(read.wall, zone)), end: tickOf(instantOfWall(nextDay, zone)), day: true }
  }
  const read = DATE_TIME.test(text) ? parseDateTimeText(text) : null
  if (read?.kind !== 'instant') return null
  const tick = tickOf(read.instant)
  return { start: tick, end: tick, day: false }
}

const SECONDS_PER_DAY = 86_400

function readLimit(text: string, most: number): number | null {
  return /^[1-9]\d{0,3}$/.test(text) && Number(text) <= most ? Number(text) : null
}

const LONGEST_QUOTED = 40

/** Quotes a caller's text in an answer to the same caller, cut short. */
export function shownValue(text: string): string {
  if (text.length <= LONGEST_QUOTED) return `"${text}"`
  // Half a surrogate pair would be shown as a character that the caller never sent.
  return `"${text.slice(0, LONGEST_QUOTED).replace(/[\ud800-\udbff]$/, '')}…"`
}

function inWords(names: readonly string[]): string {
  return `${names.slice(0, -1).join(', ')} and ${names.at(-1)}`
}

// The layout of `after`, which never changes (contract §4.1): a byte for the version and the list, the Start of an
// event in units of 100 ns since 1970, the id, and a check sum.
const VERSION = 1
const LISTS = { events: 0, venues: 1 } as const
const START_BYTES = { events: 8, venues: 0 } as const
const ID_BYTES = 16
const CHECK_BYTES = 4

/** Returns the text for a position in links. It is valid on any instance and in any release. */
export function writePosition(list: ListName, { start, id }: ListPosition): string {
  const bytes = Buffer.alloc(1 + START_BYTES[list] + ID_BYTES + CHECK_BYTES)
  bytes[0] = (VERSION << 4) | LISTS[list]
  if (START_BYTES[list] > 0) bytes.writeBigInt64BE(BigInt(start.ms) * BigInt(TICKS_PER_MS) + BigInt(start.ticks), 1)
  bytes.write(id.replaceAll('-', ''), 1 + START_BYTES[list], 'hex')
  bytes.write(checkOf(bytes.subarray(0, -CHECK_BYTES)), bytes.length - CHECK_BYTES, 'hex')
  return bytes.toString('base64url')
}

/** Returns the length of the texts of `writePosition` for this list. */
function positionLength(list: ListName): number {
  return Math.ceil(((1 + START_BYTES[list] + ID_BYTES + CHECK_BYTES) * 4) / 3)
}

/** Parses a text of `writePosition` for this list; `null` for any other text (contract §4.3). */
export function readPosition(list: ListName, text: string): ListPosition | null {
  const length = 1 + START_BYTES[list] + ID_BYTES + CHECK_BYTES
  if (text.length !== positionLength(list)) return null
  const bytes = Buffer.from(text, 'base64url')
  // The decoder is lenient, so only the exact spelling of `writePosition` is accepted.
  if (bytes.length !== length || bytes.toString('base64url') !== text) return null
  if (bytes[0] !== ((VERSION << 4) | LISTS[list])) return null
  if (bytes.toString('hex', length - CHECK_BYTES) !== checkOf(bytes.subarray(0, -CHECK_BYTES))) return null
  const id: Guid | null = parseGuid(bytes.toString('hex', 1 + START_BYTES[list], length - CHECK_BYTES))
  if (id === null) return null
  if (START_BYTES[list] === 0) return { start: { ms: 0, ticks: 0 }, id }
  const ticks = bytes.readBigInt64BE(1)
  const ms = ticks / BigInt(TICKS_PER_MS) - (ticks % BigInt(TICKS_PER_MS) < 0n ? 1n : 0n)
  return { start: { ms: Number(ms), ticks: Number(ticks - ms * BigInt(TICKS_PER_MS)) }, id }
}

/** Protects against typing errors, not forgery: a forged position does no harm. */
function checkOf(bytes: Uint8Array): string {
  return sha1(bytes).slice(0, CHECK_BYTES * 2)
}

/** Returns the query of a request target or URL without its `?`; empty if there is none. */
export function queryOf(target: string): string {
  const hash = target.indexOf('#')
  const end = hash === -1 ? target.length : hash
  const mark = target.indexOf('?')
  return mark === -1 || mark > end ? '' : target.slice(mark + 1, end)
}

/**
 * Parses a query by WHATWG's application/x-www-form-urlencoded rules (contract §4.1).
 *
 * @example pairsOf('tag=a+b&&tag=%c3%a9') // [['tag', 'a b'], ['tag', 'é']]
 */
export function pairsOf(query: string): readonly (readonly [name: string, value: string])[] {
  // Node passes non-ASCII bytes on as one character each, Bun as percent-encoded.
  const encoded = BEYOND_BYTES.test(query) ? query : query.replaceAll(/[\u0080-\u00ff]/g, percentEncodedByte)
  // URLSearchParams would drop a leading `?`.
  return [...new URLSearchParams(`&${encoded}`)]
}

const BEYOND_BYTES = /[\u0100-\uffff]/

function percentEncodedByte(byte: string): string {
  return `%${byte.charCodeAt(0).toString(16)}`
}
