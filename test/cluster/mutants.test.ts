import { describe, expect, it } from 'bun:test'
import type { Fleet } from './fleet.ts'
import { FLEET_MUTANTS } from './mutants.ts'
import { runFleet } from './run-fleet.ts'
import { huntedMutants, MUTANT_SEED } from '../support/depth.ts'

const ATTEMPTS = 12

/** A check that cannot fail proves nothing: each of these is the fleet with one thing wrong. */
describe(`the model of several instances finds the mutant that (MARQUEE_MUTANT_SEED=${MUTANT_SEED})`, () => {
  for (const { name, setting, breakIt } of huntedMutants(FLEET_MUTANTS)) {
    it(
      name,
      async () => {
        let fleet: Fleet | null = null
        const putRight = breakIt?.(() => {
          if (fleet === null) throw new Error('no run has begun')
          return fleet
        })
        let found: string | undefined
        let attempt = 0
        try {
          for (; attempt < ATTEMPTS && found === undefined; attempt++) {
            const outcome = await runFleet(
              setting,
              MUTANT_SEED + attempt,
              25 * setting.maxAgeMs,
              (one) => (fleet = one),
            )
            found = outcome.wrong[0]
          }
        } finally {
          putRight?.()
        }
        console.log(`mutant that ${name}: ${found ?? 'not found'} (${attempt} runs)`)
        expect(found).toBeString()
      },
      600_000,
    )
  }
})
