import { afterAll, beforeAll, describe, expect, it } from 'bun:test'
import { EVENT, LISTS, VENUE } from './rows.ts'
import { accept, type Start, type Subject } from './subject.ts'

const LINK = { rel: 'tickets', href: '~/book/{Id}?at={Start}{&seat}', title: 'Book' }

export function basePathSentences(start: Start, hasLists = false): void {
  describe('a base path (contract §1, §2.1)', () => {
    let subject: Subject
    beforeAll(async () => {
      const settings = { listen: { basePath: '/What’s On/v1' }, representation: { links: { event: [LINK] } } }
      subject = await start(settings, LISTS)
    })
    afterAll(() => subject.stop())
    const BASE = '/What%E2%80%99s%20On/v1'

    it('comes before every path, in any case, and other paths are 404', async () => {
      for (const base of [BASE, BASE.toLowerCase(), BASE.toUpperCase(), '/x/..' + BASE]) {
        for (const path of [`/api/events/${EVENT}`, `/events/${EVENT}/venue/`, `/venues/${VENUE}?x`]) {
          expect([base, path, (await subject.ask(base + path)).status]).toEqual([base, path, 200])
        }
      }
      const outside = [
        `/api/events/${EVENT}`,
        `/events/${EVENT}`,
        BASE,
        `${BASE}/`,
        `${BASE}x/events/${EVENT}`,
        `/a${BASE}/events/${EVENT}`,
      ]
      for (const target of outside) expect([target, (await subject.ask(target)).status]).toEqual([target, 404])
      expect((await subject.ask(`${BASE}/events`)).status).toBe(hasLists ? 200 : 400)
    })

    it('is in the paths that a 404 names, including lists if they are on', async () => {
      const lists = hasLists ? `${BASE}/api/events, ${BASE}/api/venues, ` : ''
      const records = `${BASE}/api/events/{id}, ${BASE}/api/events/{id}/venue or ${BASE}/api/venues/{id}`
      const detail = `There is nothing here. Try ${lists}${records}.`
      for (const path of ['/', `${BASE}/nothing`, '/api/events']) {
        expect(JSON.parse((await subject.ask(path)).body)).toMatchObject({ status: 404, detail })
      }
      if (hasLists) return
      const off = `Lists are off on this service. Ask for one event by its id: ${BASE}/api/events/{id}.`
      expect(JSON.parse((await subject.ask(`${BASE}/events`)).body)).toMatchObject({ status: 400, detail: off })
    })

    it('is in the links of both HAL formats, which work', async () => {
      const reply = await subject.ask(`${BASE}/api/events/${EVENT}`, accept('application/hal+json'))
      const { _links: links } = JSON.parse(reply.body) as { _links: Record<string, { href: string }> }
      expect(links['self']?.href).toBe(`${BASE}/events/${EVENT}`)
      expect((await subject.ask(links['self']?.href ?? '', accept('application/hal+json'))).body).toBe(reply.body)
      expect(JSON.parse((await subject.ask(links['venue']?.href ?? '')).body)).toMatchObject({ Id: VENUE })
      const xml = await subject.ask(`${BASE}/api/events/${EVENT}`, accept('application/hal+xml'))
      expect(xml.body).toContain(`<resource rel="event" href="${BASE}/events/${EVENT}" name="event">`)
      expect(xml.body).toContain(`<link rel="venue" href="${BASE}/events/${EVENT}/venue" />`)
    })

    it('is not in the links of plain JSON and XML, which keep ~/', async () => {
      const json = await subject.ask(`${BASE}/api/events/${EVENT}`)
      expect(json.body).toContain(`{"Rel":"self","Href":"~/events/${EVENT}","Title":null,"IsTemplated":false}`)
      const xml = await subject.ask(`${BASE}/api/events/${EVENT}`, accept('text/xml'))
      expect(xml.body).toContain(
        `<Link><Href>~/events/${EVENT}/venue</Href><Rel>venue</Rel><Title i:nil="true" /></Link>`,
      )
    })

    it("precedes the operator's links, which come last, with fields filled in and other names left as a template", async () => {
      const href = `~/book/${EVENT}?at=2036-07-12T18%3A30%3A00%2B00%3A00{&seat}`
      const json = JSON.parse((await subject.ask(`${BASE}/events/${EVENT}`)).body) as { _links: unknown[] }
      expect(json._links.at(-1)).toEqual({ Rel: 'tickets', Href: href, Title: 'Book', IsTemplated: true })
      const hal = JSON.parse(
        (await subject.ask(`${BASE}/events/${EVENT}`, accept('application/hal+json'))).body,
      ) as object
      const tickets = { href: `${BASE}${href.slice(1)}`, templated: true, title: 'Book' }
      expect(hal).toMatchObject({ _links: { tickets } })
    })

    it('is not part of the namespace, which is Marquee by default (§3)', async () => {
      const xml = await subject.ask(`${BASE}/venues/${VENUE}`, accept('application/xml'))
      expect(xml.body).toStartWith(
        '<VenueRepresentation xmlns:i="http://www.w3.org/2001/XMLSchema-instance" xmlns="http://schemas.datacontract.org/2004/07/Marquee.Representations.V1">',
      )
    })
  })
}
