import { spawnSync } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import type { Runtime } from '../../test/support/child.ts'
import { Child, programOf, ROOT } from '../../test/support/child.ts'
import { freePort } from '../../test/support/free-port.ts'
import { untilAnswered } from '../load/first-answer.ts'
import { scaled } from '../measure/scale.ts'
import type { Section } from '../part.ts'
import { figureOf, RUNTIME_NAMES, RUNTIMES } from '../report/figure.ts'
import { median, spread } from '../report/statistics.ts'
import { table } from '../report/table.ts'
import { serveArguments, SOURCE } from '../servers/marquee.ts'
import type { Workshop } from '../workshop.ts'

interface Setting {
  /** The number of events; `null` for the sample that ships with Marquee. */
  readonly events: number | null
  readonly starts: number
  readonly ceilingMs: Readonly<Record<Runtime, number>>
}

const SETTINGS: readonly Setting[] = scaled(
  [
    { events: null, starts: 10, ceilingMs: { bun: 120, node: 200 } },
    { events: 100_000, starts: 5, ceilingMs: { bun: 1500, node: 1500 } },
    { events: 1_000_000, starts: 2, ceilingMs: { bun: 15_000, node: 15_000 } },
  ],
  [
    { events: null, starts: 2, ceilingMs: { bun: 120, node: 200 } },
    { events: 2000, starts: 1, ceilingMs: { bun: 1500, node: 1500 } },
  ],
)

const TEXT = `
The time from the start of the process, without npm and not bound to a core, until it answers 200 for the last event, which is requested about every millisecond.
The lists are NDJSON (the sample JSON) and in the system's cache. The executable is Bun and Marquee in one file
(\`./bun scripts/build-executable.ts\`). The others run from their sources, Node with the cache that \`npm run start:node\` gives it.
`.trim()

/** The setting of `npm run start:node`; Bun ignores it. */
export const COMPILE_CACHE: Readonly<Record<string, string>> = { NODE_COMPILE_CACHE: 'node_modules/.cache/marquee' }

type Way = Runtime | 'executable'

const WAYS: readonly Way[] = ['executable', ...RUNTIMES]

const WAY_NAMES: Readonly<Record<Way, string>> = { ...RUNTIME_NAMES, executable: 'the executable' }

interface Result {
  readonly setting: Setting
  readonly way: Way
  readonly startsMs: readonly number[]
}

/** Measures how long a start takes. */
export async function start(workshop: Workshop): Promise<Section> {
  const results: Result[] = []
  const executable = buildExecutable(workshop)
  for (const setting of SETTINGS) {
    const startsMs = new Map<Way, number[]>(WAYS.map((way) => [way, []]))
    const { directory, lastId } = setting.events === null ? sample() : workshop.lists(setting.events)
    for (let turn = 0; turn < setting.starts; turn++) {
      for (const way of WAYS) {
        const [program, source] = way === 'executable' ? [executable, []] : [programOf(way), SOURCE]
        startsMs.get(way)?.push(await measure(program, source, workshop, directory, lastId))
      }
    }
    for (const way of WAYS) results.push({ setting, way, startsMs: startsMs.get(way) ?? [] })
  }
  const rows = results.map(({ setting, way, startsMs }) => [
    WAY_NAMES[way],
    nameOf(setting),
    String(startsMs.length),
    spread(startsMs),
  ])
  return {
    title: 'Start',
    markdown: `${TEXT}\n\n${table(['run by', 'lists', 'starts', 'ms, median (least–most)'], rows)}`,
    figures: SETTINGS.map((setting) =>
      figureOf(`spawn until the last id answers, ${nameOf(setting)}`, goalOf(setting), ' ms', (runtime) => {
        const result = results.find((one) => one.setting === setting && one.way === runtime)
        return { value: median(result?.startsMs ?? []), ceiling: setting.ceilingMs[runtime] }
      }),
    ),
  }
}

async function measure(
  program: string,
  source: readonly string[],
  workshop: Workshop,
  directory: string,
  lastId: string,
): Promise<number> {
  const port = await freePort()
  const args = [...source, ...serveArguments(workshop, port, directory)]
  const fromMs = performance.now()
  const child = new Child(program, args, { env: COMPILE_CACHE })
  await untilAnswered(port, lastId)
  const ms = performance.now() - fromMs
  await child.stop()
  return ms
}

function buildExecutable(workshop: Workshop): string {
  const file = join(workshop.folder(), 'marquee')
  const { status, stderr } = spawnSync(programOf('bun'), ['scripts/build-executable.ts', file], {
    cwd: ROOT,
    encoding: 'utf8',
  })
  if (status !== 0) throw new Error(`the executable could not be built: ${stderr}`)
  return file
}

/** The sample's directory, and its last event that is served. */
function sample(): { directory: string; lastId: string } {
  const directory = join(ROOT, 'sample')
  const rows = JSON.parse(readFileSync(join(directory, 'events.json'), 'utf8')) as SampleRow[]
  const last = rows.findLast(({ Active, ShowOnWeb }) => Active && ShowOnWeb)
  return { directory, lastId: last?.Id ?? '' }
}

interface SampleRow {
  readonly Id: string
  readonly Active: boolean
  readonly ShowOnWeb: boolean
}

function goalOf({ ceilingMs: { bun, node } }: Setting): string {
  return bun === node ? `≤ ${bun} ms` : `≤ ${bun} ms on Bun, ≤ ${node} ms on Node`
}

function nameOf({ events }: Setting): string {
  return events === null ? 'the sample' : `${events} events`
}
