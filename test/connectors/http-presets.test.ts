import { afterEach, describe, expect, it } from 'bun:test'
import { readTemplate } from '../../src/cli/templates/read-template.ts'
import { NO_LIMIT } from '../../src/domain/event.ts'
import type { Crm } from '../../src/sync/port.ts'
import { type Asked, JsonServer } from './json-server.ts'
import { openConfigured, readList } from './replay.ts'

const NAMESPACE = '6f1f3c0e-5f0e-4c57-8a55-0d6c1c0a7e11'
const TOKENS = { DIRECTUS_TOKEN: 'secret-word', STRAPI_TOKEN: 'secret-word', AIRTABLE_TOKEN: 'secret-word' }
const left: { close(): unknown }[] = []
const noticed: string[] = []
afterEach(async () => {
  noticed.length = 0
  for (const one of left.splice(0)) await one.close()
})

/** Opens a preset on a server that knows only these requests, by path and query; anything else is a 500. */
async function open(
  preset: string,
  answers: (origin: string) => Readonly<Record<string, unknown>>,
): Promise<{ crm: Crm; unknown: string[]; asked: Asked[] }> {
  const unknown: string[] = []
  const server = await JsonServer.open((asked) => {
    const query = [...asked.query].map(([name, value]) => `${name}=${value}`).join('&')
    const key = `${asked.path}${query === '' ? '' : '?'}${query}`
    const known = answers(server.url)[key]
    if (known === undefined) unknown.push(key)
    return known === undefined ? { status: 500, json: {} } : { json: known }
  })
  const text = readTemplate(`${preset}.yaml`).replace('NAMESPACE', NAMESPACE)
  const crm = await openConfigured(
    `timeZone: Europe/London\ncrm:\n${text.replace(/url: https:\/\/[^/\s]+/, `url: ${server.url}`)}`,
    TOKENS,
    undefined,
    (seen) => void (seen.kind === 'crm-noticed' && noticed.push(seen.message)),
  )
  left.push(crm, server)
  return { crm, unknown, asked: server.asked }
}

const WHEN = { starts: '2036-07-12T19:30:00Z', ends: '2036-07-12T22:00:00Z' }

describe('a preset', () => {
  it('reads Directus by key and by offset', async () => {
    const event = {
      id: 7,
      status: 'published',
      title: 'Concert',
      venue: 'v-1',
      seats: 100,
      sold: 40,
      price: '12.50',
      tags: ['Jazz'],
      ...WHEN,
      date_updated: null,
      date_created: '2026-11-20T10:00:00Z',
    }
    const venue = {
      id: 'v-1',
      name: 'Guildhall',
      address: { street: '1 High Street', city: 'Bath' },
      location: { type: 'Point', coordinates: [-2.3596, 51.3813] },
    }
    const { crm, unknown, asked } = await open('directus', () => ({
      '/items/events?sort=id&limit=100&filter[id][_gt]=0': { data: [event] },
      '/items/events?sort=id&limit=100&filter[id][_gt]=7': { data: [] },
      '/items/venues?sort=id&limit=100&offset=0': { data: [venue] },
      '/items/venues?sort=id&limit=100&offset=1': { data: [] },
    }))
    const [events, venues] = [await readList(crm.events), await readList(crm.venues)]
    expect([events.failure, venues.failure, unknown]).toEqual(['', '', []])
    expect(events.records).toMatchObject([
      { Name: 'Concert', TicketCapacity: 100, TicketsAvailable: 60, Price: '12.50', VenueId: venues.records[0]?.Id },
    ])
    expect(venues.records).toMatchObject([{ Name: 'Guildhall', AddressStreet1: '1 High Street', Latitude: '51.3813' }])
    expect(asked[0]?.headers['authorization']).toBe('Bearer secret-word')
    expect(crm.events.reportsChanges).toBe(true)
  })

  it('reads Strapi by documentId', async () => {
    const event = {
      id: 3,
      documentId: 'abc',
      title: 'Concert',
      venue: { documentId: 'xyz' },
      seats: 100,
      sold: 40,
      price: 12.5,
      ...WHEN,
      updatedAt: '2026-11-20T10:00:00.000Z',
    }
    const venue = {
      id: 1,
      documentId: 'xyz',
      name: 'Guildhall',
      street: '1 High Street',
      city: 'Bath',
      updatedAt: '2026-11-20T10:00:00.000Z',
    }
    const events = '/api/events?sort=documentId&pagination[pageSize]=100&filters[documentId][$gt]='
    const venues = '/api/venues?sort=documentId&pagination[pageSize]=100&filters[documentId][$gt]='
    const { crm, unknown } = await open('strapi', () => ({
      [`${events}&populate[venue][fields][0]=documentId`]: { data: [event] },
      [`${events}abc&populate[venue][fields][0]=documentId`]: { data: [] },
      [venues]: { data: [venue] },
      [`${venues}xyz`]: { data: [] },
    }))
    const read = [await readList(crm.events), await readList(crm.venues)] as const
    expect([read[0].failure, read[1].failure, unknown]).toEqual(['', '', []])
    expect(read[0].records).toMatchObject([{ Name: 'Concert', Price: '12.5', VenueId: read[1].records[0]?.Id }])
  })

  it('reads Airtable by its cursor', async () => {
    const record = (id: string, fields: unknown): unknown => ({ id, createdTime: '2026-11-20T10:00:00.000Z', fields })
    const fields = {
      Name: 'Concert',
      Venue: ['recV'],
      Seats: 100,
      Sold: 40,
      Starts: WHEN.starts,
      Ends: WHEN.ends,
      Price: 12.5,
      Tags: ['Jazz'],
      Web: true,
    }
    const { Web: _, ...hidden } = fields
    const base = '/v0/appXXXXXXXXXXXXXX'
    const { crm, unknown } = await open('airtable', () => ({
      [`${base}/Events?pageSize=100`]: { records: [record('rec1', fields)], offset: 'itr/rec1' },
      [`${base}/Events?pageSize=100&offset=itr/rec1`]: { records: [record('rec2', { ...hidden, Name: 'Draft' })] },
      [`${base}/Venues?pageSize=100`]: {
        records: [record('recV', { Name: 'Guildhall', Street: '1 High Street', City: 'Bath' })],
      },
    }))
    const read = [await readList(crm.events), await readList(crm.venues)] as const
    expect([read[0].failure, read[1].failure, unknown]).toEqual(['', '', []])
    expect(read[0].records).toMatchObject([{ Name: 'Concert', TicketsAvailable: 60, VenueId: read[1].records[0]?.Id }])
    expect(read[0].changes[1]).toMatchObject({ kind: 'withheld', withheld: { fault: 'not-shown' } })
  })

  it.each([2, 20])(
    'reads %d rows of Airtable in which a column is left out, because no row has a value',
    async (count) => {
      const fields = { Name: 'Concert', Starts: WHEN.starts, Ends: WHEN.ends, Web: true }
      const base = '/v0/appXXXXXXXXXXXXXX'
      const records = Array.from({ length: count }, (_, index) => ({ id: `rec${index}`, fields }))
      const { crm } = await open('airtable', () => ({
        [`${base}/Events?pageSize=100`]: { records },
        [`${base}/Venues?pageSize=100`]: { records: [{ id: 'recV', fields: { Name: 'Guildhall' } }] },
      }))
      const read = [await readList(crm.events), await readList(crm.venues)] as const
      expect([read[0].failure, read[1].failure]).toEqual(['', ''])
      expect(read[0].records).toHaveLength(count)
      expect(read[0].records[0]).toMatchObject({ Price: '0', TicketCapacity: 0, Tags: [] })
      expect(read[1].records).toMatchObject([{ Name: 'Guildhall', AddressCity: null }])
      await readList(crm.events)
      const told = noticed.filter((message) => message.startsWith('events: none of the first'))
      // Once, however often the list is read.
      expect(told.length).toBe(1)
      if (count > 2) expect(told[0]).toContain('"fields.Price" (events.fields.Price')
    },
  )

  it('reads The Events Calendar without prices and without places', async () => {
    const path = '/wp-json/tribe/events/v1'
    const dates = 'per_page=50&start_date=2000-01-01&end_date=2100-01-01'
    const event = { start_date: '2036-07-12 19:30:00', end_date: '2036-07-12 22:00:00', timezone: 'Europe/London' }
    const events = Array.from({ length: 12 }, (_, id) => ({ id: id + 1, title: 'Concert', ...event }))
    const { crm } = await open('the-events-calendar', () => ({
      [`${path}/events?${dates}`]: { events, total: 12 },
      [`${path}/venues?per_page=50`]: { venues: [{ id: 5, venue: 'Guildhall' }], total: 1 },
    }))
    const read = [await readList(crm.events), await readList(crm.venues)] as const
    expect([read[0].failure, read[1].failure]).toEqual(['', ''])
    expect(read[0].records).toHaveLength(12)
    expect(read[0].records[0]).toMatchObject({ Price: '0', Tags: [], VenueId: '00000000-0000-0000-0000-000000000000' })
    expect(read[1].records).toMatchObject([{ Name: 'Guildhall', Website: null }])
  })

  it('reads The Events Calendar by its links', async () => {
    const event = (id: number): unknown => ({
      id,
      title: `Concert &#8217;${id}`,
      start_date: '2036-07-12 19:30:00',
      end_date: '2036-07-12 22:00:00',
      timezone: 'Europe/London',
      cost: '£12.50',
      cost_details: { values: ['12.50'] },
      categories: [
        { id: 1, name: 'Jazz' },
        { id: 2, name: null },
      ],
      venue: { id: 5 },
    })
    const path = '/wp-json/tribe/events/v1'
    const dates = 'per_page=50&start_date=2000-01-01&end_date=2100-01-01'
    const { crm, unknown } = await open('the-events-calendar', (origin) => ({
      [`${path}/events?${dates}`]: {
        events: [event(1)],
        total: 2,
        next_rest_url: `${origin}${path}/events?page=2&${dates}`,
      },
      [`${path}/events?page=2&${dates}`]: { events: [event(2)], total: 2 },
      [`${path}/venues?per_page=50`]: {
        venues: [
          {
            id: 5,
            venue: 'Guildhall',
            address: '1 High Street',
            city: 'Bath',
            zip: 'BA1 5AW',
            country: 'United Kingdom',
            phone: '',
            website: '',
          },
        ],
        total: 1,
      },
    }))
    const read = [await readList(crm.events), await readList(crm.venues)] as const
    expect([read[0].failure, read[1].failure, unknown]).toEqual(['', '', []])
    expect(read[0].records).toMatchObject([
      {
        Name: 'Concert ’1',
        Start: '2036-07-12T19:30:00+01:00',
        Price: '12.50',
        Tags: ['Jazz'],
        VenueId: read[1].records[0]?.Id,
      },
      { Name: 'Concert ’2' },
    ])
  })

  // A new WordPress has UTC+0, and one with a manual offset no name of a zone.
  it.each([
    ['UTC+0', '2036-07-12T20:30:00+01:00'],
    ['UTC+2', '2036-07-12T18:30:00+01:00'],
    ['UTC-3.5', '2036-07-13T00:00:00+01:00'],
    ['', '2036-07-12T19:30:00+01:00'],
    ['Europe/Berlin', '2036-07-12T18:30:00+01:00'],
  ])(
    'reads the times of The Events Calendar in its zone %j, or in UTC where it gives them so',
    async (timezone, start) => {
      const local = { start_date: '2036-07-12 19:30:00', end_date: '2036-07-12 22:00:00', timezone }
      const inUtc = { utc_start_date: '2036-07-12 17:30:00', utc_end_date: '2036-07-12 20:00:00' }
      const common = { title: 'Concert', cost_details: { values: ['5'] }, categories: [], venue: { id: 5 } }
      for (const [more, expected] of [
        [{}, start],
        [{ utc_start_date: '', utc_end_date: '' }, start],
        [inUtc, '2036-07-12T18:30:00+01:00'],
      ] as const) {
        const answer = { events: [{ id: 1, ...common, ...local, ...more }], total: 1 }
        const { crm } = await open('the-events-calendar', () => ({
          '/wp-json/tribe/events/v1/events?per_page=50&start_date=2000-01-01&end_date=2100-01-01': answer,
        }))
        const { failure, records } = await readList(crm.events)
        expect([failure, records[0]?.Start, records[0]?.TicketsAvailable]).toEqual(['', expected, NO_LIMIT])
      }
    },
  )
})
