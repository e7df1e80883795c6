import { describe, expect, it } from 'bun:test'
import { eventually } from '../support/eventually.ts'
import type { Reply } from '../support/reply.ts'
import { ownHeaders } from '../support/reply.ts'
import { AT_CLOSED_VENUE, EVENT, LISTS, NEVER, VENUE, WITHOUT_VENUE } from './rows.ts'
import { accept, type Start, type Subject } from './subject.ts'

const QUICK = { freshness: { maxAge: '300ms', refreshEvery: '50ms' } }
const ASKED = [`/api/events/${EVENT}`, `/api/events/${NEVER}`, `/api/events/${EVENT}/venue`, `/api/venues/${VENUE}`]

export function freshnessSentences(start: Start): void {
  describe('freshness (contract §1.2, §1.3)', () => {
    async function using(settings: object, lists: typeof LISTS | null, work: (subject: Subject) => Promise<void>) {
      const subject = await start({ ...settings }, lists)
      try {
        await work(subject)
      } finally {
        await subject.stop()
      }
    }

    function expectUnavailable(reply: Reply): void {
      expect(reply.status).toBe(502)
      expect(reply.headers.get('cache-control')).toBe('no-store')
      expect(reply.headers.get('retry-after')).toMatch(/^[1-9]\d*$/)
      expect(reply.headers.has('etag') || reply.headers.has('age')).toBe(false)
      expect(JSON.parse(reply.body)).toMatchObject({ title: 'Bad Gateway', status: 502 })
      // Nothing about the CRM: neither its location nor the error (§1.5).
      expect(reply.body).not.toMatch(/crm\/|json"|ENOENT|directory|Error/i)
    }

    it('answers 502 with Retry-After while the CRM is missing, except for answers that need no CRM, and recovers by itself', () =>
      using(QUICK, null, async (subject) => {
        for (const target of ASKED) expectUnavailable(await subject.ask(target))
        const xml = await subject.ask(`/api/events/${EVENT}`, accept('text/xml'))
        expect([xml.status, xml.headers.get('content-type')]).toEqual([502, 'application/problem+xml'])
        const without = ['/nothing', '/api/events/null', '/api/events//venue'].map(
          async (target) => (await subject.ask(target)).status,
        )
        expect(await Promise.all(without)).toEqual([404, 400, 400])
        expect((await subject.ask(`/api/events/${EVENT}`, { method: 'POST' })).status).toBe(405)
        expect((await subject.ask(`/api/events/${EVENT}`, { method: 'OPTIONS' })).status).toBe(204)
        const head = await subject.ask(`/api/events/${EVENT}`, { method: 'HEAD' })
        expect([head.status, head.headers.has('retry-after'), head.body]).toEqual([502, true, ''])

        subject.directory.write('venues', LISTS.venues ?? '')
        subject.directory.write('events', LISTS.events ?? '')
        for (const target of ASKED) {
          const expected = target.includes(NEVER) ? 404 : 200
          await eventually(
            () => subject.ask(target),
            ({ status }) => status === expected,
          )
        }
      }))

    it('broken venues do not affect events: only answers that need a venue are 502', () =>
      using(QUICK, LISTS, async (subject) => {
        await eventually(
          () => subject.ask(`/api/venues/${VENUE}`),
          ({ status }) => status === 200,
        )
        subject.directory.write('venues', '[{')
        expectUnavailable(
          await eventually(
            () => subject.ask(`/api/venues/${VENUE}`),
            ({ status }) => status === 502,
          ),
        )
        for (const id of [EVENT, AT_CLOSED_VENUE]) expectUnavailable(await subject.ask(`/api/events/${id}/venue`))
        // The events' refresh may be late on a busy machine. The venues stay broken anyway.
        const stillAnswered = { [EVENT]: 200, [`${WITHOUT_VENUE}/venue`]: 404, [`${NEVER}/venue`]: 404 }
        for (const [target, expected] of Object.entries(stillAnswered)) {
          await eventually(
            () => subject.ask(`/api/events/${target}`),
            ({ status }) => status === expected,
          )
        }
        subject.directory.write('venues', LISTS.venues ?? '')
        await eventually(
          () => subject.ask(`/api/events/${EVENT}/venue`),
          ({ status }) => status === 200,
        )
      }))

    it('a list that has become unreadable is served until the maximum age, then 502', () =>
      using({ freshness: { maxAge: '5s', refreshEvery: '50ms' } }, LISTS, async (subject) => {
        await eventually(
          () => subject.ask(`/api/events/${EVENT}`),
          ({ status }) => status === 200,
        )
        subject.directory.write('events', '')
        const seen = new Set<string>()
        await eventually(
          async () => {
            const reply = await subject.ask(`/api/events/${EVENT}`)
            seen.add(`${reply.status}`)
            if (reply.status === 200) expect(Number(reply.headers.get('age'))).toBeLessThanOrEqual(5)
            return reply
          },
          ({ status }) => status === 502,
        )
        expect([...seen]).toEqual(['200', '502'])
      }))

    it('a maximum age of 0 shows the present files to each request, and prevents caching', () =>
      using({ freshness: { maxAge: 0, shrinkGuard: 'off' } }, LISTS, async (subject) => {
        const reply = await subject.ask(`/api/events/${EVENT}`)
        expect(ownHeaders(reply)).toMatchObject({
          'cache-control': 'no-cache',
          age: expect.stringMatching(/^\d+$/) as unknown,
        })
        expect((await subject.ask(`/api/events/${NEVER}`)).headers.get('cache-control')).toBe('no-cache')
        expect((await subject.ask('/nothing')).headers.get('cache-control')).toBe('no-cache')
        subject.directory.write('events', '[]')
        expect((await subject.ask(`/api/events/${EVENT}`)).status).toBe(404)
        subject.directory.write('events', LISTS.events ?? '')
        expect((await subject.ask(`/api/events/${EVENT}`)).status).toBe(200)
      }))

    it('a maximum age below a second is 0 for caches', () =>
      using({ freshness: { maxAge: '900ms' } }, LISTS, async (subject) => {
        const reply = await eventually(
          () => subject.ask(`/api/events/${EVENT}`),
          ({ status }) => status === 200,
        )
        expect(reply.headers.get('cache-control')).toBe('no-cache')
      }))
  })
}
