import { describe, expect, it } from 'bun:test'
import { begun, MAX_AGE_MS, follower, must, token } from './directed.ts'
import { Fleet } from './fleet.ts'
import type { Instance } from './instance.ts'

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
    await must(fleet, () => second.cluster.role === 'leader', 2 * MAX_AGE_MS)
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

  it('lets a follower that hears nothing more of the leader go past the maximum age as ever', async () => {
    const fleet = new Fleet({ ...setting, readersWhenLost: 1 }, 2)
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
