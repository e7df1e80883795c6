import { describe, expect, it } from 'bun:test'
import { Freshness, standingOf } from './served-list.ts'
import type { Moment } from '../time/time.ts'

function at(monotonicMs: number, wallMs: number = monotonicMs): Moment {
  return { monotonicMs, wallMs }
}

describe('Freshness (architecture: Freshness)', () => {
  it('is unknown until the list was read', () => {
    const freshness = new Freshness()
    expect(freshness.confirmedAgeMs(at(150))).toBeNull()
    expect(freshness.isConfirmedSince(at(0))).toBe(false)
    freshness.confirm(at(100), 0)
    expect(freshness.confirmedAgeMs(at(150))).toBe(50)
  })

  it('has the age of the newest read, plus the lag of its source, and never counts backwards', () => {
    const freshness = new Freshness()
    freshness.confirm(at(100), 30)
    expect(freshness.confirmedAgeMs(at(100))).toBe(30)
    freshness.confirm(at(90), 0)
    freshness.confirm(at(80), 0)
    expect(freshness.confirmedAgeMs(at(100))).toBe(10)
  })

  it.each([
    [at(100), true],
    [at(100.1), false],
    [at(99.9), true],
  ])('was confirmed since %p: %p', (moment, expected) => {
    const freshness = new Freshness()
    freshness.confirm(at(100), 0)
    expect(freshness.isConfirmedSince(moment)).toBe(expected)
  })

  it('counts by whichever clock says more: a machine that slept, a wall clock that was set', () => {
    const freshness = new Freshness()
    freshness.confirm(at(100, 5000), 0)
    expect(freshness.confirmedAgeMs(at(110, 8600))).toBe(3600)
    expect(freshness.confirmedAgeMs(at(110, 1000))).toBe(10)
    expect(freshness.confirmedAgeMs(at(100, 1000))).toBe(0)
  })
})

describe('standingOf (architecture: Freshness)', () => {
  it.each([
    [null, 1000, 0, 'empty'],
    [null, 0, 5000, 'empty'],
    [0, 1000, 0, 'fresh'],
    [999, 1000, 0, 'fresh'],
    [1000, 1000, 0, 'fresh'],
    [1001, 1000, 0, 'expired'],
    [1001, 1000, 5000, 'stale'],
    [5999, 1000, 5000, 'stale'],
    [6000, 1000, 5000, 'stale'],
    [6001, 1000, 5000, 'expired'],
    [0, 0, 0, 'expired'],
    [1, 0, 0, 'expired'],
    [0, 0, 1, 'stale'],
    [2, 0, 1, 'expired'],
  ] as const)('age %p, maximum age %p, staleIfError %p: %s', (ageMs, maxAgeMs, staleIfErrorMs, standing) => {
    expect(standingOf(ageMs, { maxAgeMs, staleIfErrorMs })).toBe(standing)
  })
})
