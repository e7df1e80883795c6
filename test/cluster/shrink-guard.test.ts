import { afterEach, describe, expect, it } from 'bun:test'
import { CHROMIUM, open, openBrowser } from '../support/browser.ts'
import { eventually } from '../support/eventually.ts'
import { FilesDirectory } from '../support/files-directory.ts'
import { RUNTIMES } from '../support/depth.ts'
import { RedisServer } from '../support/redis-server.ts'
import { begun, MAX_AGE_MS, follower, hideMost, must, token } from './directed.ts'
import { Fleet } from './fleet.ts'
import type { Instance } from './instance.ts'
import { describeWithRedis } from './needs-redis.ts'
import { type RealInstance, leaderOf, startInstance } from './real-instance.ts'

const GUARD_MS = 20 * MAX_AGE_MS
const setting = { ...token, fullReadEveryMs: MAX_AGE_MS, shrinkGuardMs: GUARD_MS }

/** All events but two can no longer be read, and each is told as changed. */
function garble(fleet: Fleet): void {
  const { events } = fleet.tables
  for (const story of events.shown().slice(2)) {
    events.change(story, {}, { at: fleet.time.trueMs, untold: false, lateByMs: 0, silent: false })
    events.garbled.add(story.id)
  }
}

function ageNow({ admissions, cluster }: Instance): number {
  return admissions.ageNow(cluster.served.events)
}

/** The checker takes each answer past the maximum age for wrong; a fleet goes on by this all the same. */
async function wait(fleet: Fleet, ms: number): Promise<void> {
  expect(await fleet.until(() => false, ms)).toBeFalse()
}

describe('the shrink guard in a cluster (architecture: The shrink guard)', () => {
  it('holds on each instance and after a hand-over, and the log hears of no row that it kept', async () => {
    const fleet = new Fleet(setting, 1)
    const first = await begun(fleet)
    const second = await follower(fleet)
    fleet.history.end()
    await fleet.pass(2 * MAX_AGE_MS)
    const { served } = second.cluster.served.events.list
    garble(fleet)
    const begunMs = fleet.time.trueMs
    await must(fleet, () => second.cluster.served.events.shrunk !== null, MAX_AGE_MS)
    await wait(fleet, 3 * MAX_AGE_MS)
    expect(first.cluster.served.events.list.kept.size).toBeGreaterThan(10)
    const { list, shrunk } = second.cluster.served.events
    expect([list.served, list.kept.size, list.withheld]).toEqual([served, 0, first.cluster.served.events.list.withheld])
    expect(shrunk?.unreadable).toBe(served - 2)
    for (const instance of [first, second]) expect(ageNow(instance)).toBeGreaterThan(2 * MAX_AGE_MS)

    fleet.kill(first)
    await must(fleet, () => second.cluster.member.role === 'leader', 2 * MAX_AGE_MS)
    await wait(fleet, 3 * MAX_AGE_MS)
    expect(second.cluster.served.events.list.served).toBe(served)
    expect(ageNow(second)).toBeGreaterThan(5 * MAX_AGE_MS)
    await wait(fleet, begunMs + GUARD_MS - fleet.time.trueMs - MAX_AGE_MS)
    expect(ageNow(second)).toBeGreaterThan(0)
    await wait(fleet, 2 * MAX_AGE_MS)
    expect(ageNow(second)).toBe(-1)
    fleet.tables.events.garbled.clear()
    garble(fleet)
    fleet.tables.events.garbled.clear()
    await must(fleet, () => second.cluster.served.events.shrunk === null && ageNow(second) >= 0, 2 * MAX_AGE_MS)
  })

  it('holds on an instance that cannot follow the log any further, and then reads for itself or takes over', async () => {
    for (const isStoreLost of [true, false]) {
      const fleet = new Fleet(setting, 4)
      const first = await begun(fleet)
      const second = await follower(fleet)
      fleet.history.end()
      await fleet.pass(2 * MAX_AGE_MS)
      const { served } = second.cluster.served.events.list
      hideMost(fleet)
      await must(fleet, () => second.cluster.served.events.shrunk !== null, 4 * MAX_AGE_MS)
      const { member } = second.cluster
      if (member.target === null) throw new Error('it follows')
      if (isStoreLost) {
        fleet.store.health = 'down'
        fleet.store.breakConnections()
      } else {
        fleet.store.empty()
        fleet.kill(first)
      }
      member.lose(member.target)
      await must(fleet, () => second.cluster.member.role === (isStoreLost ? 'standalone' : 'leader'), 2 * MAX_AGE_MS)
      await wait(fleet, 4 * MAX_AGE_MS)
      expect(second.cluster.served.events.list.served).toBe(served)
      expect(second.cluster.served.events.shrunk?.absent).toBe(served - 2)
      expect(ageNow(second)).toBeGreaterThan(4 * MAX_AGE_MS)
    }
  })

  it('holds on a leader that resigned, and then reads for itself', async () => {
    const fleet = new Fleet(setting, 4)
    const { cluster } = await begun(fleet)
    const first = fleet.leader
    fleet.history.end()
    await fleet.pass(2 * MAX_AGE_MS)
    const { served } = cluster.served.events.list
    hideMost(fleet)
    await must(fleet, () => cluster.served.events.shrunk !== null, 4 * MAX_AGE_MS)
    fleet.store.health = 'down'
    fleet.store.breakConnections()
    cluster.member.resign('the plan says so')
    await must(fleet, () => cluster.member.role === 'standalone', MAX_AGE_MS)
    await wait(fleet, 4 * MAX_AGE_MS)
    expect(cluster.served.events.list.served).toBe(served)
    const { shrunk } = cluster.served.events
    expect([shrunk?.absent, shrunk?.heardAt ?? null]).toEqual([served - 2, null])
    if (first !== null) expect(ageNow(first)).toBeGreaterThan(4 * MAX_AGE_MS)
  })

  it('lets a follower that hears nothing more of the leader go past the maximum age as ever', async () => {
    const fleet = new Fleet({ ...setting, readAlone: false }, 2)
    await begun(fleet)
    const second = await follower(fleet)
    fleet.history.end()
    await fleet.pass(2 * MAX_AGE_MS)
    garble(fleet)
    await must(fleet, () => second.cluster.served.events.shrunk !== null, MAX_AGE_MS)
    await wait(fleet, 3 * MAX_AGE_MS)
    expect(ageNow(second)).toBeGreaterThan(2 * MAX_AGE_MS)
    second.isCut = true
    await wait(fleet, 2 * MAX_AGE_MS)
    expect(ageNow(second)).toBe(-1)
  })
})

function idOf(number: number): string {
  return `00000000-0000-4000-8000-${String(number).padStart(12, '0')}`
}

function listOf(count: number): string {
  const event = { Name: 'Tosca', Start: '2036-07-12T19:30Z', Finish: '2036-07-12T21:30Z', ShowOnWeb: true }
  return JSON.stringify(Array.from({ length: count }, (_, index) => ({ Id: idOf(index + 1), ...event })))
}

const RED = 'callers get 502'
const SCREEN = { width: 1280, height: 900, colorScheme: 'light' } as const

describeWithRedis('the shrink guard after all instances have ended (instances: no clock is compared)', () => {
  const ended: (() => unknown)[] = []
  afterEach(async () => {
    for (const end of ended.splice(0).toReversed()) await end()
  })

  async function startBoth(store: RedisServer, crm: FilesDirectory): Promise<readonly RealInstance[]> {
    const settings = {
      crm: { kind: 'files', directory: crm.crm },
      freshness: { maxAge: '4s', refreshEvery: '200ms' },
      cluster: { url: store.url },
    }
    const both = await Promise.all(RUNTIMES.map((runtime) => startInstance(runtime, settings)))
    ended.push(...both.map((instance) => () => instance.end()))
    return both
  }

  async function untilOf(instance: RealInstance): Promise<string | null> {
    const told = await eventually(
      () => instance.status(),
      (status) => (status?.lists.events.shrunk ?? null) !== null && status?.cluster.leader !== null,
    )
    return told?.lists.events.shrunk?.until ?? null
  }

  async function answered(instance: RealInstance): Promise<number> {
    return (await fetch(`${instance.process.listening.address}api/events/${idOf(31)}`)).status
  }

  it('promises the old list no more, because its age is unknown, and says what callers get and what to do', async () => {
    const store = await RedisServer.start()
    const crm = new FilesDirectory({}, { events: listOf(31), venues: '[]' })
    ended.push(
      () => store.remove(),
      () => crm.remove(),
    )
    const before = await startBoth(store, crm)
    await leaderOf(before)
    crm.write('events', listOf(5))
    for (const instance of before) expect(Date.parse((await untilOf(instance)) ?? '')).toBeGreaterThan(Date.now())
    for (const instance of before) expect(await answered(instance)).toBe(200)
    for (const { process } of before) {
      process.child.signal('SIGKILL')
      await process.child.exited
    }

    const after = await startBoth(store, crm)
    const logs = async () => after.map(({ process }) => process.child.stdout)
    const isLine = (line: string): boolean => line.includes('"event":"shrunk"')
    const lines = (await eventually(logs, (texts) => texts.some(isLine))).join('').split('\n').filter(isLine)
    expect(lines).toHaveLength(1)
    expect(JSON.parse(lines[0] ?? '{}')).toMatchObject({ level: 'error', list: 'events', until: null })
    for (const text of [RED, 'run `./marquee accept`; otherwise correct its list']) expect(lines[0]).toContain(text)
    for (const instance of after) {
      expect(await untilOf(instance)).toBeNull()
      expect(await answered(instance)).toBe(502)
      const log = await eventually(
        async () => instance.process.child.stdout,
        (text) => text.includes('"answers-stopped"'),
      )
      expect(log).toContain(`${RED} for the events: no read has confirmed them since the start; 26 of 31 events`)
      expect(log).not.toContain('serves the old list')
    }
    const [first] = after
    if (CHROMIUM !== null) {
      const browser = await openBrowser()
      ended.push(() => browser.close())
      const { page } = await open(browser, first?.process.listening.operations ?? '', SCREEN)
      const card = page.locator('#card-events', { hasText: 'The age of the old list is unknown' })
      expect(await card.textContent()).not.toContain('is served until')
    }
    await fetch(`${first?.process.listening.operations}accept`, { method: 'POST' })
    for (const instance of after) {
      await eventually(
        () => answered(instance),
        (status) => status === 404,
      )
    }
  })
})
