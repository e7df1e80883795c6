import type { Runtime } from '../../test/support/child.ts'
import { LONG_READS } from '../churn-memory.ts'
import type { Lists } from '../data.ts'
import type { Figure } from '../figure.ts'
import { figureOf, RUNTIME_NAMES, RUNTIMES, show } from '../figure.ts'
import type { Freshness } from '../marquee.ts'
import { startMarquee } from '../marquee.ts'
import type { Paced } from '../paced-load.ts'
import { pacedResult, startPaced } from '../paced-load.ts'
import type { Section } from '../part.ts'
import { ticketsOf, untilChanged } from '../row-watch.ts'
import { scaled } from '../scale.ts'
import type { Server } from '../server.ts'
import { table } from '../table.ts'
import type { Workshop } from '../workshop.ts'
import { startWriter } from '../writer.ts'

interface Setting {
  readonly events: number
  readonly reads: number
  readonly idleSeconds: number
  /** How long the list is written before it is put in place; the load begins with it, and counts from two seconds on. */
  readonly writeSeconds: number
}

const SETTINGS: readonly Setting[] = scaled(
  [
    { events: 100_000, reads: 3, idleSeconds: 15, writeSeconds: 5 },
    { events: 1_000_000, reads: 2, idleSeconds: 30, writeSeconds: 15 },
  ],
  [{ events: 2000, reads: 1, idleSeconds: 1, writeSeconds: 3 }],
)
const RATE = 500
const CEILING_MS = 20
const PATIENCE_S = 600
/** So that the read comes soon after the list was put; how often it comes does not change how long it stalls. */
const FRESHNESS: Freshness = { ...LONG_READS, refreshEvery: '1s' }

const TEXT = `
${RATE} requests/s at even distances, as above, while the list is replaced once and read in full, until the change of its last row is
served; "idle" is the same load without a read. The read's duration is from the first row's change being served to the last's.
`.trim()

interface Read {
  readonly idle: Paced
  readonly reading: Paced
  readonly readSeconds: number
}

interface Result {
  readonly runtime: Runtime
  readonly events: number
  readonly reads: readonly Read[]
}

/** How long a request can stall because the whole of a list is read. */
export async function fullRead(workshop: Workshop): Promise<Section> {
  const results: Result[] = []
  for (const setting of SETTINGS) {
    const lists = workshop.changingLists(setting.events)
    for (const runtime of RUNTIMES) {
      const server = await startMarquee(workshop, runtime, lists, FRESHNESS)
      const reads: Read[] = []
      for (let read = 0; read < setting.reads; read++) reads.push(await measureRead(workshop, server, lists, setting))
      results.push({ runtime, events: setting.events, reads })
      await workshop.tidy()
    }
  }
  return {
    title: 'During a full read',
    markdown: `${TEXT}\n\n${readTable(results)}`,
    figures: SETTINGS.map(({ events }) => stallFigure(results, events)),
  }
}

async function measureRead(workshop: Workshop, { port }: Server, lists: Lists, setting: Setting): Promise<Read> {
  const { ids, idsFile, eventsFile, lastId } = lists
  const idle = await pacedResult(startPaced(port, idsFile, RATE, setting.idleSeconds), setting.idleSeconds)
  // Every hundredth row is changed, the last among them.
  const firstId = ids[(ids.length - 1) % 100] ?? ''
  const [first, last] = [await ticketsOf(port, firstId), await ticketsOf(port, lastId)]
  workshop.keep(await startWriter(eventsFile, setting.writeSeconds, 1))
  const client = workshop.keep(startPaced(port, idsFile, RATE, PATIENCE_S))
  const [fromMs, untilMs] = await Promise.all([
    untilChanged(port, firstId, first, PATIENCE_S),
    untilChanged(port, lastId, last, PATIENCE_S),
  ])
  client.signal('SIGTERM')
  return { idle, reading: await pacedResult(client, PATIENCE_S), readSeconds: (untilMs - fromMs) / 1000 }
}

function readTable(results: readonly Result[]): string {
  const head = [
    'runtime',
    'events',
    'load',
    'read s',
    'p50 ms',
    'p99 ms',
    'p99.9 ms',
    'worst ms',
    'errors',
    'client late ms',
  ]
  const row = ({ runtime, events }: Result, load: string, seconds: string, paced: Paced): string[] => [
    RUNTIME_NAMES[runtime],
    String(events),
    load,
    seconds,
    ...[paced.p50Ms, paced.p99Ms, paced.p999Ms, paced.worstMs].map(show),
    String(paced.errors),
    show(paced.clientLateMs),
  ]
  const rows = results.flatMap((result) =>
    result.reads.flatMap(({ idle, reading, readSeconds }) => [
      row(result, 'idle', '', idle),
      row(result, 'during a read', show(readSeconds), reading),
    ]),
  )
  return table(head, rows)
}

function stallFigure(results: readonly Result[], events: number): Figure {
  return figureOf(`longest stall during a full read of ${events} rows`, `≤ ${CEILING_MS} ms`, ' ms', (runtime) => {
    const reads = results.find((one) => one.runtime === runtime && one.events === events)?.reads ?? []
    return { value: Math.max(...reads.map(({ reading }) => reading.worstMs)), ceiling: CEILING_MS }
  })
}
