import { describe, expect, it } from 'bun:test'
import type { Moment } from '../../replica/time.ts'
import { SweepSchedule } from './sweep-schedule.ts'

function at(ms: number): Moment {
  return { monotonicMs: ms, wallMs: ms }
}

describe('a sweep', () => {
  it('is due at first, and then a moment early', () => {
    const schedule = new SweepSchedule(1000)
    expect(schedule.isDue(at(0))).toBe(true)
    schedule.swept(at(0), at(100))
    expect(schedule.isDue(at(949))).toBe(false)
    expect(schedule.isDue(at(950))).toBe(true)
  })

  it('need not follow a full read, but may', () => {
    const schedule = new SweepSchedule(1000)
    schedule.readInFull(at(0))
    expect(schedule.isDue(at(500))).toBe(false)
    expect(schedule.hasRested(at(500))).toBe(true)
  })

  it('rests as long as it took before one that is asked for', () => {
    const schedule = new SweepSchedule(1000)
    schedule.swept(at(0), at(100))
    expect(schedule.hasRested(at(199))).toBe(false)
    expect(schedule.hasRested(at(200))).toBe(true)
  })
})
