import { expect, it } from 'bun:test'
import { systemTime } from '../time/time.ts'
import { SlowSteps } from './slow-steps.ts'

/** Timers that fire when the test says so. */
class HeldTimers {
  #pending: { readonly atMs: number; readonly fire: () => void }[] = []
  readonly time = {
    ...systemTime,
    after: (delayMs: number, fire: () => void): (() => void) => {
      const timer = { atMs: delayMs, fire }
      this.#pending.push(timer)
      return () => void (this.#pending = this.#pending.filter((other) => other !== timer))
    },
  }

  passMs(ms: number): void {
    const due = this.#pending.filter(({ atMs }) => atMs <= ms)
    this.#pending = this.#pending.filter((timer) => !due.includes(timer))
    for (const { fire } of due) fire()
  }
}

it('reports a step when it has taken 5 s, and again each time it has taken three times as long, with its progress', async () => {
  const { promise, resolve } = Promise.withResolvers<string>()
  const lines: string[] = []
  const timers = new HeldTimers()
  let rows = 0
  const step = new SlowSteps((line) => lines.push(line), timers.time).watch(promise, 'reading', () => `${rows} rows`)
  timers.passMs(4999)
  expect(lines).toEqual([])
  rows = 7
  timers.passMs(5000)
  rows = 90
  timers.passMs(10_000)
  timers.passMs(29_999)
  resolve('done')
  expect(await step).toBe('done')
  expect(lines).toEqual(['Still reading after 5 s: 7 rows.', 'Still reading after 15 s: 90 rows.'])
})

it('says why a step waits and until when', async () => {
  const { promise, resolve } = Promise.withResolvers<string>()
  const lines: string[] = []
  const timers = new HeldTimers()
  let nowMs = Date.UTC(2026, 10, 24, 9, 0, 0)
  const now = (): ReturnType<typeof systemTime.now> => ({ wallMs: nowMs, monotonicMs: nowMs })
  const steps = new SlowSteps((line) => lines.push(line), { ...timers.time, now })
  const step = steps.watch(promise, 'reading', () => '7 rows')
  steps.pause('crm.example.org asks for a pause', nowMs + 12_000)
  expect(lines).toEqual([])
  nowMs += 5000
  timers.passMs(5000)
  nowMs += 10_000
  steps.pause('crm.example.org asks for a pause', nowMs + 15_000)
  timers.passMs(10_000)
  expect(lines).toEqual([
    'Still reading after 5 s: 7 rows; crm.example.org asks for a pause until 09:00:12 UTC.',
    'Still reading after 15 s: 7 rows; crm.example.org asks for a pause until 09:00:30 UTC.',
  ])
  resolve('done')
  await step
})

it('says nothing of a wait that is over', () => {
  const lines: string[] = []
  const timers = new HeldTimers()
  const steps = new SlowSteps((line) => lines.push(line), timers.time)
  steps.pause('crm.example.org asks for a pause', systemTime.now().wallMs - 1)
  void steps.watch(new Promise(() => {}), 'reading')
  timers.passMs(5000)
  expect(lines).toEqual(['Still reading after 5 s.'])
})

it('reports nothing of a step that has ended, well or not', async () => {
  const lines: string[] = []
  const timers = new HeldTimers()
  const steps = new SlowSteps((line) => lines.push(line), timers.time)
  expect(await steps.watch(Promise.resolve(1), 'reading')).toBe(1)
  const failed = steps.watch(Promise.reject(new Error('no')), 'reading').catch((cause: unknown) => String(cause))
  expect(await failed).toBe('Error: no')
  timers.passMs(60_000)
  expect(lines).toEqual([])
})
