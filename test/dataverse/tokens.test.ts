import { beforeEach, describe, expect, it } from 'bun:test'
import { fill } from './environment.ts'
import { Fixture } from './fixture.ts'
import { json } from './reply.ts'

const environment = new Fixture()

beforeEach(() => fill(environment, 3))

describe('the token', () => {
  it('is asked for once, however many requests need it', async () => {
    const { replica } = await environment.rig()
    await Promise.all([replica.events.refresh.attempt(), replica.venues.refresh.attempt()])
    await Promise.all([replica.events.refresh.attempt(), replica.venues.refresh.attempt()])
    expect(environment.standIn.directory.asked).toBe(1)
  })

  it('is got with the secret as its file holds it by then', async () => {
    const { directory } = environment.standIn
    let text = directory.secret
    const secret = { text, name: 'the file ./secret', reread: async () => ({ ok: true, text }) as const }
    const { replica } = await environment.rig({ secret })
    await replica.events.refresh.attempt()
    directory.secret = text = 'another~Secret'
    directory.revoke()
    expect(await replica.events.refresh.attempt()).toEqual({ ok: true })
    // The old one, and then the new one.
    expect(directory.asked).toBe(3)
  })

  it('is not asked for before the time that the directory named, whichever list needs it', async () => {
    const { replica } = await environment.rig()
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
    const { replica } = await environment.rig()
    await replica.events.refresh.attempt()
    for (const { path, headers } of environment.standIn.asked) {
      expect(headers.authorization === undefined).toBe(path.includes('oauth2'))
    }
  })

  for (const access_token of ['with\na line', 'ümlaut', 'x'.repeat(20_000), '']) {
    it(`that no header can carry (${JSON.stringify(access_token.slice(0, 10))}) is not taken, and never sent`, async () => {
      const reply = json({ token_type: 'Bearer', expires_in: 3600, access_token })
      environment.standIn.trap('oauth2', { kind: 'reply', reply })
      const { replica } = await environment.rig()
      const attempt = await replica.events.refresh.attempt()
      expect(attempt.ok ? '' : attempt.failure.message).toContain('answered without a bearer token')
      expect(environment.standIn.reads).toEqual([])
      expect(await replica.events.refresh.attempt()).toEqual({ ok: true })
    })
  }

  it('that is refused for a reason of many digits: told without them', async () => {
    const reply = { ...json({ error: 'invalid_client', error_description: `AADSTS${'7'.repeat(5000)}` }), status: 401 }
    environment.standIn.trap('oauth2', { kind: 'reply', reply })
    const attempt = await (await environment.rig()).replica.events.refresh.attempt()
    expect(attempt).toMatchObject({ ok: false, failure: { kind: 'refused' } })
    expect(attempt.ok ? 0 : attempt.failure.message.length).toBeLessThan(200)
  })

  it('and an answer that is none: told as such', async () => {
    environment.standIn.trap('oauth2', {
      kind: 'reply',
      reply: { status: 200, headers: { 'content-type': 'text/html' }, body: '<p>' },
    })
    const attempt = await (await environment.rig()).replica.events.refresh.attempt()
    expect(attempt).toMatchObject({ ok: false, failure: { kind: 'broken' } })
  })
})
