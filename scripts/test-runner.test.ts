import { afterAll, describe, expect, it } from 'bun:test'
import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { Child, programOf, ROOT } from '../test/support/child.ts'
import { ALONE, LONGEST, ONLY_IN_ALL } from '../test/support/lanes.ts'

const folder = mkdtempSync(join(tmpdir(), 'marquee-runner-'))
symlinkSync(join(ROOT, 'node_modules'), join(folder, 'node_modules'))
afterAll(() => rmSync(folder, { recursive: true }))

const HEAD = "import { describe, expect, it } from 'bun:test'\nimport { existsSync, writeFileSync } from 'node:fs'\n"
const FILES = {
  'test/good.test.ts': "it('is right', () => {})",
  'test/bad.test.ts':
    "describe('one', () => describe('of two', () => { it('is wrong', () => expect(1).toBe(2)); it('is right', () => {}) }))",
  'test/skipped.test.ts': "it('is right', () => {}); it.skip('is left out', () => {})",
  'test/exits.test.ts': "it('exits', () => process.exit(0))",
  'test/crashes.test.ts': "it('crashes', async () => { process.kill(process.pid, 'SIGSEGV'); await Bun.sleep(9000) })",
  'test/broken.test.ts': "throw new Error('does not load')",
  'test/once.test.ts': `it('fails once', () => { if (existsSync('${folder}/was')) return; writeFileSync('${folder}/was', ''); throw new Error('the first time') })`,
  'test/drawn.test.ts': "it('has the seed', () => expect(process.env.MARQUEE_SEED).toBe('417'))",
  'test/release/slow.test.ts': "it('is for a release', () => {})",
  'src/one/a.test.ts': "it('is alone', () => { globalThis.isThere = true })",
  'src/one/b.test.ts': "it('shares a process', () => expect(globalThis.isThere).toBe(true))",
}
for (const [name, text] of Object.entries(FILES)) {
  mkdirSync(dirname(join(folder, name)), { recursive: true })
  writeFileSync(join(folder, name), `${HEAD}${text}\n`)
}

/** Runs `scripts/test.ts` with these arguments in a folder of such files: its status, all it said, and its last line. */
async function run(args: readonly string[], env: Readonly<Record<string, string>> = {}) {
  const child = new Child(programOf('bun'), [join(ROOT, 'scripts/test.ts'), ...args], { cwd: folder, env })
  const status = await child.exited
  return { status, said: child.stdout, sum: child.stdout.trimEnd().split('\n').at(-1) }
}

describe('the runner of the tests', () => {
  it('counts what passed, and takes parts of paths', async () => {
    expect(await run(['test/good', 'src/one'])).toMatchObject({ status: 0, sum: '3 passed, 0 failed, 0 skipped' })
  })

  it('tells what failed with its whole name, why, and the command that repeats it', async () => {
    const { status, said, sum } = await run(['test/bad', 'test/good'])
    expect([status, sum]).toEqual([1, '2 passed, 1 failed, 0 skipped'])
    expect(said).toContain('expect(received).toBe(expected)')
    expect(said).toContain('FAILED test/bad.test.ts: one of two is wrong\n       again: npm test -- test/bad.test.ts')
  })

  it('runs the tests of a name alone, as -t says', async () => {
    const { sum, said } = await run(['test/bad', 'test/good', '-t', 'of two is right'])
    expect([sum, said.includes('test/good')]).toEqual(['1 passed, 0 failed, 0 skipped', false])
    expect((await run(['test/b', '-t', 'of two is right'])).sum).toBe('1 passed, 1 failed, 0 skipped')
  })

  it.each(['exits', 'crashes', 'broken'])(
    'counts as failed, and all others as they are, where the process of a file %s',
    async (name) => {
      const { status, said, sum } = await run([`test/${name}`, 'test/good', 'test/skipped'])
      expect([status, sum]).toEqual([1, '2 passed, 1 failed, 1 skipped'])
      expect(said).toMatch(new RegExp(`^test/${name}.test.ts: bun test `, 'm'))
    },
  )

  it('names what was skipped; where no skips are allowed, it fails', async () => {
    const { status, said } = await run(['test/skipped'])
    expect([status, said.includes('SKIPPED test/skipped.test.ts: is left out')]).toEqual([0, true])
    for (const env of [{ CI: 'true' }, { MARQUEE_NO_SKIPS: '1' }]) {
      const strict = await run(['test/skipped'], env)
      expect([strict.status, strict.sum]).toEqual([1, '1 passed, 1 failed, 1 skipped'])
      expect(strict.said).toContain('SKIPPED TESTS ARE NOT ALLOWED HERE')
    }
  })

  it('fails where nothing ran', async () => {
    expect(await run(['test/nothing'])).toMatchObject({ status: 1, sum: '0 passed, 1 failed, 0 skipped' })
    expect(await run(['-t', 'nothing', 'test/good'])).toMatchObject({ status: 1 })
  })

  it('with MARQUEE_AGAIN runs a file that failed once more: what fails twice has failed', async () => {
    const env = { MARQUEE_AGAIN: '1' }
    const { status, said, sum } = await run(['test/once', 'test/good'], env)
    expect([status, sum]).toEqual([0, '2 passed, 0 failed, 0 skipped'])
    expect(said).toContain('FAILED AT FIRST test/once.test.ts: fails once')
    expect(await run(['test/bad'], env)).toMatchObject({ status: 1, sum: '1 passed, 1 failed, 0 skipped' })
  })

  it('gives each test the seed, and tells it', async () => {
    const { said, sum } = await run(['--all', 'test/drawn'], { MARQUEE_SEED: '417' })
    expect(sum).toBe('1 passed, 0 failed, 0 skipped')
    expect(said).toMatch(/^everything in \d+ s, seed 417$/m)
  })

  it('runs the files of a release only for a release', async () => {
    expect(await run(['slow'])).toMatchObject({ status: 1 })
    expect(await run(['--release'])).toMatchObject({ status: 0, sum: '1 passed, 0 failed, 0 skipped' })
  })
})

it('names only files that are there as alone, as long, or as only in test:all', () => {
  const listed = [...ALONE, ...LONGEST, ...ONLY_IN_ALL]
  expect(listed.filter((file) => !existsSync(join(ROOT, file)))).toEqual([])
  expect(LONGEST.filter((file) => ALONE.has(file))).toEqual([])
})

it('gives a seed to all that draws cases: only files of tests do', () => {
  const files = Array.from(new Bun.Glob('{src,scripts,test}/**/*.ts').scanSync(ROOT))
  const drawing = files.filter((file) => readFileSync(join(ROOT, file), 'utf8').includes("from 'fast-check'"))
  expect(drawing.length).toBeGreaterThan(10)
  expect(drawing.filter((file) => !file.endsWith('.test.ts'))).toEqual(['test/support/properties.ts'])
})
