import { expect, it } from 'bun:test'
import { once } from 'node:events'
import { createServer } from 'node:net'
import { setTimeout as sleep } from 'node:timers/promises'
import { openHttpClient } from './outgoing.ts'

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
