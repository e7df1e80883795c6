import { describe, expect, it } from 'bun:test'
import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expand } from 'jsonld'
import type { EventRecord } from '../../src/domain/event.ts'
import type { VenueRecord } from '../../src/domain/venue.ts'
import type { FurtherType, FurtherValue } from '../../src/domain/further.ts'
import { parseDecimal, ZERO } from '../../src/domain/number.ts'
import { type FeedSettings, FeedFormatter } from '../../src/formats/feed-formatter.ts'
import { Chance } from '../model/chance.ts'
import { RandomRecords } from './random-records.ts'

const GOLDEN = join(import.meta.dirname, '../golden/feeds')
const RECORDS = 10_000
const CONTEXT: unknown = JSON.parse(readFileSync(join(import.meta.dirname, 'schema-context.json'), 'utf8'))
const SCHEMA = 'http://schema.org/'
const SETTINGS: FeedSettings = {
  basePath: '/on',
  namespace: 'EventsApi',
  links: { event: [{ rel: 'tickets', href: 'https://tickets.example.org/{Id}', title: null }], venue: [] },
  page: 'https://www.example.org/whats-on/{Id}',
  currency: 'GBP',
  calendarName: null,
  language: 'en-GB',
}
const formatter = new FeedFormatter(SETTINGS)

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
    'organizer',
    'performer',
    'offers',
    'isAccessibleForFree',
    'keywords',
  ],
  Place: ['name', 'address', 'geo', 'telephone', 'url'],
  PostalAddress: ['streetAddress', 'addressLocality', 'postalCode', 'addressRegion', 'addressCountry'],
  GeoCoordinates: ['latitude', 'longitude'],
  Offer: ['price', 'priceCurrency', 'availability', 'validFrom', 'url'],
  AggregateOffer: ['lowPrice', 'highPrice', 'priceCurrency', 'availability', 'validFrom', 'url'],
  Organization: ['name'],
  PerformingGroup: ['name'],
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

describe('JSON-LD of further fields with a meaning (contract §7)', () => {
  const FURTHER = {
    Organizer: 'text',
    Performer: 'texts',
    OnSaleFrom: 'date-time',
    HighestPrice: 'decimal',
  } as const satisfies Readonly<Record<string, FurtherType>>
  const event = { ...new RandomRecords(new Chance(3)).event(null), Price: parseDecimal('12.50') ?? ZERO }
  const membersOf = async (
    values: Readonly<Record<string, FurtherValue>>,
    types: Readonly<Record<string, FurtherType>> = FURTHER,
  ): Promise<Readonly<Record<string, unknown>>> => {
    const events = Object.entries(types).map(([name, type]) => ({ name, type }))
    const Further = events.map(({ name }) => values[name] ?? null)
    const text = new FeedFormatter({ ...SETTINGS, further: { events, venues: [] } }).jsonLd(
      { ...event, Further },
      null,
      true,
    )
    expectKnown((await expanded(text))[0])
    return JSON.parse(text) as Readonly<Record<string, unknown>>
  }

  it('has who holds it and who performs, one or several, each by name', async () => {
    const performer = [
      { '@type': 'PerformingGroup', name: 'The Rope Walkers' },
      { '@type': 'PerformingGroup', name: '<Reel>' },
    ]
    expect(
      await membersOf({ Organizer: 'Lantern Hall & Trust', Performer: ['The Rope Walkers', ' ', '<Reel>'] }),
    ).toMatchObject({
      organizer: { '@type': 'Organization', name: 'Lantern Hall & Trust' },
      performer,
    })
    const one = await membersOf({ Performer: 'The Rope Walkers' }, { Performer: 'text' })
    expect(one).toMatchObject({ performer: performer.slice(0, 1) })
  })

  it('has when the sale begins, and the lowest and the highest price', async () => {
    const OnSaleFrom = '2036-01-09T10:00:00+00:00'
    const { offers } = await membersOf({ OnSaleFrom, HighestPrice: '48.00' })
    expect(offers).toMatchObject({
      '@type': 'AggregateOffer',
      lowPrice: '12.50',
      highPrice: '48.00',
      validFrom: OnSaleFrom,
    })
    const { offers: alone } = await membersOf({ OnSaleFrom, HighestPrice: '12.5' })
    expect(alone).toMatchObject({ '@type': 'Offer', price: '12.50', validFrom: OnSaleFrom })
  })

  it('has none of them if they are blank, of another type, or the event is cancelled', async () => {
    for (const members of [
      await membersOf({ Organizer: ' ', Performer: [] }),
      await membersOf({ Organizer: true, OnSaleFrom: 'soon' }, { Organizer: 'flag', OnSaleFrom: 'text' }),
    ]) {
      expect(Object.keys(members)).not.toContain('organizer')
      expect(Object.keys(members)).not.toContain('performer')
      expect(JSON.stringify(members)).not.toContain('validFrom')
    }
    const types = { ...FURTHER, Status: 'text' } as const
    const off = await membersOf(
      { Status: 'cancelled', OnSaleFrom: '2036-01-09T10:00:00+00:00', Performer: ['A'] },
      types,
    )
    expect(off).toMatchObject({ performer: [{ name: 'A' }], eventStatus: 'https://schema.org/EventCancelled' })
    expect(Object.keys(off)).not.toContain('offers')
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
