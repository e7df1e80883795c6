import { Buffer } from 'node:buffer'
import { afterAll, beforeAll, describe, expect, it } from 'bun:test'
import { once } from 'node:events'
import type { Server } from 'node:http'
import { createServer } from 'node:http'
import type { AddressInfo, Socket } from 'node:net'
import { connect } from 'node:net'
import { eventually } from '../support/eventually.ts'
import { type Front, HAS_NGINX, startFront } from './nginx.ts'

/** More than the buffers of two sockets hold. */
const LARGE = Buffer.alloc(24_000_000, 'x')
const TO_A_FILE = 'to a temporary file'

describe.skipIf(!HAS_NGINX)(
  'nginx with deploy/nginx/marquee.conf writes nothing to files, which callers could fill',
  () => {
    let front: Front
    const server: Server = createServer((_, response) => void response.end(LARGE))
    const callers: Socket[] = []

    const ask = (text: string): Socket => {
      const caller = connect(Number(new URL(front.origin).port), '127.0.0.1')
      caller.on('error', () => {})
      callers.push(caller)
      caller.write(text)
      return caller
    }

    beforeAll(async () => {
      await once(server.listen(0, '127.0.0.1'), 'listening')
      front = await startFront([(server.address() as AddressInfo).port])
    })

    afterAll(async () => {
      for (const caller of callers) caller.destroy()
      await front.stop()
      server.closeAllConnections()
      server.close()
    })

    it('while a reader takes nothing of a large answer, which it gets whole in the end', async () => {
      const slow = ask('GET /api/events HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n')
      let got = 0
      const begun = Promise.withResolvers<void>()
      slow.on('data', (chunk: Buffer) => {
        if (got === 0) slow.pause()
        got += chunk.length
        begun.resolve()
      })
      await begun.promise
      // An answer after it: nginx has filled all that it buffers of the slow one.
      const other = await fetch(`${front.origin}/api/events`)
      expect((await other.arrayBuffer()).byteLength).toBe(LARGE.length)
      expect(front.log()).not.toContain(TO_A_FILE)
      const ended = once(slow, 'close')
      slow.resume()
      await ended
      expect(got).toBeGreaterThan(LARGE.length)
      expect(front.log()).not.toContain(TO_A_FILE)
    })

    it('of the body of a request, which it refuses beyond 1 kB', async () => {
      const body = 'GET /api/events HTTP/1.1\r\nHost: x\r\nContent-Length: 900000\r\n\r\n' + 'y'.repeat(800_000)
      const caller = ask(body)
      let text = ''
      caller.on('data', (chunk: Buffer) => (text += chunk.toString('latin1').slice(0, 20)))
      await eventually(
        () => Promise.resolve(`${text}${front.log()}`),
        (seen) => seen.includes(TO_A_FILE) || seen.includes(' 413 '),
      )
      expect(front.log()).not.toContain(TO_A_FILE)
      expect(text).toContain(' 413 ')
    })
  },
)
