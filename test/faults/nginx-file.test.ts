import { afterAll, afterEach, beforeAll, describe, expect, it } from 'bun:test'
import { dirname } from 'node:path'
import { nginxFile, startSite } from '../cluster/nginx.ts'
import { requestText } from '../contract/over-http.ts'
import { guidOf } from '../model/records.ts'
import { freePort } from '../support/free-port.ts'
import { exchangeWith, HAS_NGINX, type Proxy, startNginx } from './proxies.ts'
import { Victim } from './victim.ts'

const ID = guidOf(1)
const TARGET = `/api/events/${ID}`
const TIMES = { Start: '2036-07-12T19:30:00Z', Finish: '2036-07-12T23:00:00Z' }
const LISTS = { events: JSON.stringify([{ Id: ID, Name: 'Gala', ...TIMES, ShowOnWeb: true }]), venues: '[]' }

describe.skipIf(!HAS_NGINX)('deploy/nginx/marquee.conf', () => {
  const victims: Victim[] = []
  let proxy: Pick<Proxy, 'origin' | 'plain' | 'stop'>

  beforeAll(async () => {
    for (const runtime of ['bun', 'node'] as const) victims.push(await Victim.start(runtime, { lists: 'on' }, LISTS))
  })
  afterEach(() => proxy.stop())
  afterAll(async () => {
    for (const victim of victims) await victim.stop()
  })

  const ports = (): readonly number[] => victims.map(({ port }) => port)
  const statusesOf = async (origin: string, targets: readonly string[]): Promise<Record<string, number>> => {
    const counts: Record<string, number> = {}
    for (let from = 0; from < targets.length; from += 50) {
      const texts = targets.slice(from, from + 50).map((target) => requestText(target).replace('close', 'keep-alive'))
      const answers = (await exchangeWith(origin, `${texts.join('')}${requestText('/end')}`)).toString('latin1')
      for (const [, status = ''] of answers.matchAll(/HTTP\/1\.1 (\d{3}) /g)) counts[status] = (counts[status] ?? 0) + 1
    }
    return counts
  }

  it('limits what reaches Marquee, and no answer from the cache', async () => {
    proxy = await startNginx(ports(), [['rate=20r/s', 'rate=1r/m']])
    await statusesOf(proxy.origin, ['/api/events'])
    const cached = await statusesOf(
      proxy.origin,
      Array.from({ length: 1000 }, () => '/api/events'),
    )
    expect(cached['429']).toBeUndefined()
    expect(cached['200']).toBe(1000)
    const uncached = await statusesOf(
      proxy.origin,
      Array.from({ length: 100 }, (_, limit) => `/api/events?limit=${limit + 1}`),
    )
    expect(uncached['429']).toBeGreaterThan(30)
  })

  it('serves on while an instance hangs, and while the name of one is unknown', async () => {
    const [, second] = ports()
    proxy = await startNginx(ports())
    victims[0]?.process.child.signal('SIGSTOP')
    const sentMs = performance.now()
    const targets = Array.from({ length: 8 }, (_, index) => `/api/events?limit=${index + 1}`)
    const answered = targets.map(() => ({ '200': 1, '404': 1 }))
    expect(await Promise.all(targets.map((target) => statusesOf(proxy.origin, [target])))).toEqual(answered)
    expect(performance.now() - sentMs).toBeLessThan(8000)
    victims[0]?.process.child.signal('SIGCONT')
    await proxy.stop()
    proxy = await startNginx(ports(), [
      [`127.0.0.1:${second};`, 'marquee-2:8080;'],
      [`127.0.0.1:${second} `, 'marquee-2:8080 '],
      ['resolver 127.0.0.11 ', `resolver 127.0.0.1:${await freePort()} `],
    ])
    expect(await Promise.all(targets.map((target) => statusesOf(proxy.origin, [target])))).toEqual(answered)
  }, 60_000)

  it('redirects from port 80, and listens on IPv6', async () => {
    proxy = await startNginx(ports())
    const { status, headers } = await fetch(`${proxy.plain}${TARGET}?x=%2F`, { redirect: 'manual' })
    expect([status, headers.get('location')]).toEqual([301, `https://127.0.0.1${TARGET}?x=%2F`])
    for (const port of [80, '443 ssl http2']) expect(nginxFile()).toContain(`listen [::]:${port};`)
  })

  it('is a location of a site that is there', async () => {
    const site = await startSite(ports())
    proxy = site
    expect(await (await fetch(site.origin)).text()).toBe('the site')
    const event = await fetch(`${site.origin}${TARGET}`)
    expect([event.status, await event.json()]).toEqual([200, expect.objectContaining({ Name: 'Gala' })])
    const long = await fetch(`${site.origin}/api/events?limit=1&tag=Gala&tag=${'a'.repeat(3900)}`)
    expect(long.status).toBe(200)
    const foo = (await exchangeWith(site.origin, requestText(TARGET, { method: 'FOO' }))).toString('latin1')
    expect(foo).toStartWith('HTTP/1.1 405 ')
    const lists = Array.from({ length: 100 }, (_, limit) => `/api/events?limit=${limit + 1}`)
    expect((await statusesOf(site.origin, lists))['429']).toBeGreaterThan(0)
  })

  it('needs no folder that a bare Debian lacks', () => {
    const [, cache = ''] = /proxy_cache_path (\S+)/.exec(nginxFile()) ?? []
    expect(dirname(cache)).toBe('/var/cache')
  })
})
