// `npm run bench` measures all parts and writes docs/benchmarks.md; `npm run bench -- PART …` measures some of them
// again. BENCH_QUICK=1 prints the page instead.
import { existsSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { ROOT } from '../test/support/child.ts'
import { OtherWork } from './machine/other-work.ts'
import { CAN_PIN } from './machine/pinned.ts'
import { QUICK } from './measure/scale.ts'
import { PARTS } from './all-parts.ts'
import { writeCostImage } from './report/cost-image.ts'
import { pageOf } from './report/page.ts'
import { type Result, readResults, writeResult } from './report/results.ts'
import { machineAndVersions } from './report/versions.ts'
import { Workshop } from './workshop.ts'

const RESULTS = join(ROOT, 'bench/results')

const named = process.argv.slice(2)
const wrong = named.filter((name) => !Object.hasOwn(PARTS, name))
if (wrong.length > 0) fail(`there is no part ${wrong.join(', ')}; the parts are ${Object.keys(PARTS).join(', ')}`)
if (!existsSync('/proc/self/stat')) fail('the benchmark reads processor time and memory from /proc, which Linux has')

const workshop = new Workshop()
if (!CAN_PIN) workshop.leftOut.add('keeping server and client to a core each: it needs taskset and two cores')
const quick: Result[] = []
for (const [name, part] of Object.entries(PARTS)) {
  if (named.length > 0 && !named.includes(name)) continue
  const fromMs = performance.now()
  console.error(`${name} …`)
  const otherWork = new OtherWork()
  const section = await part(workshop)
  await workshop.tidy()
  const busy = `Other programs took about ${(otherWork.share * 100).toFixed(0)} % of the processors' time meanwhile.`
  const result: Result = {
    date: new Date().toISOString().slice(0, 10),
    machine: machineAndVersions(),
    leftOut: [...workshop.leftOut],
    ...section,
    markdown: `${section.markdown.trimEnd()}\n\n${busy}`,
  }
  if (QUICK) quick.push(result)
  // Written after each part, so that an aborted run keeps its results.
  else {
    writeResult(RESULTS, name, result)
    writeFileSync(join(ROOT, 'docs/benchmarks.md'), pageOf(readResults(RESULTS, Object.keys(PARTS))))
    writeCostImage(join(ROOT, 'docs'))
  }
  console.error(`${name}: ${((performance.now() - fromMs) / 1000).toFixed(0)} s`)
}
if (QUICK) console.log(`**A quick run: it shows that everything runs; its figures say nothing.**\n\n${pageOf(quick)}`)
process.exit()

function fail(problem: string): never {
  console.error(problem)
  process.exit(2)
}
