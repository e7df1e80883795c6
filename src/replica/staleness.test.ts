import { describe, expect, it } from 'bun:test'
import { standingOf } from './staleness.ts'

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
  ] as const)('age %p, bound %p, staleIfError %p: %s', (ageMs, boundMs, staleIfErrorMs, standing) => {
    expect(standingOf(ageMs, { boundMs, staleIfErrorMs })).toBe(standing)
  })
})
