import { afterAll, describe, expect, it } from 'bun:test'
import { PLANS } from './plans.ts'
import type { Outcome } from './run-model.ts'
import { runModel } from './run-model.ts'
import { settingOf } from './setting.ts'
import { MODEL_STEPS, SEED } from '../support/depth.ts'

const outcomes: Outcome[] = []
const begun = performance.now()

function sum(of: (outcome: Outcome) => number): string {
  return outcomes.reduce((total, outcome) => total + of(outcome), 0).toLocaleString('en')
}

describe(`the model (MARQUEE_SEED=${SEED})`, () => {
  for (const [index, { name, setting }] of PLANS.entries()) {
    it(`finds no answer wrong: ${name}`, async () => {
      const outcome = await runModel({ setting, seed: SEED + index, steps: Math.ceil(MODEL_STEPS / PLANS.length) })
      outcomes.push(outcome)
      expect(outcome.wrong).toEqual([])
      expect(outcome.wrongs).toBe(0)
      // A run that proves nothing fails too.
      expect(outcome.shown).toBeGreaterThan(0)
      expect(outcome.notFound).toBeGreaterThan(0)
    }, 600_000)
  }

  afterAll(() => {
    const answers = sum(({ shown, notFound, refused }) => shown + notFound + refused)
    console.log(
      `model: ${sum((outcome) => outcome.steps)} steps in ${Math.round(performance.now() - begun)} ms, seed ${SEED}; ` +
        `${answers} answers checked (200: ${sum((outcome) => outcome.shown)}, 404: ${sum((outcome) => outcome.notFound)}, ` +
        `502: ${sum((outcome) => outcome.refused)}); ${sum((outcome) => outcome.changes)} changes, ` +
        `${sum((outcome) => outcome.faults)} faults injected; wrong: ${sum((outcome) => outcome.wrongs)}`,
    )
  })
})

describe('the cost to the CRM (architecture: The idea)', () => {
  it('does not depend on the traffic if refreshEvery and the time of a read fit into the maximum age', async () => {
    const read = async (clients: number): Promise<Outcome> => {
      const setting = settingOf({ strategy: 'token-delta', maxAgeMs: 30_000, trouble: 0, clients, thinkMs: 50 })
      return runModel({ setting, seed: SEED, steps: Number.POSITIVE_INFINITY, untilMs: 117_500 })
    }
    const [idle, busy] = [await read(0), await read(20)]
    expect(idle.shown + idle.notFound).toBe(0)
    expect(busy.shown + busy.notFound).toBeGreaterThan(10_000)
    expect(busy.refused).toBeLessThan(50)
    expect(busy.requests).toBe(idle.requests)
  }, 600_000)
})
