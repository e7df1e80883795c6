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
  /** Work that goes on until it is ended. */
  const work = (gate: Gate, signal = never): { readonly done: Promise<true | null>; readonly end: () => void } => {
    const { promise, resolve } = Promise.withResolvers<true>()
    return { done: gate.run(signal, () => promise), end: () => resolve(true) }
  }

  it('lets so many in at once, and the next in the order they came', async () => {
    const gate = new Gate(time, 1)
    const first = work(gate)
    const order: number[] = []
    const waiting = [1, 2].map((number) => gate.run(never, async () => void order.push(number)))
    await Promise.resolve()
    expect(order).toEqual([])
    first.end()
    await Promise.all(waiting)
    expect(order).toEqual([1, 2])
    expect(await gate.run(never, async () => 3)).toBe(3)
  })

  it('lets the next in after work that failed', async () => {
    const gate = new Gate(time, 1)
    const failing = gate.run(never, () => Promise.reject(new Error('failed')))
    const next = gate.run(never, async () => 1)
    expect(await failing.catch(() => 'failed')).toBe('failed')
    expect(await next).toBe(1)
  })

  it('lets go of who gives up, and of nobody else', async () => {
    const gate = new Gate(time, 1)
    const first = work(gate)
    const hasty = new AbortController()
    const given = work(gate, hasty.signal)
    const patient = gate.run(never, async () => 1)
    hasty.abort()
    expect(await given.done).toBeNull()
    first.end()
    expect(await patient).toBe(1)
    expect(await gate.run(AbortSignal.abort(), async () => 1)).toBeNull()
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
