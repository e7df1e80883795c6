// Runs the tests: `npm test` the essentials, `npm run test:all` everything. Several files run at once, each in its own
// process.
// Arguments select files or tests: `npm test -- src/domain`, `npm test -- -t negotiation`.
// The last line is for people and machines: `N passed, N failed, N skipped`.
import { chmodSync, existsSync, globSync, mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { availableParallelism, tmpdir } from 'node:os'
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import { ENDLESS_AFTER_MS, HUNG_AFTER_MS } from '../test/support/depth.ts'
import { LANES } from '../test/support/lanes.ts'
import { type TestCase, readJunit } from './junit-report.ts'
import { type TestUnit, planTests } from './test-plan.ts'

const SLOWEST = 10
const WAITING_LANES = 2

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: {
    all: { type: 'boolean', default: false },
    release: { type: 'boolean', default: false },
    'test-name-pattern': { type: 'string', short: 't' },
  },
})
const pattern = values['test-name-pattern']
// For CI: one false failure among thousands of tests must not refuse a change. What fails twice has failed.
const isTriedAgain = process.env['MARQUEE_AGAIN'] === '1'
const skipsAreFailures = process.env['CI'] === 'true' || process.env['MARQUEE_NO_SKIPS'] === '1'
const depth = values.all || values.release ? 'everything' : 'essentials'
// `test:all` draws a random seed; `npm test` uses a fixed one, so a change can be compared. MARQUEE_SEED overrides
// both.
const seed = process.env['MARQUEE_SEED'] ?? (values.all ? String(Math.floor(Math.random() * 1e6)) : null)

const begun = performance.now()
const folder = mkdtempSync(join(tmpdir(), 'marquee-test-'))
chmodSync(folder, 0o755)
const running = new Set<Bun.Subprocess>()
const lanes: TestUnit[][] = []
let isInterrupted = false
for (const signal of ['SIGINT', 'SIGTERM'] as const) {
  process.once(signal, () => {
    isInterrupted = true
    for (const units of lanes) units.length = 0
    for (const child of running) child.kill(signal)
  })
}

const cases: TestCase[] = []
const seconds = new Map<string, number>()
const problems: string[] = []
const toTryAgain: TestUnit[] = []
const unsteady: TestCase[] = []

/** Runs one unit in its own temporary folder, since `bun test` does not emit `exit` for tests to clean up. */
async function runUnit(unit: TestUnit, lane: number, isSecond = false): Promise<void> {
  const { name, files } = unit
  const scratch = mkdtempSync(join(folder, 'tmp-'))
  // Some test servers run as another user and must be able to enter.
  chmodSync(scratch, 0o1777)
  const reportPath = join(scratch, 'junit.xml')
  const child = Bun.spawn(
    [
      process.execPath,
      'test',
      '--only-failures',
      ...(files.some(drawsCases) ? ['--preload=./test/support/properties.ts'] : []),
      `--timeout=${HUNG_AFTER_MS}`,
      '--reporter=junit',
      `--reporter-outfile=${reportPath}`,
      ...(pattern === undefined ? [] : ['-t', pattern]),
      ...files.map((file) => `./${file}`),
    ],
    {
      stdio: ['ignore', 'pipe', 'pipe'],
      // An endless loop in one file must not hold up the run for ever: no limit of a test can end it.
      timeout: ENDLESS_AFTER_MS,
      killSignal: 'SIGKILL',
      env: {
        ...process.env,
        TMPDIR: scratch,
        MARQUEE_TEST_DEPTH: depth,
        MARQUEE_TEST_LANE: String(lane),
        MARQUEE_TEST_FOLDER: folder,
        ...(seed === null ? {} : { MARQUEE_SEED: seed }),
      },
    },
  )
  running.add(child)
  const at = performance.now()
  const [told, results, status] = await Promise.all([
    new Response(child.stdout).text(),
    new Response(child.stderr).text(),
    child.exited,
  ])
  running.delete(child)
  const report = existsSync(reportPath)
    ? readJunit(readFileSync(reportPath, 'utf8'))
    : { cases: [], seconds: new Map<string, number>() }
  for (const [file, took] of report.seconds) seconds.set(file, took)
  rmSync(scratch, { recursive: true, force: true })

  const failures = report.cases.filter(({ outcome }) => outcome === 'failed')
  const failed = failures.length > 0
  const isTriedLater = isTriedAgain && !isSecond && status !== 0 && !isInterrupted
  if (isTriedLater) toTryAgain.push(unit)
  else cases.push(...report.cases)
  if (isTriedLater) unsteady.push(...failures)
  // A file that fails to load, or a run that is cut short, is missing in the report; only the exit status shows it.
  const isBroken = status !== 0 && !failed && (pattern === undefined || report.cases.length === 0)
  if (isBroken && !isInterrupted && !isTriedLater) problems.push(`${name}: bun test exited with ${status}: see above`)
  const took = ((performance.now() - at) / 1000).toFixed(1).padStart(6)
  // Includes the servers that it started and awaited. A file with little of it belongs in a waiting lane.
  const processor = (Number(child.resourceUsage()?.cpuTime.total ?? 0) / 1e6).toFixed(0).padStart(4)
  if (pattern === undefined || report.cases.some(isMeant)) {
    console.log(`${status === 0 ? 'ok    ' : 'FAILED'} ${took} s ${processor} s CPU  ${name}`)
    if (failed || isBroken) process.stdout.write(results)
    if (told.split('\n', 2).length > 1) process.stdout.write(told.replace(/^bun test v.*\n/, ''))
  }
}

/** Whether a file needs the seed of fast-check, which takes long to load. */
function drawsCases(file: string): boolean {
  return readFileSync(file, 'utf8').includes("'fast-check'")
}

/** Whether `-t` selects the test. The report lists the others as skipped. */
function isMeant({ name }: TestCase): boolean {
  return pattern === undefined || new RegExp(pattern).test(name)
}

async function runLane(units: TestUnit[], lane: number): Promise<void> {
  for (let unit = units.shift(); unit !== undefined; unit = units.shift()) await runUnit(unit, lane)
}

const RELEASE = 'test/release/'
const files = globSync('{src,scripts,test}/**/*.test.ts').toSorted()
const [released, others] = [
  files.filter((file) => file.startsWith(RELEASE)),
  files.filter((file) => !file.startsWith(RELEASE)),
]
const plan = values.release
  ? planTests(released, { alone: released, waiting: [], first: [], onlyInAll: [] }, { all: true, wanted: positionals })
  : planTests(others, LANES, { all: values.all, wanted: positionals })
const [busy, waiting, alone] = [[...plan.busy], [...plan.waiting], [...plan.alone]]
lanes.push(busy, waiting, alone)
await Promise.all([
  ...Array.from({ length: availableParallelism() }, async (_, core) => {
    await runLane(busy, core + 1)
    // Files that mostly wait are left on a fast machine.
    await runLane(waiting, core + 1)
  }),
  ...Array.from({ length: WAITING_LANES }, (_, lane) => runLane(waiting, availableParallelism() + 1 + lane)),
])
await runLane(alone, 0)
for (const unit of toTryAgain) if (!isInterrupted) await runUnit(unit, 0, true)
rmSync(folder, { recursive: true, force: true })

const counted = (outcome: TestCase['outcome']): readonly TestCase[] =>
  cases.filter((one) => one.outcome === outcome && isMeant(one))
const [passed, failed, skipped] = [counted('passed').length, counted('failed').length, counted('skipped').length]

const slowest = [...seconds].toSorted(([, left], [, right]) => right - left).slice(0, SLOWEST)
if (slowest.length > 1) {
  console.log(`\nThe slowest of ${seconds.size} files:`)
  for (const [file, took] of slowest) console.log(`${took.toFixed(1).padStart(6)} s  ${file}`)
}
for (const { file, name } of counted('skipped')) console.log(`SKIPPED ${file}: ${name}`)
const script = values.release ? 'run test:release' : values.all ? 'run test:all' : 'test'
const repeat = `${seed === null ? '' : `MARQUEE_SEED=${seed} `}npm ${script} --`
for (const { file, name } of unsteady) console.log(`FAILED AT FIRST ${file}: ${name}`)
if (toTryAgain.length > 0) {
  console.log(
    `${toTryAgain.length} tried again, alone: a test that fails beside others and passes alone is a defect of the test`,
  )
}
for (const { file, name } of counted('failed')) console.log(`FAILED ${file}: ${name}\n       again: ${repeat} ${file}`)
if (isInterrupted) problems.push('INTERRUPTED')
if (passed + failed === 0) problems.push('NOTHING RAN')
if (skipped > 0 && skipsAreFailures) problems.push('SKIPPED TESTS ARE NOT ALLOWED HERE')
for (const problem of problems) console.log(problem)
if (problems.length > 0 || failed > 0) process.exitCode = 1
console.log(`${depth} in ${Math.round((performance.now() - begun) / 1000)} s${seed === null ? '' : `, seed ${seed}`}`)
console.log(`${passed} passed, ${failed > 0 || problems.length === 0 ? failed : 1} failed, ${skipped} skipped`)
