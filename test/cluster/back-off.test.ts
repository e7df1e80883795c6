import { describe, expect, it } from 'bun:test'
import { begun, MAX_AGE_MS, follower, must, token } from './directed.ts'
import { Fleet } from './fleet.ts'
import type { Instance } from './instance.ts'
import { planSeeds } from '../support/depth.ts'

const SEEDS = planSeeds(3)
const FAILS_AT_MS = 4 * MAX_AGE_MS

/** The CRM fails; who reads it is killed when it would wait for so long before its next try, and another takes over. */
async function successor(fleet: Fleet, leastMs: number): Promise<Instance> {
  const [first, second] = [await begun(fleet), await follower(fleet)]
  const { events } = first.cluster.served
  first.machine.random = () => 0.99
  await must(fleet, () => events.isFailing && events.nextReadInMs > leastMs, FAILS_AT_MS + MAX_AGE_MS / 2)
  await must(fleet, () => second.cluster.served.events.isFailing, 1000)
  fleet.weather.downUntilMs = 0
  fleet.kill(first)
  await must(fleet, () => second.cluster.member.role === 'leader', MAX_AGE_MS)
  return second
}

describe('a successor (instances: Taking over)', () => {
  it('reads at once, however long the one before would have waited, and is failing until it has read', async () => {
    for (const seed of SEEDS) {
      const fleet = new Fleet(token, seed)
      fleet.time.inTheWorld(FAILS_AT_MS, () => (fleet.weather.downUntilMs = Infinity))
      const { events } = (await successor(fleet, 3500)).cluster.served
      expect([events.isFailing, events.lastFailure?.message]).toEqual([true, 'down'])
      const { requests } = fleet
      await must(fleet, () => fleet.requests > requests, 10)
      await must(fleet, () => !events.isFailing, 2000)
    }
  })

  it('reads no sooner than the CRM asked, even if callers wait, and tells them how long that is', async () => {
    for (const seed of SEEDS) {
      const fleet = new Fleet(token, seed)
      const untilMs = 2 * FAILS_AT_MS
      fleet.time.inTheWorld(FAILS_AT_MS, () => (fleet.weather.throttledUntilMs = untilMs))
      const { admissions, cluster, machine } = await successor(fleet, 60_000)
      const { requests } = fleet
      await must(fleet, () => admissions.ageNow(cluster.served.events) < 0, MAX_AGE_MS)
      let retryAtMs = 0
      const ask = async (): Promise<void> => {
        const admission = await admissions.wait(() => [cluster.served.events], machine.now())
        if (!admission.ok) retryAtMs = fleet.time.trueMs + admission.retryAfterMs
      }
      void ask()
      await must(fleet, () => retryAtMs > 0, 10)
      expect(Math.abs(retryAtMs - untilMs)).toBeLessThan(1000)
      await must(fleet, () => fleet.requests > requests, FAILS_AT_MS)
      expect(Math.abs(fleet.time.trueMs - untilMs)).toBeLessThan(1000)
      await must(fleet, () => admissions.ageNow(cluster.served.events) >= 0, 2000)
    }
  })
})
