import { describe, expect, it } from 'bun:test'
import { Child, programOf } from '../support/child.ts'
import { ODD, WRONG_LINKS } from './broken-answers.ts'
import type { Met } from './meet-broken-answers.ts'
import { RUNTIMES } from '../support/depth.ts'

/** Two tries of half a second, and what a busy machine adds: far less than the half minute that a page may take. */
const LONGEST_MS = 10_000

/** A read of changes may go on with a full read, and so succeed. */
const MAY_SUCCEED: ReadonlySet<string> = new Set(['changes', 'further changes'])

const whole = ({ step, given }: Met): string => `${step}: ${given}`

describe.each(RUNTIMES)('a broken answer at any step of a read (%s)', (runtime) => {
  it('is a failure with a sentence, in time, and past with the next reads', async () => {
    const child = new Child(programOf(runtime), ['test/dataverse/meet-broken-answers.ts'])
    const status = await child.exited
    const met = child.stdout
      .split('\n')
      .filter((line) => line !== '')
      .map((line) => JSON.parse(line) as Met)
    expect([status, child.stderr]).toEqual([0, ''])
    expect(met.length).toBeGreaterThan(400)
    expect(met.filter(({ given, failure }) => given in ODD && failure !== null)).toEqual([])
    const believed = met.filter(
      ({ step, given, failure }) => failure === null && !(given in ODD) && !MAY_SUCCEED.has(step),
    )
    expect(believed.map(whole)).toEqual([])
    // What the token endpoint answers says nothing about the pages.
    const smaller = met.filter(({ step, pageSizes }) => step === 'token' && pageSizes.join() !== 'maxpagesize=1000')
    expect(smaller).toEqual([])
    for (const one of met) {
      const { given, ms, failure, readsToRecover } = one
      expect([whole(one), ms < LONGEST_MS, readsToRecover !== null]).toEqual([whole(one), true, true])
      if (failure === null) continue
      if (given in WRONG_LINKS) expect([whole(one), failure.message.includes('link')]).toEqual([whole(one), true])
      // At once, not when its time is over.
      if (given === '101') expect([whole(one), failure.kind]).toEqual([whole(one), 'broken'])
      const kinds = [
        'unreachable',
        'timeout',
        'broken',
        'too-large',
        ...(given.startsWith('4') ? ['misconfigured'] : []),
      ]
      expect([whole(one), kinds.includes(failure.kind)]).toEqual([whole(one), true])
      // A sentence of our own, whatever was in the answer.
      expect(failure.message).toMatch(/^[\x20-\x7e]{20,300}$/)
    }
  })
})
