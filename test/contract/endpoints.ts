import { describe, expect, it } from 'bun:test'
import { ownHeaders } from '../support/reply.ts'
import * as rows from './rows.ts'
import type { Subject } from './subject.ts'

const { EVENT, VENUE, NEVER } = rows

const OF_RECORDS = [
  [`/api/events/${EVENT}`, EVENT],
  [`/api/events/${EVENT}/venue`, VENUE],
  [`/api/venues/${VENUE}`, VENUE],
] as const

const NOT_OURS = [
  '/',
  '/api',
  '/api/',
  '/api/api/events/x',
  '/apievents',
  '/eventsx',
  `/events${EVENT}`,
  `/xevents/${EVENT}`,
  `/api//events/${EVENT}`,
  `//api/events/${EVENT}`,
  `/http://x/api/events/${EVENT}`,
  `/api/events/${EVENT}/`.concat('/'),
  `/api/venues/${VENUE}//`,
  '/api/events///',
  `/api/events/${EVENT}/venues`,
  `/api/events/${EVENT}/venue/x`,
  `/api/events/${EVENT}/venue//`,
  `/api/venues/${VENUE}/venue`,
  '/favicon.ico',
]

export function endpointSentences(subject: () => Subject): void {
  describe('endpoints (contract §1)', () => {
    for (const [path, id] of OF_RECORDS) {
      it(`serves ${path.replaceAll(/[0-9a-f-]{36}/g, '{id}')} with and without /api`, async () => {
        const reply = await subject().ask(path)
        expect(reply.status).toBe(200)
        expect(JSON.parse(reply.body)).toMatchObject({ Id: id })
        const alias = await subject().ask(path.slice('/api'.length))
        expect(alias.body).toBe(reply.body)
        expect(alias.headers.get('etag')).toBe(reply.headers.get('etag'))
      })

      it(`reads ${path.replaceAll(/[0-9a-f-]{36}/g, '{id}')} in any case, with a trailing slash and any query`, async () => {
        const { body } = await subject().ask(path)
        const queries = ['?', '?a=b', '?/venue', '/?x', '?http://x/y', '?%zz&<>"', '#x', '?#']
        for (const target of [path.toUpperCase(), `${path}/`, ...queries.map((query) => `${path}${query}`)]) {
          const reply = await subject().ask(target)
          expect([target, reply.status, reply.body]).toEqual([target, 200, body])
        }
      })
    }

    it('parses the path as browsers do: dot segments, backslashes', async () => {
      const same = [
        '/a/../api/./events/',
        '/api/x/%2e%2E/events/',
        '\\api\\events\\',
        '/../../api/events/',
        '/api/y/.%2e\\events/',
      ]
      for (const before of same) {
        const target = before.startsWith('\\') ? `/${before.slice(1)}` : before
        expect([target, (await subject().ask(`${target}${EVENT}`)).status]).toEqual([target, 200])
      }
      expect((await subject().ask(`/api/events/${EVENT}/../${NEVER}`)).status).toBe(404)
    })

    it('percent-decodes the id and nothing else', async () => {
      const encoded = `%${EVENT.charCodeAt(0).toString(16)}${EVENT.slice(1)}`
      expect((await subject().ask(`/api/events/${encoded}`)).status).toBe(200)
      for (const target of [`/api/%65vents/${EVENT}`, `/api/events/${EVENT}/%76enue`, `/api%2Fevents/${EVENT}`]) {
        expect([target, (await subject().ask(target)).status]).toEqual([target, 404])
      }
      expect((await subject().ask(`/api/events/${EVENT}%2Fvenue`)).status).toBe(400)
    })

    it('answers 404 on any other path, with or without an id', async () => {
      for (const target of NOT_OURS) expect([target, (await subject().ask(target)).status]).toEqual([target, 404])
    })

    it('answers 404 for records that are not active, not shown, or do not exist (§1.2)', async () => {
      const events = [rows.DRAFT, rows.CANCELLED, NEVER].flatMap((id) => [`/events/${id}`, `/events/${id}/venue`])
      const venues = [rows.CLOSED_VENUE, NEVER, EVENT].map((id) => `/venues/${id}`)
      const without = [rows.WITHOUT_VENUE, rows.AT_CLOSED_VENUE, rows.AT_UNKNOWN_VENUE].map(
        (id) => `/events/${id}/venue`,
      )
      for (const target of [...events, ...venues, ...without]) {
        expect([target, (await subject().ask(`/api${target}`)).status]).toEqual([target, 404])
      }
    })

    it('serves an event without a venue, or with a closed or unknown one', async () => {
      for (const id of [rows.WITHOUT_VENUE, rows.AT_CLOSED_VENUE, rows.AT_UNKNOWN_VENUE]) {
        expect((await subject().ask(`/api/events/${id}`)).status).toBe(200)
      }
    })

    it('ignores If-None-Match, If-Modified-Since and Range (§1.2)', async () => {
      const plain = await subject().ask(`/api/events/${EVENT}`)
      const headers = [
        ['If-None-Match', plain.headers.get('etag') ?? ''],
        ['If-Modified-Since', 'Fri, 31 Dec 2100 23:59:59 GMT'],
        ['Range', 'bytes=0-1'],
      ] as const
      const reply = await subject().ask(`/api/events/${EVENT}`, { headers })
      expect([reply.status, reply.body]).toEqual([200, plain.body])
      expect(Object.keys(ownHeaders(reply))).toEqual(Object.keys(ownHeaders(plain)))
    })
  })
}
