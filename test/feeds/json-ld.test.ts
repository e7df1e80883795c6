import { describe, expect, it } from 'bun:test'
import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expand } from 'jsonld'
import type { EventRecord } from '../../src/domain/event.ts'
import type { VenueRecord } from '../../src/domain/venue.ts'
import { FeedFormatter } from '../../src/formats/feed-formatter.ts'
import { Chance } from '../model/chance.ts'
import { RandomRecords } from './random-records.ts'

const GOLDEN = join(import.meta.dirname, '../golden/feeds')
const RECORDS = 10_000
const CONTEXT: unknown = JSON.parse(readFileSync(join(import.meta.dirname, 'schema-context.json'), 'utf8'))
const SCHEMA = 'http://schema.org/'
const formatter = new FeedFormatter({
  basePath: '/on',
  namespace: 'EventsApi',
  links: { event: [{ rel: 'tickets', href: 'https://tickets.example.org/{Id}', title: null }], venue: [] },
  page: 'https://www.example.org/whats-on/{Id}',
  currency: 'GBP',
  calendarName: null,
  language: 'en-GB',
})

/** The properties that schema.org has for each of the types that are used, of those that are used. */
const PROPERTIES: Readonly<Record<string, readonly string[]>> = {
  Event: [
    'url',
    'name',
    'startDate',
    'endDate',
    'eventStatus',
    'eventAttendanceMode',
    'location',
    'offers',
    'isAccessibleForFree',
    'keywords',
  ],
  Place: ['name', 'address', 'geo', 'telephone', 'url'],
  PostalAddress: ['streetAddress', 'addressLocality', 'postalCode', 'addressRegion', 'addressCountry'],
  GeoCoordinates: ['latitude', 'longitude'],
  Offer: ['price', 'priceCurrency', 'availability', 'url'],
}

// The judge is jsonld, which nobody here wrote, with a context kept beside this test: nothing is loaded from elsewhere.
describe('JSON-LD, expanded by jsonld (contract §6)', () => {
  it('uses in every golden file properties that schema.org has for their types, and none besides', async () => {
    const files = readdirSync(GOLDEN).filter((file) => file.endsWith('.jsonld'))
    expect(files.length).toBeGreaterThanOrEqual(12)
    for (const file of files) {
      const text = readFileSync(join(GOLDEN, file), 'utf8')
      const [event] = await expanded(text)
      expect(event?.['@type']).toEqual([`${SCHEMA}Event`])
      expectKnown(event)
      expect(text).not.toMatch(/[<>&\n]/)
    }
  })

  it(`says of ${RECORDS} random records what they are`, async () => {
    const random = new RandomRecords(new Chance(1932))
    for (let count = 0; count < RECORDS; count++) {
      const venue = count % 3 === 0 ? null : random.venue()
      const event = random.event(venue)
      const text = formatter.jsonLd(event, venue, true)
      if (/[<>&\n\r\u2028\u2029]/.test(text)) throw new Error(`it cannot stand in a script element: ${text}`)
      expect(JSON.parse(text)).toEqual(expected(event, venue))
      // To expand each would take a minute.
      if (count % 50 === 0) expectKnown((await expanded(text))[0])
    }
  })
})

type Node = Readonly<Record<string, unknown>>

async function expanded(text: string): Promise<readonly Node[]> {
  const documentLoader = (url: string): Promise<object> => {
    if (url !== 'https://schema.org') throw new Error(`${url} is asked for`)
    return Promise.resolve({ documentUrl: url, document: CONTEXT })
  }
  return expand(JSON.parse(text) as object, { documentLoader })
}

function expectKnown(node: unknown): void {
  if (Array.isArray(node)) return node.forEach(expectKnown)
  if (typeof node !== 'object' || node === null || '@value' in node) return
  const [type = ''] = ((node as Node)['@type'] ?? []) as readonly string[]
  for (const [name, value] of Object.entries(node)) {
    if (name === '@id' || name === '@type') continue
    expect(PROPERTIES[type.slice(SCHEMA.length)]?.map((each) => SCHEMA + each)).toContain(name)
    expectKnown(value)
  }
}

const saysSomething = (text: string | null): text is string => text !== null && !/^[\s\u0085]*$/.test(text)
const carried = (text: string | null): string | undefined => (saysSomething(text) ? text.toWellFormed() : undefined)

/** The object without the members that are not known; undefined where no other than its type is. */
function known(members: object): object | undefined {
  const those = Object.entries(members).filter(([, value]) => value !== undefined)
  return those.length > 1 ? Object.fromEntries(those) : undefined
}

function expected(event: EventRecord, venue: VenueRecord | null): object | undefined {
  const page = `https://www.example.org/whats-on/${event.Id}`
  const tags = event.Tags.filter(saysSomething).map((tag) => tag.toWellFormed())
  const isFree = Number(event.Price) === 0
  const lasts = Temporal.Instant.compare(event.Finish, event.Start) > 0
  return known({
    '@context': 'https://schema.org',
    '@type': 'Event',
    '@id': page,
    url: page,
    name: carried(event.Name),
    startDate: event.Start,
    endDate: lasts ? event.Finish : undefined,
    eventStatus: 'https://schema.org/EventScheduled',
    eventAttendanceMode: venue === null ? undefined : 'https://schema.org/OfflineEventAttendanceMode',
    location: venue === null ? undefined : place(venue),
    offers: known({
      '@type': 'Offer',
      price: event.Price,
      priceCurrency: 'GBP',
      availability:
        event.TicketCapacity > 0
          ? `https://schema.org/${event.TicketsAvailable > 0 ? 'InStock' : 'SoldOut'}`
          : undefined,
      url: `https://tickets.example.org/${event.Id}`,
    }),
    isAccessibleForFree: isFree ? true : undefined,
    keywords: tags.length > 0 ? tags : undefined,
  })
}

function place(venue: VenueRecord): object | undefined {
  const streets = [venue.AddressStreet1, venue.AddressStreet2, venue.AddressStreet3].filter(saysSomething)
  const [latitude, longitude] = [Number(venue.Latitude), Number(venue.Longitude)]
  const websites: Readonly<Record<string, string>> = {
    'https://example.org/?a=1&b=2': 'https://example.org/?a=1&b=2',
    '~/here': '/on/here',
  }
  return known({
    '@type': 'Place',
    name: carried(venue.Name),
    address: known({
      '@type': 'PostalAddress',
      streetAddress: carried(streets.join(', ')),
      addressLocality: carried(venue.AddressCity),
      postalCode: carried(venue.AddressPostalCode),
      addressRegion: carried(venue.AddressState),
      addressCountry: carried(venue.AddressCountry),
    }),
    geo: latitude === 0 && longitude === 0 ? undefined : { '@type': 'GeoCoordinates', latitude, longitude },
    telephone: carried(venue.Telephone),
    url: websites[venue.Website ?? ''],
  })
}
