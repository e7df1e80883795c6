import { afterAll, beforeAll, describe, expect, it } from 'bun:test'
import { requestText } from '../contract/over-http.ts'
import { guidOf } from '../model/records.ts'
import { inTurn, RUNTIMES } from '../support/depth.ts'
import type { Runtime } from '../support/child.ts'
import { eventually } from '../support/eventually.ts'
import { freePort } from '../support/free-port.ts'
import type { Proxy } from './proxies.ts'
import {
  exchangeWith,
  HAS_NGINX,
  HAS_VARNISH,
  HAS_VSTHROTTLE,
  nginxJoinsLines,
  startNginx,
  startVarnish,
} from './proxies.ts'
import { Victim } from './victim.ts'

const MAX_AGE_MS = 3000
const ID = guidOf(1)
const TARGET = `/api/events/${ID}`
const LASTS_MS = 3000
const PUT_EVERY_MS = 150

const ACCEPTS = [
  null,
  '*/*',
  'application/json',
  'text/json',
  'application/xml',
  'text/xml',
  'application/hal+json',
  'application/hal+xml',
  'application/json, text/plain, */*',
  'text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8',
  'text/html,application/xhtml+xml,application/xml;q=0.9,image/avif,image/webp,image/apng,*/*;q=0.8,application/signed-exchange;v=b3;q=0.7',
  'text/html,application/xhtml+xml,application/xml;q=0.9,image/avif,image/webp,image/png,image/svg+xml,*/*;q=0.8',
  'application/hal+json;q=0.5, text/xml;q=0.6',
  'application/json;q=0, */*',
  'APPLICATION/HAL+XML',
  'nonsense',
  'text/calendar',
  'Application/LD+JSON',
  'application/ld+json, */*;q=0.1',
] as const

function rows(version: number): string {
  const times = { Start: '2036-07-12T19:30:00Z', Finish: '2036-07-12T23:00:00Z' }
  const text = { Name: `version ${version}`, Tags: Array.from({ length: 40 }, (_, index) => `Tag number ${index}`) }
  return JSON.stringify([{ Id: ID, ...times, ...text, ShowOnWeb: true }])
}

/** All the clients of a test have one address. */
const ENDLESS = [['rate=100r/s', 'rate=100000r/s']] as const

/** What Marquee or a proxy may say of so many bytes. */
const TOO_LARGE: readonly unknown[] = [400, 431]

/** The word with other letters in upper case for each number. */
function spelt(word: string, number: number): string {
  return [...word].map((letter, bit) => ((number >> bit) & 1 ? letter.toUpperCase() : letter)).join('')
}

/** Status and type of what is answered to a request with these very lines of Accept. */
async function told(origin: string, target: string, lines: readonly string[]) {
  const headers = lines.map((line): [string, string] => ['Accept', line])
  const answer = (await exchangeWith(origin, requestText(target, { headers }))).toString('latin1')
  const status = Number(/^HTTP\/1\.1 (\d{3}) /.exec(answer)?.[1])
  return { status, type: /^content-type: (.*)\r$/im.exec(answer)?.[1] ?? null }
}

function suite(
  runtime: Runtime,
  name: string,
  isThere: boolean,
  start: (ports: readonly number[]) => Promise<Proxy>,
  isHit: (got: Response) => boolean,
  /** Several lines of a header are one list to it. */
  joinsLines: boolean,
) {
  // Said loudly: `npm test` lists what was skipped, and fails for it where CI=true.
  describe.skipIf(!isThere)(`on ${runtime} behind ${name} (deploy/${name})`, () => {
    let victim: Victim
    let proxy: Proxy
    beforeAll(async () => {
      const freshness = { maxAge: `${MAX_AGE_MS}ms`, refreshEvery: '300ms' }
      const feeds = { calendar: 'on', jsonLd: 'on', atom: 'on' }
      const settings = { freshness, lists: 'on', feeds, representation: { currency: 'GBP' } }
      victim = await Victim.start(runtime, settings, { events: rows(0), venues: '[]' })
      proxy = await start([victim.port])
      await eventually(
        () => get(TARGET),
        ({ status }) => status === 200,
      )
    })
    afterAll(async () => {
      await proxy.stop()
      await victim.stop()
    })

    const get = (target: string, headers: Record<string, string> = {}, method = 'GET'): Promise<Response> =>
      fetch(`${proxy.origin}${target}`, { method, headers, tls: { rejectUnauthorized: false } })

    it('every Accept has the type that Marquee gives it, asked twice so that the cache answers too', async () => {
      for (const accept of ACCEPTS) {
        const headers = accept === null ? {} : { Accept: accept }
        // fetch would add an Accept of its own where there is none; to Marquee that is the same.
        const direct = await fetch(`http://127.0.0.1:${victim.port}${TARGET}`, { headers })
        const type = direct.headers.get('content-type') ?? ''
        for (let time = 0; time < 2; time++) {
          const got = await get(TARGET, headers)
          expect([accept, got.status, got.headers.get('content-type')]).toEqual([accept, 200, type])
          expect(await got.text()).toBe(await direct.clone().text())
          expect(got.headers.get('vary')).toContain('Accept')
        }
      }
    })

    it('several lines of Accept, empty ones, and ones of 16 KB leave nothing in the cache but what each key negotiates', async () => {
      const browser = ACCEPTS.find((accept) => accept?.startsWith('text/html')) ?? ''
      const poisons = [
        ['application/xml', 'application/json'],
        ['application/json', 'application/xml'],
        ['application/hal+xml', 'application/hal+json;q=0.9'],
        ['*/*', 'application/xml'],
        ['*/*', 'application/json;q=0'],
        [browser, 'application/hal+json'],
        ['application/xml', browser],
        ['', 'application/xml'],
        ['application/xml', ''],
        ['', ''],
        ['application/xml', 'no type'],
        ['application/xml', `text/html;a="${'x'.repeat(16_000)}"`],
        Array.from({ length: 4 }, () => `application/xml;a="${'x'.repeat(3900)}"`),
        Array.from({ length: 300 }, () => 'application/xml'),
      ]
      for (const [index, lines] of poisons.entries()) {
        // The same event by another spelling, of which nothing is in the cache yet.
        const target = TARGET.replace('events', spelt('events', index))
        const direct = await told(`http://127.0.0.1:${victim.port}`, target, lines)
        const first = await told(`http://127.0.0.1:${victim.port}`, target, lines.slice(0, 1))
        for (let time = 0; time < 2; time++) {
          const { status, type } = await told(proxy.origin, target, lines)
          if (TOO_LARGE.includes(status)) continue
          expect([lines[0]?.slice(0, 100), status, type]).toEqual([
            lines[0]?.slice(0, 100),
            200,
            joinsLines ? direct.type : first.type,
          ])
        }
        for (const mediaType of [
          'application/json',
          'application/xml',
          'application/hal+json',
          'application/hal+xml',
        ]) {
          for (let time = 0; time < 2; time++) {
            const { status, type } = await told(proxy.origin, target, [mediaType])
            expect([index, mediaType, status, type]).toEqual([index, mediaType, 200, `${mediaType}; charset=utf-8`])
          }
        }
        expect(await told(proxy.origin, target, [browser])).toEqual({
          status: 200,
          type: 'application/xml; charset=utf-8',
        })
        expect(await told(proxy.origin, target, [])).toEqual({ status: 200, type: 'application/json; charset=utf-8' })
      }
    })

    it("nobody is told another caller's traceId", async () => {
      const traceId = '0af7651916cd43dd8448eb211c80319c'
      const traceparent = `00-${traceId}-b7ad6b7169203331-01`
      for (const target of [`/api/events/${guidOf(999)}`, '/api/events/null']) {
        expect(await (await get(target, { traceparent })).json()).toMatchObject({ traceId })
        expect(await (await get(target)).json()).not.toHaveProperty('traceId')
      }
    })

    it('a type is kept once, however its name is spelt', async () => {
      // A cached copy may end between two requests, hence the repetition, each time with a spelling not asked before:
      // if each had a copy of its own, none would ever come from the cache.
      let spelling = 0
      const other = await eventually(async () => {
        await eventually(() => get(TARGET, { Accept: 'application/hal+json' }), isHit)
        return get(TARGET, { Accept: spelt('application/hal+json', ++spelling) })
      }, isHit)
      expect(other.headers.get('content-type')).toBe('application/hal+json; charset=utf-8')
    })

    it('paths that only look alike are not mixed up, and the query makes no copy', async () => {
      const pairs = [`/api/events/${ID}`, `/api/events/${ID}%2Fvenue`, `/api/events/${ID}/venue`, '/api/events//', '/x']
      for (let time = 0; time < 2; time++) {
        for (const target of pairs) {
          const direct = await fetch(`http://127.0.0.1:${victim.port}${target}`)
          expect([target, (await get(target)).status]).toEqual([target, direct.status])
        }
      }
      await get(`${TARGET}?a`)
      expect(await eventually(() => get(`${TARGET}?b`), isHit)).toBeInstanceOf(Response)
    })

    it('browsers get the page at the base path, all others their 404, and the description has its types', async () => {
      for (const target of ['/', '/?x', '/api/openapi.json', '/nothing', '/api/tags?available=true']) {
        for (const accept of [...ACCEPTS, 'text/html', 'application/openapi+json']) {
          const headers = accept === null ? {} : { Accept: accept }
          const direct = await fetch(`http://127.0.0.1:${victim.port}${target}`, { headers })
          const body = await direct.text()
          for (let time = 0; time < 2; time++) {
            const got = await get(target, headers)
            const [type, shown] = [got.headers.get('content-type'), await got.text()]
            expect([target, accept, got.status, type]).toEqual([
              target,
              accept,
              direct.status,
              direct.headers.get('content-type'),
            ])
            expect(shown).toBe(body)
          }
        }
      }
    })

    it('lists are kept query by query, however their path is spelt', async () => {
      const [all, none] = ['events?tag=Tag+number+7', 'events?tag=nothing']
      for (let time = 0; time < 3; time++) {
        for (const path of ['/api/', '/', '/API/', '/x/../api/']) {
          expect(await (await get(`${path}${all}`)).text()).toContain(ID)
          expect(await (await get(`${path}${none}`)).text()).toContain('"Events":[]')
          expect((await get(`${path}events/?limit=0`)).status).toBe(400)
          expect((await get(`${path}venues/.?limit=0`)).status).toBe(400)
        }
      }
      expect(await eventually(() => get(`/api/${all}`), isHit)).toBeInstanceOf(Response)
    })

    it('calendars and Atom are kept, whatever Accept says, those to subscribe to query by query', async () => {
      for (const [path, type, id] of [
        [`${TARGET}.ics`, 'text/calendar', `UID:${ID}@marquee`],
        ['/api/events.ics?tag=Tag+number+7', 'text/calendar', `UID:${ID}@marquee`],
        ['/api/events.atom?tag=Tag+number+7', 'application/atom+xml', `urn:uuid:${ID}`],
      ] as const) {
        const isFeed = async (got: Response): Promise<void> => {
          expect([got.status, got.headers.get('content-type')]).toEqual([200, `${type}; charset=utf-8`])
          expect(await got.text()).toContain(id)
        }
        for (const accept of ['text/html', '*/*', 'text/calendar, */*;q=0.5'])
          await isFeed(await get(path, { Accept: accept }))
        await isFeed(await eventually(() => get(path, { Accept: `${type}, */*` }), isHit))
      }
      expect(await (await get('/api/events.ics?tag=nothing')).text()).not.toContain('VEVENT')
      const query = await get(`${TARGET}.ics?x=1`)
      expect(query.status).toBe(200)
    })

    it('conditions and ranges change nothing: always the full 200, also from the cache (contract 1.2)', async () => {
      const etag = (await get(TARGET, { 'Accept-Encoding': 'identity' })).headers.get('etag') ?? ''
      expect(etag).toMatch(/^(?:W\/)?"/)
      const long = 'Fri, 01 Jan 2100 00:00:00 GMT'
      const conditions: readonly Record<string, string>[] = [
        { 'If-None-Match': '*' },
        { 'If-None-Match': etag },
        { 'If-None-Match': `W/${etag.replace('W/', '')}` },
        { 'If-None-Match': `"other", ${etag}` },
        { 'If-Modified-Since': long },
        { 'If-Match': '"other"' },
        { 'If-Match': '*' },
        { 'If-None-Match': '*', 'If-Match': '"other"' },
        { 'If-Unmodified-Since': 'Fri, 01 Jan 1999 00:00:00 GMT' },
        { Range: 'bytes=0-9' },
        { Range: 'bytes=0-9', 'If-Range': etag },
        { Range: 'bytes=9999999-' },
      ]
      const whole = await (await get(TARGET)).text()
      for (const condition of conditions) {
        for (const encoding of ['identity', 'gzip']) {
          const headers = { ...condition, 'Accept-Encoding': encoding }
          // Whatever is in the cache by now, what is asked next comes from it.
          await eventually(() => get(TARGET), isHit)
          const got = await get(TARGET, headers)
          expect([condition, got.status, (await got.text()) === whole]).toEqual([condition, 200, true])
          expect(got.headers.get('etag')).not.toBeNull()
        }
      }
    })

    it('compresses, keeps the headers, and lets other methods through', async () => {
      const plain = await get(TARGET, { 'Accept-Encoding': 'identity' })
      const packed = await get(TARGET, { 'Accept-Encoding': 'gzip' })
      expect(packed.headers.get('content-encoding')).toBe('gzip')
      expect(await packed.text()).toBe(await plain.text())
      expect(plain.headers.get('x-content-type-options')).toBe('nosniff')
      expect(plain.headers.get('access-control-allow-origin')).toBe('*')
      expect((await get(TARGET, {}, 'OPTIONS')).status).toBe(204)
      expect((await get(TARGET, {}, 'DELETE')).status).toBe(405)
      expect((await get(TARGET, {}, 'HEAD')).status).toBe(200)
    })

    it.each(['%41', 'a/', 'events/', 'venues/{', '/'])(
      'a path of thousands of %j is the fault of its caller',
      async (part) => {
        for (const length of [1000, 4000, 5000, 7000, 9000]) {
          const { status } = await told(proxy.origin, `/api/events/${part.repeat(length / part.length)}`, [])
          expect([length, [400, 404, 414].includes(status)]).toEqual([length, true])
        }
      },
    )

    it('no answer is older than the maximum age, nor says that it may be kept past it; the cache answers', async () => {
      const versions: { fromMs: number; untilMs: number }[] = []
      const put = (): void => {
        const last = versions.at(-1)
        victim.directory.write('events', rows(versions.length))
        const nowMs = performance.now()
        if (last !== undefined) last.untilMs = nowMs
        versions.push({ fromMs: nowMs, untilMs: Number.POSITIVE_INFINITY })
      }
      put()
      const timer = setInterval(put, PUT_EVERY_MS)
      const wrong: string[] = []
      let [answers, hits, oldestMs] = [0, 0, 0]
      const ask = async (): Promise<number> => {
        const sentMs = performance.now()
        const got = await get(TARGET)
        const text = await got.text()
        answers++
        if (got.status !== 200) return got.status
        if (isHit(got)) hits++
        const version = versions[Number(/version (\d+)/.exec(text)?.[1])]
        const ageMs = sentMs - (version?.untilMs ?? 0)
        oldestMs = Math.max(oldestMs, ageMs)
        const age = Number(got.headers.get('age') ?? 0)
        const keep = Number(/max-age=(\d+)/.exec(got.headers.get('cache-control') ?? '')?.[1] ?? 0)
        // RFC 9111 §4.2: a cache uses it for what is left of max-age after its Age.
        const lastUsedMs = Math.max(0, keep - age) * 1000
        if (ageMs > MAX_AGE_MS || (version?.untilMs !== undefined && ageMs + lastUsedMs > MAX_AGE_MS)) {
          wrong.push(`${Math.round(ageMs)} ms old, Age ${age}, max-age ${keep}`)
        }
        return got.status
      }
      const until = performance.now() + LASTS_MS
      // A machine that stood still lets the cache answer later.
      const isOver = (): boolean => performance.now() > until && hits > answers / 4
      const clients = Array.from({ length: 4 }, async () => {
        while (!isOver()) await ask()
      })
      await Promise.all(clients)
      // Nobody asks for longer than the maxAge: what the cache holds is then too old for the first who does.
      const enough = versions.length + (MAX_AGE_MS + 1000) / PUT_EVERY_MS
      await eventually(
        async () => versions.length,
        (count) => count > enough,
      )
      await ask()
      // And past the maximum age there is no answer at all, until the CRM is back.
      clearInterval(timer)
      victim.directory.write('events', '[')
      const last = versions.at(-1)
      if (last !== undefined) last.untilMs = performance.now()
      await eventually(ask, (status) => status === 502)
      const refused = await get(TARGET)
      expect([refused.status, refused.headers.get('content-type')]).toEqual([502, 'application/problem+json'])
      expect(Number(refused.headers.get('retry-after'))).toBeGreaterThan(0)
      expect(refused.headers.get('cache-control')).toBe('no-store')
      put()
      await eventually(ask, (status) => status === 200)
      console.log(
        `${name}: ${answers} answers, ${hits} from the cache, the oldest ${Math.round(oldestMs)} ms; ${wrong.length} wrong`,
      )
      expect(wrong.slice(0, 3)).toEqual([])
    })

    it('where no Marquee answers at all: 502 as problem details, with Retry-After', async () => {
      await victim.process.child.stop()
      const got = await eventually(
        () => get('/api/events/other'),
        ({ status }) => status !== 400,
      )
      expect([got.status, got.headers.get('content-type')]).toEqual([502, 'application/problem+json'])
      expect(got.headers.get('retry-after')).toBe('5')
      expect(await got.json()).toMatchObject({ title: 'Bad Gateway', status: 502 })
    })
  })
}

const [nginx, varnish] = inTurn([['nginx'], ['varnish']])
suite(
  nginx?.[0] ?? 'bun',
  'nginx',
  HAS_NGINX,
  (ports) => startNginx(ports, [...ENDLESS, ['rate=20r/s', 'rate=100000r/s']]),
  (got) => got.headers.get('cache-control') === 'no-cache',
  nginxJoinsLines(),
)
suite(
  varnish?.[0] ?? 'bun',
  'varnish',
  HAS_VARNISH,
  startVarnish,
  (got) => /^\d+ \d+$/.test(got.headers.get('x-varnish') ?? ''),
  true,
)

describe.skipIf(!HAS_NGINX)('behind nginx (deploy/nginx/marquee.conf), one instance of which is gone', () => {
  it.each(RUNTIMES)(
    "nobody is told another caller's traceId after a fail-over to one on %s, and a condition is answered as all else where none is left",
    async (runtime) => {
      const victim = await Victim.start(runtime, {}, { events: rows(0), venues: '[]' })
      const proxy = await startNginx([await freePort(), victim.port])
      const tls = { rejectUnauthorized: false }
      try {
        const traceId = '0af7651916cd43dd8448eb211c80319c'
        const target = `${proxy.origin}/api/events/${guidOf(999)}`
        const traced = await fetch(target, { tls, headers: { traceparent: `00-${traceId}-b7ad6b7169203331-01` } })
        expect([traced.status, await traced.json()]).toEqual([404, expect.objectContaining({ traceId })])
        expect(await (await fetch(target, { tls })).json()).not.toHaveProperty('traceId')
        await eventually(
          async () => {
            const query = await fetch(`${target}/x${performance.now()}`, { tls })
            return [query.status, proxy.log()] as const
          },
          ([status, log]) => status === 404 && log.includes('Connection refused'),
        )
        await victim.process.child.stop()
        const left = await fetch(`${proxy.origin}${TARGET}`, { tls, headers: { 'If-None-Match': '*' } })
        expect([left.status, left.headers.get('retry-after'), left.headers.get('content-type')]).toEqual([
          502,
          '5',
          'application/problem+json',
        ])
      } finally {
        await proxy.stop()
        await victim.stop()
      }
    },
  )
})

/** Where a browser, and Marquee, read a list. */
const LIST_SPELLINGS = [
  '/api/events',
  '/api/events/',
  '/events/.',
  '/api/events/.?limit=1',
  '/api/events/./',
  '/api//../events',
  '//../api/events',
  '/api/events/x/..',
  '/%2e/api/events',
  '/api/%2e%2E/events',
  '/api/events/%2e',
  '/api\\events',
  '\\api\\events?limit=2',
  '/api/events#',
  '/api/events#x/events/00000000000000000000000000000001',
  '/api/events?x=/events/00000000000000000000000000000001',
  '/API/EVENTS/.',
  'http://other.example/api/events/.',
] as const

/** With the limit of lists alone, and hours until a caller may ask for another: a slow machine asks slowly. */
const LIMITED: readonly (readonly [string, boolean, number, (ports: readonly number[]) => Promise<Proxy>])[] = [
  ['nginx/marquee.conf', HAS_NGINX, 61, (ports) => startNginx(ports, [...ENDLESS, ['rate=20r/s', 'rate=1r/m']])],
  [
    'varnish/marquee-limited.vcl',
    HAS_VARNISH && HAS_VSTHROTTLE,
    60,
    (ports) =>
      startVarnish(ports, 'marquee-limited.vcl', [
        ['200, 2s', '200000, 2s'],
        ['60, 3s', '60, 3h'],
      ]),
  ],
]

for (const [runtime, file, isThere, listsAtOnce, start] of inTurn(LIMITED)) {
  describe.skipIf(!isThere)(`behind deploy/${file}`, () => {
    it(`a caller who floods lists of a Marquee on ${runtime} is told to ask less often, however they are spelt, and still gets records`, async () => {
      const victim = await Victim.start(runtime, { lists: 'on' }, { events: rows(0), venues: '[]' })
      const proxy = await start([victim.port])
      const ask = async (targets: readonly string[]): Promise<readonly string[]> => {
        const open = targets.slice(1).map((target) => requestText(target).replace('close', 'keep-alive'))
        const answer = await exchangeWith(proxy.origin, [...open, requestText(targets[0] ?? '')].join(''))
        return answer.toString('latin1').split(/(?=HTTP\/1\.1 \d{3} )/)
      }
      const count = (answers: readonly string[], status: number): number =>
        answers.filter((answer) => answer.startsWith(`HTTP/1.1 ${status} `)).length
      try {
        const first = await ask(Array.from({ length: 90 }, (_, limit) => `/api/events?limit=${limit + 1}`))
        expect(first).toHaveLength(90)
        expect([count(first, 200), count(first, 429)]).toEqual([listsAtOnce, 90 - listsAtOnce])
        for (const target of LIST_SPELLINGS) {
          const again = await ask([target, target])
          // nginx itself refuses a path that leads above the root.
          expect([target, count(again, 429) + count(again, 400)]).toEqual([target, again.length])
        }
        for (const target of [TARGET, `${TARGET.toUpperCase()}/`, `/events/{${ID}}?limit=1`, `${TARGET}/venue`]) {
          expect([target, count(await ask([target]), 429)]).toEqual([target, 0])
        }
        const [problem = ''] = await ask(['/api/events'])
        expect(problem).toMatch(/^HTTP\/1\.1 429 .*\r$/m)
        expect(problem).toMatch(/^retry-after: 1\r$/im)
        expect(problem).toMatch(/^access-control-allow-origin: \*\r$/im)
        expect(problem).toMatch(/^content-type: application\/problem\+json\r$/im)
        expect(problem).toContain('"title":"Too Many Requests","status":429')
      } finally {
        await proxy.stop()
        await victim.stop()
      }
    })
  })
}
