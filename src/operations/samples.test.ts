import { expect, it } from 'bun:test'
import { Sampling } from './app.ts'

it('keeps a sample each minute, a day of them and no more, and tells what each minute brought', () => {
  const timers: (() => void)[] = []
  const time = {
    now: () => ({ monotonicMs: 0, wallMs: 0 }),
    after(delayMs: number, then: () => void) {
      expect(delayMs).toBe(60_000)
      timers.push(then)
      return () => {}
    },
    random: () => 0,
  }
  let minutes = 0
  const sampling = new Sampling(() => ({ ageMs: minutes, reads: 2 * minutes, requests: minutes * minutes }), time)
  sampling.start()
  const pass = (count: number): void => {
    for (let passed = 0; passed < count; passed++) {
      minutes++
      timers.shift()?.()
    }
  }
  pass(3)
  expect(sampling.samples).toEqual({
    everyMs: 60_000,
    ageMs: [1, 2, 3, 3],
    reads: [2, 2, 2, 0],
    requests: [1, 3, 5, 0],
  })
  pass(5000)
  const { ageMs, reads } = sampling.samples
  expect([ageMs.length, reads.length, ageMs[0]]).toEqual([1441, 1441, 3564])
  expect(timers.length).toBe(1)
})
