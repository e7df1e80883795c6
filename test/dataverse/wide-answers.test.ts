import { expect, it } from 'bun:test'
import { join } from 'node:path'
import { Child, programOf } from '../support/child.ts'
import { RUNTIMES } from '../support/depth.ts'

it.each(RUNTIMES)(
  'answers of 15 MB that are wide and shallow are parsed in slices, between which requests are answered (%s)',
  async (runtime) => {
    const child = new Child(programOf(runtime), [join(import.meta.dirname, 'meet-wide-answers.ts')])
    expect([await child.exited, child.stderr]).toEqual([0, ''])
    const met = child.stdout.trimEnd().split('\n')
    expect(met.length).toBe(14)
    expect(met.filter((line) => !line.includes('"isLong":false'))).toEqual([])
  },
)
