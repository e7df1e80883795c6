// Small files are read, large ones are searched: the build fails before the house grows past what can be read.
import { sourceFiles } from './source-files.ts'

const CEILINGS = { median: 80, p90: 250, largest: 400 } as const

const sizes = sourceFiles()
  .map(({ path, text }) => ({ path, lines: text.split('\n').length - (text.endsWith('\n') ? 1 : 0) }))
  .toSorted((a, b) => a.lines - b.lines)

/** The nearest-rank percentile: always the size of a real file. */
function percentile(share: number): number {
  return sizes[Math.max(0, Math.ceil(share * sizes.length) - 1)]?.lines ?? 0
}

const median = percentile(0.5)
const p90 = percentile(0.9)
const largest = sizes.at(-1)
console.log(
  `${sizes.length} source files: median ${median}, p90 ${p90}, largest ${largest?.lines ?? 0} (${largest?.path ?? 'none'})`,
)

const problems = sizes
  .filter(({ lines }) => lines > CEILINGS.largest)
  .map(({ path, lines }) => `${path} has ${lines} lines; ${CEILINGS.largest} are allowed`)
if (median > CEILINGS.median) problems.push(`the median is ${median} lines; ${CEILINGS.median} are allowed`)
if (p90 > CEILINGS.p90) problems.push(`the 90th percentile is ${p90} lines; ${CEILINGS.p90} are allowed`)
for (const problem of problems) console.error(problem)
if (problems.length > 0) process.exitCode = 1
