import type { Runtime } from '../../test/support/child.ts'
import type { Lists } from '../lists/data.ts'
import { ticketsOf, untilChanged } from '../lists/row-watch.ts'
import { startWriter } from '../lists/writer.ts'
import type { Paced } from '../load/paced-load.ts'
import { pacedResult, startPaced } from '../load/paced-load.ts'
import { LONG_READS } from '../measure/churn-memory.ts'
import { scaled } from '../measure/scale.ts'
import type { Section } from '../part.ts'
import type { Figure } from '../report/figure.ts'
import { figureOf, RUNTIME_NAMES, RUNTIMES, show } from '../report/figure.ts'
import type { LatencyRow } from '../report/latency-table.ts'
import { latencyTable } from '../report/latency-table.ts'
import type { Freshness } from '../servers/marquee.ts'
import { startMarquee } from '../servers/marquee.ts'
import type { Server } from '../servers/server.ts'
import type { Workshop } from '../workshop.ts'

interface Setting {
  readonly events: number
  readonly turns: number
  /** The time after a read in which a list that changed just before it may be read again. */
  readonly settlingSeconds: number
  readonly idleSeconds: number
  /**
   * How long the new list is written before it is put in place. The load starts with it, and counts from two seconds
   * on.
   */
  readonly writeSeconds: number
}

const SETTINGS: readonly Setting[] = scaled(
  [
    { events: 100_000, turns: 2, settlingSeconds: 5, idleSeconds: 10, writeSeconds: 5 },
    { events: 1_000_000, turns: 1, settlingSeconds: 20, idleSeconds: 15, writeSeconds: 15 },
  ],
  [{ events: 2000, turns: 1, settlingSeconds: 0, idleSeconds: 1, writeSeconds: 3 }],
)
const RATE = 500
const CEILING_MS = 20
const PATIENCE_S = 600
/**
 * A short interval, so the read follows soon after the change; how often it happens does not affect how long it stalls.
 */
const FRESHNESS: Freshness = { ...LONG_READS, refreshEvery: '1s' }

interface Change {
  readonly name: string
  /** One row in this many changes, including the last. */
  readonly oneIn: number
}

const CHANGES: readonly Change[] = [
  { name: '1 % changed', oneIn: 100 },
  { name: 'every row changed', oneIn: 1 },
]

const TEXT = `
${RATE} requests/s at fixed intervals, as above, while the list is replaced once and read in full, until the change of its last row is
served; "idle" is the same load without a read. If 1 % of the rows changed, the service recognizes all other lines by their digests,
and does not map them again. If every row changed, it maps them all. The read lasts from the moment at which the change of the first changed row
is served until that of the last one is.
`.trim()

interface Read {
  readonly change: Change
  readonly seconds: number
  readonly load: Paced
}

/** The same load without a read, and with a read after each change. */
interface Turn {
  readonly idle: Paced
  readonly reads: readonly Read[]
}

interface Result {
  readonly runtime: Runtime
  readonly events: number
  readonly turns: readonly Turn[]
}

/** Measures how long a request can stall during a full read. */
export async function fullRead(workshop: Workshop): Promise<Section> {
  const results: Result[] = []
  for (const setting of SETTINGS) {
    const lists = workshop.changingLists(setting.events)
    for (const runtime of RUNTIMES) {
      const server = await startMarquee(workshop, runtime, lists, FRESHNESS)
      const turns: Turn[] = []
      for (let turn = 0; turn < setting.turns; turn++) turns.push(await measureTurn(workshop, server, lists, setting))
      results.push({ runtime, events: setting.events, turns })
      await workshop.tidy()
    }
  }
  return {
    title: 'During a full read',
    markdown: `${TEXT}\n\n${readTable(results)}`,
    figures: SETTINGS.flatMap(({ events }) => CHANGES.map((change) => stallFigure(results, events, change))),
  }
}

async function measureTurn(workshop: Workshop, server: Server, lists: Lists, setting: Setting): Promise<Turn> {
  const { idleSeconds, settlingSeconds } = setting
  const settle = (): Promise<void> => Bun.sleep(settlingSeconds * 1000)
  await settle()
  const idle = await pacedResult(startPaced(server.port, lists.idsFile, RATE, idleSeconds), idleSeconds)
  const reads: Read[] = []
  for (const change of CHANGES) {
    if (reads.length > 0) await settle()
    reads.push(await measureRead(workshop, server, lists, setting, change))
  }
  return { idle, reads }
}

async function measureRead(
  workshop: Workshop,
  { port }: Server,
  { ids, idsFile, eventsFile, lastId }: Lists,
  { writeSeconds }: Setting,
  change: Change,
): Promise<Read> {
  const firstId = ids[(ids.length - 1) % change.oneIn] ?? ''
  const [first, last] = [await ticketsOf(port, firstId), await ticketsOf(port, lastId)]
  workshop.keep(await startWriter(eventsFile, writeSeconds, { rounds: 1, oneIn: change.oneIn }))
  const client = workshop.keep(startPaced(port, idsFile, RATE, PATIENCE_S))
  const [fromMs, untilMs] = await Promise.all([
    untilChanged(port, firstId, first, PATIENCE_S),
    untilChanged(port, lastId, last, PATIENCE_S),
  ])
  client.signal('SIGTERM')
  return { change, seconds: (untilMs - fromMs) / 1000, load: await pacedResult(client, PATIENCE_S) }
}

function readTable(results: readonly Result[]): string {
  const row = ({ runtime, events }: Result, load: string, seconds: string, paced: Paced): LatencyRow => ({
    cells: [RUNTIME_NAMES[runtime], String(events), load, seconds],
    paced,
  })
  const rows = results.flatMap((result) =>
    result.turns.flatMap(({ idle, reads }) => [
      row(result, 'idle', '', idle),
      ...reads.map(({ change, seconds, load }) => row(result, `read, ${change.name}`, show(seconds), load)),
    ]),
  )
  return latencyTable(['runtime', 'events', 'load', 'read s'], rows)
}

function stallFigure(results: readonly Result[], events: number, change: Change): Figure {
  const figure = `longest stall during a full read of ${events} rows, ${change.name}`
  return figureOf(figure, `≤ ${CEILING_MS} ms`, ' ms', (runtime) => {
    const turns = results.find((one) => one.runtime === runtime && one.events === events)?.turns ?? []
    const reads = turns.flatMap((turn) => turn.reads.filter((read) => read.change === change))
    return { value: Math.max(...reads.map(({ load }) => load.worstMs)), ceiling: CEILING_MS }
  })
}
