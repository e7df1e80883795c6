import { afterEach, describe, expect, it } from 'bun:test'
import { NO_LIMIT } from '../../src/domain/event.ts'
import type { Crm, Cursor } from '../../src/sync/port.ts'
import { type Exchange, type Replay, openConfigured, readList, recorded, replay } from './replay.ts'

const NAMESPACE = '6f1f3c0e-5f0e-4c57-8a55-0d6c1c0a7e11'
const left: { close(): unknown }[] = []
afterEach(async () => {
  for (const one of left.splice(0)) await one.close()
})

const EVENT = [
  'name',
  'active',
  'is_published',
  'address_id',
  'date_begin',
  'date_end',
  'tag_ids',
  'write_date',
  'seats_limited',
  'seats_max',
  'seats_available',
]
const VENUE = [
  'name',
  'active',
  'phone',
  'website',
  'write_date',
  'street',
  'street2',
  'zip',
  'city',
  'state_id',
  'country_id',
  'partner_latitude',
  'partner_longitude',
]

function search(model: string, domain: readonly unknown[], fields: readonly string[], json: unknown): Exchange {
  const body = { order: 'id', limit: 200, context: { active_test: false, lang: 'en_US' }, domain, fields }
  return { asked: `POST /json/2/${model}/search_read ${JSON.stringify(body)}`, json }
}

/** The context of the key's user, as Odoo documents it. */
const USER: Exchange = { asked: 'POST /json/2/res.users/context_get {}', json: { lang: 'en_US', tz: false, uid: 2 } }

/**
 * What Odoo 19 answered on 2026-11-20; the tickets are those it has of other events, and prices and tags are made up.
 */
const EVENTS = recorded('odoo-19/events.json') as readonly Record<string, unknown>[]
const TICKETS = (recorded('odoo-19/tickets.json') as readonly Record<string, unknown>[]).map((ticket, index) => ({
  ...ticket,
  event_id: [1, 'Design Fair Los Angeles'],
  price: [99.5, 45.25, 120][index],
}))
const FULL: readonly Exchange[] = [
  search('event.event', [['id', '>', 0]], EVENT, EVENTS),
  search('event.event', [['id', '>', 2]], EVENT, []),
  search(
    'event.event.ticket',
    [
      ['event_id', 'in', [1, 2]],
      ['id', '>', 0],
    ],
    ['event_id', 'price'],
    TICKETS,
  ),
  search(
    'event.event.ticket',
    [
      ['event_id', 'in', [1, 2]],
      ['id', '>', 10],
    ],
    ['event_id', 'price'],
    [],
  ),
  search(
    'event.tag',
    [
      ['id', 'in', [5, 1, 7, 4]],
      ['id', '>', 0],
    ],
    ['id', 'name'],
    [
      { id: 1, name: 'Fair' },
      { id: 4, name: 'Race' },
      { id: 5, name: 'Design' },
      { id: 7, name: 'Sport' },
    ],
  ),
  search(
    'event.tag',
    [
      ['id', 'in', [5, 1, 7, 4]],
      ['id', '>', 7],
    ],
    ['id', 'name'],
    [],
  ),
]
const VENUES: readonly Exchange[] = [
  search(
    'res.partner',
    [
      ['is_company', '=', true],
      ['id', '>', 0],
    ],
    VENUE,
    recorded('odoo-19/venue2.json'),
  ),
  search(
    'res.partner',
    [
      ['is_company', '=', true],
      ['id', '>', 1],
    ],
    VENUE,
    [],
  ),
]

async function open(exchanges: readonly Exchange[], more = '', rest = ''): Promise<{ crm: Crm; odoo: Replay }> {
  const odoo = await replay([USER, ...exchanges])
  const crm = await openConfigured(
    `crm: { kind: odoo, url: "${odoo.origin}", database: demo, key: { env: KEY }, idNamespace: ${NAMESPACE}, venues: { where: [[is_company, '=', true]] }, ${more} }${rest}`,
    { KEY: 'secret-word' },
  )
  left.push(crm, odoo.server)
  return { crm, odoo }
}

describe('Odoo 19', () => {
  it('takes a text as tags that are separated by semicolons', async () => {
    const fields = [...EVENT, 'x_kinds']
    const kinds = EVENTS.map((event) => ({ ...event, x_kinds: event['id'] === 1 ? 'Design; Fair' : false }))
    const events = [
      search('event.event', [['id', '>', 0]], fields, kinds),
      search('event.event', [['id', '>', 2]], fields, []),
    ]
    const { crm, odoo } = await open([...events, ...FULL.slice(2)], 'events: { fields: { Tags: x_kinds } }')
    const { failure, changes } = await readList(crm.events)
    expect([failure, odoo.unknown]).toEqual(['', []])
    expect(changes).toMatchObject([{ record: { Tags: ['Design', 'Fair'] } }, {}])
  })

  it('serves its events with their least price, the names of their tags, and dates that are UTC', async () => {
    const { crm, odoo } = await open(FULL)
    const { failure, records } = await readList(crm.events)
    expect([failure, odoo.unknown]).toEqual(['', []])
    expect(records).toMatchObject([
      {
        Name: 'Design Fair Los Angeles',
        TicketCapacity: 50,
        TicketsAvailable: 47,
        Start: '2026-11-30T08:00:00+00:00',
        Finish: '2026-12-04T18:00:00+00:00',
        Price: '45.25',
        Tags: ['Design', 'Fair'],
      },
      {
        Name: 'Great Reno Ballon Race',
        TicketCapacity: NO_LIMIT,
        TicketsAvailable: NO_LIMIT,
        Price: '0',
        Tags: ['Sport', 'Race'],
      },
    ])
    expect(crm.readings?.[0]?.requests.get('full')).toBe(FULL.length + 1)
    expect(
      odoo.server.asked.every(
        ({ headers }) => headers['authorization'] === 'Bearer secret-word' && headers['x-odoo-database'] === 'demo',
      ),
    ).toBe(true)
  })

  it('serves the partners that are venues; what is false is blank, and 0 and 0 is no place', async () => {
    const { crm, odoo } = await open([...FULL, ...VENUES])
    const { failure, records } = await readList(crm.venues)
    expect([failure, odoo.unknown]).toEqual(['', []])
    expect(records).toMatchObject([
      {
        Name: 'YourCompany',
        AddressStreet1: '8000 Marina Blvd, Suite 300',
        AddressStreet2: null,
        AddressCity: 'Brisbane',
        AddressState: 'California (US)',
        AddressCountry: 'United States',
        Latitude: '0',
        Longitude: '0',
        Website: 'http://www.example.com',
      },
    ])
  })

  it('serves a place on the equator or in Greenwich: one 0 is a place', async () => {
    const [company] = recorded('odoo-19/venue2.json') as readonly Record<string, unknown>[]
    const places = [
      { ...company, partner_latitude: 0, partner_longitude: 36.8 },
      { ...company, id: 2, partner_latitude: 51.5, partner_longitude: 0 },
    ]
    const asked = (after: number): (readonly unknown[])[] => [
      ['is_company', '=', true],
      ['id', '>', after],
    ]
    const { crm } = await open([
      search('res.partner', asked(0), VENUE, places),
      search('res.partner', asked(2), VENUE, []),
    ])
    const { records } = await readList(crm.venues)
    expect(records).toMatchObject([
      { Latitude: '0', Longitude: '36.8' },
      { Latitude: '51.5', Longitude: '0' },
    ])
  })

  it('knows the venue of an event by the same id', async () => {
    const moved = EVENTS.map((event) => ({ ...event, address_id: [1, 'YourCompany'] }))
    const { crm } = await open([search('event.event', [['id', '>', 0]], EVENT, moved), ...FULL.slice(1), ...VENUES])
    const [events, venues] = [await readList(crm.events), await readList(crm.venues)]
    expect(events.records[0]?.VenueId).toBe(venues.records[0]?.Id)
  })

  it('reads the seats on their own: a registration does not move write_date', async () => {
    const seats = ['seats_limited', 'seats_max', 'seats_available']
    const { crm } = await open([
      ...FULL,
      search('event.event', [['id', '>', 0]], seats, [
        { id: 1, seats_limited: true, seats_max: 50, seats_available: 46 },
        { id: 2, seats_limited: false, seats_max: 20, seats_available: 11 },
      ]),
      search('event.event', [['id', '>', 2]], seats, []),
    ])
    expect(crm.events.readsTickets).toBe(true)
    const { failure, changes } = await readList(crm.events, 'availability')
    expect(failure).toBe('')
    expect(changes).toMatchObject([
      { kind: 'availability', TicketCapacity: 50, TicketsAvailable: 46 },
      { kind: 'availability', TicketCapacity: NO_LIMIT, TicketsAvailable: NO_LIMIT },
    ])
  })

  it('reads the seats from the columns that the configuration maps', async () => {
    const seats = ['seats_limited', 'seats_max', 'seats_available', 'seats_taken']
    const fields = [...EVENT, 'seats_max', 'seats_taken']
    const { crm, odoo } = await open(
      [
        search('event.event', [['id', '>', 0]], seats, [{ id: 1, seats_limited: true, seats_max: 50, seats_taken: 4 }]),
        search('event.event', [['id', '>', 1]], seats, []),
        search('event.event', [['id', '>', 0]], fields, []),
      ],
      'events: { fields: { TicketsAvailable: { subtract: [seats_max, seats_taken] } } }',
    )
    await readList(crm.events)
    const { failure, changes } = await readList(crm.events, 'availability')
    expect([failure, odoo.unknown]).toEqual(['', []])
    expect(changes).toMatchObject([{ kind: 'availability', TicketCapacity: 50, TicketsAvailable: 46 }])
  })

  it('keeps all promises that users’ connectors are examined for', async () => {
    const companies = [['is_company', '=', true]]
    const partners = recorded('odoo-19/venue2.json') as readonly Record<string, unknown>[]
    const waysOf = (
      model: string,
      domain: readonly unknown[],
      fields: readonly string[],
      rows: readonly Record<string, unknown>[],
    ): readonly Exchange[] => {
      const ids = rows.map(({ id }) => id)
      const wanted = [...domain, ['id', 'in', [...ids, 2_147_483_646]]]
      const stamps = rows.map(({ id, write_date: stamp }) => ({ id, write_date: stamp }))
      const last = ids.at(-1)
      return [
        search(model, [...wanted, ['id', '>', 0]], fields, rows),
        search(model, [...wanted, ['id', '>', last]], fields, []),
        search(model, [...domain, ['id', '>', 0]], ['write_date'], stamps),
        search(model, [...domain, ['id', '>', last]], ['write_date'], []),
      ]
    }
    const events = waysOf('event.event', [], EVENT, EVENTS)
    const venues = waysOf('res.partner', companies, VENUE, partners)
    const columns = ['seats_limited', 'seats_max', 'seats_available']
    const seats = [
      search('event.event', [['id', '>', 0]], columns, EVENTS),
      search('event.event', [['id', '>', 2]], columns, []),
    ]
    const { crm, odoo } = await open([...FULL, ...VENUES, ...events, ...venues, ...seats])
    // The time that lies ahead is that of the test.
    const replayed = odoo.server.answer
    let isHeeded = true
    odoo.server.answer = (asked) => {
      const isAhead = JSON.stringify(asked.body).includes('["write_date",">="')
      return isAhead ? { json: isHeeded ? [] : EVENTS } : replayed(asked)
    }
    expect([await crm.conform?.(true), odoo.unknown]).toEqual([[], []])
    isHeeded = false
    expect((await crm.conform?.(true))?.map(({ losesRows }) => losesRows)).toContain(true)
  })

  it.each([
    ['with rows', FULL],
    ['without a row', FULL.map((exchange) => ({ ...exchange, json: [] }))],
  ])('is asked by write_date, as Odoo writes times, for what changed: %s', async (_, exchanges) => {
    const { crm, odoo } = await open(exchanges)
    const held = { size: 0, version: () => Number.NaN }
    const signal = new AbortController().signal
    const full = crm.events.read({ kind: 'full', cursor: null, held, served: null, signal })
    let next = await full.next()
    while (next.done !== true) next = await full.next()
    const cursor: Cursor | null = next.value.ok ? next.value.cursor : null
    const changes = crm.events.read({ kind: 'changes', cursor, held, served: null, signal, mustConfirm: true })
    next = await changes.next()
    while (next.done !== true) next = await changes.next()
    const [since] = odoo.unknown
    expect(since).toContain('POST /json/2/event.event/search_read')
    expect(since).toMatch(/"domain":\[\["write_date",">=","[\d-]+ [\d:]+"\],\["id",">",0\]\]/)
  })

  it('says that the key is refused, and that a field does not exist, without a traceback', async () => {
    const first = FULL[0]?.asked ?? ''
    const { crm } = await open([{ asked: first, status: 401, json: recorded('odoo-19/badkey.json') }])
    expect((await readList(crm.events)).failure).toMatch(
      /^refused: events: 127\.0\.0\.1:\d+ refuses the key \(werkzeug\.exceptions\.Unauthorized\)$/,
    )
    const { crm: other } = await open([{ asked: first, status: 500, json: recorded('odoo-19/badfield.json') }])
    expect((await readList(other.events)).failure).toMatch(
      /^misconfigured: events: 127\.0\.0\.1:\d+ refuses the request to \/json\/2\/event\.event\/search_read \(500 builtins\.ValueError\); see/,
    )
  })

  it('takes false as a value where a condition or a flag has it, and as a blank everywhere else', async () => {
    const { crm, odoo } = await open(
      FULL.slice(2),
      'events: { active: { x_cancelled: [false] }, fields: { Note: x_note, SoldOut: x_sold_out } }',
      '\nrepresentation: { further: { events: { Note: text, SoldOut: flag } } }',
    )
    const replayed = odoo.server.answer
    const rows = EVENTS.map((event, at) => ({ ...event, x_cancelled: at === 1, x_note: false, x_sold_out: false }))
    odoo.server.answer = (asked) => {
      if (!asked.path.includes('/event.event/')) return replayed(asked)
      return { json: JSON.stringify(asked.body).includes('["id",">",0]') ? rows : [] }
    }
    const { failure, changes } = await readList(crm.events)
    expect(failure).toBe('')
    expect(changes).toMatchObject([{ record: { Further: [null, false] } }, { withheld: { fault: 'inactive' } }])
  })

  it('takes no other time of change than write_date, by which it asks for changes', async () => {
    const opened = open([], 'events: { updatedAt: x_changed }')
    expect(await opened.catch(String)).toContain('crm.events.updatedAt is not a known key')
  })

  it('asks for further columns that the configuration maps', async () => {
    const fields = [...EVENT, 'x_price']
    const { crm, odoo } = await open(
      [
        search(
          'event.event',
          [['id', '>', 0]],
          fields,
          EVENTS.map((event) => ({ ...event, x_price: 7.5 })),
        ),
        search('event.event', [['id', '>', 2]], fields, []),
        ...FULL.slice(2),
      ],
      'events: { fields: { Price: x_price } }',
    )
    const { failure, records } = await readList(crm.events)
    expect([failure, odoo.unknown, records[0]?.Price]).toEqual(['', [], '7.5'])
  })
})

describe('Odoo 17 and 18', () => {
  it('are asked by JSON-RPC, in the name of a user', async () => {
    const call = (service: string, method: string, args: readonly unknown[]): string =>
      `POST /jsonrpc ${JSON.stringify({ jsonrpc: '2.0', method: 'call', params: { service, method, args } })}`
    const read = (after: number): string =>
      call('object', 'execute_kw', [
        'demo',
        7,
        'secret-word',
        'res.partner',
        'search_read',
        [
          [
            ['is_company', '=', true],
            ['id', '>', after],
          ],
        ],
        { order: 'id', limit: 200, context: { active_test: false, lang: 'de_DE' }, fields: VENUE },
      ])
    const odoo = await replay([
      {
        asked: call('common', 'authenticate', ['demo', 'admin', 'secret-word', {}]),
        json: { jsonrpc: '2.0', id: null, result: 7 },
      },
      {
        asked: call('object', 'execute_kw', ['demo', 7, 'secret-word', 'res.users', 'context_get', [], {}]),
        json: { jsonrpc: '2.0', id: null, result: { lang: 'de_DE', tz: 'Europe/Berlin', uid: 7 } },
      },
      { asked: read(0), json: { jsonrpc: '2.0', id: null, result: recorded('odoo-19/venue2.json') } },
      { asked: read(1), json: { jsonrpc: '2.0', id: null, result: [] } },
    ])
    const crm = await openConfigured(
      `crm: { kind: odoo, version: 18, user: admin, url: "${odoo.origin}", database: demo, key: { env: KEY }, idNamespace: ${NAMESPACE}, venues: { where: [[is_company, '=', true]] } }`,
      { KEY: 'secret-word' },
    )
    left.push(crm, odoo.server)
    const { failure, records } = await readList(crm.venues)
    expect([failure, odoo.unknown, records.length]).toEqual(['', [], 1])
  })
})
