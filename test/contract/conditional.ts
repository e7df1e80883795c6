import { afterAll, beforeAll, describe, expect, it } from 'bun:test'
import { ownHeaders } from '../support/reply.ts'
import { EVENT, LISTS, NEVER } from './rows.ts'
import type { Ask, Start, Subject } from './subject.ts'

const TARGET = `/api/events/${EVENT}`

export function conditionalSentences(start: Start): void {
  describe('conditional requests, switched on (contract §1.2, RFC 9110 §13)', () => {
    let subject: Subject
    let etag: string
    beforeAll(async () => {
      subject = await start({ conditionalRequests: true }, LISTS)
      etag = (await subject.ask(TARGET)).headers.get('etag') ?? ''
    })
    afterAll(() => subject.stop())
    const ifNoneMatch = (value: string, method = 'GET'): Ask => ({ method, headers: [['If-None-Match', value]] })

    it('answer 304 without a body if If-None-Match names the ETag', async () => {
      for (const value of [etag, `W/${etag}`, `"a,b", ${etag}`, `"x" , W/${etag} ,"y"`, '*', ` ${etag}`, `,${etag},`]) {
        for (const method of ['GET', 'HEAD']) {
          const reply = await subject.ask(TARGET, ifNoneMatch(value, method))
          expect([value, reply.status, reply.body]).toEqual([value, 304, ''])
        }
      }
    })

    it('send on 304 exactly the headers that a cache needs (§15.4.5)', async () => {
      const reply = await subject.ask(TARGET, ifNoneMatch(etag))
      const names = Object.keys(ownHeaders(reply))
      const cors = ['access-control-allow-origin', 'access-control-expose-headers']
      expect(names).toEqual([...cors, 'age', 'cache-control', 'etag', 'vary', 'x-content-type-options'])
      expect(reply.headers.get('etag')).toBe(etag)
    })

    it('answer 200 in full for any other tag', async () => {
      const others = ['"x"', etag.replaceAll('"', ''), `"${etag.slice(2)}`, 'W/"*"', '""', 'x', `"a ${etag.slice(1)}`]
      for (const value of others) {
        const reply = await subject.ask(TARGET, ifNoneMatch(value))
        expect([value, reply.status]).toEqual([value, 200])
        expect(JSON.parse(reply.body)).toMatchObject({ Id: EVENT })
      }
    })

    it('read several lines as one list, and compare the tag of the negotiated shape', async () => {
      const headers = [
        ['If-None-Match', '"x"'],
        ['If-None-Match', etag],
      ] as const
      expect((await subject.ask(TARGET, { headers })).status).toBe(304)
      expect((await subject.ask(TARGET, { headers: [...headers, ['Accept', 'text/xml']] })).status).toBe(200)
      expect((await subject.ask(TARGET, { headers: [...headers, ['Accept', 'text/json']] })).status).toBe(304)
    })

    it('never hide a 404, and ignore dates and ranges', async () => {
      expect((await subject.ask(`/api/events/${NEVER}`, ifNoneMatch('*'))).status).toBe(404)
      const headers = [
        ['If-Modified-Since', 'Fri, 31 Dec 2100 23:59:59 GMT'],
        ['Range', 'bytes=0-1'],
      ] as const
      expect((await subject.ask(TARGET, { headers })).status).toBe(200)
    })
  })
}
