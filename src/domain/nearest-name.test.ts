import { describe, expect, it } from 'bun:test'
import fc from 'fast-check'
import { nearestName, slipsBetween } from './nearest-name.ts'

/** The textbook recursion without swaps: an upper limit that is easy to verify. */
function levenshtein(left: string, right: string): number {
  if (left === '' || right === '') return left.length + right.length
  const changed = levenshtein(left.slice(1), right.slice(1)) + (left[0] === right[0] ? 0 : 1)
  return Math.min(changed, levenshtein(left.slice(1), right) + 1, levenshtein(left, right.slice(1)) + 1)
}

describe('the nearest name', () => {
  it.each([
    ['maxAeg', 'maxAge'],
    ['MAXAGE', 'maxAge'],
    ['refresh-every', 'refreshEvery'],
    ['fullRead', null],
    ['x', null],
    ['', null],
    ['maxAge'.repeat(50), null],
  ])('to %s is %s', (spelling, nearest) => {
    expect(nearestName(spelling, ['maxAge', 'refreshEvery', 'staleIfError'])).toBe(nearest)
  })

  it('is a name that looks the same and has its accents written apart', () => {
    expect(nearestName('cafe\u0301', ['cave', 'caf\u00e9'])).toBe('caf\u00e9')
  })

  it('is counted in letters added, dropped, changed or swapped', () => {
    expect(['ab', 'a', 'abcd', 'xbc', 'acb', ''].map((word) => slipsBetween(word, 'abc'))).toEqual([1, 2, 1, 1, 1, 3])
  })

  it('is never farther than without swaps, and the same both ways', () => {
    const word = fc.string({ maxLength: 5, unit: fc.constantFrom('a', 'b', 'c') })
    fc.assert(
      fc.property(word, word, (left, right) => {
        const slips = slipsBetween(left, right)
        expect(slips).toBe(slipsBetween(right, left))
        expect(slips).toBeLessThanOrEqual(levenshtein(left, right))
        expect(slips === 0).toBe(left === right)
      }),
    )
  })
})
