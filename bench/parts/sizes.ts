import type { Runtime } from '../../test/support/child.ts'
import { openLoader } from '../load/load.ts'
import { usageOf } from '../machine/process-tree.ts'
import type { Round, Subject } from '../measure/round.ts'
import { interleave } from '../measure/round.ts'
import { scaled } from '../measure/scale.ts'
import type { Section } from '../part.ts'
import type { Figure } from '../report/figure.ts'
import { figureOf, RUNTIME_NAMES, RUNTIMES } from '../report/figure.ts'
import { median, ratios, spread } from '../report/statistics.ts'
import { megabytes, table } from '../report/table.ts'
import { checkAnswers } from '../servers/check-answers.ts'
import { startMarquee } from '../servers/marquee.ts'
import type { Workshop } from '../workshop.ts'

/** Numbers of events; the larger ones are compared with the first. */
const [BASE, ...LARGER]: readonly [number, ...number[]] = scaled([1000, 100_000, 1_000_000], [200, 2000])
const CEILINGS: readonly number[] = [1.3, 1.6]
const ROUNDS = scaled(7, 1)
const SECONDS = scaled(4, 1)

const SETTING = `
Marquee with ${[BASE, ...LARGER].join(', ')} events, ${ROUNDS} rounds of ${SECONDS} s for each in turn, as above. Memory is resident, before any request
and after the load. Bytes per record compare the memory before any request with that of the service with ${BASE} events.
`.trim()

/** A service with this many events. */
interface Sized extends Subject {
  readonly runtime: Runtime
  readonly events: number
  readonly restingBytes: number
}

interface Result extends Sized {
  readonly rounds: readonly Round[]
  /** The result of the same runtime with the fewest events. */
  readonly base: Result | null
}

/** Measures what an answer and a record cost as the lists grow. */
export async function sizes(workshop: Workshop): Promise<Section> {
  const started: Sized[] = []
  for (const events of [BASE, ...LARGER]) {
    const lists = workshop.lists(events)
    const loader = openLoader(workshop, lists)
    for (const runtime of RUNTIMES) {
      const server = await startMarquee(workshop, runtime, lists)
      const restingBytes = usageOf(server.pid).rssBytes
      await checkAnswers(server, lists.ids)
      started.push({ runtime, events, server, loader, restingBytes })
    }
  }
  const rounds = await interleave(started, ROUNDS, SECONDS)
  const results: Result[] = []
  for (const [index, sized] of started.entries()) {
    const base = results.find(({ runtime }) => runtime === sized.runtime) ?? null
    results.push({ ...sized, rounds: rounds[index] ?? [], base })
  }
  return {
    title: 'As the lists grow',
    markdown: `${SETTING}\n\n${resultTable(results)}`,
    figures: LARGER.map((events, index) => cpuFigure(results, events, CEILINGS[index] ?? 0)),
  }
}

function resultTable(results: readonly Result[]): string {
  const head = [
    'runtime',
    'events',
    'CPU µs per request',
    'against the fewest',
    'MB before',
    'MB after',
    'bytes a record',
  ]
  const rows = results.map((result) => {
    const { runtime, events, rounds, base, restingBytes } = result
    const after = median(rounds.map(({ rssBytes }) => rssBytes))
    return [
      RUNTIME_NAMES[runtime],
      String(events),
      spread(rounds.map(({ cpuUsPerRequest }) => cpuUsPerRequest)),
      base === null ? '' : spread(cpuRatios(result)),
      megabytes(restingBytes),
      megabytes(after),
      base === null ? '' : ((restingBytes - base.restingBytes) / (events - base.events)).toFixed(0),
    ]
  })
  return table(head, rows)
}

function cpuFigure(results: readonly Result[], events: number, ceiling: number): Figure {
  return figureOf(`CPU per request at ${events} events against ${BASE}`, `≤ ${ceiling}×`, '×', (runtime) => {
    const result = results.find((one) => one.runtime === runtime && one.events === events)
    return { value: result === undefined ? null : median(cpuRatios(result)), ceiling }
  })
}

function cpuRatios({ rounds, base }: Result): number[] {
  const cpu = (of: readonly Round[]): number[] => of.map(({ cpuUsPerRequest }) => cpuUsPerRequest)
  return ratios(cpu(rounds), cpu(base?.rounds ?? []))
}
