import { globSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'bun:test'
import { LANES } from '../test/support/lanes.ts'
import { type Lanes, type TestPlan, planTests } from './test-plan.ts'

const ROOT = join(import.meta.dirname, '..')

const FILES = [
  'scripts/a.test.ts',
  'src/domain/guid.test.ts',
  'src/domain/zone.test.ts',
  'src/http/route.test.ts',
  'test/faults/slow.test.ts',
  'test/lists/walk.test.ts',
  'test/model/model.test.ts',
  'test/cluster/drawn.test.ts',
]
const SOME: Lanes = {
  alone: ['test/faults/slow.test.ts'],
  waiting: ['test/lists/walk.test.ts'],
  first: ['test/model/model.test.ts'],
  onlyInAll: ['test/cluster/drawn.test.ts'],
}

function names({ busy, waiting, alone }: TestPlan): Record<string, readonly string[]> {
  const of = (units: TestPlan['busy']): readonly string[] => units.map(({ name }) => name)
  return { busy: of(busy), waiting: of(waiting), alone: of(alone) }
}

describe('the plan of a test run', () => {
  it('begins with the longest, keeps those that measure time for the end, and lets the small ones of a room share a process', () => {
    const plan = planTests(FILES, SOME, { all: true, wanted: [] })
    expect(names(plan)).toEqual({
      busy: ['test/model/model.test.ts', 'scripts/a.test.ts', 'test/cluster/drawn.test.ts', 'src/domain', 'src/http'],
      waiting: ['test/lists/walk.test.ts'],
      alone: ['test/faults/slow.test.ts'],
    })
    expect(plan.busy.find(({ name }) => name === 'src/domain')?.files).toEqual(FILES.slice(1, 3))
  })

  it('leaves out what only everything needs, unless it is named', () => {
    const drawn = 'test/cluster/drawn.test.ts'
    expect(names(planTests(FILES, SOME, { all: false, wanted: [] }))['busy']).not.toContain(drawn)
    expect(names(planTests(FILES, SOME, { all: false, wanted: ['test/cluster'] }))['busy']).toEqual([drawn])
  })

  it('runs each file once, and all of them for everything', () => {
    const files = globSync('{src,scripts,test}/**/*.test.ts', { cwd: ROOT }).toSorted()
    const { busy, waiting, alone } = planTests(files, LANES, { all: true, wanted: [] })
    expect([...busy, ...waiting, ...alone].flatMap((unit) => unit.files).toSorted()).toEqual(files)
  })

  it('gives a seed to all that draws cases: only files of tests do', () => {
    const files = globSync('{src,scripts,test}/**/*.ts', { cwd: ROOT })
    const drawing = files.filter((file) => readFileSync(join(ROOT, file), 'utf8').includes("from 'fast-check'"))
    expect(drawing.length).toBeGreaterThan(10)
    expect(drawing.filter((file) => !file.endsWith('.test.ts'))).toEqual(['test/support/properties.ts'])
  })

  it('refuses a list that names a file which is not there', () => {
    const stale = { ...SOME, waiting: ['test/gone.test.ts'] }
    expect(() => planTests(FILES, stale, { all: true, wanted: [] })).toThrow('test/gone.test.ts')
  })
})
