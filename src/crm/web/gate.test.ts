import { describe, expect, it } from 'bun:test'
import type { Time } from '../../time/time.ts'
import { Gate } from './ask.ts'

let nowMs = 0
const time: Time = { now: () => ({ monotonicMs: nowMs, wallMs: nowMs }), after: () => () => {}, random: () => 0.5 }
const never = new AbortController().signal

describe('the gate', () => {
  it('lets so many in at once, and the next in the order they came', async () => {
    const gate = new Gate(time, 1)
    const leave = await gate.enter(never)
    const order: number[] = []
    const waiting = [1, 2].map(async (number) => {
      const out = await gate.enter(never)
      order.push(number)
      out?.()
    })
    await Promise.resolve()
    expect(order).toEqual([])
    leave?.()
    leave?.()
    await Promise.all(waiting)
    expect(order).toEqual([1, 2])
    expect(await gate.enter(never)).not.toBeNull()
  })

  it('lets go of who gives up, and of nobody else', async () => {
    const gate = new Gate(time, 1)
    const leave = await gate.enter(never)
    const hasty = new AbortController()
    const given = gate.enter(hasty.signal)
    const patient = gate.enter(never)
    hasty.abort()
    expect(await given).toBeNull()
    leave?.()
    expect(await patient).not.toBeNull()
    expect(await gate.enter(AbortSignal.abort())).toBeNull()
  })

  it('is closed as long as the longer of two waits that were asked for', () => {
    nowMs = 0
    const gate = new Gate(time, 1)
    gate.closeFor(5000)
    gate.closeFor(1000)
    nowMs = 4999
    expect(gate.closedForMs).toBe(1)
    nowMs = 5000
    expect(gate.closedForMs).toBe(0)
  })
})
