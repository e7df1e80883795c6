import { expect, it } from 'bun:test'
import { zipfRank } from '../../bench/load/zipf.ts'
import { Chance } from '../model/chance.ts'

const COUNT = 1000
const DRAWS = 400_000

it('ranks come in proportion to one over the rank, from the first to the last', () => {
  const chance = new Chance(3)
  const drawn = new Float64Array(COUNT + 1)
  for (let draw = 0; draw < DRAWS; draw++) {
    const rank = zipfRank(COUNT, () => chance.next())
    drawn[rank] = (drawn[rank] ?? 0) + 1
  }
  const ranks = Array.from({ length: COUNT }, (_, index) => index + 1)
  const harmonic = ranks.reduce((sum, rank) => sum + 1 / rank, 0)
  // Nothing outside of 1 to COUNT, and the square of what each rank is off by is no more than chance makes it
  // (chi-squared).
  expect(drawn.reduce((sum, times) => sum + times, 0) - (drawn[0] ?? 0)).toBe(DRAWS)
  const offs = ranks.map((rank) => {
    const expected = DRAWS / harmonic / rank
    return ((drawn[rank] ?? 0) - expected) ** 2 / expected
  })
  const spread = Math.sqrt(2 * COUNT)
  expect(Math.abs(offs.reduce((sum, off) => sum + off, 0) - COUNT)).toBeLessThan(5 * spread)
})

it('one rank is always the first', () => {
  const chance = new Chance(3)
  for (let draw = 0; draw < 100; draw++) expect(zipfRank(1, () => chance.next())).toBe(1)
})
