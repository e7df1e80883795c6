import { describe, expect, it } from 'bun:test'
import { begun, BOUND_MS, follower, must, token } from './directed.ts'
import { Fleet } from './fleet.ts'
import type { Instance } from './instance.ts'

const GUARD_MS = 20 * BOUND_MS
const setting = { ...token, fullReadEveryMs: BOUND_MS, shrinkGuardMs: GUARD_MS }

/** All events but two can no longer be read, and each is told as changed. */
function garble(fleet: Fleet): void {
  const { events } = fleet.tables
  for (const story of events.shown().slice(2)) {
    events.change(story, {}, { at: fleet.time.trueMs, untold: false, lateByMs: 0, silent: false })
    events.garbled.add(story.id)
  }
}

function ageNow({ admissions, share }: Instance): number {
  return admissions.ageNow(share.served.events)
}

/** The checker takes each answer past the bound for wrong; a fleet goes on by this all the same. */
async function wait(fleet: Fleet, ms: number): Promise<void> {
  expect(await fleet.until(() => false, ms)).toBeFalse()
}

describe('the shrink guard in a cluster (architecture: The shrink guard)', () => {
  it('holds on each instance and after a hand-over, and the log hears of no row that it kept', async () => {
    const fleet = new Fleet(setting, 1)
    const first = await begun(fleet)
    const second = await follower(fleet)
    fleet.history.end()
    await fleet.pass(2 * BOUND_MS)
    const { served } = second.share.served.events.list
    garble(fleet)
    const begunMs = fleet.time.trueMs
    await must(fleet, () => second.share.served.events.shrunk !== null, BOUND_MS)
    await wait(fleet, 3 * BOUND_MS)
    expect(first.share.served.events.list.kept.size).toBeGreaterThan(10)
    const { list, shrunk } = second.share.served.events
    expect([list.served, list.kept.size, list.withheld]).toEqual([served, 0, first.share.served.events.list.withheld])
    expect(shrunk?.unreadable).toBe(served - 2)
    for (const instance of [first, second]) expect(ageNow(instance)).toBeGreaterThan(2 * BOUND_MS)

    fleet.kill(first)
    await must(fleet, () => second.share.role === 'reader', 2 * BOUND_MS)
    await wait(fleet, 3 * BOUND_MS)
    expect(second.share.served.events.list.served).toBe(served)
    expect(ageNow(second)).toBeGreaterThan(5 * BOUND_MS)
    await wait(fleet, begunMs + GUARD_MS - fleet.time.trueMs - BOUND_MS)
    expect(ageNow(second)).toBeGreaterThan(0)
    await wait(fleet, 2 * BOUND_MS)
    expect(ageNow(second)).toBe(-1)
    fleet.tables.events.garbled.clear()
    garble(fleet)
    fleet.tables.events.garbled.clear()
    await must(fleet, () => second.share.served.events.shrunk === null && ageNow(second) >= 0, 2 * BOUND_MS)
  }, 120_000)

  it('lets a follower that hears nothing more of the reader go past the bound as ever', async () => {
    const fleet = new Fleet({ ...setting, readersWhenLost: 1 }, 2)
    await begun(fleet)
    const second = await follower(fleet)
    fleet.history.end()
    await fleet.pass(2 * BOUND_MS)
    garble(fleet)
    await must(fleet, () => second.share.served.events.shrunk !== null, BOUND_MS)
    await wait(fleet, 3 * BOUND_MS)
    expect(ageNow(second)).toBeGreaterThan(2 * BOUND_MS)
    second.isCut = true
    await wait(fleet, 2 * BOUND_MS)
    expect(ageNow(second)).toBe(-1)
  }, 120_000)
})
