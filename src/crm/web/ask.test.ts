import { describe, expect, it } from 'bun:test'
import { type Time, systemTime } from '../../time/time.ts'
import { Gate, ask } from './ask.ts'
import type { HttpClient } from './http-client.ts'

const options = {
  method: 'GET',
  url: 'https://crm.example/',
  headers: {},
  body: null,
  mostBytes: 1,
  timeoutMs: 20,
  time: systemTime,
} as const

describe('a question', () => {
  it('is given up after two time limits, also where the runtime never lets go of it', async () => {
    let sent = 0
    const web: HttpClient = { send: () => (sent++, new Promise(() => {})), close: () => {} }
    const answered = await ask(web, { ...options, signal: new AbortController().signal })
    expect(answered).toMatchObject({ kind: 'timeout', message: 'crm.example did not answer in full within 0.02 s' })
    expect(sent).toBe(2)
  })

  it('is given up at once with the read that asked it', async () => {
    const reading = new AbortController()
    const web: HttpClient = { send: () => new Promise(() => {}), close: () => {} }
    const answered = ask(web, { ...options, timeoutMs: 60_000, signal: reading.signal })
    reading.abort()
    expect(await answered).toMatchObject({ kind: 'unreachable' })
    expect(await ask(web, { ...options, signal: reading.signal })).toMatchObject({ kind: 'unreachable' })
  })
})

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
