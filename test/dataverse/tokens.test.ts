import { afterEach, beforeEach, describe, expect, it } from 'bun:test'
import type { Time } from '../../src/replica/time.ts'
import { systemTime } from '../../src/replica/time.ts'
import type { Environment } from './environment.ts'
import { fill, openEnvironment } from './environment.ts'
import { json } from './reply.ts'
import type { Rig, RigOptions } from './rig.ts'
import { rigOf } from './rig.ts'

let environment: Environment
let rigs: Rig[] = []
let aheadMs = 0

/** The system's time, which a test can put forward. */
const time: Time = {
  ...systemTime,
  now() {
    const { monotonicMs, wallMs } = systemTime.now()
    return { monotonicMs: monotonicMs + aheadMs, wallMs: wallMs + aheadMs }
  },
}

beforeEach(async () => {
  aheadMs = 0
  environment = await openEnvironment()
  fill(environment, 3)
})

afterEach(async () => {
  for (const rig of rigs) await rig.crm.close()
  rigs = []
  environment.standIn.close()
})

function open(options: RigOptions = {}): Rig {
  const rig = rigOf(environment.standIn, { time, ...options })
  rigs.push(rig)
  return rig
}

describe('the token', () => {
  it('is asked for once, however many requests need it', async () => {
    const { replica } = open()
    await Promise.all([replica.events.refresh.attempt(), replica.venues.refresh.attempt()])
    await Promise.all([replica.events.refresh.attempt(), replica.venues.refresh.attempt()])
    expect(environment.standIn.directory.asked).toBe(1)
  })

  it('is renewed before it ends', async () => {
    const { replica } = open()
    await replica.events.refresh.attempt()
    aheadMs = 3_290_000
    await replica.events.refresh.attempt()
    expect(environment.standIn.directory.asked).toBe(1)
    aheadMs = 3_310_000
    await replica.events.refresh.attempt()
    expect(environment.standIn.directory.asked).toBe(2)
  })

  it('serves on where it cannot be renewed early', async () => {
    const { replica } = open()
    await replica.events.refresh.attempt()
    aheadMs = 3_310_000
    environment.standIn.trap('oauth2', { kind: 'reply', reply: { ...json({}), status: 503 } }, 10)
    expect(await replica.events.refresh.attempt()).toEqual({ ok: true })
    expect(await replica.events.refresh.attempt()).toEqual({ ok: true })
    expect(environment.standIn.directory.asked).toBe(1)
    aheadMs = 3_601_000
    expect((await replica.events.refresh.attempt()).ok).toBe(false)
  })

  it('is got with the secret as its file holds it by then', async () => {
    const { directory } = environment.standIn
    let text = directory.secret
    const secret = { text, name: 'the file ./secret', reread: async () => ({ ok: true, text }) as const }
    const { replica } = open({ secret })
    await replica.events.refresh.attempt()
    directory.secret = text = 'another~Secret'
    directory.revoke()
    expect(await replica.events.refresh.attempt()).toEqual({ ok: true })
    // The old one, and then the new one.
    expect(directory.asked).toBe(3)
  })

  it('goes nowhere but to the environment', async () => {
    const { replica } = open()
    await replica.events.refresh.attempt()
    for (const { path, headers } of environment.standIn.asked) {
      expect(headers.authorization === undefined).toBe(path.includes('oauth2'))
    }
  })

  it('and an answer that is none: told as such', async () => {
    environment.standIn.trap('oauth2', {
      kind: 'reply',
      reply: { status: 200, headers: { 'content-type': 'text/html' }, body: '<p>' },
    })
    const attempt = await open().replica.events.refresh.attempt()
    expect(attempt).toMatchObject({ ok: false, failure: { kind: 'broken' } })
  })
})
