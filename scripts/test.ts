// Runs the tests: `npm test` the essentials, `npm run test:all` everything. Arguments select files or tests:
// `npm test -- src/domain`, `npm test -- -t negotiation`. The last line is for people and machines: `N passed, N failed,
// N skipped`.
//
// Each file has a process of its own, not `bun test --parallel`: there a crash ends the whole run, an endless loop holds
// it up for ever, and a process that a file leaves behind lives on beside the next.
import { chmodSync, existsSync, globSync, mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { availableParallelism, tmpdir } from 'node:os'
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import { ENDLESS_AFTER_MS, HUNG_AFTER_MS } from '../test/support/depth.ts'
import { ALONE, LONGEST, ONLY_IN_ALL } from '../test/support/lanes.ts'
import { type TestCase, readJunit } from './junit-report.ts'

const SLOWEST = 10
/** Many files wait for servers and timers, and leave the processor to others. */
const AT_ONCE = availableParallelism() + 2

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: {
    all: { type: 'boolean', default: false },
    release: { type: 'boolean', default: false },
    'test-name-pattern': { type: 'string', short: 't' },
  },
})
const { all, release, 'test-name-pattern': pattern } = values
// `test:all` draws a random seed; `npm test` uses a fixed one, so a change can be compared.
const seed = process.env['MARQUEE_SEED'] ?? (all ? String(Math.floor(Math.random() * 1e6)) : null)
const depth = all || release ? 'everything' : 'essentials'

/** The files of one process: one, or those next to the source of a room, which take milliseconds. */
type Unit = readonly [name: string, files: readonly string[]]

function unitsToRun(): readonly Unit[] {
  const isWanted = (file: string): boolean => {
    if (file.startsWith('test/release/') !== release) return false
    if (positionals.length > 0) return positionals.some((part) => file.includes(part))
    return all || release || !ONLY_IN_ALL.has(file)
  }
  const files = globSync('{src,scripts,test}/**/*.test.ts').filter(isWanted).toSorted()
  const roomOf = (file: string): string => file.split('/').slice(0, 2).join('/')
  const units = Map.groupBy(files, (file) => (file.startsWith('src/') ? roomOf(file) : file))
  const rank = ([name]: Unit): number => (LONGEST.includes(name) ? LONGEST.indexOf(name) : LONGEST.length)
  return [...units].toSorted((one, other) => rank(one) - rank(other))
}

const begun = performance.now()
const folder = mkdtempSync(join(tmpdir(), 'marquee-test-'))
chmodSync(folder, 0o755)
const [alone, together] = [true, false].map((is) =>
  unitsToRun().filter(([name]) => (release || ALONE.has(name)) === is),
)
const running = new Set<Bun.Subprocess>()
let isInterrupted = false
for (const signal of ['SIGINT', 'SIGTERM'] as const) {
  process.once(signal, () => {
    isInterrupted = true
    for (const child of running) child.kill(signal)
  })
}

const cases: TestCase[] = []
const took: { readonly name: string; readonly seconds: number }[] = []
const problems: string[] = []
const unsteady: { readonly unit: Unit; readonly failed: readonly TestCase[] }[] = []

/** `-t` selects the test; the report lists the others as skipped. */
const isMeant = ({ name }: TestCase): boolean => pattern === undefined || new RegExp(pattern).test(name)

/** Removes a folder. One that a killed test has left in use costs no other test anything. */
function removeFolder(path: string): void {
  try {
    rmSync(path, { recursive: true, force: true })
  } catch (cause) {
    console.warn(`${path} cannot be removed: ${String(cause)}`)
  }
}

async function run(unit: Unit, lane: number, isLastTry: boolean): Promise<void> {
  if (isInterrupted) return
  const [name, files] = unit
  // Of its own, since `bun test` does not emit `exit` for tests to clean up. Some servers run as another user.
  const scratch = mkdtempSync(join(folder, 'tmp-'))
  chmodSync(scratch, 0o1777)
  const report = join(scratch, 'junit.xml')
  const drawsCases = files.some((file) => readFileSync(file, 'utf8').includes("'fast-check'"))
  const args = ['--only-failures', `--timeout=${HUNG_AFTER_MS}`, '--reporter=junit', `--reporter-outfile=${report}`]
  if (drawsCases) args.push('--preload=./test/support/properties.ts')
  if (pattern !== undefined) args.push('-t', pattern)
  const at = performance.now()
  const child = Bun.spawn([process.execPath, 'test', ...args, ...files.map((file) => `./${file}`)], {
    stdio: ['ignore', 'pipe', 'pipe'],
    // No limit of a test can end an endless loop.
    timeout: ENDLESS_AFTER_MS,
    killSignal: 'SIGKILL',
    env: {
      ...process.env,
      TMPDIR: scratch,
      MARQUEE_TEST_DEPTH: depth,
      MARQUEE_TEST_LANE: String(lane),
      MARQUEE_TEST_FOLDER: folder,
      MARQUEE_SEED: seed ?? undefined,
    },
  })
  running.add(child)
  const outputs = [child.stdout, child.stderr].map((stream) => new Response(stream).text())
  const [said = '', results = ''] = await Promise.all(outputs)
  const status = await child.exited
  running.delete(child)
  const found = existsSync(report) ? readJunit(readFileSync(report, 'utf8')) : null
  removeFolder(scratch)

  const meant = (found ?? []).filter(isMeant)
  const failed = meant.filter(({ outcome }) => outcome === 'failed')
  // A file that does not load, or whose process ends early, is missing in the report. With `-t`, a file without such a
  // test fails too, but its tests are there.
  const isBroken =
    found === null || (status !== 0 && failed.length === 0 && (pattern === undefined || found.length === 0))
  const isGood = failed.length === 0 && !isBroken
  if (!isGood && !isLastTry) unsteady.push({ unit, failed })
  else {
    cases.push(...meant)
    if (isBroken && !isInterrupted) problems.push(`${name}: bun test exited with ${status}: see above`)
  }
  if (meant.length === 0 && !isBroken) return
  const seconds = (performance.now() - at) / 1000
  took.push({ name, seconds })
  // With the servers that it started and awaited.
  const processorS = Number(child.resourceUsage()?.cpuTime.total ?? 0) / 1e6
  const figures = `${seconds.toFixed(1).padStart(6)} s ${processorS.toFixed(0).padStart(4)} s CPU`
  console.log(`${isGood ? 'ok    ' : 'FAILED'} ${figures}  ${name}`)
  if (!isGood) process.stdout.write(results)
  process.stdout.write(said.replace(/^bun test v.*\n/, ''))
}

// For CI: one false failure among thousands of tests must not refuse a change. What fails twice has failed.
const isLastTry = process.env['MARQUEE_AGAIN'] !== '1'
const queue = (together ?? []).values()
await Promise.all(
  Array.from({ length: AT_ONCE }, async (_, lane) => {
    for (const unit of queue) await run(unit, lane + 1, isLastTry)
  }),
)
for (const unit of alone ?? []) await run(unit, 0, isLastTry)
for (const { unit } of unsteady) await run(unit, 0, true)
removeFolder(folder)

const of = (outcome: TestCase['outcome']): readonly TestCase[] => cases.filter((one) => one.outcome === outcome)
const [passed, failed, skipped] = [of('passed'), of('failed'), of('skipped')]
if (took.length > 1) console.log(`\nThe slowest of ${took.length}:`)
for (const { name, seconds } of took.toSorted((one, other) => other.seconds - one.seconds).slice(0, SLOWEST))
  if (took.length > 1) console.log(`${seconds.toFixed(1).padStart(6)} s  ${name}`)
for (const { file, name } of skipped) console.log(`SKIPPED ${file}: ${name}`)
for (const { file, name } of unsteady.flatMap((one) => one.failed)) console.log(`FAILED AT FIRST ${file}: ${name}`)
if (unsteady.length > 0)
  console.log(
    `${unsteady.length} tried again, alone: what fails beside others and passes alone is a defect of the test`,
  )
const script = release ? 'run test:release' : all ? 'run test:all' : 'test'
const again = `${seed === null ? '' : `MARQUEE_SEED=${seed} `}npm ${script} --`
for (const { file, name } of failed) console.log(`FAILED ${file}: ${name}\n       again: ${again} ${file}`)
if (isInterrupted) problems.push('INTERRUPTED')
if (passed.length + failed.length === 0) problems.push('NOTHING RAN')
const isLoud = process.env['CI'] === 'true' || process.env['MARQUEE_NO_SKIPS'] === '1'
if (skipped.length > 0 && isLoud) problems.push('SKIPPED TESTS ARE NOT ALLOWED HERE')
for (const problem of problems) console.log(problem)
if (problems.length > 0 || failed.length > 0) process.exitCode = 1
console.log(`${depth} in ${Math.round((performance.now() - begun) / 1000)} s${seed === null ? '' : `, seed ${seed}`}`)
const failures = problems.length === 0 ? failed.length : Math.max(failed.length, 1)
console.log(`${passed.length} passed, ${failures} failed, ${skipped.length} skipped`)
