import { describe, expect, it } from 'bun:test'
import { retryAfterMs } from './retry-after.ts'

const NOW = Date.parse('2026-11-21T12:00:00Z')

describe('Retry-After (RFC 9110 §10.2.3)', () => {
  it.each([
    [undefined, null],
    ['', null],
    ['soon', null],
    ['0', 0],
    [' 7 ', 7000],
    ['2.5', 2500],
    ['-1', 0],
    ['86400', 3_600_000],
    ['Sat, 21 Nov 2026 12:00:30 GMT', 30_000],
    ['Sat, 21 Nov 2026 11:00:00 GMT', 0],
  ])('%p is %p ms', (header, ms) => {
    expect(retryAfterMs(header, NOW)).toBe(ms)
  })
})
