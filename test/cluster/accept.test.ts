import { describe, expect, it } from 'bun:test'
import { begun, MAX_AGE_MS, follower, hideMost, must, token } from './directed.ts'
import { Fleet } from './fleet.ts'
import type { Instance } from './instance.ts'
import { planSeeds } from '../support/depth.ts'

const setting = { ...token, fullReadEveryMs: MAX_AGE_MS }
const SEEDS = planSeeds(3)

/** A leader whose CRM hides most events, and a follower that was told so. */
async function shrunk(fleet: Fleet): Promise<readonly [Instance, Instance]> {
  const first = await begun(fleet)
  const second = await follower(fleet)
  fleet.history.end()
  await fleet.pass(MAX_AGE_MS)
  await engage(fleet, second)
  return [first, second]
}

async function engage(fleet: Fleet, told: Instance): Promise<void> {
  hideMost(fleet)
  await must(fleet, () => told.cluster.served.events.shrunk !== null, 4 * MAX_AGE_MS)
}

/** What an operator gets, and after how long. */
async function saidTo(fleet: Fleet, instance: Instance): Promise<{ accepted: readonly string[] | null; ms: number }> {
  const begunMs = fleet.time.trueMs
  let accepted: readonly string[] | null | undefined
  void instance.cluster.member.accept().then((lists) => (accepted = lists))
  await must(fleet, () => accepted !== undefined, MAX_AGE_MS)
  return { accepted: accepted ?? null, ms: fleet.time.trueMs - begunMs }
}

/** Events that are hidden on purpose are wrong to the checker, and a fleet that is wrong does not go on by itself. */
async function wait(fleet: Fleet, ms: number): Promise<void> {
  expect(await fleet.until(() => false, ms)).toBeFalse()
}

const serves =
  (instance: Instance, events: number): (() => boolean) =>
  () =>
    instance.cluster.served.events.list.served === events

describe('`accept` (instances: What a person touches)', () => {
  it('is said to any instance, and done by the leader', async () => {
    for (const seed of SEEDS) {
      const fleet = new Fleet(setting, seed)
      const [first, second] = await shrunk(fleet)
      const { accepted, ms } = await saidTo(fleet, second)
      expect(accepted).toEqual(['events'])
      expect(ms).toBeLessThan(3000)
      for (const instance of [first, second]) await must(fleet, serves(instance, 2), MAX_AGE_MS)
      expect(fleet.news['shorter-accepted']).toBe(1)
      for (const instance of [first, second])
        await must(fleet, () => instance.cluster.served.events.shrunk === null, MAX_AGE_MS)
      expect((await saidTo(fleet, second)).accepted).toEqual([])
    }
  })

  it('is said to the leader itself', async () => {
    const fleet = new Fleet(setting, 1)
    const [first, second] = await shrunk(fleet)
    expect((await saidTo(fleet, first)).accepted).toEqual(['events'])
    await must(fleet, serves(second, 2), MAX_AGE_MS)
  })

  it('is not lost where the leader is, before it has read the list', async () => {
    for (const seed of SEEDS) {
      const fleet = new Fleet(setting, seed)
      const [first, second] = await shrunk(fleet)
      fleet.weather.downUntilMs = fleet.time.trueMs + MAX_AGE_MS / 2
      expect((await saidTo(fleet, second)).accepted).toEqual(['events'])
      fleet.kill(first)
      await must(fleet, () => second.cluster.member.role === 'leader', MAX_AGE_MS)
      await must(fleet, serves(second, 2), 2 * MAX_AGE_MS)
    }
  })

  it('is done by whom it was said to, where that takes over before anybody answered', async () => {
    const fleet = new Fleet(setting, 1)
    const [first, second] = await shrunk(fleet)
    fleet.kill(first)
    expect((await saidTo(fleet, second)).accepted).toEqual(['events'])
    expect(second.cluster.member.role).toBe('leader')
    await must(fleet, serves(second, 2), MAX_AGE_MS)
  })

  it('says after 10 s that no leader answered', async () => {
    const fleet = new Fleet(setting, 1)
    const [, second] = await shrunk(fleet)
    fleet.store.health = 'swallows'
    const { accepted, ms } = await saidTo(fleet, second)
    expect(accepted).toBeNull()
    expect(Math.round(ms / 100)).toBe(100)
    fleet.store.health = 'up'
    await fleet.pass(2 * MAX_AGE_MS)
    expect(second.cluster.served.events.shrunk).not.toBeNull()
  })

  it('cannot be played again for another loss', async () => {
    for (const seed of SEEDS) {
      const fleet = new Fleet(setting, seed)
      const [first, second] = await shrunk(fleet)
      const said = saidTo(fleet, second)
      const word = (): string => fleet.store.members.get(second.cluster.member.instance) ?? ''
      await must(fleet, () => word().includes('"accepts":["'), MAX_AGE_MS)
      const recorded = word()
      await said
      await must(fleet, serves(first, 2), MAX_AGE_MS)
      fleet.tables.events.visible = null
      await must(fleet, serves(first, fleet.tables.events.shown().length), 4 * MAX_AGE_MS)
      await engage(fleet, first)
      fleet.kill(second)
      // What it had sent arrives all the same.
      await wait(fleet, 1000)
      fleet.store.members.set(second.cluster.member.instance, recorded)
      await wait(fleet, 2 * MAX_AGE_MS)
      expect(first.cluster.member.role).toBe('leader')
      expect(first.cluster.served.events.shrunk).not.toBeNull()
      expect(fleet.news['shorter-accepted']).toBe(1)
    }
  })
})
