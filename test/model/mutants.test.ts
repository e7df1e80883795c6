import { describe, expect, it } from 'bun:test'
import { CONNECTOR_MUTANTS } from './connector-mutants.ts'
import { GUARD_MUTANTS } from './guard-mutants.ts'
import { MUTANTS } from './mutants.ts'
import { runModel } from './run-model.ts'
import type { VirtualTime } from './virtual-time.ts'
import { huntedMutants, MUTANT_SEED } from '../support/depth.ts'

const ATTEMPTS = 12
const STEPS_EACH = 25_000

/** A check that cannot fail proves nothing. Each mutant is the replica with one defect. */
describe(`the model finds the mutant that (MARQUEE_MUTANT_SEED=${MUTANT_SEED})`, () => {
  for (const { name, setting, breakIt, onStage, timeFor } of huntedMutants([
    ...MUTANTS,
    ...CONNECTOR_MUTANTS,
    ...GUARD_MUTANTS,
  ])) {
    it(
      name,
      async () => {
        let time: VirtualTime | null = null
        const mend = breakIt?.(() => {
          if (time === null) throw new Error('no run has begun')
          return time
        })
        let found: string | undefined
        let steps = 0
        try {
          for (let attempt = 0; attempt < ATTEMPTS && found === undefined; attempt++) {
            const outcome = await runModel({
              setting,
              seed: MUTANT_SEED + attempt,
              steps: STEPS_EACH,
              untilWrong: true,
              onStage: (stage) => {
                ;({ time } = stage)
                onStage?.(stage)
              },
              ...(timeFor === undefined ? {} : { timeFor }),
            })
            steps += outcome.steps
            found = outcome.wrong[0]
          }
        } finally {
          mend?.()
        }
        console.log(`mutant that ${name}: ${found ?? 'not found'} (${steps} steps)`)
        expect(found).toBeString()
      },
      600_000,
    )
  }
})
