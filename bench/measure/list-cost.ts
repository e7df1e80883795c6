/** A program: `EVENTS`. Measures what pages of a list of this size cost in this process, and prints a line of JSON. */
import { dropIndex, keepIndex } from '../../src/order/list-index.ts'
import type { DateTime } from '../../src/domain/date-time.ts'
import { parseDecimal, ZERO } from '../../src/domain/number.ts'
import type { EventRecord } from '../../src/domain/event.ts'
import type { VenueRecord } from '../../src/domain/venue.ts'
import { EMPTY_GUID, parseGuid } from '../../src/domain/guid.ts'
import { openZone } from '../../src/domain/zone.ts'
import { Formatter } from '../../src/formats/format.ts'
import { SHAPES } from '../../src/formats/media-types.ts'
import { ListPages } from '../../src/http/list-pages.ts'
import { type ListQuery, readListQuery } from '../../src/http/list-query.ts'
import { eventKind, venueKind } from '../../src/records/packing.ts'
import { RecordList } from '../../src/records/record-list.ts'
import { Chance } from '../../test/model/chance.ts'

const NOW = Date.UTC(2026, 10, 22)
const YEAR_MS = 365 * 86_400_000
const TAGS = ['Dinner', 'Black Tie', 'Family', 'Café', 'Talk & Tour', 'Konzert', '音楽', 'Free']
const events = Number(process.argv[2] ?? 1000)
const SECONDS = 40
let changes = 0
const chance = new Chance(16)
const zone = openZone('Europe/London')
const formatter = new Formatter({ basePath: '/', namespace: 'Marquee', links: { event: [], venue: [] } })
const list = new RecordList(eventKind(formatter))
const venueList = new RecordList(venueKind(formatter))
const pages = new ListPages(list, formatter, venueList)
const venues = Array.from({ length: Math.max(2, Math.floor(events / 30)) }, guid)
for (const each of venues) venueList.serve(venueList.insert(each), venue(each))
const records = Array.from({ length: events }, (_, index) => record(guid(), index))
for (const each of records) write(each)
const before = list.sizeBytes
await keepIndex(list, () => new Promise((resolve) => setImmediate(resolve)))
const bytesAnEvent = (list.sizeBytes - before) / events

const first = query('')
const readyPageMs = cpuMs(20_000, () => pages.page(first, 'json', NOW))
const pageMs = cpuMs(1000, () => {
  list.changes++
  pages.page(first, 'json', NOW)
})
const filterMs = Object.fromEntries(
  Object.entries({
    'nothing has the tag': 'tag=nothing',
    'a common venue and a common tag that never meet': `venue=${venues[0]}&tag=Odd&from=0001-01-01`,
    'the last event alone': 'tag=Last&from=0001-01-01',
    'a rare venue': `venue=${venues.at(-1)}&from=0001-01-01`,
    'tickets left at a venue that is sold out': `venue=${venues[0]}&available=true&from=0001-01-01`,
  }).map(([name, text]) => {
    const asked = query(text)
    return [
      name,
      cpuMs(200, () => {
        list.changes++
        pages.page(asked, 'json', NOW)
      }),
    ]
  }),
)
// Pages that were not requested before, in a shape for which nothing is cached.
const cold = [...walk(1800)]
let at = 0
const coldPageMs = cpuMs(cold.length - 1, () => pages.page(cold[at++] ?? first, 'hal-json', NOW))

const withVenues = query('include=venue')
const includedPageMs = cpuMs(1000, () => {
  list.changes++
  pages.page(withVenues, 'json', NOW)
})
const coldWithVenues = [...walk(1800, query('from=0001-01-01&include=venue'))]
at = 0
list.ready.clear()
venueList.ready.clear()
const coldIncludedPageMs = cpuMs(coldWithVenues.length - 1, () =>
  pages.page(coldWithVenues[at++] ?? withVenues, 'hal-json', NOW),
)

// The worst cases: pages of 200 in each shape, and as many venues and tags as a query may have.
const many = (one: string, count: number): string =>
  Array.from({ length: count }, (_, number) =>
    one.replace('{n}', () => String(one.startsWith('venue') ? venues[number % venues.length] : number)),
  ).join('&')
const longestMs = Math.max(
  ...[
    'limit=200&tag=Free&from=0001-01-01',
    `${many('venue={n}', 85)}&limit=200&from=0001-01-01`,
    `${many('venue={n}', 60)}&${many('tag=x{n}', 100)}&tag=Odd&available=true&limit=200&from=0001-01-01`,
  ].flatMap((text) => SHAPES.map((shape) => medianMs(walk(21, query(text)), (each) => pages.page(each, shape, NOW)))),
)

const onMs = secondOfChangesMs()
dropIndex(list)
const offMs = secondOfChangesMs()
await keepIndex(list, () => new Promise((resolve) => setImmediate(resolve)))
for (let round = 0; round < 3; round++) {
  for (const [number, each] of records.entries()) write({ ...record(each.Id, number), TicketsAvailable: round })
}
const churnedBytesAnEvent = (list.sizeBytes - withoutIndex()) / events
console.log(
  JSON.stringify({
    readyPageMs,
    pageMs,
    coldPageMs,
    includedPageMs,
    coldIncludedPageMs,
    filterMs,
    longestMs,
    bytesAnEvent,
    churnedBytesAnEvent,
    churnShare: Math.max(0, onMs - offMs) / 1000,
  }),
)

/**
 * The processor time of the changes in one second (1 % of the rows): the median of many seconds with different events.
 */
function secondOfChangesMs(): number {
  const seconds = Array.from({ length: SECONDS }, (_, second) => {
    const changed = Array.from({ length: Math.max(1, events / 100) }, (__, index) => {
      const each = records[(index * 97 + second * 13) % events] ?? record(guid(), index)
      return { ...each, TicketsAvailable: each.TicketsAvailable + 1000 + changes++ }
    })
    return cpuOnceMs(() => changed.forEach(write))
  })
  return seconds.toSorted((left, right) => left - right)[SECONDS / 2] ?? Number.NaN
}

function withoutIndex(): number {
  const { order } = list
  list.order = null
  const { sizeBytes } = list
  list.order = order
  return sizeBytes
}

function write(each: EventRecord): void {
  const row = list.find(each.Id)
  list.serve(row ?? list.insert(each.Id), each)
}

function record(Id: EventRecord['Id'], number: number): EventRecord {
  const tenth = number % 10
  const startMs = NOW + Math.floor((chance.next() - 0.5) * 2 * YEAR_MS)
  const common = tenth < 2 ? venues[0] : tenth < 4 ? venues[1] : venues[number % venues.length]
  const tags = [TAGS[number % 8] ?? '', TAGS[(number * 3) % 8] ?? '', ...(tenth < 4 ? ['Odd'] : [])]
  return {
    Id,
    Name: `winter gala lecture of the harbour society with open rehearsal and reception ${number}`,
    VenueId: common ?? EMPTY_GUID,
    TicketCapacity: 250,
    TicketsAvailable: tenth < 2 ? 0 : number % 150,
    Start: written(startMs),
    Finish: written(startMs + 3 * 3_600_000),
    Price: parseDecimal('12.50') ?? ZERO,
    Tags: number === events - 1 ? ['Last'] : tenth < 2 ? ['Even'] : tags,
    Links: [{ Rel: 'tickets', Href: `https://tickets.example.org/${Id}`, Title: 'Book' }],
  }
}

function venue(Id: VenueRecord['Id']): VenueRecord {
  return {
    Id,
    Name: 'Lantern Hall',
    AddressStreet1: '41 Chandlers Row',
    AddressStreet2: 'Southwark',
    AddressStreet3: null,
    AddressCity: 'London',
    AddressPostalCode: 'SE1 9XJ',
    AddressState: 'England',
    AddressCountry: 'United Kingdom',
    Longitude: parseDecimal('-0.0972') ?? ZERO,
    Latitude: parseDecimal('51.5051') ?? ZERO,
    Telephone: '+44 20 7946 0142',
    Description: 'A former rope works by the river, with a sprung floor and step-free access throughout.',
    Website: 'https://lanternhall.example.org/',
    Links: [],
  }
}

function written(ms: number): DateTime {
  return `${new Date(ms).toISOString().slice(0, 19)}+00:00` as DateTime
}

function guid(): EventRecord['Id'] {
  const digits = Array.from({ length: 32 }, () => Math.floor(chance.next() * 16).toString(16)).join('')
  return parseGuid(digits) ?? EMPTY_GUID
}

function query(text: string): ListQuery {
  const read = zone === null ? 'no zone' : readListQuery('events', text, zone)
  if (typeof read === 'string') throw new Error(read)
  return read
}

function* walk(most: number, from = query('from=0001-01-01')): Generator<ListQuery, void> {
  let asked = from
  for (let count = 0; count < most; count++) {
    yield asked
    const next = pages.page(asked, 'xml', NOW)?.next
    if (next === null || next === undefined) return
    asked = query(next.slice(next.indexOf('?') + 1))
  }
}

/** The median wall-clock time of each query after a change. */
function medianMs(asked: Iterable<ListQuery>, work: (each: ListQuery) => unknown): number {
  const took = Array.from(asked, (each) => {
    list.changes++
    const begun = performance.now()
    work(each)
    return performance.now() - begun
  })
  return took.toSorted((left, right) => left - right)[Math.floor(took.length / 2)] ?? 0
}

function cpuMs(count: number, work: () => unknown): number {
  return (
    cpuOnceMs(() => {
      for (let done = 0; done < count; done++) work()
    }) / count
  )
}

function cpuOnceMs(work: () => void): number {
  const from = process.cpuUsage()
  work()
  const { user, system } = process.cpuUsage(from)
  return (user + system) / 1000
}
