import { rmSync } from 'node:fs'
import { afterEach, describe, expect, it } from 'bun:test'
import { LISTS } from '../../src/domain/field.ts'
import { RowWait } from '../../src/sync/pages.ts'
import { override } from '../model/override.ts'
import { idOf, World } from '../postgres/world.ts'
import { type Runtime, Child, programOf } from '../support/child.ts'
import { BOTH_RUNTIMES, caseOrAll, planSeeds } from '../support/depth.ts'
import { eventually } from '../support/eventually.ts'
import type { Settings } from '../support/files-directory.ts'
import { HAS_POSTGRES } from '../support/postgres-server.ts'
import { RedisServer } from '../support/redis-server.ts'
import { createPrivateCa } from '../dataverse/private-ca.ts'
import { webServer } from '../web-files/web-server.ts'
import { begun, follower, MAX_AGE_MS, token } from './directed.ts'
import { Fleet } from './fleet.ts'
import { NamedRelay } from './named-relay.ts'
import { describeWithRedis } from './needs-redis.ts'
import { type RealInstance, leaderOf, startInstance } from './real-instance.ts'

/** Only a comparison of all ids confirms the data, so it may be old when the CRM is cut, and the time limits are long. */
const late = { ...token, strategy: 'time-delta', idScanEveryMs: MAX_AGE_MS / 6, patienceMs: MAX_AGE_MS } as const

/** Swallows the leader's requests to the CRM. Returns how often callers of any instance would have had to wait. */
async function refusals(seed: number): Promise<number> {
  const fleet = new Fleet(late, seed)
  const first = await begun(fleet)
  const all = [first, await follower(fleet), await follower(fleet)]
  await fleet.pass((MAX_AGE_MS * (seed % 10)) / 10)
  fleet.cutFromCrm(first, LISTS)
  let refused = 0
  const isOver = (): boolean => {
    if (!all.every((instance) => fleet.answers(instance))) refused++
    return false
  }
  await fleet.until(isOver, 2 * MAX_AGE_MS)
  expect([seed, fleet.checker.wrong, fleet.leader === first]).toEqual([seed, [], false])
  return refused
}

describe('a leader whose requests to the CRM are swallowed (instances: Failures)', () => {
  it('leaves before the data is too old, although no time limit has expired', async () => {
    for (const seed of planSeeds(20)) expect([seed, await refusals(seed)]).toEqual([seed, 0])
  }, 600_000)

  it('would leave too late if it waited for its time limits', async () => {
    const putRight = override(RowWait.prototype, 'hangsForMs', () => () => 0)
    try {
      expect(await refusals(1)).toBeGreaterThan(0)
    } finally {
      putRight()
    }
  }, 600_000)
})

const REAL_MAX_AGE_MS = 15_000
const EVENT = idOf(0)

/** A CRM that each instance reaches in a way of its own. */
interface CutCrm {
  /** The section `crm` and the environment of an instance. */
  of(instance: number): { readonly crm: Settings; readonly env: Readonly<Record<string, string>> }
  rename(name: string): Promise<unknown>
  cut(instance: number): void
  mend(instance: number): void
  end(): Promise<unknown>
}

async function database(): Promise<CutCrm> {
  const world = await World.create()
  await world.query('ALTER ROLE marquee CONNECTION LIMIT 20')
  await world.fill(20)
  const relay = await NamedRelay.open(Number(new URL(world.url).port))
  const lists = { events: { from: 'crm.public_events' }, venues: { from: 'crm.public_venues' } }
  const nameOf = (instance: number): string => `marquee-${instance}`
  return {
    of(instance) {
      const url = new URL(world.url)
      url.port = String(relay.port)
      url.searchParams.set('application_name', nameOf(instance))
      return {
        crm: { kind: 'postgres', url: { env: 'DATABASE_URL' }, listen: 'marquee', ...lists },
        env: { DATABASE_URL: url.href },
      }
    },
    rename: (name) => world.query('UPDATE crm.event SET title = $1 WHERE event_id = $2', [name, EVENT]),
    cut: (instance) => void relay.cut.add(nameOf(instance)),
    mend: (instance) => void relay.cut.delete(nameOf(instance)),
    async end() {
      relay.close()
      await world.remove()
    },
  }
}

async function filesByUrl(): Promise<CutCrm> {
  const ca = createPrivateCa()
  let title = 'Event 0'
  const times = { Start: '2036-07-12T19:30:00Z', Finish: '2036-07-12T23:00:00Z' }
  const events = (): string => JSON.stringify([{ Id: EVENT, Name: title, ...times, ShowOnWeb: true }])
  const server = await webServer(({ path, headers }) => {
    // Without a validator, the list is read every 10 s at most.
    const etag = `"${title}"`
    if (headers['if-none-match'] === etag) return { status: 304, headers: { etag } }
    return { headers: { etag }, body: path === '/events.json' ? events() : '[]' }
  }, ca.server)
  const proxies: { readonly child: Child; readonly port: string }[] = []
  for (let count = 0; count < 3; count++) {
    const child = new Child(programOf('bun'), ['test/dataverse/forward-proxy.ts', String(server.port)])
    const line = await child.line((text) => text.startsWith('port '))
    proxies.push({ child, port: line?.slice(5) ?? '' })
  }
  return {
    of: (instance) => ({
      crm: {
        kind: 'files',
        events: { from: 'https://crm.test/events.json' },
        venues: { from: 'https://crm.test/venues.json' },
        proxy: `http://127.0.0.1:${proxies[instance]?.port}`,
        ca: ca.path,
      },
      env: {},
    }),
    rename: async (name) => (title = name),
    cut: (instance) => proxies[instance]?.child.signal('SIGSTOP'),
    mend: (instance) => proxies[instance]?.child.signal('SIGCONT'),
    async end() {
      for (const { child } of proxies) {
        child.signal('SIGCONT')
        await child.stop()
      }
      await server.close()
      rmSync(ca.directory, { recursive: true })
    },
  }
}

interface Called {
  readonly statuses: Set<number>
  answers: number
  oldestMs: number
  longestMs: number
}

/** Asks an instance again and again until it is over. */
async function call({ process }: RealInstance, called: Called, isOver: () => boolean): Promise<void> {
  while (!isOver()) {
    const begunMs = performance.now()
    const { status, headers } = await fetch(`${process.listening.address}api/events/${EVENT}`)
    called.statuses.add(status)
    called.answers++
    called.oldestMs = Math.max(called.oldestMs, Number(headers.get('age') ?? Infinity) * 1000)
    called.longestMs = Math.max(called.longestMs, performance.now() - begunMs)
    await new Promise((resolve) => setTimeout(resolve, 25))
  }
}

describeWithRedis('three instances, of which the leader is cut from the CRM', () => {
  const ended: (() => unknown)[] = []
  afterEach(async () => {
    for (const end of ended.splice(0).toReversed()) await end()
  })

  const cases = BOTH_RUNTIMES.flatMap((runtime) => [
    ...(HAS_POSTGRES ? [['a database', runtime, database] as const] : []),
    ['files by URL', runtime, filesByUrl] as const,
  ])
  it.each(caseOrAll(cases))('all answer while another reads: %s, the leader on %s', async (_, runtime, open) => {
    const redis = await RedisServer.start()
    ended.push(() => redis.remove())
    const crm = await open()
    ended.push(() => crm.end())
    const all: RealInstance[] = []
    const start = async (on: Runtime): Promise<void> => {
      const { crm: section, env } = crm.of(all.length)
      const freshness = { maxAge: `${REAL_MAX_AGE_MS}ms`, refreshEvery: '5s' }
      const instance = await startInstance(on, { crm: section, freshness, cluster: { url: redis.url } }, env)
      ended.push(() => instance.end())
      all.push(instance)
    }
    await start(runtime)
    await leaderOf(all)
    for (const on of BOTH_RUNTIMES) await start(on)
    let reader = all.indexOf(await leaderOf(all))
    const called: Called = { statuses: new Set(), answers: 0, oldestMs: 0, longestMs: 0 }
    let isOver = false
    const calls = all.map((instance) => call(instance, called, () => isOver))
    const tookMs: number[] = []
    // The one that was cut first may read again once the other one is cut.
    for (const name of ['Salome', 'Elektra']) {
      const begunMs = performance.now()
      crm.cut(reader)
      await eventually(
        () => Promise.all(all.map((instance) => instance.status())),
        (told) => told.some((one, at) => at !== reader && one?.cluster.role === 'leader'),
      )
      tookMs.push(Math.round(performance.now() - begunMs))
      await crm.rename(name)
      for (const { process } of all) {
        await eventually(
          async () => (await fetch(`${process.listening.address}api/events/${EVENT}`)).text(),
          (text) => text.includes(name),
        )
      }
      const next = all.indexOf(await leaderOf(all))
      crm.mend(reader)
      reader = next
    }
    isOver = true
    await Promise.all(calls)
    const { statuses, answers, oldestMs, longestMs } = called
    console.log(
      `taken over after ${tookMs.join(' and ')} ms; ${answers} answers, at most ${oldestMs} ms old, the longest took ${Math.round(longestMs)} ms`,
    )
    expect([...statuses]).toEqual([200])
    expect(oldestMs).toBeLessThanOrEqual(REAL_MAX_AGE_MS)
  })
})
