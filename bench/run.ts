// `npm run bench` measures all parts and writes docs/benchmarks.md; `npm run bench -- PART …` measures some and writes
// nothing.
import { existsSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { ROOT } from '../test/support/child.ts'
import { OtherWork } from './machine/other-work.ts'
import { CAN_PIN } from './machine/pinned.ts'
import { QUICK } from './measure/scale.ts'
import type { Part, Section } from './part.ts'
import { churn } from './parts/churn.ts'
import { feeds } from './parts/feeds.ts'
import { fullRead } from './parts/full-read.ts'
import { large } from './parts/large.ts'
import { leak } from './parts/leak.ts'
import { pages } from './parts/pages.ts'
import { servers } from './parts/servers.ts'
import { cluster } from './parts/cluster.ts'
import { sizes } from './parts/sizes.ts'
import { start } from './parts/start.ts'
import { writeCostImage } from './report/cost-image.ts'
import { pageOf } from './report/page.ts'
import { Workshop } from './workshop.ts'

const PARTS: Readonly<Record<string, Part>> = {
  servers,
  large,
  sizes,
  churn,
  pages,
  feeds,
  'full-read': fullRead,
  start,
  cluster,
  leak,
}

const named = process.argv.slice(2)
const wrong = named.filter((name) => !Object.hasOwn(PARTS, name))
if (wrong.length > 0) fail(`there is no part ${wrong.join(', ')}; the parts are ${Object.keys(PARTS).join(', ')}`)
if (!existsSync('/proc/self/stat')) fail('the benchmark reads processor time and memory from /proc, which Linux has')

const workshop = new Workshop()
if (!CAN_PIN) workshop.leftOut.add('keeping server and client to a core each: it needs taskset and two cores')
const sections: Section[] = []
for (const [name, part] of Object.entries(PARTS)) {
  if (named.length > 0 && !named.includes(name)) continue
  const fromMs = performance.now()
  console.error(`${name} …`)
  const otherWork = new OtherWork()
  const section = await part(workshop)
  await workshop.tidy()
  const busy = `Other programs took about ${(otherWork.share * 100).toFixed(0)} % of the processors' time meanwhile.`
  sections.push({ ...section, markdown: `${section.markdown.trimEnd()}\n\n${busy}` })
  // Written after each part, so that an aborted run keeps its results.
  if (named.length === 0 && !QUICK) {
    writeFileSync(join(ROOT, 'docs/benchmarks.md'), pageOf(sections, workshop.leftOut))
    writeCostImage(join(ROOT, 'docs'))
  }
  console.error(`${name}: ${((performance.now() - fromMs) / 1000).toFixed(0)} s`)
}
console.log(pageOf(sections, workshop.leftOut))
process.exit()

function fail(problem: string): never {
  console.error(problem)
  process.exit(2)
}
