import { afterAll, beforeAll, describe, expect, it } from 'bun:test'
import { shapeSuffix } from './golden-cases.ts'
import { AT_CLOSED_VENUE, EVENT, LISTS, NEVER, VENUE } from './rows.ts'
import { accept, type Start, type Subject } from './subject.ts'

const DECLARATION = '<?xml version="1.0" encoding="utf-8"?>\n'
const OTHER = '11111111-0000-4000-8000-000000000001'

/** The venues of a page, in one request (contract §4.4). */
export function includedVenueSentences(start: Start): void {
  describe('include=venue (contract §4.4)', () => {
    let subject: Subject
    beforeAll(async () => {
      const venues = JSON.stringify([
        { Id: OTHER, Name: 'Corn & Exchange' },
        { Id: VENUE, Name: 'Guildhall', Latitude: '51.5158' },
        { Id: NEVER, Name: 'Named by nobody' },
      ])
      const rows = [
        row(1, OTHER),
        row(2, VENUE),
        row(3, null),
        row(4, OTHER),
        // A venue that is not served.
        row(5, AT_CLOSED_VENUE),
        row(6, VENUE),
      ]
      subject = await start({ lists: 'on', listen: { basePath: '/on' } }, { events: JSON.stringify(rows), venues })
    })
    afterAll(() => subject.stop())

    const bodies = async (type: string, ids: readonly string[], list: string): Promise<readonly string[]> =>
      Promise.all(ids.map(async (id) => (await subject.ask(`/on/api/${list}/${id}`, accept(type))).body))

    it('adds the served venues of the page, each once, in the order of their first event, byte for byte', async () => {
      const all = [1, 2, 3, 4, 5, 6].map(idAt)
      const self = 'include=venue'
      for (const [type, suffix] of shapeSuffix) {
        if (suffix === 'xml') continue
        const { status, body } = await subject.ask('/on/api/events?include=venue', accept(type))
        const events = await bodies(type, all, 'events')
        const venues = await bodies(type, [OTHER, VENUE], 'venues')
        expect([type, status, body]).toEqual([type, 200, pageOf(suffix, self, events, venues)])
      }
    })

    it("adds only the venues of this page's events, and comes before after in next", async () => {
      const asked = accept('application/hal+json')
      const first = await subject.ask('/on/api/events?include=venue&limit=1', asked)
      const page = JSON.parse(first.body) as Page
      expect(page._embedded.venue.map(({ Id }) => Id)).toEqual([OTHER])
      expect(page._links.self.href).toBe('/on/events?limit=1&include=venue')
      expect(page._links.next?.href).toMatch(/^\/on\/events\?limit=1&include=venue&after=[\w-]{39}$/)
      expect(first.headers.get('link')).toBe(`<${page._links.next?.href}>; rel="next"`)
      const second = JSON.parse((await subject.ask(page._links.next?.href ?? '', asked)).body) as Page
      expect(second._embedded.venue.map(({ Id }) => Id)).toEqual([VENUE])
    })

    it('adds an empty list if no event of the page has a served venue, or there is no event', async () => {
      for (const query of [`venue=${AT_CLOSED_VENUE}`, `venue=${EVENT}`]) {
        const plain = await subject.ask(`/on/api/events?${query}&include=venue`)
        expect(plain.body).toContain('],"Venues":[],"_links":')
        const hal = await subject.ask(`/on/api/events?${query}&include=venue`, accept('application/hal+json'))
        expect(hal.body).toEndWith('],"venue":[]}}')
        const xml = await subject.ask(`/on/api/events?${query}&include=venue`, accept('application/hal+xml'))
        expect(xml.body).not.toContain('rel="venue" href="/on/venues')
      }
    })

    it('is refused in plain XML, with another value, if repeated, and for venues', async () => {
      for (const type of ['application/xml', 'text/xml']) {
        const reply = await subject.ask('/on/api/events?include=venue', accept(type))
        expect([reply.status, reply.headers.get('content-type')]).toEqual([400, 'application/problem+xml'])
        expect(reply.body).toContain('include=venue takes application/json')
      }
      for (const query of ['include=', 'include=Venue', 'include=venues', 'include', 'include=venue&include=venue']) {
        const reply = await subject.ask(`/on/api/events?${query}`)
        expect([query, reply.status]).toEqual([query, 400])
        expect(reply.body).toContain('include')
      }
      const venues = await subject.ask('/on/api/venues?include=venue')
      expect([venues.status, venues.body.includes('Its parameters are limit and after.')]).toEqual([400, true])
    })

    it('changes no byte of a page without it', async () => {
      const { body } = await subject.ask('/on/api/events?limit=2')
      const events = await bodies('application/json', [1, 2].map(idAt), 'events')
      expect(body).toStartWith(`{"Events":[${events.join(',')}],"_links":[{"Rel":"self","Href":"~/events?limit=2"`)
    })

    it('changes the ETag if a venue of the page changes, but not if another one does', async () => {
      const asked = accept('application/hal+json')
      const path = '/on/api/events?include=venue&limit=1'
      const changing = await start({ lists: 'on', freshness: { maxAge: '0s' } }, { events: '[]', venues: '[]' })
      try {
        const tagOf = async (names: readonly string[]): Promise<string | undefined> => {
          changing.directory.write(
            'venues',
            JSON.stringify([
              { Id: VENUE, Name: names[0] },
              { Id: OTHER, Name: names[1] },
            ]),
          )
          return (await changing.ask(path.slice(3), asked)).headers.get('etag') ?? undefined
        }
        changing.directory.write('events', JSON.stringify([row(1, VENUE)]))
        const before = await tagOf(['Guildhall', 'Barn'])
        expect(await tagOf(['Guildhall', 'Barn, painted red'])).toBe(before)
        expect(await tagOf(['Guildhall Yard', 'Barn'])).not.toBe(before)
      } finally {
        await changing.stop()
      }
    })
  })

  describe('include=venue, before the venues are known (contract §4.4)', () => {
    it('is 502 if either list is too old, while a page of events alone is answered', async () => {
      const subject = await start({ lists: 'on', limits: { waitFor: '5s' } }, { ...LISTS, venues: '{' })
      try {
        expect((await subject.ask('/api/events')).status).toBe(200)
        const reply = await subject.ask('/api/events?include=venue')
        expect([reply.status, reply.headers.has('retry-after')]).toEqual([502, true])
        expect((await subject.ask('/api/events?include=venue', accept('text/xml'))).status).toBe(400)
      } finally {
        await subject.stop()
      }
    })
  })
}

interface Page {
  readonly _links: { readonly self: { readonly href: string }; readonly next?: { readonly href: string } }
  readonly _embedded: { readonly venue: readonly { readonly Id: string }[] }
}

function pageOf(suffix: string, query: string, events: readonly string[], venues: readonly string[]): string {
  if (suffix === 'json') {
    const self = `{"Rel":"self","Href":"~/events?${query}","Title":null,"IsTemplated":false}`
    return `{"Events":[${events.join(',')}],"Venues":[${venues.join(',')}],"_links":[${self}],"_embedded":null}`
  }
  if (suffix === 'hal.json')
    return `{"_links":{"self":{"href":"/on/events?${query}"}},"_embedded":{"event":[${events.join(',')}],"venue":[${venues.join(',')}]}}`
  const resources = [...events, ...venues].map((body) => `${body.slice(DECLARATION.length)}\n`)
  return `${DECLARATION}<resource rel="events" href="/on/events?${query}" name="events">\n${resources.join('')}</resource>`
}

function idAt(index: number): string {
  return `a0000000-0000-4000-8000-00000000000${index}`
}

function row(index: number, VenueId: string | null): object {
  const Start = `2036-07-1${index}T19:30:00Z`
  return { Id: idAt(index), Name: `Event ${index}`, VenueId, Start, Finish: Start, ShowOnWeb: true }
}
