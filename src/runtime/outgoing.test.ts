import { expect, it } from 'bun:test'
import { once } from 'node:events'
import { createServer } from 'node:net'
import { setTimeout as sleep } from 'node:timers/promises'
import { ask } from '../crm/web/ask.ts'
import { systemTime } from '../time/time.ts'
import { openHttpClient, takesProxies } from './outgoing.ts'

const CHUNKS = 1_500_000

it('an answer in chunks of one byte takes memory for its bytes, not for its chunks', async () => {
  const body = '1\r\nx\r\n'.repeat(1000)
  const server = createServer((socket) => {
    socket.on('error', () => {})
    socket.once('data', () => {
      socket.write('HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n')
      for (let sent = 0; sent < CHUNKS; sent += 1000) socket.write(body)
      socket.end('0\r\n\r\n')
    })
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  const address = server.address()
  const port = typeof address === 'object' ? address?.port : 0
  const web = openHttpClient({ ca: [], proxyOf: () => null })
  const before = process.memoryUsage.rss()
  let most = before
  const isOver = new AbortController()
  const watch = (async () => {
    while (!isOver.signal.aborted) {
      most = Math.max(most, process.memoryUsage.rss())
      await sleep(10)
    }
  })()
  const { body: received } = await web.send({
    method: 'GET',
    url: `http://127.0.0.1:${port}/`,
    headers: {},
    body: null,
    signal: new AbortController().signal,
    fresh: true,
    mostBytes: 16_000_000,
  })
  isOver.abort()
  await watch
  expect(received.length).toBe(CHUNKS)
  expect(received.every((byte) => byte === 0x78)).toBe(true)
  expect(most - before).toBeLessThan(100_000_000)
  web.close()
  server.close()
})

it('refuses a body that is announced as too large, without waiting for it', async () => {
  const server = createServer((socket) => {
    socket.on('error', () => {})
    socket.once('data', () => void socket.write('HTTP/1.1 200 OK\r\nContent-Length: 300000000\r\n\r\n'))
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  const address = server.address()
  const url = `http://127.0.0.1:${typeof address === 'object' ? address?.port : 0}/`
  const web = openHttpClient({ ca: [], proxyOf: () => null })
  const { signal } = new AbortController()
  const asked = { method: 'GET', url, headers: {}, body: null, mostBytes: 100, signal, timeoutMs: 200_000 } as const
  expect(await ask(web, { ...asked, time: systemTime })).toMatchObject({ kind: 'too-large' })
  web.close()
  server.close()
})

it('a proxy that the runtime would ignore is named, and nothing is sent past it', async () => {
  let connections = 0
  const server = createServer((socket) => {
    connections++
    socket.destroy()
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  const address = server.address()
  const url = `http://127.0.0.1:${typeof address === 'object' ? address?.port : 0}/`
  const web = openHttpClient({ ca: [], proxyOf: () => 'http://proxy.example:3128' }, null, { node: '24.4.1' })
  const { signal } = new AbortController()
  const asked = { method: 'GET', url, headers: {}, body: null, mostBytes: 100, signal, timeoutMs: 1000 } as const
  expect(await ask(web, { ...asked, time: systemTime })).toMatchObject({
    kind: 'misconfigured',
    message: expect.stringContaining('needs Node 24.5 or later, or Bun') as string,
  })
  expect(connections).toBe(0)
  web.close()
  server.close()
})

it.each([
  [{ node: '24.0.0' }, false],
  [{ node: '24.4.1' }, false],
  [{ node: '24.5.0' }, true],
  [{ node: '26.10.0' }, true],
  // Bun names the version of Node that it stands in for.
  [{ node: '24.3.0', bun: '1.4.5' }, true],
])('%j takes proxies: %p', (versions, takes) => {
  expect(takesProxies(versions)).toBe(takes)
})
