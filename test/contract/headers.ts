import { describe, expect, it } from 'bun:test'
import { ownHeaders } from '../support/reply.ts'
import { EVENT, NEVER, VENUE } from './rows.ts'
import { accept, type Subject } from './subject.ts'

const ON_ALL = {
  'access-control-allow-origin': '*',
  'access-control-expose-headers': 'ETag, Age, Link, Retry-After',
  vary: 'Accept',
  'x-content-type-options': 'nosniff',
}
const TYPES = [
  'application/json',
  'text/json',
  'application/xml',
  'text/xml',
  'application/hal+json',
  'application/hal+xml',
] as const

export function headerSentences(subject: () => Subject): void {
  describe('headers (contract §1.3)', () => {
    it('are exactly these on 200; Age and max-age add up to the maximum age', async () => {
      for (const type of TYPES) {
        for (const target of [`/api/events/${EVENT}`, `/api/events/${EVENT}/venue`, `/api/venues/${VENUE}`]) {
          const reply = await subject().ask(target, accept(type))
          const age = reply.headers.get('age') ?? ''
          const etag = reply.headers.get('etag') ?? ''
          // Strong (RFC 9110 §8.8.3).
          expect(etag).toMatch(/^"[\x21\x23-\x7e]+"$/)
          expect(age).toMatch(/^\d+$/)
          expect(Number(age)).toBeLessThanOrEqual(30)
          expect(ownHeaders(reply)).toEqual({
            ...ON_ALL,
            age,
            'cache-control': `public, max-age=${30 - Number(age)}`,
            'content-length': String(reply.bytes.length),
            'content-type': `${type}; charset=utf-8`,
            etag,
          })
        }
      }
    })

    it('are exactly these on an error: the bare problem type, at most 5 s in a cache, no ETag, no Age', async () => {
      const errors = [
        [`/api/events/${NEVER}`, {}],
        ['/api/events/null', {}],
        ['/nothing', {}],
        [`/api/events/${EVENT}`, { method: 'POST' }],
      ] as const
      for (const [target, ask] of errors) {
        for (const type of TYPES) {
          const reply = await subject().ask(target, { ...accept(type), ...ask })
          const { allow: _, ...rest } = ownHeaders(reply)
          expect(rest).toEqual({
            ...ON_ALL,
            'cache-control': 'max-age=5',
            'content-length': String(reply.bytes.length),
            'content-type': type.endsWith('xml') ? 'application/problem+xml' : 'application/problem+json',
          })
        }
      }
    })

    it('include four ETags per record, one for each shape', async () => {
      const tags = new Map<string, string>()
      for (const type of TYPES) {
        tags.set(type, (await subject().ask(`/api/events/${EVENT}`, accept(type))).headers.get('etag') ?? '')
      }
      expect(tags.get('text/json')).toBe(tags.get('application/json') ?? '-')
      expect(tags.get('text/xml')).toBe(tags.get('application/xml') ?? '-')
      expect(new Set(tags.values()).size).toBe(4)
    })

    it('name no content coding, because the service does not compress', async () => {
      const headers = [['Accept-Encoding', 'gzip, deflate, br, zstd']] as const
      const reply = await subject().ask(`/api/events/${EVENT}`, { headers })
      expect(reply.headers.has('content-encoding')).toBe(false)
      expect(JSON.parse(reply.body)).toMatchObject({ Id: EVENT })
    })
  })
}
