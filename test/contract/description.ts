import { afterAll, beforeAll, describe, expect, it } from 'bun:test'
import type { Reply } from '../support/reply.ts'
import { ownHeaders } from '../support/reply.ts'
import { LISTS } from './rows.ts'
import type { Ask, Start, Subject } from './subject.ts'
import { accept } from './subject.ts'

const BROWSER = 'text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8'
const OPENAPI = 'application/openapi+json'
const METHODS = 'GET, HEAD, OPTIONS'

/** The headers of both, besides type, length and ETag. */
const CARRIED = {
  'access-control-allow-origin': '*',
  'access-control-expose-headers': 'ETag, Age, Link, Retry-After',
  'cache-control': 'public, max-age=300',
  vary: 'Accept',
  'x-content-type-options': 'nosniff',
}

export function descriptionSentences(start: Start): void {
  describe('the description (contract §5)', () => {
    let subject: Subject
    beforeAll(async () => {
      // Without lists the CRM cannot be read. The description does not need it.
      subject = await start({}, null)
    })
    afterAll(() => subject.stop())

    it('is JSON, or OpenAPI if Accept names that type with a weight above 0', async () => {
      const types: readonly (readonly [string, string])[] = [
        ['', 'application/json'],
        ['*/*', 'application/json'],
        ['application/*', 'application/json'],
        ['application/xml', 'application/json'],
        [BROWSER, 'application/json'],
        [OPENAPI, `${OPENAPI};version=3.1`],
        ['Application/OpenAPI+JSON;version=3.1', `${OPENAPI};version=3.1`],
        [`application/json, ${OPENAPI};q=0.1`, `${OPENAPI};version=3.1`],
        [`${OPENAPI};q=0`, 'application/json'],
        [`${OPENAPI};q=2`, 'application/json'],
        [`${OPENAPI}, garbage`, 'application/json'],
      ]
      for (const [value, type] of types) {
        const { status, headers, body } = await subject.ask('/api/openapi.json', accept(value))
        expect([value, status, headers.get('content-type')]).toEqual([value, 200, type])
        expect(body).toMatch(/^\{"openapi":"3\.1\.\d+"/)
      }
    })

    it('is found in any case, with a trailing slash and any query; not without /api, nor below it', async () => {
      const { body } = await subject.ask('/api/openapi.json')
      for (const target of [
        '/API/OpenAPI.json',
        '/api/openapi.json/',
        '/api/openapi.json?x=/y',
        '/x/../api/openapi.json',
      ]) {
        const reply = await subject.ask(target)
        expect([target, reply.status, reply.body]).toEqual([target, 200, body])
      }
      const others = ['/openapi.json', '/api/openapi.json//', '/api/openapi.json/x', '/api/openapi', '/api', '/api/']
      for (const target of others) expect([target, (await subject.ask(target)).status]).toEqual([target, 404])
    })

    it('is a page at the base path if Accept names text/html with a weight above 0', async () => {
      for (const value of [
        BROWSER,
        'text/html',
        'TEXT/HTML;level=1',
        'text/html;q=0.001',
        'text/html;q=0, text/html',
      ]) {
        const reply = await subject.ask('/?x', accept(value))
        expect([value, reply.status]).toEqual([value, 200])
        expect(reply.headers.get('content-type')).toBe('text/html; charset=utf-8')
        expect(reply.body).toStartWith('<!doctype html>')
      }
    })

    it('is 404 at the base path for all other types and methods', async () => {
      const others: readonly Ask[] = [
        ...['*/*', 'text/*', 'application/json', 'text/html;q=0', 'text/html;q=1.0000', 'text/html, *'].map(accept),
        {},
        ...['OPTIONS', 'POST', 'PUT', 'DELETE'].map((method) => ({ ...accept(BROWSER), method })),
      ]
      for (const ask of others) {
        const reply = await subject.ask('/', ask)
        const elsewhere = await subject.ask('/nothing', ask)
        expect([ask, reply.status]).toEqual([ask, 404])
        expect(reply.body).toBe(elsewhere.body.replace('"/nothing"', '"/"').replace('>/nothing<', '>/<'))
        expect(withoutLength(reply)).toEqual(withoutLength(elsewhere))
      }
      expect((await subject.ask('//', accept(BROWSER))).status).toBe(404)
    })

    it('has exactly these headers, also for HEAD', async () => {
      for (const [target, type] of [
        ['/api/openapi.json', 'application/json'],
        ['/', 'text/html'],
      ] as const) {
        const reply = await subject.ask(target, accept(type))
        const { 'content-security-policy': policy, ...headers } = ownHeaders(reply)
        expect(headers).toEqual({
          ...CARRIED,
          'content-length': String(reply.bytes.length),
          'content-type': type === 'text/html' ? 'text/html; charset=utf-8' : type,
          etag: expect.stringMatching(/^"[0-9a-f]{16}"$/) as string,
        })
        expect(policy === undefined).toBe(type !== 'text/html')
        const headed = await subject.ask(target, { ...accept(type), method: 'HEAD' })
        expect([headed.status, headed.body, ownHeaders(headed)]).toEqual([200, '', ownHeaders(reply)])
      }
    })

    it('answers OPTIONS and other methods like a record', async () => {
      const options = await subject.ask('/api/openapi.json', { method: 'OPTIONS' })
      expect([options.status, options.headers.get('access-control-allow-methods')]).toEqual([204, METHODS])
      const posted = await subject.ask('/api/openapi.json', { method: 'POST' })
      expect([posted.status, posted.headers.get('allow')]).toEqual([405, METHODS])
      expect(posted.headers.get('content-type')).toBe('application/problem+json')
    })

    it('ignores If-None-Match if conditional requests are off', async () => {
      for (const [target, type] of [
        ['/api/openapi.json', '*/*'],
        ['/', BROWSER],
      ] as const) {
        const headers = [['Accept', type] as const, ['If-None-Match', '*'] as const]
        expect((await subject.ask(target, { headers })).status).toBe(200)
      }
    })
  })

  describe('the description below a base path, with conditional requests', () => {
    let subject: Subject
    beforeAll(async () => {
      subject = await start({ listen: { basePath: '/What’s On/v1' }, conditionalRequests: true }, LISTS)
    })
    afterAll(() => subject.stop())
    const BASE = '/What%E2%80%99s%20On/v1'

    it('is found in any case, with and without a trailing slash, and nowhere else', async () => {
      for (const target of [BASE, `${BASE}/`, BASE.toLowerCase(), `${BASE.toUpperCase()}/?x`]) {
        expect([target, (await subject.ask(target, accept(BROWSER))).status]).toEqual([target, 200])
        expect([target, (await subject.ask(target)).status]).toEqual([target, 404])
      }
      expect((await subject.ask(`${BASE}/API/openapi.json`)).body).toContain(JSON.stringify([{ url: BASE }]))
      for (const target of ['/', '/api/openapi.json', `${BASE}//`, `${BASE}x`, `/a${BASE}`]) {
        expect([target, (await subject.ask(target, accept(BROWSER))).status]).toEqual([target, 404])
      }
    })

    it('answers 304 if the caller has the current version', async () => {
      for (const [path, type] of [
        ['/api/openapi.json', OPENAPI],
        ['/', BROWSER],
      ] as const) {
        const etag = (await subject.ask(BASE + path, accept(type))).headers.get('etag') ?? ''
        const headers = [['Accept', type] as const, ['If-None-Match', `"x", W/${etag}`] as const]
        const reply = await subject.ask(BASE + path, { headers })
        expect([reply.status, reply.body]).toEqual([304, ''])
        expect(ownHeaders(reply)).toEqual({ ...CARRIED, etag })
        const other = [['Accept', type] as const, ['If-None-Match', '"x"'] as const]
        expect((await subject.ask(BASE + path, { headers: other })).status).toBe(200)
      }
    })
  })

  it('has no description if describe is off: both paths are 404 (contract §5)', async () => {
    const subject = await start({ describe: 'off' }, LISTS)
    for (const [target, type] of [
      ['/api/openapi.json', 'application/json'],
      ['/', BROWSER],
    ] as const) {
      for (const method of ['GET', 'HEAD', 'OPTIONS', 'POST']) {
        const reply = await subject.ask(target, { ...accept(type), method })
        expect([target, method, reply.status]).toEqual([target, method, 404])
      }
    }
    await subject.stop()
  })
}

function withoutLength(reply: Reply): unknown {
  const { 'content-length': _, ...headers } = ownHeaders(reply)
  return headers
}
