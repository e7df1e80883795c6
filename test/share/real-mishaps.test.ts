import { afterEach, beforeEach, expect, it } from 'bun:test'
import { copyFileSync, existsSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import { Chance } from '../model/chance.ts'
import type { Runtime } from '../support/child.ts'
import { RedisServer } from '../support/redis-server.ts'
import { describeWithRedis } from './needs-redis.ts'
import type { Instance } from './real-fleet.ts'
import { RealFleet } from './real-fleet.ts'

/** Longer where somebody asks for it: `MARQUEE_FAULT_SECONDS=600 npm test -- test/share/real-mishaps.test.ts`. */
const SECONDS = Number(process.env['MARQUEE_FAULT_SECONDS'] ?? '20')
const SEED = Number(process.env['MARQUEE_FAULT_SEED'] ?? Date.now() % 1e6)
const PATIENCE_MS = SECONDS * 1000 + 120_000
const RUNTIMES: readonly Runtime[] = ['bun', 'node', 'bun']
/** Longer than the bound of the fleet. */
const LONGEST_MS = 13_000

let redis: RedisServer
let fleet: RealFleet

beforeEach(async () => {
  redis = await RedisServer.start()
  fleet = new RealFleet({ share: { url: redis.url, beat: '100ms', readersWhenLost: 'all' } })
})

afterEach(async () => {
  redis.continue()
  await fleet.end()
  await redis.remove()
})

/** What befalls instances and their store, one at a time; each is over when it resolves. */
class Mishaps {
  readonly #chance: Chance
  /** Callers of an instance are told when it is gone for good. */
  readonly #left = new Map<Instance, { isOver: boolean }>()
  readonly #calls: ReturnType<RealFleet['call']>[] = []

  constructor(chance: Chance) {
    this.#chance = chance
  }

  get all(): readonly (() => Promise<unknown>)[] {
    return [
      () => this.#killReader(),
      () => this.#holdUp(),
      () => this.#freezeStore(),
      () => this.#fillStore(),
      () => this.#killStore(),
      () => this.#putBackOld(),
      async () => redis.ask('FLUSHALL'),
      async () => this.#keepAsOld(),
    ]
  }

  get live(): readonly Instance[] {
    return [...this.#left.keys()]
  }

  async start(runtime: Runtime): Promise<void> {
    const instance = await fleet.start(runtime)
    const left = { isOver: false }
    this.#left.set(instance, left)
    this.#calls.push(fleet.call(instance, () => left.isOver))
  }

  /** What callers got that they must not. */
  async end(): Promise<readonly string[]> {
    for (const left of this.#left.values()) left.isOver = true
    const ended = await Promise.all(this.#calls)
    expect(ended.reduce((sum, { answers }) => sum + answers, 0)).toBeGreaterThan(100)
    // Who asked an instance as it was killed got nothing.
    return ended.flatMap(({ wrong }) => wrong)
  }

  #forAWhile(): Promise<void> {
    return pause(this.#chance.next() * LONGEST_MS)
  }

  async #killReader(): Promise<void> {
    const told = await Promise.all(this.live.map((instance) => instance.status()))
    const at = told.findIndex((one) => one?.share.role === 'reader')
    const instance = this.live[Math.max(0, at)]
    if (instance === undefined) return
    const left = this.#left.get(instance)
    if (left !== undefined) left.isOver = true
    this.#left.delete(instance)
    instance.process.child.signal('SIGKILL')
    await this.start(instance.runtime)
  }

  async #holdUp(): Promise<void> {
    const { child } = this.live[this.#chance.below(this.live.length)]?.process ?? expect.unreachable()
    child.signal('SIGSTOP')
    await this.#forAWhile()
    child.signal('SIGCONT')
  }

  async #freezeStore(): Promise<void> {
    redis.freeze()
    await this.#forAWhile()
    redis.continue()
  }

  async #fillStore(): Promise<void> {
    redis.ask('CONFIG', 'SET', 'maxmemory', '1')
    await this.#forAWhile()
    redis.ask('CONFIG', 'SET', 'maxmemory', '0')
  }

  async #killStore(): Promise<void> {
    await redis.end()
    await this.#forAWhile()
    await redis.run()
  }

  #keepAsOld(): void {
    redis.ask('SAVE')
    copyFileSync(join(redis.folder, 'dump.rdb'), join(redis.folder, 'old.rdb'))
  }

  async #putBackOld(): Promise<void> {
    if (!existsSync(join(redis.folder, 'old.rdb'))) return
    await redis.end()
    copyFileSync(join(redis.folder, 'old.rdb'), join(redis.folder, 'dump.rdb'))
    await redis.run()
  }
}

describeWithRedis('whatever befalls three instances and their store', () => {
  it(
    `no answer is older than the bound or goes back, and all are equal again (seed ${SEED})`,
    async () => {
      const chance = new Chance(SEED)
      const mishaps = new Mishaps(chance)
      for (const runtime of RUNTIMES) await mishaps.start(runtime)
      await fleet.reader(mishaps.live)
      fleet.beginWriting()
      const untilMs = performance.now() + SECONDS * 1000
      while (performance.now() < untilMs) {
        await mishaps.all[chance.below(mishaps.all.length)]?.()
        await pause(chance.next() * 4000)
      }
      await fleet.reader(mishaps.live)
      await fleet.untilEqual(mishaps.live)
      fleet.endWriting()
      expect(await mishaps.end()).toEqual([])
    },
    PATIENCE_MS,
  )
})
