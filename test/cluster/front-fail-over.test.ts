import { afterEach, describe, expect, it } from 'bun:test'
import { once } from 'node:events'
import type { Server } from 'node:http'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { freePort } from '../support/free-port.ts'
import { type Front, HAS_NGINX, startFront, startKubernetesFront } from './nginx.ts'

const REQUESTS = 40

const servers: Server[] = []
let front: Front | null = null

/** An instance that answers with 502, as Marquee does past the maximum age, if the path matches. Returns its port. */
async function startInstance(isTooOld: RegExp): Promise<number> {
  const server = createServer(({ url = '' }, response) => {
    if (isTooOld.test(url)) response.writeHead(502, { 'Retry-After': '7' })
    response.end('{}')
  })
  servers.push(server)
  await once(server.listen(0, '127.0.0.1'), 'listening')
  return (server.address() as AddressInfo).port
}

async function ask(path: string): Promise<Response> {
  return fetch(`${front?.origin}${path}`)
}

afterEach(async () => {
  await front?.stop()
  for (const server of servers.splice(0)) {
    server.closeAllConnections()
    server.close()
  }
})

describe.skipIf(!HAS_NGINX).each([
  ['deploy/nginx/marquee.conf', startFront],
  ['deploy/kubernetes/marquee.yaml', startKubernetesFront],
])('nginx with %s', (_, start) => {
  it('does not treat instances as dead whose venues are too old: the events are served on', async () => {
    front = await start([await startInstance(/venues/), await startInstance(/venues/)])
    for (let request = 0; request < REQUESTS; request++) {
      const venues = await ask('/api/venues/x')
      expect([venues.status, venues.headers.get('retry-after')]).toEqual([502, '7'])
      expect((await ask('/api/events/x')).status).toBe(200)
    }
  })

  it('answers from the other instance if one has ended', async () => {
    front = await start([await freePort(), await startInstance(/never/)])
    for (let request = 0; request < REQUESTS; request++) expect((await ask('/api/events/x')).status).toBe(200)
  })

  it('asks the other instance after a 502', async () => {
    front = await start([await startInstance(/events/), await startInstance(/never/)])
    for (let request = 0; request < REQUESTS; request++) expect((await ask('/api/events/x')).status).toBe(200)
  })

  it('answers with a problem, Retry-After and CORS if no instance is left', async () => {
    front = await start([await freePort(), await freePort()])
    const { status, headers } = await ask('/api/events/x')
    const [type, retryAfter] = [headers.get('content-type'), headers.get('retry-after')]
    expect([status, type, retryAfter]).toEqual([502, 'application/problem+json', '5'])
    expect(headers.get('access-control-allow-origin')).toBe('*')
  })
})
