import { describe, expect, it } from 'bun:test'
import type { Fleet } from './fleet.ts'
import { FLEET_MUTANTS } from './mutants.ts'
import { runFleet } from './run-fleet.ts'

/** Always the same, so that a mutant that is hard to find is not found now and then only. */
const seed = Number(process.env['MARQUEE_SEED'] ?? 1)
const ATTEMPTS = 12

/** A check that cannot fail proves nothing: each of these is the fleet with one thing wrong. */
describe(`the model of several instances finds the mutant that (MARQUEE_SEED=${seed})`, () => {
  for (const { name, setting, breakIt } of FLEET_MUTANTS) {
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
            const outcome = await runFleet(setting, seed + attempt, 25 * setting.boundMs, (one) => (fleet = one))
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
