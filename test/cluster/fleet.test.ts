import { afterEach, beforeEach, expect, it } from 'bun:test'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import type { Runtime } from '../support/child.ts'
import { Child, programOf, ROOT } from '../support/child.ts'
import { eventually } from '../support/eventually.ts'
import { exposed } from '../support/exposed-metrics.ts'
import { FilesDirectory } from '../support/files-directory.ts'
import { askOperations, sampleOf } from '../support/operations-client.ts'
import { RedisServer } from '../support/redis-server.ts'
import { describeWithRedis } from './needs-redis.ts'
import { HAS_NGINX, startFront } from './nginx.ts'
import { RealFleet } from './real-fleet.ts'
import type { RealInstance } from './real-instance.ts'

const RUNTIMES: readonly Runtime[] = ['bun', 'node', 'bun']

let redis: RedisServer
let fleet: RealFleet

beforeEach(async () => {
  redis = await RedisServer.start()
  fleet = new RealFleet({ cluster: { url: redis.url, heartbeat: '100ms' } })
})

afterEach(async () => {
  await fleet.end()
  await redis.remove()
})

async function started(): Promise<RealInstance> {
  await Promise.all(RUNTIMES.map((runtime) => fleet.start(runtime)))
  return fleet.leader()
}

const others = (than: RealInstance): readonly RealInstance[] => fleet.instances.filter((one) => one !== than)

/** What callers of these got while `happens` happened. */
async function called(
  of: readonly RealInstance[],
  happens: () => Promise<void>,
): Promise<{ wrong: readonly string[]; unavailable: number }> {
  let isOver = false
  fleet.beginWriting()
  const calls = of.map((instance) => fleet.call(instance, () => isOver))
  try {
    await happens()
  } finally {
    isOver = true
    fleet.endWriting()
  }
  const ended = await Promise.all(calls)
  for (const { answers } of ended) expect(answers).toBeGreaterThan(0)
  return {
    wrong: ended.flatMap(({ wrong }) => wrong).slice(0, 10),
    unavailable: ended.reduce((sum, { unavailable }) => sum + unavailable, 0),
  }
}

const SHORT = { freshness: { maxAge: '2s', refreshEvery: '1s' } }
const NOTHING_SEEN = { wrong: [], unavailable: 0 }

describeWithRedis('three instances, two runtimes and one Redis', () => {
  it('answer what one of them reads; the CRM is read by that one alone, and metrics tell who it is', async () => {
    const leader = await started()
    fleet.write()
    await fleet.untilEqual()
    const [, page = ''] = readFileSync(join(ROOT, 'docs/metrics.md'), 'utf8').split('\n## In a cluster')
    const described = [...page.matchAll(/^\| `(\w+)` \| (\w+) \|/gm)].map(([, name, type]) => `${name} ${type}`)
    for (const instance of fleet.instances) {
      const { text } = (await askOperations(`${instance.process.listening.operations}metrics`)) ?? { text: '' }
      const isReader = instance === leader
      expect(sampleOf(text, 'marquee_cluster_role{role="leader"}')).toBe(isReader ? 1 : 0)
      expect(sampleOf(text, 'marquee_cluster_role{role="follower"}')).toBe(isReader ? 0 : 1)
      expect(sampleOf(text, 'marquee_cluster_connected')).toBe(1)
      expect(sampleOf(text, 'marquee_cluster_instances')).toBe(3)
      expect((sampleOf(text, 'marquee_crm_requests_total{outcome="ok"}') ?? 0) > 0).toBe(isReader)
      const shared = exposed(text).filter(({ name }) => name.startsWith('marquee_cluster_'))
      expect(shared.map(({ name, type }) => `${name} ${type}`).toSorted()).toEqual(described.toSorted())
      const told = await instance.status()
      expect(told?.lists.events.withheld).toBe(1)
      expect(told?.cluster.candidates.length).toBe(2)
    }
  })

  it('explain a row with who read it, and what was found in it only there; that a shorter list is right is taken by each', async () => {
    const leader = await started()
    const [follower] = others(leader)
    const ask = async (instance: RealInstance | undefined, path: string, method = 'GET') =>
      askOperations(`${instance?.process.listening.operations}${path}`, { method })
    const broken = 'explain/ffffffff-0000-4000-8000-000000000000'
    const [there, here] = [await ask(leader, broken), await ask(follower, broken)]
    expect(there?.text).toContain('a found value')
    expect(here?.text).not.toContain('a found value')
    expect(here?.text).toContain(`Instance ${(await leader.status())?.cluster.instance} reads the CRM`)
    expect(here?.text).toContain('after a change of leader, once it has read the row itself')
    expect((await ask(leader, 'accept', 'POST'))?.text).toBe('{"accepted":[]}')
    for (const instance of others(leader)) {
      expect((await ask(instance, 'accept', 'POST'))?.text).toBe('{"accepted":[]}')
    }
  })

  it('let go of a list that was held back, by the word of a follower on either runtime', async () => {
    await started()
    const events = { 2: 20, 8: 40 }
    for (const [left, before] of Object.entries(events)) {
      fleet.events = before
      fleet.write()
      await fleet.untilEqual()
      const follower = others(await fleet.leader()).find(({ runtime }) => runtime === (left === '2' ? 'node' : 'bun'))
      fleet.events = Number(left)
      fleet.write()
      await eventually(
        async () => (await follower?.status())?.lists.events.shrunk,
        (shrunk) => shrunk !== undefined && shrunk !== null,
      )
      const said = await askOperations(`${follower?.process.listening.operations}accept`, { method: 'POST' })
      expect(said?.text).toBe('{"accepted":["events"]}')
      await fleet.untilEqual()
    }
  })

  it('say that no leader answered, 10 s after `accept` was said, where none can be reached', async () => {
    fleet.settings = { cluster: { url: redis.url, heartbeat: '100ms', readAlone: false } }
    const first = await fleet.start('node')
    await fleet.leader()
    const left = [await fleet.start('node'), await fleet.start('bun')]
    expect(await fleet.leader()).toBe(first)
    redis.freeze()
    const begunMs = performance.now()
    const ended = await Promise.all(left.map((instance) => accept(instance)))
    expect(performance.now() - begunMs).toBeGreaterThan(9900)
    for (const { status, stderr } of ended) {
      expect(stderr).toMatch(
        /^nothing was accepted: no leader answered within 10 s; a leader that comes back may still accept .*; http:\S+\/status says/,
      )
      expect(status).toBe(1)
    }
    redis.continue()
    await fleet.leader()
    for (const instance of left) {
      await eventually(
        () => accept(instance),
        ({ status }) => status === 0,
      )
    }
  })

  it('say so where the maximum age of one is too short for how often another reads', async () => {
    await fleet.start('bun')
    await fleet.leader()
    fleet.settings = { ...fleet.settings, freshness: { maxAge: '1s', refreshEvery: '500ms' } }
    const { process } = await fleet.start('node')
    await eventually(
      () => Promise.resolve(process.child.stdout),
      (told) => told.includes('freshness.maxAge is too short on this instance: it is 1 s, but must be at least twice'),
    )
  })

  it('keep a maximum age that a reload made shorter: the heartbeats follow it', async () => {
    await fleet.end()
    fleet = new RealFleet({ cluster: { url: redis.url }, freshness: { maxAge: '20s', refreshEvery: '1s' } })
    const both = [await fleet.start('bun'), await fleet.start('node')]
    await fleet.leader()
    const beatenIn = async (ms: number): Promise<number> => {
      const numberNow = async (): Promise<number> =>
        Number((await both[0]?.status())?.cluster.position?.split('-')[1] ?? Number.NaN)
      const before = await numberNow()
      await new Promise((resolve) => setTimeout(resolve, ms))
      return (await numberNow()) - before
    }
    const before = await beatenIn(4000)
    for (const instance of both) instance.reload(SHORT)
    for (const { process } of both) {
      await eventually(
        () => Promise.resolve(process.child.stdout),
        (told) => told.includes('freshness.maxAge'),
      )
    }
    // Every 100 ms instead of 500, besides what reads say.
    await eventually(
      () => beatenIn(4000),
      (beaten) => beaten > 2 * before,
    )
  })

  it('tell on each of them how long after its change a row is shown there', async () => {
    await started()
    const counted = async (instance: RealInstance): Promise<number> => {
      const { text } = (await askOperations(`${instance.process.listening.operations}metrics`)) ?? { text: '' }
      return sampleOf(text, 'marquee_publish_delay_seconds_count') ?? 0
    }
    const before = await Promise.all(fleet.instances.map(counted))
    fleet.write()
    await fleet.untilEqual()
    const added = await eventually(
      async () => (await Promise.all(fleet.instances.map(counted))).map((count, at) => count - (before[at] ?? 0)),
      (counts) => counts.every((count) => count >= 20),
    )
    expect(added).toEqual([20, 20, 20])
  })

  it('begin with the file of the one that read, where the store came back empty with none of them left', async () => {
    const folder = new FilesDirectory({}, null)
    const begin = async (runtime: Runtime): Promise<RealInstance> => {
      fleet.settings = {
        cluster: { url: redis.url, heartbeat: '100ms' },
        snapshot: { directory: join(folder.path, 'snapshot') },
      }
      return fleet.start(runtime)
    }
    try {
      for (const runtime of ['bun', 'node'] as const) {
        const first = await begin(runtime)
        await eventually(
          () => Promise.resolve(first.process.child.stdout),
          (told) => told.includes('a snapshot of ') || told.includes('snapshot-read'),
        )
        fleet.write()
        await fleet.untilEqual([first])
        await fleet.stop(first)
        redis.ask('FLUSHALL')
        const second = await begin(runtime)
        await fleet.untilEqual([second])
        const { stdout } = second.process.child
        expect(stdout).toContain('snapshot-read')
        // Nothing had changed: no row was read again.
        expect(stdout).not.toContain('read-ended')
        await fleet.stop(second)
        redis.ask('FLUSHALL')
      }
    } finally {
      folder.remove()
    }
  })

  it('go on when the leader is killed: nobody gets 502, an old answer or an older one than before', async () => {
    const leader = await started()
    const left = others(leader)
    const seen = await called(left, async () => {
      leader.process.child.signal('SIGKILL')
      await fleet.leader(left)
      await fleet.untilEqual(left)
    })
    expect(seen).toEqual(NOTHING_SEEN)
  })

  it.skipIf(!HAS_NGINX)('behind the nginx of deploy/: callers notice nothing of a leader that is killed', async () => {
    const [first, second] = [await fleet.start('bun'), await fleet.start('node')]
    const leader = await fleet.leader()
    const front = await startFront([first.process.port, second.process.port])
    try {
      await eventually(
        () => askOperations(front.address),
        (reply) => reply !== null,
      )
      let isOver = false
      const asked = fleet.statuses(front.address, () => isOver)
      leader.process.child.signal('SIGKILL')
      await fleet.leader(others(leader))
      isOver = true
      expect([...(await asked).keys()]).toEqual([200])
    } finally {
      await front.stop()
    }
  })

  it('go on when the leader is stopped in order, which says so to the others', async () => {
    const leader = await started()
    const left = others(leader)
    const seen = await called(left, async () => {
      expect(await leader.process.child.stop()).toBe(0)
      await fleet.leader(left)
      await fleet.untilEqual(left)
    })
    expect(seen).toEqual(NOTHING_SEEN)
    expect(leader.process.child.stdout).toContain('this instance is no longer the leader: it stops')
  })

  it('have one leader again when the one that was held up wakes, and it goes back for nobody', async () => {
    const leader = await started()
    const seen = await called(fleet.instances, async () => {
      leader.process.child.signal('SIGSTOP')
      await fleet.leader(others(leader))
      leader.process.child.signal('SIGCONT')
      expect(await fleet.leader()).not.toBe(leader)
      await fleet.untilEqual()
    })
    expect(seen.wrong).toEqual([])
  })

  it('outlive a store that is killed and comes back empty, and one that is emptied under them', async () => {
    await started()
    const seen = await called(fleet.instances, async () => {
      redis.ask('FLUSHALL')
      await fleet.leader()
      await fleet.untilEqual()
      await redis.end()
      for (const instance of fleet.instances) {
        await eventually(
          () => instance.status(),
          (told) => told?.cluster.connected === false,
        )
      }
      await redis.run()
      await fleet.leader()
      await fleet.untilEqual()
    })
    expect(seen.wrong).toEqual([])
  })

  it('let a fourth begin with what is in the store, which holds no secret and no value that was not served', async () => {
    await fleet.end()
    redis.ask('ACL', 'SETUSER', 'one', 'on', '>the-password', '~*', '+@all')
    const env = { STORE: redis.url.replace('//', '//one:the-password@'), TOKEN: 'the-token' }
    const cluster = { url: { env: 'STORE' }, heartbeat: '100ms' }
    fleet = new RealFleet({ cluster }, env)
    const leader = await started()
    fleet.write()
    await fleet.untilEqual()
    const fourth = await fleet.start('node')
    await fleet.untilEqual([fourth])
    expect((await fourth.status())?.cluster.role).toBe('follower')
    expect(fourth.process.child.stdout).not.toContain('read-ended')
    fleet.write()
    await fleet.untilEqual()

    const key = (last: string): string => `marquee:{${scopeIn(redis)}}:${last}`
    const hashes = ['state', 'members', 'events', 'venues'].map((last) => redis.ask('HGETALL', key(last)))
    const stream = redis.ask('XRANGE', key('log'), '-', '+')
    const stored = [...hashes, stream].join('\n')
    // It is looked where they would be.
    expect(hashes[2]).toMatch(/version \d/)
    expect(stream).toMatch(/version \d/)
    expect(stored).toContain('unreadable')
    for (const secret of ['a found value', 'the-password']) expect(stored).not.toContain(secret)
    const told = [...fleet.instances].map(({ process: { child } }) => child.stdout + child.stderr).join('\n')
    const shown = JSON.stringify(await Promise.all(fleet.instances.map((instance) => instance.status())))
    for (const secret of ['a found value', 'the-password']) expect(told + shown).not.toContain(secret)
    expect(leader.process.child.stderr).toBe('')
  })
})

/** The command, for the instance that listens there. */
async function accept({ process, runtime }: RealInstance): Promise<{ status: number | string; stderr: string }> {
  const port = Number(new URL(process.listening.operations ?? '').port)
  const folder = new FilesDirectory({ snapshot: null, operations: { port } }, { events: '[]', venues: '[]' })
  const child = new Child(programOf(runtime), ['src/main.ts', 'accept', '--config', folder.configuration])
  const status = await child.exited
  folder.remove()
  return { status, stderr: child.stderr }
}

function scopeIn(server: RedisServer): string {
  return server.ask('HKEYS', 'marquee:scopes')
}
