import { describe, expect, it } from 'bun:test'
import { MISSING, soakFleet } from './fleet-soak.ts'
import { faultSeconds, SEED, limitAfter } from '../support/depth.ts'

const SECONDS = faultSeconds(20, 20)

const NAME = 'whatever befalls three instances and their store'
if (MISSING.length > 0) console.warn(`SKIPPED, for want of ${MISSING.join(', ')}: ${NAME}`)

describe.skipIf(MISSING.length > 0)(NAME, () => {
  it(
    `no answer through one nginx is older than it says or goes back, and all are equal again (seed ${SEED})`,
    async () => {
      const { answers, statuses, wrong, faults, joined } = await soakFleet({
        seconds: SECONDS,
        seed: SEED,
        events: 2000,
      })
      console.log(
        `${SECONDS} s, seed ${SEED}: ${faults.length} faults, ${answers} answers (${JSON.stringify(statuses)})`,
      )
      expect(wrong).toEqual([])
      expect(statuses['200']).toBeGreaterThan(100)
      expect(faults.length).toBeGreaterThan(0)
      expect(joined.length).toBeGreaterThan(0)
    },
    limitAfter(SECONDS * 1000),
  )
})
