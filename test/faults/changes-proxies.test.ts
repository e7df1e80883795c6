import { afterAll, beforeAll, describe, expect, it } from 'bun:test'
import { guidOf } from '../model/records.ts'
import { eventually } from '../support/eventually.ts'
import { HAS_NGINX, HAS_VARNISH, type Proxy, startNginx, startVarnish } from './proxies.ts'
import { Victim } from './victim.ts'

const SETTINGS = {
  freshness: { refreshEvery: '200ms' },
  feeds: { changes: 'on' },
  conditionalRequests: true,
}

function rows(Name: string): string {
  const times = { Start: '2036-07-12T19:30:00Z', Finish: '2036-07-12T23:00:00Z' }
  return JSON.stringify([{ Id: guidOf(1), Name, ...times, ShowOnWeb: true }])
}

interface Changes {
  readonly Items: readonly object[]
  readonly Next: string
}

// Elsewhere nginx waits 3 s for an answer. Varnish waits 15 s, which is too long for a test.
const WAIT_S = 4

const PROXIES = [
  [
    'nginx',
    HAS_NGINX,
    (ports: readonly number[]) =>
      startNginx(ports, [
        ['rate=20r/s', 'rate=100000r/s'],
        // What the file says for `conditionalRequests: on`.
        ['  "*:" 1;\n', ''],
        ['  proxy_hide_header ETag;\n', ''],
        ['  add_header ETag $upstream_http_etag always;\n', ''],
      ]),
  ],
  [
    'varnish',
    HAS_VARNISH,
    (ports: readonly number[]) =>
      startVarnish(ports, 'marquee.vcl', [
        ['.first_byte_timeout = 15s;', `.first_byte_timeout = ${WAIT_S - 2}s;`],
        ['  unset req.http.If-None-Match;\n', ''],
      ]),
  ],
] as const

for (const [name, isThere, start] of PROXIES) {
  describe.skipIf(!isThere)(`/api/changes of two instances behind ${name} (deploy/${name})`, () => {
    let victims: readonly Victim[]
    let proxy: Proxy
    beforeAll(async () => {
      const lists = { events: rows('first'), venues: '[]' }
      victims = [await Victim.start('bun', SETTINGS, lists), await Victim.start('node', SETTINGS, lists)]
      proxy = await start(victims.map(({ port }) => port))
      await eventually(
        () => get('/api/changes'),
        ({ status }) => status === 200,
      )
    })
    afterAll(async () => {
      await proxy.stop()
      for (const victim of victims) await victim.stop()
    })

    const get = (target: string, headers: Record<string, string> = {}): Promise<Response> =>
      fetch(`${proxy.origin}${target}`, { headers, tls: { rejectUnauthorized: false } })
    const read = async (target: string): Promise<Changes> => (await (await get(target)).json()) as Changes
    const write = (title: string): void => {
      for (const { directory } of victims) directory.write('events', rows(title))
    }

    it('a caller keeps to one instance, and no answer is kept', async () => {
      const { Next } = await read('/api/changes')
      for (let time = 0; time < 20; time++) {
        const got = await get(Next.slice(1))
        expect([got.status, got.headers.get('cache-control')]).toEqual([200, 'no-cache'])
        expect(await got.json()).toEqual({ Items: [], Next, More: false })
      }
      write('second')
      const { Items } = await eventually(
        () => read(`/api${Next.slice(1)}`),
        (changes) => changes.Items.length > 0,
      )
      expect(Items).toMatchObject([{ Kind: 'event', Id: guidOf(1), State: 'updated' }])
    })

    it('an answer that has not changed is 304', async () => {
      const { Next } = await read('/api/changes')
      const etag = (await get(Next.slice(1), { 'Accept-Encoding': 'identity' })).headers.get('etag') ?? ''
      expect(etag).toMatch(/^(?:W\/)?"[0-9a-f]{16}"$/)
      expect((await get(Next.slice(1), { 'If-None-Match': etag })).status).toBe(304)
      expect((await get(Next.slice(1), { 'If-None-Match': '"other"' })).status).toBe(200)
      write('third')
      await eventually(
        () => get(Next.slice(1), { 'If-None-Match': etag }),
        ({ status }) => status === 200,
      )
    })

    it('an answer may wait longer than any other, and no caller waits for the answer of another', async () => {
      const { Next } = await read('/api/changes')
      const waiting = Array.from({ length: 5 }, () => read(`${Next.slice(1)}&wait=${WAIT_S}s`))
      const asked = performance.now()
      for (const { Items } of await Promise.all(waiting)) expect(Items).toEqual([])
      expect(performance.now() - asked).toBeGreaterThan((WAIT_S - 0.5) * 1000)
      expect(performance.now() - asked).toBeLessThan(WAIT_S * 2000)
      const [early, ...others] = Array.from({ length: 5 }, () => read(`${Next.slice(1)}&wait=60s`))
      write('fourth')
      expect((await early)?.Items).toHaveLength(1)
      for (const { Items } of await Promise.all(others)) expect(Items).toHaveLength(1)
    })

    it('a caller whose instance is gone is told to read the lists again, by the other one', async () => {
      const { Next } = await read('/api/changes')
      const statuses = await Promise.all(
        victims.map(async ({ port }) => (await fetch(`http://127.0.0.1:${port}${Next.slice(1)}`)).status),
      )
      const own = statuses.indexOf(200)
      expect(statuses[1 - own]).toBe(410)
      await victims[own]?.process.child.stop()
      const gone = await eventually(
        () => get(Next.slice(1)),
        ({ status }) => status !== 502,
      )
      expect(gone.status).toBe(410)
      await eventually(
        () => get('/api/changes'),
        ({ status }) => status === 200,
      )
    })
  })
}
