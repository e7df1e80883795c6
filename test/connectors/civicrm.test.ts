import { afterEach, describe, expect, it } from 'bun:test'
import { NO_LIMIT } from '../../src/domain/event.ts'
import type { Crm } from '../../src/sync/port.ts'
import { type Exchange, type Replay, openConfigured, readList, replay } from './replay.ts'

const NAMESPACE = '6f1f3c0e-5f0e-4c57-8a55-0d6c1c0a7e11'
const left: { close(): unknown }[] = []
afterEach(async () => {
  for (const one of left.splice(0)) await one.close()
})

const EVENT = ['id', 'title', 'start_date', 'end_date', 'is_active', 'is_public', 'max_participants', 'loc_block_id']
const PLACE = [
  'name',
  'street_address',
  'city',
  'postal_code',
  'geo_code_1',
  'geo_code_2',
  'state_province_id:label',
  'country_id:label',
]
const VENUE = ['id', ...PLACE.map((name) => `address_id.${name}`), 'phone_id.phone']

function get(entity: string, params: unknown, values: readonly unknown[]): Exchange {
  const json = { values, entity, action: 'get', version: 4, count: values.length }
  return { asked: `GET /civicrm/ajax/api4/${entity}/get ${JSON.stringify({ params: JSON.stringify(params) })}`, json }
}

function page(
  entity: string,
  select: readonly string[],
  where: readonly unknown[],
  after: number,
  values: readonly unknown[],
  more: object = {},
): Exchange {
  const params = { select, where: [...where, ['id', '>', after]], orderBy: { id: 'ASC' }, limit: 200, ...more }
  return get(entity, params, values)
}

const NO_TEMPLATE = [['is_template', '=', false]]
const event = (id: number, more: Readonly<Record<string, unknown>>): unknown => ({
  id,
  title: `Event ${id}`,
  start_date: '2036-07-12 19:30:00',
  end_date: '2036-07-12 22:00:00',
  is_active: true,
  is_public: true,
  max_participants: 100,
  loc_block_id: 3,
  ...more,
})
const EXCHANGES: readonly Exchange[] = [
  page('Event', EVENT, NO_TEMPLATE, 0, [
    event(1, {}),
    event(2, { max_participants: null }),
    event(3, { is_public: false }),
  ]),
  page('Event', EVENT, NO_TEMPLATE, 3, []),
  get(
    'Participant',
    {
      select: ['event_id', 'COUNT(id) AS number'],
      where: [
        ['event_id', 'IN', [1, 2, 3]],
        ['status_id.is_counted', '=', true],
        ['is_test', '=', false],
      ],
      groupBy: ['event_id'],
    },
    [
      { event_id: 1, number: 58 },
      { event_id: 2, number: 7 },
    ],
  ),
  page('LocBlock', VENUE, [], 0, [
    {
      id: 3,
      'address_id.name': 'Guildhall',
      'address_id.street_address': '1 High Street',
      'address_id.city': 'Bath',
      'address_id.postal_code': 'BA1 5AW',
      'address_id.geo_code_1': 51.3813,
      'address_id.geo_code_2': -2.3596,
      'address_id.state_province_id:label': 'Somerset',
      'address_id.country_id:label': 'United Kingdom',
      'phone_id.phone': '+44 1225 477000',
    },
  ]),
  page('LocBlock', VENUE, [], 3, []),
]

async function open(exchanges: readonly Exchange[], more = ''): Promise<{ crm: Crm; civicrm: Replay }> {
  const civicrm = await replay(exchanges)
  const crm = await openConfigured(
    `timeZone: Europe/London\ncrm: { kind: civicrm, url: "${civicrm.origin}", key: { env: KEY }, idNamespace: ${NAMESPACE}${more} }`,
    { KEY: 'secret-word' },
  )
  left.push(crm, civicrm.server)
  return { crm, civicrm }
}

describe('CiviCRM', () => {
  it('asks for texts in crm.language', async () => {
    const language = { language: 'de_DE' }
    const { crm, civicrm } = await open(
      [
        page('Event', EVENT, NO_TEMPLATE, 0, [], language),
        page('LocBlock', VENUE, [], 0, [{ id: 3, 'address_id.country_id:label': 'Deutschland' }], language),
        page('LocBlock', VENUE, [], 3, [], language),
      ],
      ', language: de-DE',
    )
    const [events, venues] = [await readList(crm.events), await readList(crm.venues)]
    expect([events.failure, venues.failure, civicrm.unknown]).toEqual(['', '', []])
    expect(venues.records).toMatchObject([{ AddressCountry: 'Deutschland' }])
  })

  it('serves its events in the zone of the site, with the places that counted participants leave', async () => {
    const { crm, civicrm } = await open(EXCHANGES)
    const { failure, records, changes } = await readList(crm.events)
    expect([failure, civicrm.unknown]).toEqual(['', []])
    expect(records).toMatchObject([
      { Name: 'Event 1', TicketCapacity: 100, TicketsAvailable: 42, Start: '2036-07-12T19:30:00+01:00' },
      { Name: 'Event 2', TicketCapacity: NO_LIMIT, TicketsAvailable: NO_LIMIT },
    ])
    expect(changes[2]).toMatchObject({ kind: 'withheld', withheld: { fault: 'not-shown' } })
    expect(civicrm.server.asked.every(({ headers }) => headers['x-civi-auth'] === 'Bearer secret-word')).toBe(true)
  })

  it('serves the locations as venues, by the ids that events name', async () => {
    const { crm } = await open(EXCHANGES)
    const [events, venues] = [await readList(crm.events), await readList(crm.venues)]
    expect(venues.records).toMatchObject([
      {
        Name: 'Guildhall',
        AddressCity: 'Bath',
        AddressCountry: 'United Kingdom',
        Latitude: '51.3813',
        Telephone: '+44 1225 477000',
      },
    ])
    expect(events.records[0]?.VenueId).toBe(venues.records[0]?.Id)
  })

  it('keeps all promises that users’ connectors are examined for', async () => {
    const { crm, civicrm } = await open(EXCHANGES)
    expect([await crm.conform?.(true), civicrm.unknown]).toEqual([[], []])
    civicrm.exchanges = EXCHANGES.slice(0, 3)
    expect((await crm.conform?.(true))?.map(({ losesRows }) => losesRows)).toContain(true)
  })

  it('is read in full each time: events have no time of change', async () => {
    const { crm } = await open(EXCHANGES)
    expect([crm.events.reportsChanges, crm.venues.reportsChanges]).toEqual([false, false])
  })

  it('says that the key is refused', async () => {
    const { crm } = await open([{ asked: EXCHANGES[0]?.asked ?? '', status: 401, json: { status: 401 } }])
    expect((await readList(crm.events)).failure).toMatch(/^refused: events: 127\.0\.0\.1:\d+ refuses the key \(401\)$/)
  })
})
