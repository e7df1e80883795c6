import { spawnSync } from 'node:child_process'
import { join } from 'node:path'
import { type Runtime, programOf, ROOT } from '../../test/support/child.ts'
import { scaled } from '../measure/scale.ts'
import type { Section } from '../part.ts'
import { figureOf, RUNTIME_NAMES, RUNTIMES } from '../report/figure.ts'
import { table } from '../report/table.ts'

const EVENTS = scaled(100_000, 2000)

const TEXT = `
A calendar of the next 200 of ${EVENTS} events as the service makes it, without a connection: processor time of a separate process
(\`bench/measure/feed-cost.ts\`), the mean of 100 calendars. "Cold" is the first calendar, with nothing kept; "changed" is one after a change of one of
its events; "ready" is one without a change. Other requests wait for as long.
`.trim()

interface Cost {
  readonly coldMs: number
  readonly changedMs: number
  readonly readyMs: number
  readonly bytes: number
}

/** Measures what a calendar to subscribe to costs. */
export async function feeds(): Promise<Section> {
  const costs = new Map(RUNTIMES.map((runtime) => [runtime, measure(runtime)] as const))
  const rows = RUNTIMES.map((runtime) => {
    const { coldMs = Number.NaN, changedMs = Number.NaN, readyMs = Number.NaN, bytes = 0 } = costs.get(runtime) ?? {}
    return [RUNTIME_NAMES[runtime], coldMs.toFixed(2), changedMs.toFixed(2), readyMs.toFixed(3), String(bytes)]
  })
  return {
    title: 'Calendars',
    markdown: `${TEXT}\n\n${table(['runtime', 'cold ms', 'changed ms', 'ready ms', 'bytes'], rows)}`,
    figures: [
      figureOf(`calendar of 200 of ${EVENTS} events, cold`, 'at most 5 ms', ' ms', (runtime) => ({
        value: costs.get(runtime)?.coldMs ?? null,
        ceiling: 5,
      })),
    ],
  }
}

function measure(runtime: Runtime): Cost {
  const program = join(ROOT, 'bench/measure/feed-cost.ts')
  const run = spawnSync(programOf(runtime), [program, String(EVENTS)], { encoding: 'utf8', maxBuffer: 1e6 })
  if (run.status !== 0) throw new Error(`feed-cost.ts ended with ${run.status}: ${run.stderr}`)
  return JSON.parse(run.stdout) as Cost
}
