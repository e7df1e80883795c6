import { Buffer } from 'node:buffer'
import { afterAll, beforeAll, describe, expect, it } from 'bun:test'
import { exchange } from '../support/raw-client.ts'
import { parseReply } from '../support/reply.ts'
import type { HttpSubject } from './over-http.ts'
import { requestText } from './over-http.ts'
import { EVENT, LISTS, NEVER, VENUE } from './rows.ts'
import type { Start } from './subject.ts'

const TARGET = `/api/events/${EVENT}`

/** The rules that need a socket to check. */
export function wireSentences(name: string, start: (...given: Parameters<Start>) => Promise<HttpSubject>): void {
  describe(`on the wire, ${name}`, () => {
    let subject: HttpSubject
    let body: string
    beforeAll(async () => {
      subject = await start({}, LISTS)
      body = (await subject.ask(TARGET)).body
    })
    afterAll(() => subject.stop())
    const send = (text: string): Promise<Buffer> => exchange(subject.process.port, text)

    it('answers HTTP/1.0 with and without a Host, and closes the connection', async () => {
      for (const head of ['', 'Host: x\r\n']) {
        const reply = parseReply(await send(`GET /x/../api/events/${EVENT}?y HTTP/1.0\r\n${head}\r\n`))
        expect([reply.status, reply.body]).toEqual([200, body])
        const missed = parseReply(await send(`GET //api/<x> HTTP/1.0\r\n${head}\r\n`))
        expect(JSON.parse(missed.body)).toMatchObject({ status: 404, instance: '//api/%3Cx%3E' })
      }
    })

    it('reads the path of an absolute-form target (RFC 9112 §3.2.2)', async () => {
      for (const base of ['http://other.example', 'http://other.example:99', 'https://u:p@other.example/a/..']) {
        expect((await subject.ask(`${base}${TARGET}?q=/x`)).body).toBe(body)
      }
      const bare = await subject.ask('http://other.example?/api/events')
      expect(JSON.parse(bare.body)).toMatchObject({ status: 404, instance: '/' })
    })

    it('ignores Host when it reads the path', async () => {
      for (const host of ['x/api/venues', 'x?y', 'x#y', '[::1:::', 'a@b:99999', '']) {
        const reply = parseReply(await send(`GET ${TARGET} HTTP/1.1\r\nHost: ${host}\r\nConnection: close\r\n\r\n`))
        expect([host, reply.status, reply.body]).toEqual([host, 200, body])
      }
    })

    it('dates every response, and gives a body its length, never chunks', async () => {
      for (const [method, target] of [
        ['GET', TARGET],
        ['HEAD', TARGET],
        ['GET', `/events/${NEVER}`],
        ['HEAD', '/x'],
        ['OPTIONS', TARGET],
        ['POST', TARGET],
      ] as const) {
        const reply = await subject.ask(target, { method })
        expect([method, Date.parse(reply.headers.get('date') ?? '') > 0]).toEqual([method, true])
        expect(reply.headers.has('transfer-encoding')).toBe(false)
        // A 204 has no Content-Length (RFC 9110 §8.6).
        expect([method, reply.headers.has('content-length')]).toEqual([method, method !== 'OPTIONS'])
      }
    })

    it('answers several requests on one connection, and ignores request bodies', async () => {
      const post = `POST ${TARGET} HTTP/1.1\r\nHost: x\r\nContent-Length: 30\r\n\r\nGET /api/venues HTTP/1.1\r\n\r\n\r\n`
      const head = `HEAD ${TARGET} HTTP/1.1\r\nHost: x\r\n\r\n`
      const text = (await send(`${post}${head}${requestText(`/api/venues/${VENUE}`)}`)).toString('latin1')
      const statuses = [...text.matchAll(/HTTP\/1\.1 (\d+)/g)].map(([, status]) => status)
      expect(statuses).toEqual(['405', '200', '200'])
      expect(text).toEndWith('"_embedded":null}')
    })

    it('answers an upgrade and Expect: 100-continue as plain requests', async () => {
      const upgrade =
        'Connection: Upgrade, close\r\nUpgrade: websocket\r\nSec-WebSocket-Version: 13\r\nSec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n'
      const reply = parseReply(await send(`GET ${TARGET} HTTP/1.1\r\nHost: x\r\n${upgrade}\r\n`))
      expect([reply.status, reply.body]).toEqual([200, body])
    })

    it('survives requests that its parser refuses', async () => {
      const refused = [
        'GET\r\n\r\n',
        'GET x HTTP/1.1\r\nHost: x\r\n\r\n',
        `GET ${TARGET} HTTP/1.1\r\n\r\n`,
        '\x16\x03\x01\x02\0',
        'FOO / HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n',
        `GET ${TARGET} HTTP/1.1\r\nHost: x\r\nA: ${'a'.repeat(100_000)}\r\n\r\n`,
      ]
      for (const text of refused) {
        const answer = (await send(text).catch(() => Buffer.alloc(0))).toString('latin1')
        expect(answer).toMatch(/^$|^HTTP\/1\.1 4\d\d /)
        expect(answer).not.toContain('about:blank')
      }
      expect((await subject.ask(TARGET)).body).toBe(body)
    })
  })
}
