import { Buffer } from 'node:buffer'
import { type Guid, EMPTY_GUID } from '../domain/guid.ts'
import type { VenueRecord } from '../domain/venue.ts'
import { type Body, etagOf } from '../domain/body.ts'
import type { Formatter } from '../formats/format.ts'
import type { Shape } from '../formats/media-types.ts'
import { type ListIndex, orderIndexOf } from '../order/list-index.ts'
import { countTags, scan } from '../order/list-scan.ts'
import type { RecordList } from '../records/record-list.ts'
import type { HeldRow } from '../records/held-row.ts'
import { type ListQuery, writePosition, queryWithAfter, readListQuery, queryOf } from './list-query.ts'
import { type ReadyPage, ReadyPages } from './ready-pages.ts'
import type { EventRecord } from '../domain/event.ts'
import type { ListName } from '../domain/field.ts'
import type { Zone } from '../domain/zone.ts'
import type { ServedLists } from '../sync/served-list.ts'

/** A page ends when its records reach this size, whatever its limit: joining more would delay other requests. */
export const LARGEST_PAGE_BYTES = 2 * 1024 * 1024

/**
 * Makes the pages of one list from the bodies of its records (contract §4.2), and of their venues if requested (§4.4).
 */
export class ListPages<Item> {
  readonly list: RecordList<Item>
  /** The venues for `include=venue`; `null` for the list of venues itself. */
  readonly venues: RecordList<VenueRecord> | null
  readonly #formatter: Formatter
  readonly #ready: ReadyPages

  constructor(list: RecordList<Item>, formatter: Formatter, venues: RecordList<VenueRecord> | null = null) {
    this.list = list
    this.venues = venues
    this.#formatter = formatter
    this.#ready = new ReadyPages(list.ready)
    list.ready.makeRoomForPages()
  }

  /** Returns the page as of `nowMs`, epoch ms; `null` while the index is not complete. */
  page(query: ListQuery, shape: Shape, nowMs: number): ReadyPage | null {
    const changes = this.#changes(query)
    const index = orderIndexOf(this.list)
    if (index === null || !index.isWhole) return null
    const key = `${shape}?${pathWith(query.named, query.afterGiven)}`
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
    const index = orderIndexOf(this.list)
    if (index === null || !index.isWhole) return null
    const self = `~/tags${pathWith(query.named, null)}`
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
    const { records, included } = this.#bodiesOf(rows, shape, venues)
    const count = records.length
    const last = hasMore || count < rows.length ? rows[count - 1] : undefined
    const start = last?.key?.start
    const after = last === undefined || start === undefined ? null : writePosition(name, { start, id: last.id })
    const path = `~/${name}`
    const next = after === null ? null : path + pathWith(query.named, after)
    const self = path + pathWith(query.named, query.afterGiven)
    const outline = { list: name, self, next, isEmpty: count === 0, venues: venues && included.length }
    const frame = this.#formatter.frame(outline, shape)
    const joined = (bodies: readonly Body[]): Buffer => joinedBodies(bodies, this.#formatter.recordFrame(shape))
    const body = Buffer.concat([
      Buffer.from(frame.before),
      joined(records),
      Buffer.from(frame.middle),
      joined(included),
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

  /** Returns the bodies of rows, up to the size limit, and those of their served venues, each once. */
  #bodiesOf(rows: readonly HeldRow[], shape: Shape, venues: RecordList<VenueRecord> | null) {
    const records: Body[] = []
    const included: Body[] = []
    const seen = new Set<Guid>([EMPTY_GUID])
    let length = 0
    for (const row of rows) {
      if (length > LARGEST_PAGE_BYTES) break
      const record = this.list.bodyOf(row, shape)
      if (record === null || row.key === null) throw new Error('a listed row is not served')
      records.push(record.body)
      length += record.body.length
      const { venue } = row.key
      if (venues === null || seen.has(venue)) continue
      seen.add(venue)
      const body = venues.represent(venue, shape)?.body
      if (body === undefined) continue
      included.push(body)
      length += body.length
    }
    return { records, included }
  }
}

/** Without `from`, an answer is as of now. */
export function validity(
  { from }: Pick<ListQuery, 'from'>,
  nowMs: number,
  goodUntilMs: number,
): Pick<ReadyPage, 'goodFromMs' | 'goodUntilMs'> {
  if (from !== null) return { goodFromMs: -Infinity, goodUntilMs: Infinity }
  return { goodFromMs: nowMs, goodUntilMs }
}

/** Returns the query of a page with its `?`; empty if there is nothing to name. */
export function pathWith(named: string, after: string | null): string {
  const query = queryWithAfter(named, after)
  return query === '' ? '' : `?${query}`
}

/** Joins the bodies of a page's records (contract §4.2). */
function joinedBodies(bodies: readonly Body[], { between, skip }: ReturnType<Formatter['recordFrame']>): Buffer {
  const texts = bodies.flatMap((body) => (typeof body === 'string' ? [skip === 0 ? body : body.slice(skip)] : []))
  if (texts.length === bodies.length) return Buffer.from(texts.join(between), 'latin1')
  const parts = bodies.flatMap((body) => [
    Buffer.from(between, 'latin1'),
    typeof body === 'string' ? Buffer.from(body.slice(skip), 'latin1') : body.subarray(skip),
  ])
  return Buffer.concat(parts.slice(1))
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
