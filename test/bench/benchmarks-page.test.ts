import { expect, it } from 'bun:test'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { PARTS } from '../../bench/all-parts.ts'
import { WHY_MISSED } from '../../bench/report/missed-goals.ts'
import { isMissed, pageOf } from '../../bench/report/page.ts'
import { readResults } from '../../bench/report/results.ts'
import { ROOT } from '../support/child.ts'

const results = readResults(join(ROOT, 'bench/results'), Object.keys(PARTS))

it('docs/benchmarks.md shows the latest result of each part', () => {
  expect(results.length).toBe(Object.keys(PARTS).length)
  expect(readFileSync(join(ROOT, 'docs/benchmarks.md'), 'utf8')).toBe(pageOf(results))
})

it('gives a reason for each goal that is missed, and for no other', () => {
  const missed = results.flatMap(({ figures }) => figures.filter(isMissed).map(({ figure }) => figure))
  expect(Object.keys(WHY_MISSED).toSorted()).toEqual(missed.toSorted())
})
