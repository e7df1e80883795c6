import { describe, expect, it } from 'bun:test'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { isDeepStrictEqual } from 'node:util'
import type { Guid } from '../../src/domain/guid.ts'
import { LISTS } from '../../src/domain/field.ts'
import type { Chance } from '../model/chance.ts'
import { FLEET_RUNS, SEED } from '../support/depth.ts'
import { eventually } from '../support/eventually.ts'
import { RedisServer } from '../support/redis-server.ts'
import { type Fleet, fleetSettingOf } from './fleet.ts'
import type { Instance } from './instance.ts'
import { describeWithRedis } from './needs-redis.ts'
import { type RealInstance, leaderOf, startInstance } from './real-instance.ts'
import { runFleet } from './run-fleet.ts'

const GALA = '7e016ac6-5cee-4fd6-be12-faa34a6761ef'

/** The length of the part of a position that names the instance. */
const NAME_LENGTH = 12

/** A copy that its keeper follows by the changes that instances tell, now of this one and now of that. */
class Follower {
  readonly copy = new Map<string, string>()
  faults = 0
  readonly counts = { known: 0, elsewhere: 0, unknown: 0 }
  readonly #fleet: Fleet
  readonly #chance: Chance
  /** How likely it is that the next instance is another one. */
  readonly #roams: number
  #position: string | null = null
  #instance: Instance | null = null

  constructor(fleet: Fleet, chance: Chance, roams: number) {
    this.#fleet = fleet
    this.#chance = chance
    this.#roams = roams
  }

  begin(): void {
    this.#fleet.time.after(this.#chance.span(this.#fleet.setting.thinkMs), () => {
      this.follow()
      this.begin()
    })
  }

  /** Asks one instance. Returns whether it has told all. */
  follow(): boolean {
    const { instances } = this.#fleet
    const before = this.#instance
    const isGone = before === null || !instances.includes(before)
    if (isGone || this.#chance.happens(this.#roams))
      this.#instance = instances[this.#chance.below(instances.length)] ?? null
    const instance = this.#instance
    if (instance?.isRunning !== true || !this.#fleet.answers(instance)) return false
    const page = this.#position === null ? null : instance.changes.since(this.#position)
    if (page === null) {
      this.counts.unknown++
      this.#position = instance.changes.now
      this.copy.clear()
      for (const list of LISTS)
        for (const { id } of instance.cluster.served[list].list.rows()) this.#take(instance, list, id)
      return false
    }
    this.counts.known++
    if (before !== instance) this.counts.elsewhere++
    for (const { list, id } of page.changes) this.#take(instance, list, id)
    const isOwn = page.next.startsWith(instance.changes.now.slice(0, NAME_LENGTH))
    const isSame = page.next === this.#position
    this.#position = page.next
    // Whoever was told all that one instance has, has what it serves.
    if (isOwn && !page.more && !isDeepStrictEqual(this.copy, this.served())) this.faults++
    return isSame && !page.more
  }

  /** Reads a record as it is served now. */
  #take(instance: Instance, list: (typeof LISTS)[number], id: Guid): void {
    const packed = instance.cluster.served[list].list.find(id)?.packed ?? null
    if (packed === null) this.copy.delete(id)
    else this.copy.set(id, packed)
  }

  /** What the instance asked last serves. */
  served(): ReadonlyMap<string, string> {
    const all = new Map<string, string>()
    for (const list of LISTS)
      for (const { id, packed } of this.#instance?.cluster.served[list].list.rows() ?? [])
        if (packed !== null) all.set(id, packed)
    return all
  }
}

const PLANS = [
  fleetSettingOf({ strategy: 'token-delta', maxAgeMs: 30_000 }),
  fleetSettingOf({ strategy: 'full-read', maxAgeMs: 30_000 }),
  fleetSettingOf({ strategy: 'token-delta', maxAgeMs: 2000 }),
  fleetSettingOf({ strategy: 'time-delta', maxAgeMs: 30_000, storeDelayMs: 150, changeEveryMs: 150 }),
] as const

describe(`copies that follow the changes of any instance (MARQUEE_SEED=${SEED})`, () => {
  for (let run = 0; run < FLEET_RUNS; run++) {
    const setting = PLANS[run % PLANS.length] ?? PLANS[0]
    it(`equal the lists in the end, whatever happens to instances and store: seed ${SEED + run}`, async () => {
      const followers: Follower[] = []
      const outcome = await runFleet(setting, SEED + run, 25 * setting.maxAgeMs, (fleet) => {
        for (const roams of [0, 0.1, 0.5, 1]) followers.push(new Follower(fleet, fleet.chance.fork(), roams))
        for (const follower of followers) follower.begin()
      })
      expect(outcome.wrong).toEqual([])
      for (const follower of followers) {
        for (let rest = 1000; rest > 0 && !follower.follow(); rest--);
        expect(follower.faults).toBe(0)
        expect(Object.fromEntries(follower.copy)).toEqual(Object.fromEntries(follower.served()))
      }
      // Those who keep to an instance seldom begin anew, and those who roam are mostly known elsewhere.
      const sums = followers.map(({ counts: { known, unknown } }) => known / (known + unknown))
      expect(Math.min(...sums)).toBeGreaterThan(0.7)
      expect(sums[0]).toBeGreaterThan(0.95)
      expect(followers.at(-1)?.counts.elsewhere).toBeGreaterThan(100)
    }, 600_000)
  }
})

interface Changes {
  readonly Items: readonly { readonly Id: string; readonly State: string }[]
  readonly Next: string
}

describeWithRedis('three instances, two runtimes and one Redis', () => {
  it('know the positions that each of them gave, also one that was killed', async () => {
    const store = await RedisServer.start()
    const folder = mkdtempSync(join(tmpdir(), 'marquee-changes-'))
    const write = (title: string): void => {
      const event = {
        Id: GALA,
        Name: title,
        Start: '2036-05-09T19:30:00Z',
        Finish: '2036-05-09T22:00:00Z',
        ShowOnWeb: true,
      }
      writeFileSync(join(folder, 'events.json'), JSON.stringify([event]))
    }
    writeFileSync(join(folder, 'venues.json'), '[]')
    write('first')
    const settings = {
      crm: { kind: 'files', directory: folder },
      feeds: { changes: 'on' },
      freshness: { maxAge: '4s', refreshEvery: '300ms' },
      cluster: { url: store.url, heartbeat: '100ms' },
    }
    let instances = await Promise.all(
      (['bun', 'node', 'bun'] as const).map((runtime) => startInstance(runtime, settings)),
    )
    const ask = async ({ process }: RealInstance, next: string): Promise<Changes> => {
      const answer = await fetch(`${process.listening.address}api${next.slice(1)}`)
      expect([next, answer.status]).toEqual([next, 200])
      return (await answer.json()) as Changes
    }
    const toldOf = async (instance: RealInstance, next: string): Promise<Changes> =>
      eventually(
        () => ask(instance, next),
        ({ Items }) => Items.length > 0,
      )
    const now = async (instance: RealInstance): Promise<string> => (await ask(instance, '~/changes')).Next
    try {
      const leader = await leaderOf(instances)
      const others = instances.filter((one) => one !== leader)
      // Once each of them has served what the store has.
      const isKnown = async (by: RealInstance, position: string): Promise<boolean> =>
        (await fetch(`${by.process.listening.address}api${position.slice(1)}`)).status === 200
      const isKnownToAll = async (): Promise<boolean> => {
        const positions = await Promise.all(instances.map(now))
        const known = instances.flatMap((one) => positions.map((position) => isKnown(one, position)))
        return (await Promise.all(known)).every(Boolean)
      }
      await eventually(isKnownToAll, (is) => is)
      const before = await now(leader)
      write('second')
      for (const one of instances)
        expect(await toldOf(one, before)).toMatchObject({ Items: [{ Id: GALA, State: 'updated' }] })
      const { Next: position } = await ask(others[0] ?? leader, before)
      const ofLeader = (await ask(leader, position)).Next
      leader.process.child.signal('SIGKILL')
      for (const one of others) {
        expect((await ask(one, ofLeader)).Items).toEqual([])
        expect(await ask(one, before)).toMatchObject({ Items: [{ Id: GALA, State: 'updated' }] })
      }
      instances = [...others]
      const next = await leaderOf(others)
      write('third')
      for (const one of others)
        expect(await toldOf(one, ofLeader)).toMatchObject({ Items: [{ Id: GALA, State: 'updated' }] })
      // One that starts knows what is given from then on.
      const newcomer = await startInstance('node', settings)
      instances.push(newcomer)
      await leaderOf(instances)
      await eventually(isKnownToAll, (is) => is)
      expect([await isKnown(newcomer, before), await isKnown(next, before)]).toEqual([false, true])
    } finally {
      for (const one of instances) await one.end()
      await store.remove()
      rmSync(folder, { recursive: true, force: true })
    }
  })
})
