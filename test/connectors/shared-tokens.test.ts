import { afterEach, describe, expect, it } from 'bun:test'
import type { Crm } from '../../src/sync/port.ts'
import { type Answer, type Asked, JsonServer } from './json-server.ts'
import { openConfigured, readList } from './replay.ts'

const left: { close(): unknown }[] = []
afterEach(async () => {
  for (const one of left.splice(0)) await one.close()
})

interface World {
  readonly crm: Crm
  readonly api: JsonServer
  readonly tokens: JsonServer
}

/** An API of two lists of no rows, whose token server answers as a test says. */
async function open(
  token: (asked: Asked) => Answer | Promise<Answer>,
  api: (asked: Asked) => Answer | Promise<Answer> = () => ({ json: [] }),
): Promise<World> {
  const world = { api: await JsonServer.open(api), tokens: await JsonServer.open(token) }
  left.push(world.api, world.tokens)
  const whole = (name: string): string => `${name}: { get: /${name}, paging: { by: none, whole: true } }`
  const auth = `auth: { clientCredentials: { tokenUrl: "${world.tokens.url}/token", clientId: app, clientSecret: { env: KEY } } }`
  const crm = await openConfigured(
    `crm: { kind: http, url: "${world.api.url}", ${auth}, ${whole('events')}, ${whole('venues')} }`,
    { KEY: 'secret-word' },
  )
  left.push(crm)
  return { ...world, crm }
}

const bothLists = async ({ crm }: World): Promise<readonly string[]> =>
  (await Promise.all([readList(crm.events), readList(crm.venues)])).map(({ failure }) => failure)

const bearersOf = ({ api }: World): unknown[] =>
  api.asked.map(({ path, headers }) => `${path} ${headers['authorization']}`).toSorted()

describe('A token by client credentials', () => {
  it('is asked for once if both lists begin at once', async () => {
    let asked = 0
    const world = await open(async () => {
      await Bun.sleep(50)
      return { json: { access_token: `token-${++asked}`, expires_in: 3600 } }
    })
    expect(await bothLists(world)).toEqual(['', ''])
    expect(bearersOf(world)).toEqual(['/events Bearer token-1', '/venues Bearer token-1'])
    expect(world.tokens.asked.length).toBe(1)
  })

  it('that failed fails for the lists that waited for it, and is asked for again by the next read', async () => {
    let isDown = true
    const world = await open(async () => {
      await Bun.sleep(50)
      return isDown ? { status: 401, json: { error: 'invalid_client' } } : { json: { access_token: 'token' } }
    })
    for (const failure of await bothLists(world)) expect(failure).toStartWith('refused: ')
    expect(world.tokens.asked.length).toBe(1)
    isDown = false
    expect(await bothLists(world)).toEqual(['', ''])
    expect(world.tokens.asked.length).toBe(2)
  })

  it('is asked for by the other list if the list that asked first is given up', async () => {
    const first = Promise.withResolvers<void>()
    const isAsked = Promise.withResolvers<void>()
    const world = await open(async () => {
      if (world.tokens.asked.length > 1) return { json: { access_token: 'second' } }
      isAsked.resolve()
      await first.promise
      return { json: { access_token: 'first' } }
    })
    const givenUp = new AbortController()
    const read = readList(world.crm.events, 'full', null, givenUp.signal)
    await isAsked.promise
    const other = readList(world.crm.venues)
    givenUp.abort()
    expect((await other).failure).toBe('')
    expect(bearersOf(world)).toEqual(['/venues Bearer second'])
    first.resolve()
    await read
  })

  it('that ends within a read is replaced once; a CRM that refuses the new one too refuses the read', async () => {
    let asked = 0
    let good = 2
    const world = await open(
      () => ({ json: { access_token: `token-${++asked}`, expires_in: 3600 } }),
      ({ headers }) => (headers['authorization'] === `Bearer token-${good}` ? { json: [] } : { status: 401, json: {} }),
    )
    expect((await readList(world.crm.events)).failure).toBe('')
    expect(bearersOf(world)).toEqual(['/events Bearer token-1', '/events Bearer token-2'])
    good = 0
    expect((await readList(world.crm.events)).failure).toStartWith('refused: ')
    expect([asked, world.api.asked.length]).toEqual([3, 4])
    good = 4
    expect((await readList(world.crm.events)).failure).toBe('')
  })

  it('is not forgotten if the other list fails with an older one', async () => {
    let asked = 0
    const isOver = Promise.withResolvers<void>()
    const world = await open(
      () => ({ json: { access_token: `token-${++asked}`, expires_in: 3600 } }),
      async ({ path, headers }) => {
        if (headers['authorization'] !== 'Bearer token-1') return { json: [] }
        // The CRM has ended the session. The list of venues hears of it last.
        if (path === '/venues') await isOver.promise
        return { status: 401, json: {} }
      },
    )
    const venues = readList(world.crm.venues)
    await readList(world.crm.events)
    expect((await readList(world.crm.events)).failure).toBe('')
    isOver.resolve()
    await venues
    expect((await readList(world.crm.events)).failure).toBe('')
    expect(asked).toBe(2)
  })
})
