import { describe, expect, it } from 'bun:test'
import { settled, VirtualTime } from '../../test/model/virtual-time.ts'
import { type Attempt, Poller } from './poller.ts'
import type { Failure } from './port.ts'

const OK: Attempt = { ok: true }

function failing(kind: Failure['kind'] = 'unreachable', retryAfterMs: number | null = null): Attempt {
  return { ok: false, failure: { kind, message: 'down', retryAfterMs } }
}

/** A poller whose attempts take 100 ms and end with `outcome` at that time. */
function scene(
  options: { everyMs?: number; ceilingMs?: number; random?: number; hasChanged?: () => Promise<boolean> } = {},
) {
  const time = new VirtualTime(1)
  if (options.random !== undefined) time.random = () => options.random ?? 0
  const state = { outcome: OK, running: 0, most: 0, begun: [] as number[] }
  const poller = new Poller({
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
  return { time, state, poller }
}

describe('Poller', () => {
  it('begins every so often, counted from the last beginning; missed ones do not pile up', async () => {
    const { time, state, poller } = scene()
    poller.start(0)
    await time.pass(16_000)
    expect(state.begun).toEqual([0, 5000, 10_000, 15_000])
    const slow = scene({ everyMs: 30 })
    slow.poller.start(0)
    await slow.time.pass(350)
    expect(slow.state.begun).toEqual([0, 100, 200, 300])
    expect(slow.state.most).toBe(1)
  })

  it('shares a running attempt among all callers', async () => {
    const { time, state, poller } = scene()
    poller.start(60_000)
    const both = [poller.attempt(), poller.attempt()]
    expect(both[0]).toBe(both[1])
    expect(poller.isRunning).toBe(true)
    await time.pass(200)
    expect(await both[0]).toEqual(OK)
    expect(state.begun).toHaveLength(1)
    expect(state.most).toBe(1)
  })

  it('backs off by a random part of min(2ⁿ × 1 s, the ceiling) (architecture: Freshness)', async () => {
    const { time, state, poller } = scene({ random: 0.999, ceilingMs: 6000 })
    state.outcome = failing()
    poller.start(0)
    await time.pass(30_000)
    const waits = state.begun.slice(1).map((begun, index) => begun - (state.begun[index] ?? 0) - 100)
    expect(waits.slice(0, 5)).toEqual([999, 1998, 3996, 5994, 5994])
    expect(poller.isBackingOff).toBe(true)
    expect(poller.failures).toBe(state.begun.length)
    state.outcome = OK
    await time.pass(6500)
    expect(poller.failures).toBe(0)
    expect(poller.lastFailure).toBeNull()
    expect(poller.isBackingOff).toBe(false)
  })

  it('does not try before the CRM said it may (Retry-After), whatever the ceiling', async () => {
    const { time, state, poller } = scene({ random: 0, ceilingMs: 1000 })
    state.outcome = failing('throttled', 90_000)
    poller.start(0)
    await time.pass(90_000)
    expect(state.begun).toEqual([0])
    expect(poller.nextTryInMs).toBeCloseTo(100, 0)
    await time.pass(200)
    expect(state.begun).toHaveLength(2)
  })

  it("continues after another's failure at once, except for the rest of the CRM's Retry-After", async () => {
    const before = { kind: 'unreachable', message: 'down', retryAfterMs: null } as const
    const { time, state, poller } = scene()
    poller.start(0, before)
    expect([poller.lastFailure, poller.isBackingOff, poller.askedMs]).toEqual([before, false, 0])
    await time.pass(150)
    expect([state.begun, poller.lastFailure]).toEqual([[0], null])
    const asked = scene()
    asked.poller.start(0, { ...before, retryAfterMs: 20_000 })
    asked.poller.hint()
    asked.poller.hasten(100)
    expect([asked.poller.isBackingOff, asked.poller.failures]).toEqual([true, 0])
    expect(asked.poller.askedMs).toBeCloseTo(20_000, 0)
    await asked.time.pass(20_050)
    expect(asked.state.begun).toEqual([20_000])
  })

  it('continues the back-off of another after a failure of its own', async () => {
    const before = { kind: 'unreachable', message: 'down', retryAfterMs: null } as const
    const { time, state, poller } = scene({ random: 0.999 })
    state.outcome = failing('unreachable')
    poller.start(0, before, 4)
    await time.pass(150)
    expect([state.begun, poller.failures, poller.failuresInAll]).toEqual([[0], 1, 5])
    expect(poller.nextTryInMs).toBeGreaterThan(15_000)
    state.outcome = OK
    await time.pass(16_200)
    expect(poller.failuresInAll).toBe(0)
  })

  it("distinguishes the CRM's Retry-After from its own, longer back-off", async () => {
    const { time, state, poller } = scene({ random: 0.999 })
    state.outcome = failing('throttled', 1000)
    poller.start(0)
    while (poller.failures < 5) await time.step()
    expect(poller.nextTryInMs).toBeCloseTo(15_984, 0)
    expect(poller.askedMs).toBeCloseTo(1000, 0)
    await time.pass(1001)
    expect([poller.isBackingOff, poller.askedMs]).toEqual([true, 0])
    state.outcome = failing('refused')
    while (poller.failures < 6) await time.step()
    expect(poller.askedMs).toBeCloseTo(32_000, 0)
  })

  it('limits Retry-After to an hour', async () => {
    const { time, state, poller } = scene({ random: 0 })
    state.outcome = failing('throttled', 1e12)
    poller.start(0)
    await time.pass(100)
    expect(poller.nextTryInMs).toBeLessThanOrEqual(3_600_000)
  })

  it('retries refused credentials less and less often, up to a minute apart, and never at random', async () => {
    const { time, state, poller } = scene({ random: 0, ceilingMs: 1000 })
    state.outcome = failing('refused')
    poller.start(0)
    await time.pass(300_000)
    const waits = state.begun.slice(1).map((begun, index) => begun - (state.begun[index] ?? 0) - 100)
    expect(waits.slice(0, 8)).toEqual([1000, 2000, 4000, 8000, 16_000, 32_000, 60_000, 60_000])
  })

  it('reads at once on a hint, once more after a running read, and never during a back-off', async () => {
    const { time, state, poller } = scene()
    poller.start(60_000)
    poller.hint()
    poller.hint()
    await time.pass(150)
    expect(state.begun).toEqual([0, 100])
    state.outcome = failing()
    await time.pass(60)
    poller.hint()
    await settled()
    expect(poller.isRunning).toBe(false)
    expect(state.begun).toHaveLength(2)
  })

  it('tries at once when the operator says so, with or without a back-off or a running attempt', async () => {
    const { time, state, poller } = scene({ random: 0.999 })
    state.outcome = failing('throttled', 3_000_000)
    poller.start(0)
    await time.pass(150)
    poller.retryNow()
    expect(poller.isRunning).toBe(true)
    poller.retryNow()
    await time.pass(150)
    expect(state.begun).toHaveLength(3)
  })

  it('reports the time until the next try, which does not depend on the wall clock', async () => {
    const { time, state, poller } = scene({ random: 0 })
    state.outcome = failing('throttled', 20_000)
    poller.start(0)
    await time.pass(110)
    time.setWallClock(3_600_000)
    expect(poller.nextTryInMs).toBeCloseTo(19_990, 0)
    await time.pass(19_995)
    expect(poller.isRunning).toBe(true)
    expect(poller.nextTryInMs).toBe(0)
  })

  it('ends a back-off if the data has changed, which it checks regularly only then', async () => {
    const changed = { now: false, looks: 0 }
    const hasChanged = async (): Promise<boolean> => {
      changed.looks++
      if (changed.looks === 1) throw new Error('a look that fails tells nothing')
      return changed.now
    }
    const { time, state, poller } = scene({ everyMs: 1000, random: 0.999, hasChanged })
    state.outcome = failing('throttled', 60_000)
    poller.start(0)
    await time.pass(10_050)
    expect([state.begun, changed.looks]).toEqual([[0], 9])
    changed.now = true
    state.outcome = OK
    await time.pass(1000)
    expect([state.begun, poller.failures]).toEqual([[0, 10_100], 0])
    await time.pass(5000)
    expect([state.begun.length, changed.looks]).toEqual([7, 10])
    const stopped = scene({ everyMs: 1000, random: 0.999, hasChanged })
    stopped.state.outcome = failing('throttled', 60_000)
    stopped.poller.start(0)
    await stopped.time.pass(500)
    await stopped.poller.stop()
    await stopped.time.pass(5000)
    expect([stopped.state.begun, changed.looks]).toEqual([[0], 10])
  })

  it('begins nothing after it was stopped, and stop resolves after the running attempt', async () => {
    const { time, state, poller } = scene({ everyMs: 50 })
    poller.start(0)
    await time.pass(10)
    const stopped = poller.stop()
    await time.pass(1000)
    await stopped
    poller.hint()
    poller.retryNow()
    await time.pass(1000)
    expect(state.begun).toHaveLength(1)
  })
})
