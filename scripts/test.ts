// Runs the tests and ends with one line that a person and a machine can both read: `N passed, N failed, N skipped`.
// Arguments narrow the run: `npm test -- src/domain`, `npm test -- -t negotiation`.
import { chmodSync, existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { junitCounts } from './junit-counts.ts'

const TIMEOUT_MS = 30_000

const args = process.argv.slice(2)
const skipsAreFailures = process.env['CI'] === 'true' || process.env['MARQUEE_NO_SKIPS'] === '1'
const folder = mkdtempSync(join(tmpdir(), 'marquee-test-'))
const reportPath = join(folder, 'junit.xml')
// What tests leave goes with it: of a test run nobody hears that it exits (`process.on('exit')`). Servers that run as another user look in.
const scratch = join(folder, 'tmp')
mkdirSync(scratch)
chmodSync(folder, 0o755)
chmodSync(scratch, 0o1777)
const run = Bun.spawn(
  [
    process.execPath,
    'test',
    `--timeout=${TIMEOUT_MS}`,
    '--reporter=junit',
    `--reporter-outfile=${reportPath}`,
    ...args,
  ],
  { stdio: ['ignore', 'inherit', 'inherit'], env: { ...process.env, TMPDIR: scratch } },
)
for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, () => run.kill(signal))
const status = await run.exited

const counts = existsSync(reportPath)
  ? junitCounts(readFileSync(reportPath, 'utf8'))
  : { passed: 0, failed: 0, skipped: [] }
rmSync(folder, { recursive: true, force: true })

// A file that cannot be loaded, and a run that was cut short, are in no report: only the exit status tells.
const failed = counts.failed === 0 && status !== 0 ? 1 : counts.failed
const skipped = counts.skipped.length
const problems: string[] = []
if (counts.failed === 0 && status !== 0) problems.push(`bun test exited with ${status}: see above`)
if (counts.passed + counts.failed === 0) problems.push('NOTHING RAN')
if (skipped > 0 && skipsAreFailures) problems.push('SKIPPED TESTS ARE NOT ALLOWED HERE')
for (const name of counts.skipped) console.log(`SKIPPED ${name}`)
for (const problem of problems) console.log(problem)
if (problems.length > 0 || failed > 0) process.exitCode = 1
console.log(`${counts.passed} passed, ${failed} failed, ${skipped} skipped`)
