/**
 * A program: `EVENTS` measures what a calendar of 1,000 of so many events costs, in this process, and prints it as one
 * JSON object.
 */
import { keepIndex } from '../../src/order/list-index.ts'
import type { DateTime } from '../../src/domain/date-time.ts'
import type { EventRecord } from '../../src/domain/event.ts'
import { EMPTY_GUID, parseGuid } from '../../src/domain/guid.ts'
import { parseDecimal, ZERO } from '../../src/domain/number.ts'
import { openZone } from '../../src/domain/zone.ts'
import { Formatter } from '../../src/formats/format.ts'
import { Feeds } from '../../src/http/feeds.ts'
import { eventKind, venueKind } from '../../src/records/packing.ts'
import { RecordList } from '../../src/records/record-list.ts'
import type { ServedLists } from '../../src/sync/served-list.ts'
import { Chance } from '../../test/model/chance.ts'

const NOW = Date.UTC(2026, 10, 22)
const YEAR_MS = 365 * 86_400_000
const CALENDARS = 100
const count = Number(process.argv[2] ?? 1000)
const chance = new Chance(32)
const settings = { basePath: '/', namespace: 'Marquee', links: { event: [], venue: [] } }
const events = new RecordList(eventKind(new Formatter(settings)))
const venues = new RecordList(venueKind(new Formatter(settings)))
const zone = openZone('UTC')
if (zone === null) throw new Error('UTC is not a zone')
const venueIds = Array.from({ length: Math.max(2, Math.floor(count / 30)) }, guid)
for (const id of venueIds) venues.serve(venues.insert(id), venue(id))
for (let index = 0; index < count; index++) {
  const event = record(index)
  events.serve(events.insert(event.Id), event)
}
const first = soonest()
const pause = (): Promise<void> => new Promise((resolve) => setImmediate(resolve))
await keepIndex(events, pause)
const newFeeds = (): Feeds =>
  new Feeds({
    served: () => ({ events: { list: events }, venues: { list: venues } }) as ServedLists,
    settings: {
      ...settings,
      page: 'https://www.example.org/whats-on/{Id}',
      currency: 'GBP',
      calendarName: "What's on",
    },
    switches: { calendar: true, jsonLd: true },
    zone,
  })
const feeds = newFeeds()
const query = feeds.read('/api/events.ics')
if (typeof query === 'string') throw new Error(query)
let bytes = 0
written(10, newFeeds)
const coldMs = written(CALENDARS, newFeeds)
const changedMs = written(CALENDARS, () => {
  const row = events.find(first.Id)
  const before = events.get(first.Id) ?? first
  events.serve(row ?? events.insert(first.Id), { ...before, TicketsAvailable: before.TicketsAvailable + 1 })
  return feeds
})
const readyMs = written(CALENDARS, () => feeds)
console.log(JSON.stringify({ coldMs, changedMs, readyMs, bytes }))

/** Processor time of one calendar, ms. @param next what writes it */
function written(calendars: number, next: () => Feeds): number {
  const from = process.cpuUsage()
  for (let done = 0; done < calendars; done++) {
    const writer = next()
    const page = writer.calendar(query as Exclude<typeof query, string>, NOW)
    if (page === null) throw new Error('the events are in no order')
    bytes = page.body.length
  }
  const { user, system } = process.cpuUsage(from)
  return (user + system) / 1000 / calendars
}

/** The first event of the calendar. */
function soonest(): EventRecord {
  let found: EventRecord | null = null
  for (const row of events.rows()) {
    const event = events.read(row)
    if (event === null || event.Start < shown(NOW)) continue
    if (found === null || event.Start < found.Start) found = event
  }
  if (found === null) throw new Error('no event is to come')
  return found
}

function record(number: number): EventRecord {
  const startMs = NOW + Math.floor((chance.next() - 0.5) * 2 * YEAR_MS)
  return {
    Id: guid(),
    Name: `winter gala lecture of the harbour society with open rehearsal and reception ${number}`,
    VenueId: venueIds[number % 10 < 4 ? number % 2 : number % venueIds.length] ?? EMPTY_GUID,
    TicketCapacity: 250,
    TicketsAvailable: number % 150,
    Start: shown(startMs),
    Finish: shown(startMs + 3 * 3_600_000),
    Price: parseDecimal('12.50') ?? ZERO,
    Tags: ['Dinner', 'Talk & Tour', 'Konzert'],
    Links: [{ Rel: 'tickets', Href: 'https://tickets.example.org/', Title: 'Book' }],
  }
}

function venue(Id: EventRecord['Id']): ReturnType<typeof venues.kind.packing.unpack> {
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
    Description: null,
    Website: 'https://lanternhall.example.org/',
    Links: [],
  }
}

function shown(ms: number): DateTime {
  return `${new Date(ms).toISOString().slice(0, 19)}+00:00` as DateTime
}

function guid(): EventRecord['Id'] {
  const digits = Array.from({ length: 32 }, () => Math.floor(chance.next() * 16).toString(16)).join('')
  return parseGuid(digits) ?? EMPTY_GUID
}
