import { afterAll, beforeAll, describe, expect, it } from 'bun:test'
import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { ownHeaders } from '../support/reply.ts'
import { AT_CLOSED_VENUE, DRAFT, EVENT, LISTS, NEVER, WITHOUT_VENUE } from './rows.ts'
import { accept, type Ask, type Start, type Subject } from './subject.ts'

const GOLDEN = join(import.meta.dirname, '../golden/feeds')
const FEEDS = { feeds: { calendar: 'on', jsonLd: 'on', atom: 'on' }, representation: { currency: 'GBP' } }
const CALENDAR = 'text/calendar'
const JSON_LD = 'application/ld+json'
const ATOM = 'application/atom+xml'

const REVISION = /DTSTAMP:(\d{8}T\d{6}Z)\r\nLAST-MODIFIED:\1\r\nSEQUENCE:\d+\r\n/g

/** Returns a calendar with the revision that the golden files have. */
function unrevised(calendar: string): string {
  return calendar.replaceAll(REVISION, 'DTSTAMP:20260101T000000Z\r\nLAST-MODIFIED:20260101T000000Z\r\nSEQUENCE:0\r\n')
}

/** What search engines and calendars read (contract §6). */
export function feedSentences(start: Start): void {
  describe('feeds, byte for byte (contract §6)', () => {
    it('are what the golden files hold, each event by itself and all in one calendar', async () => {
      const cases = readdirSync(GOLDEN)
        .filter((file) => file.endsWith('.case.json'))
        .map((file) => ({ name: file.slice(0, -'.case.json'.length), rows: rowsIn(join(GOLDEN, file)) }))
      expect(cases.length).toBeGreaterThanOrEqual(12)
      // One venue a service: cases that share an id each have their own.
      for (const batch of [
        cases.filter(({ rows }) => rows.venue === null),
        ...cases.filter(({ rows }) => rows.venue !== null).map((one) => [one]),
      ]) {
        const venues = batch.flatMap(({ rows }) => rows.venue ?? [])
        const subject = await start(
          {
            timeZone: 'Europe/London',
            feeds: { ...FEEDS.feeds, calendarName: "What's on, in town; all" },
            representation: {
              namespace: 'EventsApi',
              currency: 'GBP',
              page: 'https://www.example.org/whats-on/{Id}',
            },
          },
          { events: `[${batch.map(({ rows }) => rows.event).join(',')}]`, venues: `[${venues.join(',')}]` },
        )
        try {
          for (const { name, rows } of batch) {
            const path = `/api/events/${idIn(rows.event)}`
            const ics = readFileSync(join(GOLDEN, `${name}.ics`), 'utf8')
            expect(unrevised((await subject.ask(`${path}.ics`)).body)).toBe(ics)
            expect(unrevised((await subject.ask(path, accept(CALENDAR))).body)).toBe(ics)
            const jsonLd = await subject.ask(path, accept(JSON_LD))
            expect(jsonLd.body).toBe(readFileSync(join(GOLDEN, `${name}.jsonld`), 'utf8'))
          }
          if (venues.length > 0) continue
          const all = await subject.ask('/api/events.ics?from=2000-01-01')
          expect(unrevised(all.body)).toBe(readFileSync(join(GOLDEN, 'subscription.ics'), 'utf8'))
        } finally {
          await subject.stop()
        }
      }
    })
  })

  describe('feeds (contract §6)', () => {
    let subject: Subject
    beforeAll(async () => {
      subject = await start({ ...FEEDS, lists: 'off' }, LISTS)
    })
    afterAll(() => subject.stop())

    const typeOf = async (path: string, ask?: Ask): Promise<readonly [number, string | undefined]> => {
      const reply = await subject.ask(path, ask)
      return [reply.status, reply.headers.get('content-type') ?? undefined]
    }

    it('answer under every spelling of their paths, whatever Accept says', async () => {
      const { body } = await subject.ask(`/api/events/${EVENT}.ics`)
      const braces = `%7B${EVENT.toUpperCase()}%7D`
      for (const path of [`/events/${EVENT}.ics`, `/API/EVENTS/${braces}.ICS`, `/api/events/${EVENT}.ics/?x`]) {
        const reply = await subject.ask(path, accept('application/xml'))
        expect([path, reply.status, reply.body]).toEqual([path, 200, body])
      }
      for (const path of ['/api/events.ics', '/API/Events.ICS/', '/api/events.ics?'])
        expect([path, ...(await typeOf(path, accept('application/xml')))]).toEqual([
          path,
          200,
          `${CALENDAR}; charset=utf-8`,
        ])
      for (const path of ['/api/events.atom', '/API/Events.ATOM/', '/api/events.atom?limit=3'])
        expect([path, ...(await typeOf(path, accept('application/json')))]).toEqual([
          path,
          200,
          `${ATOM}; charset=utf-8`,
        ])
      for (const path of [
        '/events.ics',
        '/events.atom',
        '/api/events.atomx',
        '/api/venues.atom',
        '/api/events.ics//',
        '/api/events.icsx',
        '/api/venues.ics',
        `/api/events/${EVENT}/venue.ics`,
      ])
        expect([path, ...(await typeOf(path))]).toEqual([path, 404, 'application/problem+json'])
    })

    it('are chosen by their own exact names alone, after the six where they tie', async () => {
      const path = `/api/events/${EVENT}`
      for (const [header, type] of [
        [CALENDAR, CALENDAR],
        [JSON_LD, JSON_LD],
        ['Application/LD+JSON', JSON_LD],
        [`${JSON_LD};profile="x"`, JSON_LD],
        [`${JSON_LD}, ${CALENDAR}`, CALENDAR],
        [`${JSON_LD}, application/hal+xml`, 'application/hal+xml'],
        [`*/*, ${JSON_LD}`, JSON_LD],
        [`${JSON_LD};q=0.5, */*`, 'application/json'],
        [`${JSON_LD};q=0, application/xml;q=0.1`, 'application/xml'],
        [`${CALENDAR};q=0`, 'application/json'],
        [`${CALENDAR};q=0.2, application/xml;q=0.1`, CALENDAR],
        [`${CALENDAR};q=2`, 'application/json'],
        [ATOM, 'application/json'],
        ['*/*', 'application/json'],
        ['text/*', 'text/json'],
        ['application/*', 'application/json'],
      ] as const)
        expect([header, ...(await typeOf(path, accept(header)))]).toEqual([header, 200, `${type}; charset=utf-8`])
      // Nowhere else.
      for (const other of [`${path}/venue`, `/api/venues/${NEVER}`])
        expect((await typeOf(other, accept(JSON_LD)))[1]).toMatch(/^application\/(?:problem\+)?json/)
    })

    it('have the headers of a record, HEAD, OPTIONS and 405', async () => {
      const record = ownHeaders(await subject.ask(`/api/events/${EVENT}`))
      for (const [path, ask] of [
        [`/api/events/${EVENT}.ics`, {}],
        [`/api/events/${EVENT}`, accept(JSON_LD)],
        ['/api/events.ics', {}],
        ['/api/events.atom', {}],
      ] as const) {
        const reply = await subject.ask(path, ask)
        expect(Object.keys(ownHeaders(reply))).toEqual(Object.keys(record))
        expect(reply.headers.get('etag')).toMatch(/^"[0-9a-f]{16}"$/)
        expect(reply.headers.get('vary')).toBe('Accept')
        const head = await subject.ask(path, { ...ask, method: 'HEAD' })
        expect([head.status, head.body, head.headers.get('etag')]).toEqual([200, '', reply.headers.get('etag') ?? '-'])
        expect(head.headers.get('content-length')).toBe(reply.headers.get('content-length') ?? '-')
        expect((await subject.ask(path, { ...ask, method: 'OPTIONS' })).status).toBe(204)
        const post = await subject.ask(path, { ...ask, method: 'POST' })
        expect([post.status, post.headers.get('allow')]).toEqual([405, 'GET, HEAD, OPTIONS'])
        expect(post.headers.get('content-type')).toBe('application/problem+json')
      }
    })

    it('are refused in JSON: what is withheld as what never was, a malformed id, a query that does not fit', async () => {
      for (const id of [DRAFT, NEVER]) {
        const replies = [
          await subject.ask(`/api/events/${id}.ics`, accept('application/xml')),
          await subject.ask(`/api/events/${id}`, accept(`${JSON_LD}, application/xml;q=0.9`)),
        ]
        for (const reply of replies) {
          expect([reply.status, reply.headers.get('content-type')]).toEqual([404, 'application/problem+json'])
          expect(reply.body).toContain('No event with this id is published.')
        }
      }
      for (const path of ['/api/events/42.ics', '/api/events/.ics', '/api/events/null.ics'])
        expect([path, ...(await typeOf(path, accept('text/xml')))]).toEqual([path, 400, 'application/problem+json'])
      for (const [query, detail] of [
        ['limit=201', 'limit takes a whole number from 1 to 200'],
        ['limit=0', 'limit'],
        ['after=x', 'after takes the value of after in a next link of this list, unchanged.'],
        ['include=venue', 'Its parameters are from, to, venue, tag, available, limit and after.'],
        ['from=tomorrow', 'from takes'],
        ['&'.repeat(4001), '4,000'],
      ] as const) {
        for (const path of ['/api/events.ics', '/api/events.atom']) {
          const reply = await subject.ask(`${path}?${query}`, accept('text/xml'))
          expect([reply.status, reply.headers.get('content-type')]).toEqual([400, 'application/problem+json'])
          expect(reply.body).toContain(detail)
        }
      }
    })

    it.each([
      ['/api/events.ics', /UID:([^@]+)/g],
      ['/api/events.atom', /<entry><id>urn:uuid:([^<]+)/g],
    ])('list what /api/events would, by the same filters, without lists: on: %s', async (path, each) => {
      const uids = async (query: string): Promise<readonly string[]> =>
        Array.from((await subject.ask(`${path}?${query}`)).body.matchAll(each), ([, id = '']) => id)
      const all = await uids('')
      expect(all).toHaveLength(4)
      expect(all).toEqual(all.toSorted())
      expect(await uids('limit=2')).toEqual(all.slice(0, 2))
      expect(await uids('from=2036-07-13')).toEqual([])
      expect(await uids(`tag=DINNER&available=true&venue=${NEVER}`)).toEqual([])
      expect((await subject.ask('/api/events')).status).toBe(400)
      const { headers } = await subject.ask(`${path}?limit=2`)
      const [, next = ''] = /^<([^>]+)>; rel="next"$/.exec(headers.get('link') ?? '') ?? []
      const { status, body } = await subject.ask(next)
      expect([status, Array.from(body.matchAll(each), ([, id = '']) => id)]).toEqual([200, all.slice(2)])
    })

    it('are in the description of an instance that has them', async () => {
      const { paths } = JSON.parse((await subject.ask('/api/openapi.json')).body) as Described
      const typesAt = (path: string): readonly string[] => Object.keys(paths[path]?.get.responses['200'].content ?? {})
      expect(typesAt('/api/events.ics')).toEqual([CALENDAR])
      expect(typesAt('/api/events/{id}.ics')).toEqual([CALENDAR])
      expect(typesAt('/api/events.atom')).toEqual([ATOM])
      expect(typesAt('/api/events/{id}').slice(6)).toEqual([CALENDAR, JSON_LD])
      expect(typesAt('/api/venues/{id}')).toHaveLength(6)
      expect(paths['/api/events.ics']?.get.parameters.map(({ name }) => name)).toEqual([
        'from',
        'to',
        'venue',
        'tag',
        'available',
        'limit',
        'after',
      ])
    })

    it('know a venue only while it is served', async () => {
      expect((await subject.ask(`/api/events/${EVENT}.ics`)).body).toContain('LOCATION:Guildhall\\, London')
      expect((await subject.ask(`/api/events/${AT_CLOSED_VENUE}.ics`)).body).not.toContain('LOCATION')
      expect((await subject.ask(`/api/events/${WITHOUT_VENUE}`, accept(JSON_LD))).body).not.toContain('location')
    })
  })

  describe('feeds that are off (contract §6)', () => {
    it('leave every answer as it is, each alone too', async () => {
      const off = await start({}, LISTS)
      const jsonLd = await start({ feeds: { jsonLd: 'on' }, representation: { currency: 'GBP' } }, LISTS)
      try {
        for (const subject of [off, jsonLd]) {
          for (const [path, status] of [
            [`/api/events/${EVENT}.ics`, 400],
            ['/api/events.ics', 404],
            ['/api/events.atom', 404],
          ] as const) {
            const reply = await subject.ask(path, accept('application/xml'))
            expect([reply.status, reply.headers.get('content-type')]).toEqual([status, 'application/problem+xml'])
          }
          const asked = await subject.ask(`/api/events/${EVENT}`, accept(CALENDAR))
          expect(asked.headers.get('content-type')).toBe('application/json; charset=utf-8')
        }
        const plain = await off.ask(`/api/events/${EVENT}`, accept(JSON_LD))
        expect(plain.headers.get('content-type')).toBe('application/json; charset=utf-8')
      } finally {
        await Promise.all([off.stop(), jsonLd.stop()])
      }
    })
  })

  describe('feeds before the venues are known (contract §6)', () => {
    it('are 502 but for an event without a venue', async () => {
      const subject = await start({ ...FEEDS, limits: { waitFor: '5s' } }, { ...LISTS, venues: '{' })
      try {
        for (const [path, status] of [
          [`/api/events/${WITHOUT_VENUE}.ics`, 200],
          [`/api/events/${EVENT}.ics`, 502],
          [`/api/events/${AT_CLOSED_VENUE}.ics`, 502],
          ['/api/events.ics', 502],
          ['/api/events.atom', 502],
          [`/api/events/${NEVER}.ics`, 404],
        ] as const)
          expect([path, (await subject.ask(path)).status]).toEqual([path, status])
      } finally {
        await subject.stop()
      }
    })
  })

  describe('an event that ends after the year 9999 in UTC (contract §6)', () => {
    it('has no calendar, and takes no place in the limit of another', async () => {
      const row = { Name: 'A', Start: '2036-01-01T10:00', Finish: '2036-01-01T11:00', ShowOnWeb: true }
      const [endless, first, second] = [EVENT, WITHOUT_VENUE, NEVER]
      const events = [
        { ...row, Id: endless, Finish: '9999-12-31T23:59:59' },
        { ...row, Id: first, Start: '2036-01-01T10:01' },
        { ...row, Id: second, Start: '2036-01-01T10:02' },
      ]
      const settings = { ...FEEDS, lists: 'on', timeZone: 'America/New_York' }
      const subject = await start(settings, { events: JSON.stringify(events), venues: '[]' })
      try {
        expect((await subject.ask(`/api/events/${endless}.ics`)).status).toBe(404)
        const { body } = await subject.ask('/api/events.ics?limit=1')
        expect([...body.matchAll(/^UID:(.{36})/gm)].map(([, id]) => id)).toEqual([first])
        expect((await subject.ask('/api/events?limit=1')).body).toContain(endless)
      } finally {
        await subject.stop()
      }
    })
  })

  describe('feeds with conditional requests, and as records change (contract §6)', () => {
    it('answer 304, under another ETag once the event or its venue has changed', async () => {
      const settings = {
        ...FEEDS,
        conditionalRequests: true,
        listen: { basePath: '/on' },
        freshness: { maxAge: '0s', shrinkGuard: 'off' },
      }
      const subject = await start(settings, LISTS)
      try {
        const paths = [`/on/api/events/${EVENT}.ics`, '/on/api/events.ics', '/on/api/events.atom'] as const
        const tagsOf = async (): Promise<readonly string[]> =>
          Promise.all(paths.map(async (path) => (await subject.ask(path)).headers.get('etag') ?? ''))
        const before = await tagsOf()
        for (const [index, path] of paths.entries()) {
          const again = await subject.ask(path, { headers: [['If-None-Match', before[index] ?? '']] })
          expect([again.status, again.body]).toEqual([304, ''])
        }
        expect(await tagsOf()).toEqual(before)
        subject.directory.write('venues', (LISTS.venues ?? '').replace('Guildhall', 'Guildhall Yard'))
        const after = await tagsOf()
        for (const [index, tag] of after.entries()) expect(tag).not.toBe(before[index] ?? '')
        subject.directory.write('events', '[]')
        expect((await subject.ask(paths[0])).status).toBe(404)
        expect((await subject.ask(paths[1])).body).not.toContain('VEVENT')
        expect((await subject.ask(paths[2])).body).not.toContain('<entry>')
      } finally {
        await subject.stop()
      }
    })
  })

  describe('JSON-LD where nothing reads Price (contract §6)', () => {
    it('has no offer, so that nobody is told that it is free', async () => {
      const row = { Id: EVENT, Name: 'A', Start: '2036-01-01T10:00Z', Finish: '2036-01-01T10:00Z', ShowOnWeb: true }
      const mapped = (fields: object): object => ({ crm: { kind: 'files', directory: './crm', events: { fields } } })
      for (const [price, isOffered, settings] of [
        [{}, false, {}],
        [{ Price: null }, true, {}],
        [{ Price: '0' }, true, {}],
        [{ Price: '0' }, true, mapped({ Tags: null })],
        [{ Price: '0' }, false, mapped({ Price: null })],
        [{}, false, mapped({ Tags: null })],
      ] as const) {
        const events = JSON.stringify([{ ...row, ...price }])
        const subject = await start({ ...FEEDS, ...settings }, { events, venues: '[]' })
        try {
          const { body } = await subject.ask(`/api/events/${EVENT}`, accept(JSON_LD))
          expect([price, body.includes('"offers"'), body.includes('isAccessibleForFree')]).toEqual([
            price,
            isOffered,
            isOffered,
          ])
        } finally {
          await subject.stop()
        }
      }
    })
  })
}

interface Described {
  readonly paths: Readonly<Record<string, { readonly get: DescribedOperation } | undefined>>
}

interface DescribedOperation {
  readonly parameters: readonly { readonly name: string }[]
  readonly responses: { readonly '200': { readonly content: object } }
}

interface Rows {
  /** As they are written: a parser would lose the digits of their numbers. */
  readonly event: string
  readonly venue: string | null
}

function rowsIn(path: string): Rows {
  const [, event = '', venue = ''] = /^\{"event":(.*),\n"venue":(.*)\}\n$/.exec(readFileSync(path, 'utf8')) ?? []
  return { event, venue: venue === 'null' ? null : venue }
}

function idIn(row: string): string {
  return /"Id": "([^"]+)"/.exec(row)?.[1] ?? ''
}
