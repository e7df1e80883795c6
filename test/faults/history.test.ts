import { describe, expect, it } from 'bun:test'
import { checkHistory } from './history-check.ts'
import { RUNTIMES, faultSeconds, SEED, limitAfter } from '../support/depth.ts'

const SECONDS = faultSeconds(4, 8)

describe('the history check, against real processes and real files (architecture: Freshness)', () => {
  it(
    `every answer is the CRM as it was at some moment within the last second, or 502; seed ${SEED}`,
    async () => {
      // Side by side: each has its own files.
      const verdicts = await Promise.all(RUNTIMES.map((runtime) => checkHistory(runtime, SEED, SECONDS * 1000)))
      for (const [index, { faults, changes, answers, statuses, wrong, exit }] of verdicts.entries()) {
        const found = `${faults} faults and ${changes} changes tried, ${answers} answers checked (${JSON.stringify(statuses)})`
        console.log(`${RUNTIMES[index]}: ${SECONDS} s, seed ${SEED}: ${found}, ${wrong.length} wrong`)
        expect(wrong.slice(0, 5)).toEqual([])
        expect(exit).toBe(0)
        expect(faults).toBeGreaterThan(0)
      }
    },
    limitAfter(SECONDS * 1000),
  )
})
