import { expect, it } from 'bun:test'
import { join } from 'node:path'
import { Child, programOf } from '../support/child.ts'
import { RUNTIMES } from '../support/depth.ts'

it('hostile files of 1 MB, and hostile requests, take a time that grows with their length alone, and no long turn', async () => {
  const runs = RUNTIMES.map(async (runtime) => {
    const child = new Child(programOf(runtime), [join(import.meta.dirname, 'linear-work.ts')])
    expect([await child.exited, child.stderr]).toEqual([0, ''])
    console.log(`${runtime}: ${child.stdout}`)
    expect(JSON.parse(child.stdout)).toMatchObject({ faults: [] })
  })
  await Promise.all(runs)
}, 600_000)
