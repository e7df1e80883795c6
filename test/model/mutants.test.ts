import { describe, expect, it } from 'bun:test'
import { CONNECTOR_MUTANTS } from './connector-mutants.ts'
import { GUARD_MUTANTS } from './guard-mutants.ts'
import { MUTANTS } from './mutants.ts'
import { runModel } from './run-model.ts'
import type { VirtualTime } from './virtual-time.ts'
import { huntedMutants, MUTANT_SEED } from '../support/depth.ts'

const ATTEMPTS = 12
const STEPS_EACH = 25_000

/** A check that cannot fail proves nothing. Each mutant is the replica with one defect; without it, its plan passes. */
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
        const breaks = (): (() => void) | undefined =>
          breakIt?.(() => {
            if (time === null) throw new Error('no run has begun')
            return time
          })
        let found: string | undefined
        let steps = 0
        for (let attempt = 0; attempt < ATTEMPTS && found === undefined; attempt++) {
          const run = { setting, seed: MUTANT_SEED + attempt, steps: STEPS_EACH, untilWrong: true }
          const mend = breaks()
          try {
            const outcome = await runModel({
              ...run,
              onStage: (stage) => {
                ;({ time } = stage)
                onStage?.(stage)
              },
              ...(timeFor === undefined ? {} : { timeFor }),
            })
            steps += outcome.steps
            found = outcome.wrong[0]
          } finally {
            mend?.()
          }
          // The control: a plan in which the real classes are found wrong says nothing about the mutant.
          expect((await runModel(run)).wrong).toEqual([])
        }
        console.log(`mutant that ${name}: ${found ?? 'not found'} (${steps} steps)`)
        expect(found).toBeString()
      },
      600_000,
    )
  }
})
