import { describe, expect, it } from 'bun:test'
import type { Moment } from '../../time/time.ts'
import { IdScanSchedule } from './id-scans.ts'

function at(ms: number): Moment {
  return { monotonicMs: ms, wallMs: ms }
}

describe('an id scan', () => {
  it('is due at first, and then a moment early', () => {
    const schedule = new IdScanSchedule(() => 1000)
    expect(schedule.isDue(at(0), false)).toBe(true)
    schedule.compared(at(0))
    expect(schedule.isDue(at(949), false)).toBe(false)
    expect(schedule.isDue(at(950), false)).toBe(true)
  })

  it('need not follow a full read, but may', () => {
    const schedule = new IdScanSchedule(() => 1000)
    schedule.compared(at(0))
    expect(schedule.isDue(at(500), false)).toBe(false)
    expect(schedule.isDue(at(500), true)).toBe(true)
  })

  it('that is asked for waits as long as the last one took, whether that came to an end or not', () => {
    const schedule = new IdScanSchedule(() => 1000)
    schedule.compared(at(0))
    schedule.scanned(at(300), at(400))
    expect(schedule.isDue(at(499), true)).toBe(false)
    expect(schedule.isDue(at(500), true)).toBe(true)
  })
})
