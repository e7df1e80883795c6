// Servers that answer as the documentation of each preset's API says, by what a request asks for.
import type { Answer, Asked } from './json-server.ts'

/** Both lists of an API. The server reads them anew for each request, so a test may change them. */
export interface ApiLists {
  events: readonly ApiRow[]
  venues: readonly ApiRow[]
}

/** A row as an API sends it. `key` orders the list and stands for the row in requests; `changed` is its newest time. */
interface ApiRow {
  readonly key: string | number
  readonly changed: string
  readonly json: Readonly<Record<string, unknown>>
}

type AnswerFrom = (lists: ApiLists, asked: Asked, origin: string) => Answer

const MOST_ROWS = 100
const NOTHING: Answer = { status: 404, json: { error: { message: 'Not Found' } } }

/** Directus: by key or by offset, at most 100 rows a page; it ignores parameters that it does not know. */
const directus: AnswerFrom = (lists, { path, query }) => {
  const [, name] = /^\/items\/(\w+)$/.exec(path) ?? []
  if (name !== 'events' && name !== 'venues') return NOTHING
  const after = query.get('filter[id][_gt]')
  const among = query.get('filter[id][_in]')?.split(',') ?? null
  const since = query.get('filter[_or][0][date_updated][_gte]')
  const found = sortedByKey(lists[name])
    .filter(({ key }) => after === null || Number(key) > Number(after))
    .filter(({ key }) => among === null || among.includes(String(key)))
    .filter(({ changed }) => since === null || Date.parse(changed) >= Date.parse(since))
  const columns = query.get('fields')?.split(',') ?? null
  const begin = Number(query.get('offset') ?? 0)
  const most = Math.min(Number(query.get('limit') ?? MOST_ROWS), MOST_ROWS)
  return { json: { data: found.slice(begin, begin + most).map(({ json }) => only(json, columns)) } }
}

/** Strapi 5: by key of documentId, at most 100 rows a page. */
const strapi: AnswerFrom = (lists, { path, query }) => {
  const [, name] = /^\/api\/(\w+)$/.exec(path) ?? []
  if (name !== 'events' && name !== 'venues') return NOTHING
  const after = query.get('filters[documentId][$gt]') ?? ''
  const among = query.getAll('filters[documentId][$in][]')
  const since = query.get('filters[updatedAt][$gte]')
  const found = sortedByKey(lists[name])
    .filter(({ key }) => String(key) > after)
    .filter(({ key }) => among.length === 0 || among.includes(String(key)))
    .filter(({ changed }) => since === null || Date.parse(changed) >= Date.parse(since))
  const columns = [...query].filter(([parameter]) => /^fields\[\d+\]$/.test(parameter)).map(([, column]) => column)
  const size = Math.min(Number(query.get('pagination[pageSize]') ?? 25), MOST_ROWS)
  const data = found.slice(0, size).map(({ json }) => only(json, columns.length === 0 ? null : ['id', ...columns]))
  return { json: { data, meta: { pagination: { page: 1, pageSize: size, total: found.length } } } }
}

/** Airtable: a cursor that is left out after the last page. */
const airtable: AnswerFrom = (lists, { path, query }) => {
  const [, name] = /^\/v0\/appXXXXXXXXXXXXXX\/(Events|Venues)$/.exec(path) ?? []
  if (name === undefined) return NOTHING
  const rows = name === 'Events' ? lists.events : lists.venues
  const begin = Number(/^itr(\d+)$/.exec(query.get('offset') ?? 'itr0')?.[1] ?? Number.NaN)
  if (Number.isNaN(begin)) return { status: 422, json: { error: { type: 'LIST_RECORDS_ITERATOR_NOT_AVAILABLE' } } }
  const end = begin + Math.min(Number(query.get('pageSize') ?? MOST_ROWS), MOST_ROWS)
  const records = rows.slice(begin, end).map(({ json }) => json)
  return { json: { records, ...(end < rows.length ? { offset: `itr${end}` } : {}) } }
}

/** The Events Calendar: pages with links, at most 50 rows each, and the total; without dates only the next 24 months. */
const eventsCalendar: AnswerFrom = (lists, { path, query }, origin) => {
  const [, name] = /^\/wp-json\/tribe\/events\/v1\/(events|venues)$/.exec(path) ?? []
  if (name !== 'events' && name !== 'venues') return NOTHING
  const isWhole = name === 'venues' || (query.has('start_date') && query.has('end_date'))
  const rows = isWhole ? lists[name] : []
  const page = Number(query.get('page') ?? 1)
  const size = Math.min(Number(query.get('per_page') ?? 10), 50)
  const next = new URLSearchParams(query)
  next.set('page', String(page + 1))
  const link = page * size < rows.length ? { next_rest_url: `${origin}${path}?${next.toString()}` } : {}
  return {
    json: { [name]: rows.slice((page - 1) * size, page * size).map(({ json }) => json), total: rows.length, ...link },
  }
}

/** Marquee: pages with a Link header, at most 200 rows each; without `from`, no past events. */
const marquee: AnswerFrom = (lists, { path, query }) => {
  const [, name] = /^\/api\/(events|venues)$/.exec(path) ?? []
  if (name !== 'events' && name !== 'venues') return NOTHING
  const size = Number(query.get('limit') ?? 50)
  if (size > 200) return { status: 400, json: { title: 'Bad Request' } }
  const isWhole = name === 'venues' || query.has('from')
  const found = sortedByKey(isWhole ? lists[name] : []).filter(({ key }) => String(key) > (query.get('after') ?? ''))
  const rows = found.slice(0, size)
  const next = new URLSearchParams(query)
  next.set('after', String(rows.at(-1)?.key))
  const headers = found.length > size ? { link: `<${path}?${next.toString()}>; rel="next"` } : {}
  const json = { [name === 'events' ? 'Events' : 'Venues']: rows.map((row) => row.json), _links: [], _embedded: null }
  return { json, headers }
}

export const PRESET_SERVERS: ReadonlyMap<string, AnswerFrom> = new Map([
  ['directus', directus],
  ['strapi', strapi],
  ['airtable', airtable],
  ['the-events-calendar', eventsCalendar],
  ['marquee', marquee],
])

const STARTS = '2036-07-12T19:30:00Z'
const ENDS = '2036-07-12T22:00:00Z'

/** Lists of so many events, and some venues, as each API writes them. */
export function presetLists(preset: string, events: number, venues: number): ApiLists {
  const make = ROWS.get(preset)
  if (make === undefined) throw new Error(`nothing is known of ${preset}`)
  const rowsOf = (list: keyof ApiLists, count: number): readonly ApiRow[] =>
    Array.from({ length: count }, (_, at) => {
      const changed = `2026-11-20T10:${String(at % 60).padStart(2, '0')}:00.000Z`
      return { changed, ...make[list](at + 1, changed) }
    })
  return { events: rowsOf('events', events), venues: rowsOf('venues', venues) }
}

type MakeRow = (number: number, changed: string) => Pick<ApiRow, 'key' | 'json'>

const uuidOf = (number: number): string => `00000000-0000-4000-8000-${String(number).padStart(12, '0')}`
const textOf = (number: number): string => `doc${String(number).padStart(6, '0')}`

const ROWS: ReadonlyMap<string, Readonly<Record<keyof ApiLists, MakeRow>>> = new Map([
  [
    'directus',
    {
      events: (id, changed) => {
        // It is null until the first change.
        const dates = { date_updated: id % 2 === 0 ? changed : null, date_created: changed }
        const seats = { seats: 100, sold: 40, price: '12.50', tags: ['Jazz'] }
        const json = { id, status: 'published', title: `Event ${id}`, venue: uuidOf(1), ...seats, ...dates }
        return { key: id, json: { ...json, starts: STARTS, ends: ENDS } }
      },
      venues: (number) => {
        const key = uuidOf(number)
        const place = { address: { street: '1 High Street', city: 'Bath' }, location: { coordinates: [-2.36, 51.38] } }
        return { key, json: { id: key, name: `Hall ${number}`, ...place } }
      },
    },
  ],
  [
    'strapi',
    {
      events: (id, updatedAt) => {
        const key = textOf(id)
        const about = { title: `Event ${id}`, venue: { documentId: textOf(1) }, seats: 100, sold: 40, price: 12.5 }
        return { key, json: { id, documentId: key, ...about, starts: STARTS, ends: ENDS, updatedAt } }
      },
      venues: (id, updatedAt) => {
        const key = textOf(id)
        return {
          key,
          json: { id, documentId: key, name: `Hall ${id}`, street: '1 High Street', city: 'Bath', updatedAt },
        }
      },
    },
  ],
  [
    'airtable',
    {
      events: (number, createdTime) => {
        const key = `rec${number}`
        const seats = { Seats: 100, Sold: 40, Price: 12.5, Tags: ['Jazz'], Web: true }
        const fields = { Name: `Event ${number}`, Venue: ['rec1'], ...seats, Starts: STARTS, Ends: ENDS }
        return { key, json: { id: key, createdTime, fields } }
      },
      venues: (number, createdTime) => {
        const fields = { Name: `Hall ${number}`, Street: '1 High Street', City: 'Bath' }
        return { key: `rec${number}`, json: { id: `rec${number}`, createdTime, fields } }
      },
    },
  ],
  [
    'the-events-calendar',
    {
      events: (id) => {
        const dates = { start_date: '2036-07-12 19:30:00', end_date: '2036-07-12 22:00:00', timezone: 'Europe/London' }
        const about = { cost: '£12.50', cost_details: { values: ['12.50'] }, categories: [{ id: 1, name: 'Jazz' }] }
        return { key: id, json: { id, title: `Event ${id}`, ...dates, ...about, venue: { id: 1 } } }
      },
      venues: (id) => {
        const place = { address: '1 High Street', city: 'Bath', zip: 'BA1 5AW', country: 'United Kingdom' }
        return { key: id, json: { id, venue: `Hall ${id}`, ...place, phone: '', website: '' } }
      },
    },
  ],
  [
    'marquee',
    {
      events: (number) => {
        const Id = uuidOf(number)
        const about = { TicketCapacity: 100, TicketsAvailable: 60, Price: 12.5, Tags: ['Jazz'] }
        return {
          key: Id,
          json: { Id, Name: `Event ${number}`, VenueId: uuidOf(1), ...about, Start: STARTS, Finish: ENDS },
        }
      },
      venues: (number) => {
        const Id = uuidOf(number)
        const address = { AddressStreet1: '1 High Street', AddressStreet2: null, AddressStreet3: null }
        const town = { AddressCity: 'Bath', AddressPostalCode: null, AddressState: null, AddressCountry: null }
        const more = { Longitude: -2.36, Latitude: 51.38, Telephone: null, Description: null, Website: null }
        return { key: Id, json: { Id, Name: `Hall ${number}`, ...address, ...town, ...more } }
      },
    },
  ],
])

function sortedByKey(rows: readonly ApiRow[]): readonly ApiRow[] {
  return rows.toSorted((left, right) => (left.key < right.key ? -1 : 1))
}

function only(json: ApiRow['json'], columns: readonly string[] | null): unknown {
  if (columns === null) return json
  return Object.fromEntries(Object.entries(json).filter(([name]) => columns.includes(name)))
}
