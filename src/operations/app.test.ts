import { describe, expect, it } from 'bun:test'
import { type OperationsOptions, createOperations } from './app.ts'

const LOCAL = { Host: 'localhost:8081' }

function anApp(changes: Partial<OperationsOptions> = {}) {
  const failures: unknown[] = []
  const unexpected = (): never => {
    throw new Error('a row: Privet Drive')
  }
  const app = createOperations({
    isReady: () => true,
    retryAfterS: () => 7,
    status: unexpected,
    explain: unexpected,
    withheld: async () => null,
    find: async () => ({ total: 0, records: [] }),
    changes: async () => ({ total: 0, records: [] }),
    samples: () => ({}),
    reads: () => [],
    metrics: () => 'marquee_ready 1\n',
    accept: () => Promise.resolve(['events']),
    onFailure: (cause) => failures.push(cause),
    token: null,
    host: '127.0.0.1',
    ...changes,
  })
  const ask = (path: string, init: RequestInit = {}) =>
    app.request(`http://localhost:8081${path}`, { ...init, headers: { ...LOCAL, ...init.headers } })
  return { ask, failures }
}

const WITH_TOKEN = { token: 's3cret' }
const GUARDED = ['/', '/status', '/metrics', '/reads', '/withheld', '/explain/x', '/dashboard.js', '/nothing']

describe('the operations listener', () => {
  it.each(GUARDED)('asks for the token at %s, and says so whatever is there', async (path) => {
    const reply = await anApp(WITH_TOKEN).ask(path)
    expect([reply.status, reply.headers.get('www-authenticate')]).toEqual([401, 'Bearer'])
  })

  it('asks for no token at /live and /ready, which say nothing but that', async () => {
    for (const isReady of [true, false]) {
      const { ask } = anApp({ ...WITH_TOKEN, isReady: () => isReady })
      expect(await (await ask('/live')).text()).toBe('live\n')
      const ready = await ask('/ready')
      expect([ready.status, await ready.text()]).toEqual(isReady ? [200, 'ready\n'] : [503, 'not ready\n'])
      expect(ready.headers.get('retry-after')).toBe(isReady ? null : '7')
    }
  })

  it('takes the token as Bearer, and for POST too', async () => {
    const { ask } = anApp(WITH_TOKEN)
    const headers = { Authorization: 'Bearer s3cret' }
    expect((await ask('/metrics', { headers })).status).toBe(200)
    expect((await ask('/accept', { method: 'POST' })).status).toBe(401)
    expect(await (await ask('/accept', { method: 'POST', headers })).json()).toEqual({ accepted: ['events'] })
  })

  it.each(['/live', '/ready', ...GUARDED])('answers only local Hosts at %s without a token', async (path) => {
    const reply = await anApp().ask(path, { headers: { Host: 'evil.example:8081' } })
    expect(reply.status).toBe(403)
  })

  it('with a token answers any Host', async () => {
    const headers = { Host: 'ops.example.org', Authorization: 'Bearer s3cret' }
    expect((await anApp(WITH_TOKEN).ask('/metrics', { headers })).status).toBe(200)
  })

  it("refuses a POST that another site's page sends", async () => {
    const { ask } = anApp()
    const post = (Origin: string) => ask('/accept', { method: 'POST', headers: { Origin } })
    expect((await post('https://evil.example')).status).toBe(403)
    expect((await post('http://localhost:8081')).status).toBe(200)
    expect((await ask('/accept')).status).toBe(404)
  })

  it.each(['/', '/live', '/dashboard.js', '/nothing', '/status'])('is strict about %s', async (path) => {
    const { headers } = await anApp().ask(path)
    const policy = headers.get('content-security-policy') ?? ''
    expect(policy).toStartWith("default-src 'none'; script-src 'self'; style-src 'self';")
    expect(policy).toContain("frame-ancestors 'none'")
    expect(policy).not.toContain('unsafe')
    expect([headers.get('cache-control'), headers.get('x-content-type-options')]).toEqual(['no-store', 'nosniff'])
  })

  it('has no public path, and no file but its own', async () => {
    const { ask } = anApp()
    const id = '5f6c2a3e-8d0b-4c57-9e21-0a4b7d9c1e34'
    for (const path of [`/api/events/${id}`, `/venues/${id}`, '/app.ts', '/..%2fapp.ts', '/read-page-file.ts']) {
      expect((await ask(path)).status).toBe(404)
    }
  })

  it('outlives a bug, tells it, and shows nothing of it', async () => {
    const { ask, failures } = anApp()
    const reply = await ask('/status')
    expect([reply.status, await reply.text()]).toEqual([500, 'the operations listener failed\n'])
    expect(failures).toHaveLength(1)
  })

  it('hands the id over as it was meant, slashes and per cent signs included', async () => {
    const requests: string[] = []
    const explain: OperationsOptions['explain'] = async (id) => {
      requests.push(id)
      return { id, kind: null, shown: false, steps: [], representations: [] }
    }
    const { ask } = anApp({ explain })
    const ids = ['{5f6c2a3e}', 'a/b', '100%', 'ü 1', '<b>', 'a\nb', '\u2028']
    for (const id of ids) await ask(`/explain/${encodeURIComponent(id)}`)
    expect(requests).toEqual(ids)
  })

  it.each(['list=people', 'offset=-1', 'offset=x', 'offset=1e3', 'reason=unknown'])(
    'refuses /withheld?%s',
    async (query) => {
      expect((await anApp().ask(`/withheld?${query}`)).status).toBe(400)
    },
  )

  it('says so where too many search at once', async () => {
    const { status, headers } = await anApp().ask('/withheld')
    expect([status, headers.get('retry-after')]).toEqual([503, '1'])
  })
})
