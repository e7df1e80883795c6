import { Buffer } from 'node:buffer'
import { type Guid, EMPTY_GUID } from '../domain/guid.ts'
import type { VenueRecord } from '../domain/venue.ts'
import { type Body, etagOf } from '../domain/body.ts'
import type { Formatter } from '../formats/format.ts'
import type { Shape } from '../formats/media-types.ts'
import { type ListIndex, indexOf } from '../order/list-index.ts'
import { countTags, scan } from '../order/list-scan.ts'
import type { RecordList } from '../records/record-list.ts'
import { type ListQuery, writePosition, queryWithAfter, readListQuery, queryOf } from './list-query.ts'
import { type ReadyPage, ReadyPages } from './ready-pages.ts'
import type { EventRecord } from '../domain/event.ts'
import type { ListName } from '../domain/field.ts'
import type { Zone } from '../domain/zone.ts'
import type { ServedLists } from '../sync/served-list.ts'

/** A page ends when its records reach this size, whatever its limit: joining more would delay other requests. */
const LARGEST_PAGE_BYTES = 2 * 1024 * 1024

/**
 * Makes the pages of one list from the bodies of its records (contract §4.2), and of their venues if requested (§4.4).
 */
export class ListPages<Item> {
  readonly list: RecordList<Item>
  /** The venues for `include=venue`; `null` for the list of venues itself. */
  readonly venues: RecordList<VenueRecord> | null
  readonly #formatter: Formatter
  readonly #ready: ReadyPages
  readonly #records: JoinedBodies
  readonly #included: JoinedBodies

  constructor(list: RecordList<Item>, formatter: Formatter, venues: RecordList<VenueRecord> | null = null) {
    this.list = list
    this.venues = venues
    this.#formatter = formatter
    this.#records = new JoinedBodies(formatter)
    this.#included = new JoinedBodies(formatter)
    this.#ready = new ReadyPages(list.ready)
    list.ready.makeRoomForPages()
  }

  /** Returns the page as of `nowMs`, epoch ms; `null` while the index is not complete. */
  page(query: ListQuery, shape: Shape, nowMs: number): ReadyPage | null {
    const changes = this.#changes(query)
    const index = indexOf(this.list)
    if (index === null || !index.isWhole) return null
    const key = `${shape}?${hrefOf('', query.named, query.afterGiven)}`
    const ready = this.#ready.read(key, changes, nowMs)
    if (ready !== null) return ready
    const page = this.#make(index, query, shape, nowMs)
    this.#ready.keep(key, page)
    return page
  }

  /** Returns a number that rises with each change of the page's contents. */
  #changes({ includesVenues }: ListQuery): number {
    return this.list.changes + (includesVenues && this.venues !== null ? this.venues.changes : 0)
  }

  /** Returns the tags of these events as of `nowMs`, epoch ms; `null` while the index is not complete. */
  tags(query: ListQuery, shape: Shape, nowMs: number): ReadyPage | null {
    const { changes } = this.list
    const index = indexOf(this.list)
    if (index === null || !index.isWhole) return null
    const self = hrefOf('~/tags', query.named, null)
    const key = `${shape} ${self}`
    const ready = this.#ready.read(key, changes, nowMs)
    if (ready !== null) return ready
    const { tags, goodUntilMs } = countTags(index, { ...query, from: query.from ?? { ms: nowMs, ticks: 0 } })
    const body = Buffer.from(this.#formatter.tags({ tags, self }, shape))
    const page = { body, etag: etagOf(body), next: null, changes, ...validity(query, nowMs, goodUntilMs) }
    this.#ready.keep(key, page)
    return page
  }

  #make(index: ListIndex, query: ListQuery, shape: Shape, nowMs: number): ReadyPage {
    const { name } = this.list.kind
    const { rows, hasMore, goodUntilMs } = scan(index, { ...query, from: query.from ?? { ms: nowMs, ticks: 0 } })
    const venues = query.includesVenues ? this.venues : null
    this.#join(rows, shape, venues)
    const { count } = this.#records
    const last = rows[count - 1]
    const after =
      last === undefined || (!hasMore && count === rows.length) ? null : writePosition(name, index.positionOf(last))
    const path = `~/${name}`
    const next = after === null ? null : hrefOf(path, query.named, after)
    const self = hrefOf(path, query.named, query.afterGiven)
    const outline = { list: name, self, next, isEmpty: count === 0, venues: venues && this.#included.count }
    const frame = this.#formatter.frame(outline, shape)
    const body = Buffer.concat([
      Buffer.from(frame.before),
      this.#records.bytes,
      Buffer.from(frame.middle),
      this.#included.bytes,
      Buffer.from(frame.after),
    ])
    return {
      body,
      etag: etagOf(body),
      next: next === null ? null : this.#formatter.pathOf(next),
      changes: this.#changes(query),
      ...validity(query, nowMs, goodUntilMs),
    }
  }

  /** Joins the bodies of rows, up to the size limit, and those of their served venues, each once. */
  #join(rows: readonly number[], shape: Shape, venues: RecordList<VenueRecord> | null): void {
    const records = this.#records
    const included = this.#included
    records.start(shape)
    included.start(shape)
    const seen = new Set<Guid>()
    for (const row of rows) {
      if (records.length + included.length > LARGEST_PAGE_BYTES) break
      const body = this.list.bodyAt(row, shape)
      if (body === null) throw new Error('a listed row is not served')
      // Copied at once, because the next body may overwrite it.
      records.add(body)
      if (venues !== null) this.#include(venues, this.list.kind.packed.venueIdOf(this.list.read(row)), seen, shape)
    }
  }

  #include(venues: RecordList<VenueRecord>, id: Guid, seen: Set<Guid>, shape: Shape): void {
    if (id === EMPTY_GUID || seen.has(id)) return
    seen.add(id)
    const row = venues.find(id)
    const body = row === -1 ? null : venues.bodyAt(row, shape, id)
    if (body !== null) this.#included.add(body)
  }
}

/** Without `from`, an answer is as of now. */
function validity(
  { from }: ListQuery,
  nowMs: number,
  goodUntilMs: number,
): Pick<ReadyPage, 'goodFromMs' | 'goodUntilMs'> {
  if (from !== null) return { goodFromMs: -Infinity, goodUntilMs: Infinity }
  return { goodFromMs: nowMs, goodUntilMs }
}

function hrefOf(path: string, named: string, after: string | null): string {
  const query = queryWithAfter(named, after)
  return query === '' ? path : `${path}?${query}`
}

const LEAST_BYTES = 64 * 1024

/** The bodies of a page's records, one after another (contract §4.2). The memory is reused for the next page. */
class JoinedBodies {
  count = 0
  length = 0
  readonly #formatter: Formatter
  #shape: Shape = 'json'
  #buffer: Buffer = Buffer.alloc(0)

  constructor(formatter: Formatter) {
    this.#formatter = formatter
  }

  /** Begins a new page; the bytes of the previous one are no longer valid. */
  start(shape: Shape): void {
    this.#shape = shape
    this.count = 0
    this.length = 0
  }

  add(body: Body): void {
    const { between, skip } = this.#formatter.recordFrame(this.#shape)
    this.#reserve(this.length + between.length + body.length)
    if (this.count > 0) this.length += this.#buffer.write(between, this.length, 'latin1')
    this.length += copyBody(body, skip, this.#buffer, this.length)
    this.count++
  }

  /** Valid until the next `start`. */
  get bytes(): Buffer {
    return this.#buffer.subarray(0, this.length)
  }

  #reserve(bytes: number): void {
    if (bytes <= this.#buffer.length) return
    const larger = Buffer.allocUnsafeSlow(Math.max(LEAST_BYTES, bytes * 2))
    this.#buffer.copy(larger)
    this.#buffer = larger
  }
}

/** Copies a body without its first bytes, and returns the number of bytes copied. */
function copyBody(body: Body, skip: number, into: Buffer, at: number): number {
  if (typeof body === 'string') return into.write(skip === 0 ? body : body.slice(skip), at, 'latin1')
  into.set(skip === 0 ? body : body.subarray(skip), at)
  return body.length - skip
}

/** Serves `/api/events`, `/api/venues` and `/api/tags` if lists are on (contract §4). */
export class Lists {
  #events: ListPages<EventRecord>
  #venues: ListPages<VenueRecord>
  readonly #served: () => ServedLists
  readonly #formatter: Formatter
  readonly #zone: Zone

  constructor(served: () => ServedLists, formatter: Formatter, zone: Zone) {
    const { events, venues } = served()
    this.#events = new ListPages(events.list, formatter, venues.list)
    this.#venues = new ListPages(venues.list, formatter)
    this.#served = served
    this.#formatter = formatter
    this.#zone = zone
  }

  /** Parses the query of a request target. Returns a sentence if it has a problem. */
  read(list: ListName | 'tags', target: string): ListQuery | string {
    return readListQuery(list, queryOf(target), this.#zone)
  }

  /** Returns the page as of `nowMs`, epoch ms; `null` while the list is not ready. */
  page(list: ListName, query: ListQuery, shape: Shape, nowMs: number): ReadyPage | null {
    this.#follow()
    return (list === 'events' ? this.#events : this.#venues).page(query, shape, nowMs)
  }

  /** Returns the tags of what is on as of `nowMs`; `null` while the list is not ready. */
  tags(query: ListQuery, shape: Shape, nowMs: number): ReadyPage | null {
    this.#follow()
    return this.#events.tags(query, shape, nowMs)
  }

  #follow(): void {
    const { events, venues } = this.#served()
    // The lists may have been replaced.
    if (this.#events.list !== events.list || this.#events.venues !== venues.list)
      this.#events = new ListPages(events.list, this.#formatter, venues.list)
    if (this.#venues.list !== venues.list) this.#venues = new ListPages(venues.list, this.#formatter)
  }
}
