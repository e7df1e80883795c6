import { describe, expect, it } from 'bun:test'
import { Buffer } from 'node:buffer'
import { eventOf, formatter, guidOf, venueOf } from '../../test/model/records.ts'
import type { EventRecord } from '../domain/event.ts'
import { openZone } from '../domain/zone.ts'
import { keepIndex } from '../order/list-index.ts'
import { ListMaker } from '../records/row-records.ts'
import type { ServedLists } from '../sync/served-list.ts'
import { Feeds } from './feeds.ts'

const NOW = Date.UTC(2026, 6, 1)
const VENUE = guidOf(1000)

/** The feeds of lists that can be written. */
async function scene() {
  const { events, venues } = new ListMaker(formatter).make()
  const zone = openZone('UTC')
  if (zone === null) throw new Error('UTC is not a zone')
  await keepIndex(events, () => Promise.resolve())
  const feeds = new Feeds({
    served: () => ({ events: { list: events }, venues: { list: venues } }) as ServedLists,
    settings: {
      basePath: '/',
      namespace: 'Marquee',
      links: { event: [], venue: [] },
      page: null,
      currency: 'GBP',
      calendarName: null,
      language: 'en-GB',
    },
    switches: { calendar: true, jsonLd: true, atom: true },
    zone,
  })
  const put = (number: number, given: Partial<EventRecord> = {}, sinceS = 0): void => {
    const id = guidOf(number)
    events.serve(events.find(id) ?? events.insert(id), eventOf(id, given), () => sinceS)
  }
  const putVenue = (Name: string): void => {
    venues.serve(venues.find(VENUE) ?? venues.insert(VENUE), venueOf(VENUE, Name))
  }
  /** Returns the ids of a page, and where the next one is. */
  const page = (target: string) => {
    const feed = target.startsWith('/api/events.atom') ? 'atom' : 'calendar'
    const query = feeds.read(feed, target)
    if (typeof query === 'string') throw new Error(query)
    const made = feeds.page(feed, query, NOW)
    if (made === null) throw new Error('there is no index')
    const text = Buffer.from(made.body).toString()
    const ids = Array.from(text.matchAll(/(?:UID:|<entry><id>urn:uuid:)(\w{8})/g), ([, id = '']) =>
      Number.parseInt(id, 16),
    )
    return { text, ids, next: made.next }
  }
  const one = (type: 'text/calendar' | 'application/ld+json'): string => String(feeds.event(type, guidOf(1), NOW)?.body)
  return { feeds, events, put, putVenue, page, one }
}

describe('a feed of many events', () => {
  it.each([
    ['/api/events.ics', [200, 200, 50]],
    ['/api/events.atom?limit=200', [200, 200, 50]],
    ['/api/events.atom', [50, 50, 50, 50, 50, 50, 50, 50, 50]],
  ] as const)('has a limit, and its next link the others, each once: %s', async (path, expected) => {
    const { put, page } = await scene()
    for (let number = 1; number <= 450; number++) put(number)
    const seen: number[] = []
    const sizes: number[] = []
    for (let target: string | null = path; target !== null;) {
      const { ids, next } = page(target)
      expect(next?.startsWith(path.slice(0, path.indexOf('?'))) ?? true).toBe(true)
      sizes.push(ids.length)
      seen.push(...ids)
      target = next
    }
    expect(sizes).toEqual([...expected])
    expect(seen).toEqual(Array.from({ length: 450 }, (_, index) => index + 1))
  })

  it.each(['/api/events.ics', '/api/events.atom'])(
    'keeps its filters and its limit in the next link: %s',
    async (path) => {
      const { put, page } = await scene()
      for (let number = 1; number <= 9; number++) put(number, { Tags: number % 3 === 0 ? ['Folk'] : [] })
      const { ids, next } = page(`${path}?limit=2&tag=folk`)
      expect([ids, next?.startsWith(`${path}?tag=folk&limit=2&after=`)]).toEqual([[3, 6], true])
      expect(page(next ?? '').ids).toEqual([9])
    },
  )

  it('was updated when the newest of its events was, wherever that one stands in it', async () => {
    const { put, page } = await scene()
    const atS = NOW / 1000
    for (const [number, ageS] of [300, 60, 200].entries()) put(number + 1, {}, atS - ageS)
    expect(/<updated>([^<]*)/.exec(page('/api/events.atom').text)?.[1]).toBe('2026-06-30T23:59:00Z')
  })

  it('ends where its events are very large, and goes on from there', async () => {
    const { put, page } = await scene()
    for (let number = 1; number <= 5; number++) put(number, { Name: `${number}`.repeat(1024 * 1024) })
    const { ids, next } = page('/api/events.ics')
    expect([ids, page(next ?? '').ids]).toEqual([
      [1, 2],
      [3, 4],
    ])
  })

  it('refuses a limit above 200, and a position that is none', async () => {
    const { feeds } = await scene()
    for (const feed of ['calendar', 'atom'] as const) {
      expect(feeds.read(feed, '/?limit=201')).toBeString()
      expect(feeds.read(feed, '/?after=x')).toBeString()
      expect(feeds.read(feed, '/?limit=200')).not.toBeString()
    }
  })
})

describe('the feeds of an event', () => {
  it.each(['text/calendar', 'application/ld+json'] as const)('follow its venue: %s', async (type) => {
    const { put, putVenue, one } = await scene()
    put(1, { VenueId: VENUE })
    expect(one(type)).not.toContain('Hall')
    putVenue('Lantern Hall')
    expect(one(type)).toContain('Lantern Hall')
    putVenue('Corn Hall')
    expect(one(type)).toContain('Corn Hall')
    put(1)
    expect(one(type)).not.toContain('Hall')
  })

  it('are made once while nothing changes, and again after a change of the event', async () => {
    const { feeds, events, put, page } = await scene()
    put(1, { Name: 'Gala' })
    page('/api/events.ics')
    feeds.event('text/calendar', guidOf(1), NOW)
    expect(events.ready.count).toMatchObject({ hits: 1, misses: 1 })
    put(1, { Name: 'Ball' })
    expect(page('/api/events.ics').text).toContain('SUMMARY:Ball')
  })
})
