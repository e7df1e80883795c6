import type { Runtime } from '../../test/support/child.ts'
import { startWriter } from '../lists/writer.ts'
import { openLoader } from '../load/load.ts'
import { usageOf } from '../machine/process-tree.ts'
import { fromEnvironment, scaled } from '../measure/scale.ts'
import type { Section } from '../part.ts'
import { figureOf, RUNTIME_NAMES, RUNTIMES } from '../report/figure.ts'
import { megabytes, table } from '../report/table.ts'
import { startMarquee } from '../servers/marquee.ts'
import type { Workshop } from '../workshop.ts'

const REQUESTS = fromEnvironment('BENCH_REQUESTS', scaled(10_000_000, 100_000))
const EVENTS = scaled(100_000, 2000)
const SAMPLES = 10
/** The number of samples after which caches are full and hot code is compiled. */
const SETTLED_AFTER = 3
/** At least one of them is met: a share of what is resident once it has settled, or so many MB. */
const MOST_GROWTH = 0.1
const MOST_GROWTH_MB = 5

const TEXT = `
${EVENTS} events, of which 1 % change each second as above, and ${REQUESTS} requests as fast as they are answered. The table shows resident memory after about
every ${REQUESTS / SAMPLES} requests.
`.trim()

interface Sample {
  readonly requests: number
  readonly rssBytes: number
}

/** Measures whether memory grows with the number of requests. */
export async function leak(workshop: Workshop): Promise<Section> {
  const samples = new Map<Runtime, readonly Sample[]>()
  for (const runtime of RUNTIMES) samples.set(runtime, await measure(workshop, runtime))
  const rows = RUNTIMES.flatMap((runtime) =>
    (samples.get(runtime) ?? []).map(({ requests, rssBytes }) => [
      RUNTIME_NAMES[runtime],
      String(requests),
      megabytes(rssBytes),
    ]),
  )
  const figure = `growth of memory over the last ${REQUESTS - (REQUESTS / SAMPLES) * SETTLED_AFTER} of ${REQUESTS} requests`
  return {
    title: 'Leaks',
    markdown: `${TEXT}\n\n${table(['runtime', 'requests', 'memory MB'], rows)}`,
    figures: [
      figureOf(figure, `at most ${MOST_GROWTH * 100} % or ${MOST_GROWTH_MB} MB`, ' MB', (runtime) =>
        growth(samples.get(runtime) ?? []),
      ),
    ],
  }
}

async function measure(workshop: Workshop, runtime: Runtime): Promise<readonly Sample[]> {
  const lists = workshop.changingLists(EVENTS)
  const loader = openLoader(workshop, lists)
  const server = await startMarquee(workshop, runtime, lists)
  workshop.keep(await startWriter(lists.eventsFile, 1))
  const samples: Sample[] = []
  // One second shows the request rate.
  let { requests, perSecond } = await loader.load(server.port, 1)
  while (requests < REQUESTS) {
    const due = (REQUESTS / SAMPLES) * (samples.length + 1)
    const load = await loader.load(server.port, Math.max(1, Math.round((due - requests) / perSecond)))
    requests += load.requests
    perSecond = load.perSecond
    samples.push({ requests, rssBytes: usageOf(server.pid).rssBytes })
  }
  await workshop.tidy()
  return samples
}

function growth(samples: readonly Sample[]): { value: number | null; ceiling: number } {
  const settled = samples.find(({ requests }) => requests >= (REQUESTS / SAMPLES) * SETTLED_AFTER)
  const last = samples.at(-1)
  if (settled === undefined || last === undefined) return { value: null, ceiling: 0 }
  return {
    value: (last.rssBytes - settled.rssBytes) / 1e6,
    ceiling: Math.max(MOST_GROWTH * (settled.rssBytes / 1e6), MOST_GROWTH_MB),
  }
}
