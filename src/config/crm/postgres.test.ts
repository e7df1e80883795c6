import { describe, expect, it } from 'bun:test'
import { loadConfiguration } from '../read-configuration.ts'

const ENV = { DATABASE_URL: 'postgres://marquee:s3cret@db.example.org/crm' }

async function load(crm: string, more = ''): Promise<{ crm: unknown; problems: readonly string[] }> {
  const text = `crm:\n  kind: postgres\n${crm.replace(/^/gm, '  ')}\n${more}`
  const loaded = await loadConfiguration({
    path: '/etc/m.yaml',
    text,
    env: ENV,
    readFile: async () => new Uint8Array(),
  })
  if (loaded.ok) return { crm: loaded.configuration.crm, problems: [] }
  return { crm: null, problems: loaded.problems.map(({ key, message }) => `${key} ${message}`) }
}

const LEAST = 'url: { env: DATABASE_URL }\nevents: { from: crm.public_events }\nvenues: { from: venues }'

describe('the configuration of PostgreSQL', () => {
  it('needs a URL and two tables, and has defaults for the rest', async () => {
    const { crm } = await load(LEAST)
    expect(crm).toMatchObject({
      kind: 'postgres',
      listen: null,
      idScanEveryMs: null,
      requestTimeoutMs: null,
      ca: null,
      idNamespace: null,
      events: { from: 'crm.public_events', updatedAt: 'updated_at', fields: {} },
      venues: { from: 'venues', updatedAt: 'updated_at', fields: {} },
    })
  })

  it('shows the URL nowhere', async () => {
    const { crm } = await load(LEAST)
    expect(JSON.stringify(crm)).not.toContain('s3cret')
  })

  it('reads where fields come from', async () => {
    const { crm } = await load(`url: postgres://marquee@db.example.org/crm
ca: ./ca.pem
events:
  from: events
  updatedAt: null
  fields:
    Id: event_id
    Name: title
    Price: { value: '0' }
    TicketsAvailable: { subtract: [seats, sold] }
    TicketCapacity: { column: seats, whenBlank: '0' }
    Start: { column: starts, wallTimeIn: Europe/London }
    Finish: { column: ends, wallTimeIn: { column: zone } }
    Tags: null
  active: { status: [1, planned, true] }
  showOnWeb: null
venues: { from: venues }`)
    expect(crm).toMatchObject({
      ca: '/etc/ca.pem',
      events: {
        updatedAt: null,
        fields: {
          Id: { kind: 'column', column: 'event_id' },
          Name: { kind: 'column', column: 'title', whenBlank: null },
          Price: { kind: 'value', value: '0' },
          TicketsAvailable: { kind: 'subtract', columns: ['seats', 'sold'] },
          TicketCapacity: { kind: 'column', column: 'seats', whenBlank: '0' },
          Start: { kind: 'column', column: 'starts', wallTimeIn: { kind: 'zone' } },
          Finish: { kind: 'column', column: 'ends', wallTimeIn: { kind: 'column', column: 'zone' } },
          Tags: null,
        },
        active: [{ column: 'status', oneOf: [1, 'planned', true] }],
        showOnWeb: null,
      },
    })
  })

  it('joins columns, and reads how long an event lasts', async () => {
    const fields = (finish: string): string =>
      LEAST.replace(
        'from: crm.public_events',
        `from: events, fields: { Start: { join: [day, begins] }, Finish: ${finish} }`,
      )
    const lasting = { kind: 'lasting', lastingMs: 9_000_000 }
    const start = { kind: 'join', columns: ['day', 'begins'], whenBlank: null }
    for (const [finish, read] of [
      [
        '{ join: [day, ends], whenBlank: { lasting: 2h30m } }',
        { kind: 'join', columns: ['day', 'ends'], whenBlank: lasting },
      ],
      ['{ column: ends, whenBlank: { lasting: 150m } }', { kind: 'column', column: 'ends', whenBlank: lasting }],
      ['{ lasting: 9000s }', lasting],
    ] as const) {
      expect((await load(fields(finish))).crm).toMatchObject({ events: { fields: { Start: start, Finish: read } } })
    }
    for (const finish of ['{ lasting: 2 }', '{ lasting: 0h }', '{ join: [ends] }', '{ lasting: 2h, column: ends }']) {
      expect((await load(fields(finish))).problems).toEqual([
        expect.stringMatching(/^crm\.events\.fields\.Finish(?:\.lasting|\.join)? must be /),
      ])
    }
    const elsewhere = LEAST.replace('from: crm.public_events', 'from: events, fields: { Start: { lasting: 2h } }')
    expect((await load(elsewhere)).problems).toHaveLength(1)
  })

  it('takes the zone of updatedAt values that have none', async () => {
    const venues = LEAST.replace('from: venues', 'from: venues, updatedAtIn: europe/berlin')
    expect((await load(venues)).crm).toMatchObject({ venues: { updatedAtIn: { id: 'Europe/Berlin' } } })
    const { problems } = await load(LEAST.replace('from: venues', 'from: venues, updatedAtIn: Europe/Berlim'))
    expect(problems).toEqual([
      'crm.venues.updatedAtIn must be an IANA time zone such as UTC or Europe/London; did you mean Europe/Berlin?',
    ])
  })

  it.each([
    [
      'url: { env: DATABASE_URL }',
      [
        'crm.events is missing; it must be a mapping with the keys from, updatedAt, updatedAtIn, active, showOnWeb, fields',
        'crm.venues is missing; it must be a mapping with the keys from, updatedAt, updatedAtIn, active, fields',
      ],
    ],
    [`${LEAST}\nurl2: x`, ['crm.url2 is not a known key; did you mean url?']],
    [
      LEAST.replace('{ env: DATABASE_URL }', 'postgres://marquee@db/crm?sslmode=on'),
      ['crm.url has an unknown sslmode; known: disable, allow, prefer, require, verify-ca, verify-full'],
    ],
    [
      LEAST.replace('{ env: DATABASE_URL }', 'postgres://marquee:pw@db/crm'),
      [
        'crm.url must not be written in the file; give { env: NAME } or { file: PATH }: it is a URL with a password in it',
      ],
    ],
    [
      LEAST.replace('from: venues', 'from: a.b.c'),
      ['crm.venues.from must be the name of a table or view, or schema.name'],
    ],
    [
      `${LEAST}\nidScanEvery: 31s`,
      ['crm.idScanEvery must not be longer than freshness.maxAge, or every request would wait for an id scan'],
    ],
    [`${LEAST}\nidNamespace: x`, ['crm.idNamespace must be a UUID that is not all zeros']],
    [
      LEAST.replace('from: venues', 'from: venues, fields: { Nmae: x }'),
      ['crm.venues.fields.Nmae is not a known key; did you mean Name?'],
    ],
    [
      LEAST.replace('from: venues', 'from: venues, active: { status: 1 }'),
      [
        'crm.venues.active.status must be a list of values in [ ] (texts, numbers, true or false), blank, or { not: [VALUE] }',
      ],
    ],
    [
      LEAST.replace('from: venues', "from: venues, fields: { Name: { column: '' } }"),
      ['crm.venues.fields.Name.column must be the name of a column'],
    ],
  ])('%s', async (crm, problems) => {
    expect((await load(crm)).problems).toEqual(problems)
  })
})
