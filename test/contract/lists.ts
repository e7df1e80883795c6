import { afterAll, beforeAll, describe, expect, it } from 'bun:test'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { ownHeaders } from '../support/reply.ts'
import { shapeSuffix } from './golden-cases.ts'
import { CANCELLED, DRAFT, EVENT, LISTS, VENUE } from './rows.ts'
import { accept, type Start, type Subject } from './subject.ts'

const GOLDEN = join(import.meta.dirname, '../golden/lists')

/** The path, and the name of its golden files. */
const PAGES = [
  [0, '/api/events', 'events-0'],
  [1, '/api/events', 'events-1'],
  [2, '/api/events', 'events-2'],
  [51, '/api/events', 'events-51'],
] as const

const REFUSED = [
  ['from=', 'from'],
  ['from=tomorrow', 'from'],
  ['from=0000-01-01', 'from'],
  ['from=10000-01-01', 'from'],
  ['from=2026-02-30', 'from'],
  ['from=2026-07-12T24:00Z', 'from'],
  ['from=2026-07-12T23:59:60Z', 'from'],
  ['from=2026-07-12T19:30:00', 'from'],
  ['from=2026-07-12%2019:30Z', 'from'],
  ['from=2026-07-12T19:30:00.12345678Z', 'from'],
  ['from=20260712', 'from'],
  ['from=2026-W28-7', 'from'],
  ['from=2026-07-12&from=2026-07-12', 'from'],
  ['to=2026-07-12t19:30Z', 'to'],
  ['from=2026-07-13&to=2026-07-12', 'to'],
  ['from=2026-07-13T00:00Z&to=2026-07-12T23:59:59.9999999Z', 'to'],
  ['venue=', 'venue'],
  ['venue=00000000-0000-0000-0000-000000000000', 'venue'],
  [`venue=${VENUE}&venue=x`, 'venue'],
  ['tag=', 'tag'],
  ['tag', 'tag'],
  ['tag=a&tag=', 'tag'],
  ['available=false', 'available'],
  ['available=TRUE', 'available'],
  ['available=', 'available'],
  ['available=true&available=true', 'available'],
  ['limit=0', 'limit'],
  ['limit=-1', 'limit'],
  ['limit=201', 'limit'],
  ['limit=1e9', 'limit'],
  ['limit=05', 'limit'],
  ['limit=+5', 'limit'],
  ['limit=5.0', 'limit'],
  ['limit=', 'limit'],
  ['limit=%zz', 'limit'],
  ['limit=5&limit=5', 'limit'],
  ['after=', 'after'],
  ['after=x', 'after'],
  ['after=EABKZI051MQAfgFqxlzuT9a-EvqjSmdh7xiNYuB', 'after'],
  ['after=ERhrMXkw_ErcrqT7Sjcqy8dpkzZF', 'after'],
  ['Limit=5', 'Limit'],
  ['%zz=5', '%zz'],
  ['=5', 'not a parameter'],
  ['page=2', 'page'],
  ['toString=1', 'toString'],
  [`tag=${'a'.repeat(9000)}`, 'tag'],
] as const

/** The additions of `lists: on` (contract §4). */
export function listSentences(start: Start): void {
  describe('lists (contract §4)', () => {
    let subject: Subject
    const EVENTS = Array.from({ length: 7 }, (_, index) => eventRow(index))
    beforeAll(async () => {
      const venues = JSON.stringify([{ Id: VENUE, Name: 'Guildhall' }, { Id: EVENT }])
      subject = await start({ lists: 'on', timeZone: 'Europe/London' }, { events: JSON.stringify(EVENTS), venues })
    })
    afterAll(() => subject.stop())

    const idsOf = async (query: string, list = 'events'): Promise<readonly number[]> => {
      const reply = await subject.ask(`/api/${list}?${query}`)
      expect([query, reply.status]).toEqual([query, 200])
      const page = JSON.parse(reply.body) as Record<string, readonly { readonly Id: string }[]>
      return (page[list === 'events' ? 'Events' : 'Venues'] ?? []).map(({ Id }) => Number(Id.slice(-2)))
    }

    it('answer to every spelling of their paths, and stay 400 with a second slash', async () => {
      for (const list of ['events', 'venues']) {
        const { body, headers } = await subject.ask(`/api/${list}`)
        const upper = `/API/${list.toUpperCase()}`
        for (const path of [`/api/${list}/`, `/${list}`, `/${list}/`, upper, `/x/../api/${list}?`, `/${list}?&&`]) {
          const reply = await subject.ask(path)
          expect([path, reply.status, reply.body]).toEqual([path, 200, body])
          expect(reply.headers.get('etag')).toBe(headers.get('etag') ?? '-')
        }
        for (const path of [`/api/${list}//`, `/${list}//`]) expect((await subject.ask(path)).status).toBe(400)
      }
    })

    it('contain the served events that have not ended, by Start, then Id', async () => {
      expect(await idsOf('')).toEqual([2, 1, 3, 4, 5, 6])
      expect(await idsOf('from=0001-01-01')).toEqual([0, 2, 1, 3, 4, 5, 6])
      expect(await idsOf('', 'venues')).toHaveLength(2)
    })

    it('accept whole days of the configured zone, and moments with a precision of 100 ns', async () => {
      // Event 3 starts at 23:30 in London, 22:30 UTC, on 12 July, and ends at 00:30 the next day.
      expect(await idsOf('from=2036-07-12&to=2036-07-12')).toEqual([2, 1, 3])
      expect(await idsOf('from=2036-07-13&to=2036-07-13')).toEqual([3, 4])
      expect(await idsOf('to=2036-07-12T22:30Z&from=2036-07-12')).toEqual([2, 1])
      expect(await idsOf('to=2036-07-12T22:30:00.0000001Z&from=2036-07-12')).toEqual([2, 1, 3])
      expect(await idsOf('to=2036-07-12T23:30:00.0000001+01:00&from=2036-07-12')).toEqual([2, 1, 3])
      // An event that ends at `from` is included; 100 ns later it is not. Event 4 ends at .1234567.
      expect(await idsOf('from=2036-07-13T10:00:00.1234567Z&to=2036-07-13')).toEqual([4])
      expect(await idsOf('from=2036-07-13T10:00:00.1234568Z&to=2036-07-13')).toEqual([])
      expect(await idsOf('from=2036-07-13T10:00:00.123Z&to=2036-07-13')).toEqual([4])
      expect(await idsOf('from=2036-07-13T10:00:00.124Z&to=2036-07-13')).toEqual([])
    })

    it('treat an event that ends before its start as over at its start', async () => {
      expect(await idsOf('from=2036-07-14T12:00Z&to=2036-07-14')).toEqual([5])
      expect(await idsOf('from=2036-07-14T12:00:00.0000001Z&to=2036-07-14')).toEqual([])
    })

    it('are filtered by venues, tags in any case, and tickets', async () => {
      expect(await idsOf(`venue=${VENUE}`)).toEqual([2, 4, 6])
      expect(await idsOf(`venue=%7B${VENUE.toUpperCase()}%7D&venue=${EVENT}`)).toEqual([2, 1, 4, 6])
      expect(await idsOf(`venue=${DRAFT}`)).toEqual([])
      expect(await idsOf('tag=CAF%C3%89')).toEqual([2, 1, 3])
      expect(await idsOf('tag=caf%c3%a9&tag=STRASSE+7')).toEqual([2, 1, 3, 5])
      expect(await idsOf('tag=caf')).toEqual([])
      expect(await idsOf('available=true')).toEqual([2, 4, 6])
      expect(await idsOf(`available=true&tag=%63af%C3%A9&venue=${VENUE}`)).toEqual([2])
    })

    it('refuse invalid parameters with 400 and a sentence that names them', async () => {
      for (const [query, name] of REFUSED) {
        const reply = await subject.ask(`/api/events?${query}`)
        expect([query, reply.status]).toEqual([query, 400])
        const problem = JSON.parse(reply.body) as { readonly detail: string; readonly instance: string }
        expect(problem.detail).toContain(name)
        expect(problem.detail).toMatch(/^\S.*\.$/)
        expect(problem.instance).toBe('/api/events')
        expect(reply.headers.get('cache-control')).toBe('max-age=5')
      }
    })

    it('refuse a query of more than 4,000 characters, and one whose next would be longer, on an empty page too', async () => {
      // The addition of `next`: `&after=` and 39 characters.
      const longest = 4000 - 'tag=&after='.length - 39
      const repeated = 'tag=a&'.repeat(666)
      for (const [query, status] of [
        [`${repeated}&&&&`, 200],
        [`${repeated}&&&&&`, 400],
        [`tag=${'a'.repeat(longest)}`, 200],
        [`tag=${'a'.repeat(longest + 1)}`, 400],
        [`tag=${'+'.repeat(Math.floor(longest / 3))}`, 200],
        [`tag=${'+'.repeat(Math.floor(longest / 3) + 1)}`, 400],
        [`tag=${'+'.repeat(3400)}`, 400],
        [`limit=1&tag=caf%C3%A9&tag=${'%C3%A9'.repeat(700)}`, 400],
      ] as const) {
        const reply = await subject.ask(`/api/events?${query}`)
        expect([query.slice(-50), query.length, reply.status]).toEqual([query.slice(-50), query.length, status])
        if (status === 400) expect(reply.body).toContain('4,000 characters')
      }
      expect((await subject.ask(`/api/venues?${'&'.repeat(4000)}`)).status).toBe(200)
      expect((await subject.ask(`/api/venues?${'&'.repeat(4001)}`)).status).toBe(400)
      // Other resources ignore the query.
      expect((await subject.ask(`/api/venues/${VENUE}?${'&'.repeat(4001)}`)).status).toBe(200)
    })

    it('quote in a refusal only what the caller wrote', async () => {
      for (const type of ['application/json', 'text/xml']) {
        const { body } = await subject.ask(
          `/api/events?limit=a${encodeURIComponent('\u{1f3ad}'.repeat(30))}`,
          accept(type),
        )
        expect(body).toContain(`a${'\u{1f3ad}'.repeat(19)}…`)
      }
    })

    it('accept only limit and after for venues', async () => {
      for (const query of ['from=2036-07-12', `venue=${VENUE}`, 'tag=a', 'available=true', 'to=2036-07-12']) {
        const reply = await subject.ask(`/venues?${query}`, accept('text/xml'))
        expect([reply.status, reply.headers.get('content-type')]).toEqual([400, 'application/problem+xml'])
        expect(reply.body).toContain('Its parameters are limit and after.')
      }
      const { body } = await subject.ask('/api/venues?limit=1')
      const [, after = ''] = /after=([\w-]+)/.exec(body) ?? []
      expect((await subject.ask(`/api/events?after=${after}`)).status).toBe(400)
      expect((await subject.ask(`/api/venues?limit=1&after=${after}`)).status).toBe(200)
    })

    it('repeat the parameters in links, in order, without duplicates, percent-encoded', async () => {
      const query = `limit=1&tag=Caf%c3%a9&tag=Caf%C3%A9&tag=caf%C3%A9&venue={${VENUE.toUpperCase()}}&available=true&from=2036-07-12T00:00+01:00&to=2036-07-14&venue=${VENUE}`
      const named = `from=2036-07-12T00%3A00%2B01%3A00&to=2036-07-14&venue=${VENUE}&tag=Caf%C3%A9&tag=caf%C3%A9&available=true&limit=1`
      const reply = await subject.ask(`/api/events?${query}`, accept('application/hal+json'))
      expect((JSON.parse(reply.body) as Hal)._links).toEqual({ self: { href: `/events?${named}` } })
      const first = await subject.ask('/events?limit=2', accept('application/hal+json'))
      const { next } = (JSON.parse(first.body) as Hal)._links
      expect(next?.href).toMatch(/^\/events\?limit=2&after=[\w-]{39}$/)
      expect(first.headers.get('link')).toBe(`<${next?.href}>; rel="next"`)
      const second = await subject.ask(next?.href ?? '', accept('application/hal+json'))
      expect((JSON.parse(second.body) as Hal)._links.self.href).toBe(next?.href ?? '')
    })

    it('are complete if all next links are followed, in each shape', async () => {
      for (const type of shapeSuffix.keys()) {
        for (const limit of [1, 2, 3]) {
          let path: string | undefined = `/events?limit=${limit}`
          const seen: string[] = []
          while (path !== undefined) {
            const reply: Awaited<ReturnType<Subject['ask']>> = await subject.ask(path, accept(type))
            expect([path, reply.status]).toEqual([path, 200])
            seen.push(
              ...Array.from(reply.body.matchAll(/"Id":"([^"]+)"|<Id>([^<]+)</g), ([, json, xml]) => json ?? xml ?? ''),
            )
            path = /^<([^>]+)>; rel="next"$/.exec(reply.headers.get('link') ?? '')?.[1]
          }
          expect(seen.map((id) => Number(id.slice(-2)))).toEqual([2, 1, 3, 4, 5, 6])
        }
      }
    })

    it('have the headers of a record, and Link if there is more, also for HEAD', async () => {
      for (const type of shapeSuffix.keys()) {
        const record = await subject.ask(`/api/events/${idAt(2)}`, accept(type))
        const page = await subject.ask('/api/events?limit=1', accept(type))
        expect(Object.keys(ownHeaders(page)).filter((name) => name !== 'link')).toEqual(Object.keys(ownHeaders(record)))
        expect(page.headers.get('content-type')).toBe(`${type}; charset=utf-8`)
        const head = await subject.ask('/api/events?limit=1', { ...accept(type), method: 'HEAD' })
        const { age: _, 'cache-control': __, ...own } = ownHeaders(head)
        const { age: ___, 'cache-control': ____, ...same } = ownHeaders(page)
        expect(own).toEqual(same)
        expect(head.body).toBe('')
        expect((await subject.ask('/api/events?limit=200', accept(type))).headers.has('link')).toBe(false)
      }
    })

    it('contain each record in the bytes of its own representation', async () => {
      for (const [type, suffix] of shapeSuffix) {
        const { body } = await subject.ask('/api/events', accept(type))
        for (const index of [1, 2, 3]) {
          const record = await subject.ask(`/api/events/${idAt(index)}`, accept(type))
          expect(body).toContain(
            suffix === 'hal.xml' ? `${record.body.slice(record.body.indexOf('\n') + 1)}\n` : record.body,
          )
        }
      }
    })

    it('answer OPTIONS and 405 for any query', async () => {
      const options = await subject.ask('/api/events?limit=0', { method: 'OPTIONS' })
      expect([options.status, options.headers.get('allow')]).toEqual([204, 'GET, HEAD, OPTIONS'])
      const post = await subject.ask('/api/venues?limit=0', { method: 'POST' })
      expect([post.status, post.headers.get('allow')]).toEqual([405, 'GET, HEAD, OPTIONS'])
    })

    it('ignore If-None-Match', async () => {
      const { headers } = await subject.ask('/api/events')
      const again = await subject.ask('/api/events', { headers: [['If-None-Match', headers.get('etag') ?? '']] })
      expect([again.status, again.headers.get('etag')]).toEqual([200, headers.get('etag') ?? ''])
    })
  })

  describe('lists, byte for byte (contract §4.2)', () => {
    it.each(PAGES)('of %d events', async (count, path, name) => {
      const settings = { lists: 'on', timeZone: 'Europe/London', representation: { namespace: 'EventsApi' } }
      const events = readFileSync(join(GOLDEN, `${name}.rows.json`), 'utf8')
      const subject = await start(settings, { events, venues: '[]' })
      try {
        for (const [type, suffix] of shapeSuffix) {
          const reply = await subject.ask(path, accept(type))
          expect(reply.body).toBe(readFileSync(join(GOLDEN, `${name}.${suffix}`), 'utf8'))
          const next = /^<(.+)>; rel="next"$/.exec(reply.headers.get('link') ?? '')?.[1]
          expect(next === undefined).toBe(count <= 50)
          if (next === undefined) continue
          const second = await subject.ask(next, accept(type))
          expect(second.body).toBe(readFileSync(join(GOLDEN, `${name}-page-2.${suffix}`), 'utf8'))
        }
      } finally {
        await subject.stop()
      }
    })
  })

  describe('lists, requested before the first read (contract §1.2)', () => {
    it('answer 502 with Retry-After, and 400 and 404 before it', async () => {
      const subject = await start({ lists: 'on', limits: { waitFor: '50ms' } }, null)
      try {
        for (const path of ['/api/events', '/venues/', '/events?tag=a']) {
          const reply = await subject.ask(path)
          expect([path, reply.status]).toEqual([path, 502])
          expect(reply.headers.get('retry-after')).toMatch(/^[1-9]\d*$/)
        }
        expect((await subject.ask('/api/events?limit=0')).status).toBe(400)
        expect((await subject.ask('/api/event?limit=0')).status).toBe(404)
      } finally {
        await subject.stop()
      }
    })
  })

  describe('lists, with conditional requests and a base path (contract §4)', () => {
    it('answer 304, and link under the base path', async () => {
      const settings = { lists: 'on', conditionalRequests: true, listen: { basePath: '/on' } }
      const subject = await start(settings, LISTS)
      try {
        const first = await subject.ask('/on/api/events?limit=1', accept('application/hal+xml'))
        expect(first.headers.get('link')).toMatch(/^<\/on\/events\?limit=1&after=/)
        expect(first.body).toContain('<resource rel="events" href="/on/events?limit=1" name="events">')
        const ifNoneMatch = ['If-None-Match', first.headers.get('etag') ?? ''] as const
        const headers = [ifNoneMatch, ['Accept', 'application/hal+xml']] as const
        const again = await subject.ask('/on/api/events?limit=1', { headers })
        expect([again.status, again.body]).toEqual([304, ''])
        expect((await subject.ask('/api/events')).status).toBe(404)
        const all = await subject.ask('/on/events?from=0001-01-01')
        for (const id of [DRAFT, CANCELLED]) expect(all.body).not.toContain(id)
      } finally {
        await subject.stop()
      }
    })
  })
}

interface Hal {
  readonly _links: { readonly self: { readonly href: string }; readonly next?: { readonly href: string } }
}

function idAt(index: number): string {
  // Of two events that start together, 2 comes before 1.
  return `${index === 1 ? 'b' : 'a'}0000000-0000-4000-8000-00000000000${index}`
}

function eventRow(index: number): object {
  const day = 12 + Math.max(0, index - 3)
  const starts = [
    '2016-07-12T19:30:00+01:00',
    '2036-07-12T19:30:00+01:00',
    '2036-07-12T18:30:00Z',
    '2036-07-12T23:30:00+01:00',
  ]
  const finishes = ['2016-07-12T20:30:00+01:00', '2036-07-12T20:00:00Z', '2036-07-12T20:00:00Z', '2036-07-12T23:30:00Z']
  const tags = [['Café'], ['café', 'Talk'], ['CAFÉ'], ['Café', 'Talk'], ['Talk'], ['Straße 7'], []]
  return {
    Id: idAt(index),
    Name: `Event ${index}`,
    VenueId: index % 2 === 0 ? VENUE : index === 1 ? EVENT : null,
    TicketsAvailable: index % 2 === 0 ? 3 : 0,
    Start: starts[index] ?? (index === 5 ? '2036-07-14T12:00:00Z' : `2036-07-${day}T09:00:00Z`),
    Finish: finishes[index] ?? (index === 5 ? '2036-07-14T11:00:00Z' : `2036-07-${day}T10:00:00.1234567Z`),
    Price: 1,
    Tags: tags[index] ?? [],
    ShowOnWeb: true,
  }
}
