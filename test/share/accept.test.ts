import { describe, expect, it } from 'bun:test'
import { begun, BOUND_MS, follower, hideMost, must, token } from './directed.ts'
import { Fleet } from './fleet.ts'
import type { Instance } from './instance.ts'
import { planSeeds } from '../support/depth.ts'

const setting = { ...token, fullReadEveryMs: BOUND_MS }
const SEEDS = planSeeds(3)

/** A reader whose CRM hides most events, and a follower that was told so. */
async function shrunk(fleet: Fleet): Promise<readonly [Instance, Instance]> {
  const first = await begun(fleet)
  const second = await follower(fleet)
  fleet.history.end()
  await fleet.pass(BOUND_MS)
  await engage(fleet, second)
  return [first, second]
}

async function engage(fleet: Fleet, told: Instance): Promise<void> {
  hideMost(fleet)
  await must(fleet, () => told.share.served.events.shrunk !== null, 4 * BOUND_MS)
}

/** What an operator gets, and after how long. */
async function saidTo(fleet: Fleet, instance: Instance): Promise<{ accepted: readonly string[] | null; ms: number }> {
  const begunMs = fleet.time.trueMs
  let accepted: readonly string[] | null | undefined
  void instance.share.member.accept().then((lists) => (accepted = lists))
  await must(fleet, () => accepted !== undefined, BOUND_MS)
  return { accepted: accepted ?? null, ms: fleet.time.trueMs - begunMs }
}

/** Events that are hidden on purpose are wrong to the checker, and a fleet that is wrong does not go on by itself. */
async function wait(fleet: Fleet, ms: number): Promise<void> {
  expect(await fleet.until(() => false, ms)).toBeFalse()
}

const serves =
  (instance: Instance, events: number): (() => boolean) =>
  () =>
    instance.share.served.events.list.served === events

describe('`accept` (instances: What a person touches)', () => {
  it('is said to any instance, and done by the reader', async () => {
    for (const seed of SEEDS) {
      const fleet = new Fleet(setting, seed)
      const [first, second] = await shrunk(fleet)
      const { accepted, ms } = await saidTo(fleet, second)
      expect(accepted).toEqual(['events'])
      expect(ms).toBeLessThan(3000)
      for (const instance of [first, second]) await must(fleet, serves(instance, 2), BOUND_MS)
      expect(fleet.news['accepted']).toBe(1)
      for (const instance of [first, second])
        await must(fleet, () => instance.share.served.events.shrunk === null, BOUND_MS)
      expect((await saidTo(fleet, second)).accepted).toEqual([])
    }
  }, 60_000)

  it('is said to the reader itself', async () => {
    const fleet = new Fleet(setting, 1)
    const [first, second] = await shrunk(fleet)
    expect((await saidTo(fleet, first)).accepted).toEqual(['events'])
    await must(fleet, serves(second, 2), BOUND_MS)
  }, 60_000)

  it('is not lost where the reader is, before it has read the list', async () => {
    for (const seed of SEEDS) {
      const fleet = new Fleet(setting, seed)
      const [first, second] = await shrunk(fleet)
      fleet.weather.downUntilMs = fleet.time.trueMs + BOUND_MS / 2
      expect((await saidTo(fleet, second)).accepted).toEqual(['events'])
      fleet.kill(first)
      await must(fleet, () => second.share.role === 'reader', BOUND_MS)
      await must(fleet, serves(second, 2), 2 * BOUND_MS)
    }
  }, 60_000)

  it('is done by whom it was said to, where that takes over before anybody answered', async () => {
    const fleet = new Fleet(setting, 1)
    const [first, second] = await shrunk(fleet)
    fleet.kill(first)
    expect((await saidTo(fleet, second)).accepted).toEqual(['events'])
    expect(second.share.role).toBe('reader')
    await must(fleet, serves(second, 2), BOUND_MS)
  }, 60_000)

  it('says after 10 s that no reader answered', async () => {
    const fleet = new Fleet(setting, 1)
    const [, second] = await shrunk(fleet)
    fleet.store.state = 'swallows'
    const { accepted, ms } = await saidTo(fleet, second)
    expect(accepted).toBeNull()
    expect(Math.round(ms / 100)).toBe(100)
    fleet.store.state = 'up'
    await fleet.pass(2 * BOUND_MS)
    expect(second.share.served.events.shrunk).not.toBeNull()
  }, 60_000)

  it('cannot be played again for another loss', async () => {
    for (const seed of SEEDS) {
      const fleet = new Fleet(setting, seed)
      const [first, second] = await shrunk(fleet)
      const said = saidTo(fleet, second)
      const mark = (): string => fleet.store.marks.get(second.share.instance) ?? ''
      await must(fleet, () => mark().includes('\\"accepts\\":{'), BOUND_MS)
      const recorded = mark()
      await said
      await must(fleet, serves(first, 2), BOUND_MS)
      fleet.tables.events.visible = null
      await must(fleet, serves(first, fleet.tables.events.shown().length), 4 * BOUND_MS)
      await engage(fleet, first)
      fleet.kill(second)
      // What it had sent arrives all the same.
      await wait(fleet, 1000)
      fleet.store.marks.set(second.share.instance, recorded)
      await wait(fleet, 2 * BOUND_MS)
      expect(first.share.role).toBe('reader')
      expect(first.share.served.events.shrunk).not.toBeNull()
      expect(fleet.news['accepted']).toBe(1)
    }
  }, 60_000)
})
