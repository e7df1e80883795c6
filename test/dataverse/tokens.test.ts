import { beforeEach, describe, expect, it } from 'bun:test'
import { fill } from './environment.ts'
import { Fixture } from './fixture.ts'
import { json } from './reply.ts'

const environment = new Fixture()

beforeEach(() => fill(environment, 3))

describe('the token', () => {
  it('is asked for once, however many requests need it', async () => {
    const { replica } = environment.rig()
    await Promise.all([replica.events.refresh.attempt(), replica.venues.refresh.attempt()])
    await Promise.all([replica.events.refresh.attempt(), replica.venues.refresh.attempt()])
    expect(environment.standIn.directory.asked).toBe(1)
  })

  it('is no page of rows where its answer is too large: that is said, and pages stay as they are', async () => {
    const { replica } = environment.rig()
    const { standIn } = environment
    standIn.trap('oauth2', { kind: 'reply', reply: json({ padding: 'x'.repeat(300_000) }) }, 3)
    for (let tries = 0; tries < 3; tries++) {
      const attempt = await replica.events.refresh.attempt()
      expect(attempt.ok ? null : attempt.failure).toMatchObject({
        kind: 'broken',
        message: expect.stringContaining('answered the request for a token with more than 256 KB') as never,
      })
    }
    expect(await replica.events.refresh.attempt()).toEqual({ ok: true })
    const sizes = standIn.reads.flatMap(({ headers }) => /maxpagesize=\d+/.exec(String(headers['prefer']))?.[0] ?? [])
    expect(new Set(sizes)).toEqual(new Set(['maxpagesize=1000']))
  })

  it('is renewed before it ends', async () => {
    const { replica } = environment.rig()
    await replica.events.refresh.attempt()
    environment.aheadMs = 3_290_000
    await replica.events.refresh.attempt()
    expect(environment.standIn.directory.asked).toBe(1)
    environment.aheadMs = 3_310_000
    await replica.events.refresh.attempt()
    expect(environment.standIn.directory.asked).toBe(2)
  })

  it('serves on where it cannot be renewed early', async () => {
    const { replica } = environment.rig()
    await replica.events.refresh.attempt()
    environment.aheadMs = 3_310_000
    environment.standIn.trap('oauth2', { kind: 'reply', reply: { ...json({}), status: 503 } }, 10)
    expect(await replica.events.refresh.attempt()).toEqual({ ok: true })
    expect(await replica.events.refresh.attempt()).toEqual({ ok: true })
    expect(environment.standIn.directory.asked).toBe(1)
    environment.aheadMs = 3_601_000
    expect((await replica.events.refresh.attempt()).ok).toBe(false)
  })

  it('is got with the secret as its file holds it by then', async () => {
    const { directory } = environment.standIn
    let text = directory.secret
    const secret = { text, name: 'the file ./secret', reread: async () => ({ ok: true, text }) as const }
    const { replica } = environment.rig({ secret })
    await replica.events.refresh.attempt()
    directory.secret = text = 'another~Secret'
    directory.revoke()
    expect(await replica.events.refresh.attempt()).toEqual({ ok: true })
    // The old one, and then the new one.
    expect(directory.asked).toBe(3)
  })

  it('is not asked for before the time that the directory named, whichever list needs it', async () => {
    const { replica } = environment.rig()
    const reply = { ...json({}), status: 429, headers: { 'retry-after': '30' } }
    environment.standIn.trap('oauth2', { kind: 'reply', reply })
    expect(await replica.events.refresh.attempt()).toMatchObject({ ok: false, failure: { retryAfterMs: 30_000 } })
    environment.aheadMs = 20_000
    const early = await replica.venues.refresh.attempt()
    expect(early.ok ? null : early.failure).toMatchObject({ kind: 'throttled' })
    expect(early.ok ? 0 : early.failure.retryAfterMs).toBeLessThanOrEqual(10_000)
    expect(environment.standIn.asked.length).toBe(1)
    environment.aheadMs = 30_500
    expect(await replica.venues.refresh.attempt()).toEqual({ ok: true })
  })

  it('goes nowhere but to the environment', async () => {
    const { replica } = environment.rig()
    await replica.events.refresh.attempt()
    for (const { path, headers } of environment.standIn.asked) {
      expect(headers.authorization === undefined).toBe(path.includes('oauth2'))
    }
  })

  it('is not asked for with each request, however short a life it is said to have', async () => {
    environment.standIn.directory.lifeS = 0
    const { replica } = environment.rig()
    environment.standIn.directory.isValid = () => true
    for (let refresh = 0; refresh < 3; refresh++) expect(await replica.events.refresh.attempt()).toEqual({ ok: true })
    expect(environment.standIn.directory.asked).toBe(1)
    environment.aheadMs = 2000
    await replica.events.refresh.attempt()
    expect(environment.standIn.directory.asked).toBe(2)
  })

  for (const access_token of ['with\na line', 'ümlaut', 'x'.repeat(20_000), '']) {
    it(`that no header can carry (${JSON.stringify(access_token.slice(0, 10))}) is not taken, and never sent`, async () => {
      const reply = json({ token_type: 'Bearer', expires_in: 3600, access_token })
      environment.standIn.trap('oauth2', { kind: 'reply', reply })
      const { replica } = environment.rig()
      const attempt = await replica.events.refresh.attempt()
      expect(attempt.ok ? '' : attempt.failure.message).toContain('is crm.authority right?')
      expect(environment.standIn.reads).toEqual([])
      expect(await replica.events.refresh.attempt()).toEqual({ ok: true })
    })
  }

  it('that is refused for a reason of many digits: told without them', async () => {
    const reply = { ...json({ error: 'invalid_client', error_description: `AADSTS${'7'.repeat(5000)}` }), status: 401 }
    environment.standIn.trap('oauth2', { kind: 'reply', reply })
    const attempt = await environment.rig().replica.events.refresh.attempt()
    expect(attempt).toMatchObject({ ok: false, failure: { kind: 'refused' } })
    expect(attempt.ok ? 0 : attempt.failure.message.length).toBeLessThan(200)
  })

  it('and an answer that is none: told as such', async () => {
    environment.standIn.trap('oauth2', {
      kind: 'reply',
      reply: { status: 200, headers: { 'content-type': 'text/html' }, body: '<p>' },
    })
    const attempt = await environment.rig().replica.events.refresh.attempt()
    expect(attempt).toMatchObject({ ok: false, failure: { kind: 'broken' } })
  })
})
