import { describe, expect, it } from 'bun:test'
import { settled, VirtualTime } from '../../test/model/virtual-time.ts'
import { type Attempt, Poller } from './poller.ts'
import type { Failure } from './port.ts'

const OK: Attempt = { ok: true }

function failing(kind: Failure['kind'] = 'unreachable', retryAfterMs: number | null = null): Attempt {
  return { ok: false, failure: { kind, message: 'down', retryAfterMs } }
}

/** A cycle whose attempts take 100 ms and end as `outcome` says at that time. */
function scene(
  options: { everyMs?: number; ceilingMs?: number; random?: number; hasChanged?: () => Promise<boolean> } = {},
) {
  const time = new VirtualTime(1)
  if (options.random !== undefined) time.random = () => options.random ?? 0
  const state = { outcome: OK, running: 0, most: 0, begun: [] as number[] }
  const cycle = new Poller({
    time,
    everyMs: options.everyMs ?? 5000,
    backOffCeilingMs: options.ceilingMs ?? 30_000,
    ...(options.hasChanged === undefined ? {} : { hasChanged: options.hasChanged }),
    attempt: () => {
      state.begun.push(Math.round(time.trueMs))
      state.most = Math.max(state.most, ++state.running)
      return new Promise((resolve) => {
        time.after(100, () => {
          state.running--
          resolve(state.outcome)
        })
      })
    },
  })
  return { time, state, cycle }
}

describe('Poller', () => {
  it('begins every so often, counted from the last beginning; missed ones do not pile up', async () => {
    const { time, state, cycle } = scene()
    cycle.start(0)
    await time.pass(16_000)
    expect(state.begun).toEqual([0, 5000, 10_000, 15_000])
    const slow = scene({ everyMs: 30 })
    slow.cycle.start(0)
    await slow.time.pass(350)
    expect(slow.state.begun).toEqual([0, 100, 200, 300])
    expect(slow.state.most).toBe(1)
  })

  it('is shared by all who ask while it runs', async () => {
    const { time, state, cycle } = scene()
    cycle.start(60_000)
    const both = [cycle.attempt(), cycle.attempt()]
    expect(both[0]).toBe(both[1])
    expect(cycle.isRunning).toBe(true)
    await time.pass(200)
    expect(await both[0]).toEqual(OK)
    expect(state.begun).toHaveLength(1)
    expect(state.most).toBe(1)
  })

  it('backs off by a random part of min(2ⁿ × 1 s, the ceiling) (architecture: Freshness)', async () => {
    const { time, state, cycle } = scene({ random: 0.999, ceilingMs: 6000 })
    state.outcome = failing()
    cycle.start(0)
    await time.pass(30_000)
    const waits = state.begun.slice(1).map((begun, index) => begun - (state.begun[index] ?? 0) - 100)
    expect(waits.slice(0, 5)).toEqual([999, 1998, 3996, 5994, 5994])
    expect(cycle.isBackingOff).toBe(true)
    expect(cycle.failures).toBe(state.begun.length)
    state.outcome = OK
    await time.pass(6500)
    expect(cycle.failures).toBe(0)
    expect(cycle.lastFailure).toBeNull()
    expect(cycle.isBackingOff).toBe(false)
  })

  it('does not try before the CRM said it may (Retry-After), whatever the ceiling', async () => {
    const { time, state, cycle } = scene({ random: 0, ceilingMs: 1000 })
    state.outcome = failing('throttled', 90_000)
    cycle.start(0)
    await time.pass(90_000)
    expect(state.begun).toEqual([0])
    expect(cycle.nextTryInMs).toBeCloseTo(100, 0)
    await time.pass(200)
    expect(state.begun).toHaveLength(2)
  })

  it('goes on from how another failed: at once, but for what is left of the time that the CRM asked for', async () => {
    const before = { kind: 'unreachable', message: 'down', retryAfterMs: null } as const
    const { time, state, cycle } = scene()
    cycle.start(0, before)
    expect([cycle.lastFailure, cycle.isBackingOff, cycle.askedMs]).toEqual([before, false, 0])
    await time.pass(150)
    expect([state.begun, cycle.lastFailure]).toEqual([[0], null])
    const asked = scene()
    asked.cycle.start(0, { ...before, retryAfterMs: 20_000 })
    asked.cycle.hint()
    asked.cycle.hasten(100)
    expect([asked.cycle.isBackingOff, asked.cycle.failures]).toEqual([true, 0])
    expect(asked.cycle.askedMs).toBeCloseTo(20_000, 0)
    await asked.time.pass(20_050)
    expect(asked.state.begun).toEqual([20_000])
  })

  it('goes on by the back-off of another once it has failed itself', async () => {
    const before = { kind: 'unreachable', message: 'down', retryAfterMs: null } as const
    const { time, state, cycle } = scene({ random: 0.999 })
    state.outcome = failing('unreachable')
    cycle.start(0, before, 4)
    await time.pass(150)
    expect([state.begun, cycle.failures, cycle.failuresInAll]).toEqual([[0], 1, 5])
    expect(cycle.nextTryInMs).toBeGreaterThan(15_000)
    state.outcome = OK
    await time.pass(16_200)
    expect(cycle.failuresInAll).toBe(0)
  })

  it('tells what the CRM asked for apart from its own back-off, which is longer by then', async () => {
    const { time, state, cycle } = scene({ random: 0.999 })
    state.outcome = failing('throttled', 1000)
    cycle.start(0)
    while (cycle.failures < 5) await time.step()
    expect(cycle.nextTryInMs).toBeCloseTo(15_984, 0)
    expect(cycle.askedMs).toBeCloseTo(1000, 0)
    await time.pass(1001)
    expect([cycle.isBackingOff, cycle.askedMs]).toEqual([true, 0])
    state.outcome = failing('refused')
    while (cycle.failures < 6) await time.step()
    expect(cycle.askedMs).toBeCloseTo(32_000, 0)
  })

  it('believes no Retry-After beyond an hour', async () => {
    const { time, state, cycle } = scene({ random: 0 })
    state.outcome = failing('throttled', 1e12)
    cycle.start(0)
    await time.pass(100)
    expect(cycle.nextTryInMs).toBeLessThanOrEqual(3_600_000)
  })

  it('tries refused credentials less and less, up to a minute apart, and never at random', async () => {
    const { time, state, cycle } = scene({ random: 0, ceilingMs: 1000 })
    state.outcome = failing('refused')
    cycle.start(0)
    await time.pass(300_000)
    const waits = state.begun.slice(1).map((begun, index) => begun - (state.begun[index] ?? 0) - 100)
    expect(waits.slice(0, 8)).toEqual([1000, 2000, 4000, 8000, 16_000, 32_000, 60_000, 60_000])
  })

  it('reads at once on a hint, once more after the read under way, and never against the back-off', async () => {
    const { time, state, cycle } = scene()
    cycle.start(60_000)
    cycle.hint()
    cycle.hint()
    await time.pass(150)
    expect(state.begun).toEqual([0, 100])
    state.outcome = failing()
    await time.pass(60)
    cycle.hint()
    await settled()
    expect(cycle.isRunning).toBe(false)
    expect(state.begun).toHaveLength(2)
  })

  it('tries at once when the operator says so, back-off or not, under way or not', async () => {
    const { time, state, cycle } = scene({ random: 0.999 })
    state.outcome = failing('throttled', 3_000_000)
    cycle.start(0)
    await time.pass(150)
    cycle.retryNow()
    expect(cycle.isRunning).toBe(true)
    cycle.retryNow()
    await time.pass(150)
    expect(state.begun).toHaveLength(3)
  })

  it('says how long until the next try, which setting the wall clock brings no nearer', async () => {
    const { time, state, cycle } = scene({ random: 0 })
    state.outcome = failing('throttled', 20_000)
    cycle.start(0)
    await time.pass(110)
    time.setWallClock(3_600_000)
    expect(cycle.nextTryInMs).toBeCloseTo(19_990, 0)
    await time.pass(19_995)
    expect(cycle.isRunning).toBe(true)
    expect(cycle.nextTryInMs).toBe(0)
  })

  it('ends a back-off where there is something else to read, which it looks for every so often, and for nothing else', async () => {
    const changed = { now: false, looks: 0 }
    const hasChanged = async (): Promise<boolean> => {
      changed.looks++
      if (changed.looks === 1) throw new Error('a look that fails tells nothing')
      return changed.now
    }
    const { time, state, cycle } = scene({ everyMs: 1000, random: 0.999, hasChanged })
    state.outcome = failing('throttled', 60_000)
    cycle.start(0)
    await time.pass(10_050)
    expect([state.begun, changed.looks]).toEqual([[0], 9])
    changed.now = true
    state.outcome = OK
    await time.pass(1000)
    expect([state.begun, cycle.failures]).toEqual([[0, 10_100], 0])
    await time.pass(5000)
    expect([state.begun.length, changed.looks]).toEqual([7, 10])
    const stopped = scene({ everyMs: 1000, random: 0.999, hasChanged })
    stopped.state.outcome = failing('throttled', 60_000)
    stopped.cycle.start(0)
    await stopped.time.pass(500)
    await stopped.cycle.stop()
    await stopped.time.pass(5000)
    expect([stopped.state.begun, changed.looks]).toEqual([[0], 10])
  })

  it('begins nothing after it was stopped, and stop resolves with the attempt under way', async () => {
    const { time, state, cycle } = scene({ everyMs: 50 })
    cycle.start(0)
    await time.pass(10)
    const stopped = cycle.stop()
    await time.pass(1000)
    await stopped
    cycle.hint()
    cycle.retryNow()
    await time.pass(1000)
    expect(state.begun).toHaveLength(1)
  })
})
