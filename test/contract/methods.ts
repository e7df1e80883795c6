import { describe, expect, it } from 'bun:test'
import type { Reply } from '../support/reply.ts'
import { ownHeaders } from '../support/reply.ts'
import { EVENT, NEVER, VENUE } from './rows.ts'
import type { Subject } from './subject.ts'

const METHODS = 'GET, HEAD, OPTIONS'
const OURS = [`/api/events/${EVENT}`, `/events/${NEVER}/venue`, `/api/venues/${VENUE}`, '/api/events/null', '/venues']

export function methodSentences(subject: () => Subject): void {
  describe('methods (contract §1.2)', () => {
    it('answers HEAD with the headers of GET and no body, for any status', async () => {
      for (const target of [...OURS, '/nothing']) {
        for (const accept of ['application/json', 'application/xml', 'application/hal+json', 'application/hal+xml']) {
          const headers = [['Accept', accept]] as const
          const got = await subject().ask(target, { headers })
          const headed = await subject().ask(target, { method: 'HEAD', headers })
          // The data may have grown a second older in between.
          const still = (reply: Reply): unknown => ({ ...ownHeaders(reply), age: '', 'cache-control': '' })
          expect([headed.status, still(headed)]).toEqual([got.status, still(got)])
          expect(Object.keys(ownHeaders(headed))).toEqual(Object.keys(ownHeaders(got)))
          expect(headed.headers.has('date')).toBe(got.headers.has('date'))
          expect(headed.headers.get('content-length')).toBe(String(got.bytes.length))
          expect(headed.bytes).toHaveLength(0)
        }
      }
    })

    it('answers OPTIONS on our paths with 204, also a CORS preflight and with a malformed id', async () => {
      const preflight = [
        ['Origin', 'https://elsewhere.example'],
        ['Access-Control-Request-Method', 'GET'],
        ['Access-Control-Request-Headers', 'x-anything'],
      ] as const
      for (const target of OURS) {
        for (const headers of [[], preflight]) {
          const reply = await subject().ask(target, { method: 'OPTIONS', headers })
          expect([reply.status, reply.body]).toEqual([204, ''])
          expect(ownHeaders(reply)).toEqual({
            'access-control-allow-headers': '*',
            'access-control-allow-methods': METHODS,
            'access-control-allow-origin': '*',
            'access-control-expose-headers': 'ETag, Age, Link, Retry-After',
            'access-control-max-age': '86400',
            allow: METHODS,
            vary: 'Accept',
            'x-content-type-options': 'nosniff',
          })
        }
      }
    })

    it('answers 405 with Allow to any other method', async () => {
      for (const method of ['POST', 'PUT', 'PATCH', 'DELETE', 'TRACE', 'PROPFIND', 'QUERY']) {
        for (const target of OURS) {
          const reply = await subject().ask(target, { method })
          expect([method, target, reply.status]).toEqual([method, target, 405])
          expect(reply.headers.get('allow')).toBe(METHODS)
          expect(JSON.parse(reply.body)).toMatchObject({ title: 'Method Not Allowed', status: 405 })
        }
      }
    })

    it('checks the path first, then OPTIONS, then the method, then the id', async () => {
      for (const method of ['OPTIONS', 'POST', 'GET']) {
        const reply = await subject().ask('/nothing', { method })
        expect([method, reply.status, reply.headers.has('allow')]).toEqual([method, 404, false])
      }
      const statuses = ['OPTIONS', 'POST', 'GET'].map(
        async (method) => (await subject().ask('/events/null', { method })).status,
      )
      expect(await Promise.all(statuses)).toEqual([204, 405, 400])
    })
  })
}
