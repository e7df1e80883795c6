import { spawnSync } from 'node:child_process'
import { join } from 'node:path'
import type { Runtime } from '../../test/support/child.ts'
import { programOf, ROOT } from '../../test/support/child.ts'
import { scaled } from '../measure/scale.ts'
import type { Section } from '../part.ts'
import type { Figure } from '../report/figure.ts'
import { figureOf, RUNTIME_NAMES, RUNTIMES } from '../report/figure.ts'
import { table } from '../report/table.ts'

const SIZES: readonly number[] = scaled([100_000, 1_000_000], [2000])
/** How much more a page of the larger list may cost than one of the smaller. */
const LARGER = 1.5

const TEXT = `
Pages of \`/api/events\` as the service makes them, without a connection: processor time of a separate process (\`bench/measure/list-cost.ts\`). Starts
are spread over two years, half of them in the past; each of two venues and two tags has a fifth of the events. A page has 50 events. "Made again" is
a page after a change, with its bodies ready; "cold" is a page without ready bodies; "with venues" has \`include=venue\`. "Longest" is the worst page of 200 in four
shapes, with as many venues and tags as a query can hold: by the clock, the median of 21 pages. Filters select from all time, and the worst of five is
shown. Bytes are those of the index, also after each event moved three times. "Followed" is the additional processor time if 1 % of the events change
each second, the median of 40 seconds.
`.trim()

interface Cost {
  readonly readyPageMs: number
  readonly pageMs: number
  readonly coldPageMs: number
  /** The same with `include=venue`. */
  readonly includedPageMs: number
  readonly coldIncludedPageMs: number
  readonly filterMs: Readonly<Record<string, number>>
  readonly longestMs: number
  readonly bytesAnEvent: number
  readonly churnedBytesAnEvent: number
  readonly churnShare: number
}

/** Measures what a page of a list and its index cost. */
export async function pages(): Promise<Section> {
  const costs = new Map<string, Cost>()
  for (const events of SIZES)
    for (const runtime of RUNTIMES) costs.set(`${runtime} ${events}`, measure(runtime, events))
  const rows = SIZES.flatMap((events) =>
    RUNTIMES.map((runtime) => {
      const cost = costs.get(`${runtime} ${events}`)
      const ms = [
        cost?.readyPageMs,
        cost?.pageMs,
        cost?.coldPageMs,
        cost?.includedPageMs,
        cost?.coldIncludedPageMs,
        worstFilter(cost),
        cost?.longestMs,
      ].map((value) => value?.toFixed(3) ?? '')
      const bytes = [cost?.bytesAnEvent, cost?.churnedBytesAnEvent].map((value) => value?.toFixed(1) ?? '')
      return [
        String(events),
        RUNTIME_NAMES[runtime],
        ...ms,
        ...bytes,
        `${((cost?.churnShare ?? 0) * 100).toFixed(1)} %`,
      ]
    }),
  )
  const figures = SIZES.flatMap((events, index): Figure[] => {
    const factor = index === 0 ? 1 : LARGER
    const figure = (name: string, ceiling: number, unit: string, of: (cost: Cost) => number): Figure =>
      figureOf(`${name}, ${events} events`, `at most ${Number(ceiling.toFixed(3))}${unit}`, unit, (runtime) => {
        const cost = costs.get(`${runtime} ${events}`)
        return { value: cost === undefined ? null : of(cost), ceiling }
      })
    return [
      figure('page of 50, bodies ready', 0.35 * factor, ' ms', ({ pageMs }) => pageMs),
      figure('page of 50, cold', 0.7 * factor, ' ms', ({ coldPageMs }) => coldPageMs),
      figure('page of 50 with venues, bodies ready', 0.45 * factor, ' ms', ({ includedPageMs }) => includedPageMs),
      figure('page of 50 with venues, cold', 0.8 * factor, ' ms', ({ coldIncludedPageMs }) => coldIncludedPageMs),
      figure('worst filter', factor, ' ms', (cost) => worstFilter(cost)),
      figure('longest turn', 20, ' ms', ({ longestMs }) => longestMs),
      figure('index after churn', 40, ' bytes an event', ({ churnedBytesAnEvent }) => churnedBytesAnEvent),
      // A hundredth of a larger list is more to follow.
      ...(index === 0 ? [figure('followed', 2, ' % of a core', ({ churnShare }) => churnShare * 100)] : []),
    ]
  })
  const made = ['ready page ms', 'made again ms', 'cold ms', 'with venues ms', 'with venues, cold ms']
  const head = ['events', 'runtime', ...made, 'worst filter ms', 'longest ms']
  const more = ['bytes an event', 'after churn', 'followed, of a core']
  return { title: 'Lists', markdown: `${TEXT}\n\n${table([...head, ...more], rows)}`, figures }
}

function worstFilter(cost: Cost | undefined): number {
  return Math.max(...Object.values(cost?.filterMs ?? { none: Number.NaN }))
}

function measure(runtime: Runtime, events: number): Cost {
  const program = join(ROOT, 'bench/measure/list-cost.ts')
  const run = spawnSync(programOf(runtime), [program, String(events)], { encoding: 'utf8', maxBuffer: 1e6 })
  if (run.status !== 0) throw new Error(`list-cost.ts ended with ${run.status}: ${run.stderr}`)
  return JSON.parse(run.stdout) as Cost
}
