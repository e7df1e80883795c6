import { describe, expect, it } from 'bun:test'
import fc from 'fast-check'
import { microsOf, stampOf } from './stamp.ts'

describe('the stamp of a change', () => {
  it.each([
    ['1970-01-01 00:00:00+00', 0],
    ['1970-01-01 00:00:00.000001+00', 1],
    ['2026-11-21 02:58:17.5+00', 1795229897500000],
    ['2026-11-21 02:58:17.123456', 1795229897123456],
    ['2026-11-21', 1795219200000000],
    ['infinity', Infinity],
    ['-infinity', -Infinity],
    [null, -1],
    ['soon', -1],
  ] as const)('%p is %p µs', (text, micros) => {
    expect(microsOf(text)).toBe(micros)
  })

  it('is written so that it is read as the same microsecond', () => {
    // What a double holds exactly.
    const years1700To2255 = fc.integer({ min: -8_500_000_000_000_000, max: 9_000_000_000_000_000 })
    fc.assert(fc.property(years1700To2255, (micros) => microsOf(stampOf(micros)) === micros))
  })

  it('orders as the moments do', () => {
    expect(microsOf('2026-03-01 00:00:00+00')).toBeGreaterThan(microsOf('2026-02-28 23:59:59.999999+00'))
    expect(microsOf('0044-03-15 12:00:00+00 BC')).toBeLessThan(microsOf('0001-01-01 00:00:00+00'))
  })
})
