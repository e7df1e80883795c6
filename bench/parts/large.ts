import { openLoader } from '../load/load.ts'
import type { Round } from '../measure/round.ts'
import { interleave } from '../measure/round.ts'
import { scaled } from '../measure/scale.ts'
import type { Section } from '../part.ts'
import { cacheReport } from '../report/cache-report.ts'
import { againstCheapest, contestTables } from '../report/contest-tables.ts'
import { figureOf, RUNTIME_NAMES, RUNTIMES } from '../report/figure.ts'
import { median, ratios, spread } from '../report/statistics.ts'
import { table } from '../report/table.ts'
import { machine } from '../report/versions.ts'
import { NAMES, startMarquees, startStores } from '../servers/contestants.ts'
import { BODIES } from '../servers/bodies.ts'
import type { Workshop } from '../workshop.ts'

const EVENTS = scaled(100_000, 2000)
const FEW = scaled(1000, 200)
const ROUNDS = scaled(7, 1)
const SECONDS = scaled(4, 1)

const SETTING = `
As above with ${EVENTS} events, which are ${EVENTS * BODIES.length} files for nginx. A second load requests some ids more often than others, as callers do: the
second most popular half as often as the first, the third a third as often (Zipf's law, s = 1). Each load has its own Marquee; another Marquee,
with ${FEW} events, also has the second load.
`.trim()

type Rounds = ReadonlyMap<string, readonly Round[]>

/** Compares Marquee with nginx and Varnish when there are many events and their popularity varies. */
export async function large(workshop: Workshop): Promise<Section> {
  const [lists, fewLists] = [workshop.lists(EVENTS), workshop.lists(FEW)]
  const marquees = await startMarquees(workshop, lists)
  const stores = await startStores(workshop, lists, marquees[0])
  const contests = [
    { servers: [...marquees, ...stores.servers], loader: openLoader(workshop, lists) },
    {
      servers: [...(await startMarquees(workshop, lists)), ...stores.servers],
      loader: openLoader(workshop, lists, 'zipf'),
    },
    { servers: await startMarquees(workshop, fewLists), loader: openLoader(workshop, fewLists, 'zipf') },
  ]
  const subjects = contests.flatMap(({ servers, loader }) => servers.map((server) => ({ server, loader })))
  const tellCache = await cacheReport(stores)
  const measured = [...(await interleave(subjects, ROUNDS, SECONDS))]
  const [even, zipf, few] = contests.map(
    ({ servers }): Rounds => new Map(servers.map(({ name }) => [name, measured.shift() ?? []])),
  )
  if (even === undefined || zipf === undefined || few === undefined) throw new Error('three loads were measured')
  return {
    title: `Side by side with ${EVENTS} events`,
    markdown: `${SETTING}

### Each id as often as any other

${contestTables(even)}
### Ids by Zipf's law

${contestTables(zipf)}
${growthTable(zipf, few)}${await tellCache()}`,
    figures: [
      // Files in the page cache cost nginx less on Intel, against the same Marquee.
      figureOf(
        `CPU per request at ${EVENTS} events against nginx, ${EVENTS * BODIES.length} files`,
        '≤ 1.15× on Intel, 1.0× on AMD, both on Bun',
        '×',
        (runtime) => ({
          value: againstCheapest(even, NAMES.marquee[runtime], Object.values(NAMES.nginx)),
          ceiling: runtime === 'node' ? Number.POSITIVE_INFINITY : machine().startsWith('Intel') ? 1.15 : 1,
        }),
      ),
      figureOf(`CPU per request at ${EVENTS} events against Varnish`, '≤ 0.6×', '×', (runtime) => ({
        value: againstCheapest(even, NAMES.marquee[runtime], [NAMES.varnish]),
        ceiling: 0.6,
      })),
      figureOf(`CPU per request at ${EVENTS} events against ${FEW}, ids by Zipf's law`, '≤ 1.15×', '×', (runtime) => ({
        value: median(growth(zipf, few, NAMES.marquee[runtime])),
        ceiling: 1.15,
      })),
    ],
  }
}

function growthTable(zipf: Rounds, few: Rounds): string {
  const rows = RUNTIMES.map((runtime) => {
    const name = NAMES.marquee[runtime]
    const costs = [few, zipf].map((rounds) => spread(cpuOf(rounds, name)))
    return [RUNTIME_NAMES[runtime], ...costs, spread(growth(zipf, few, name))]
  })
  return table(['Marquee on', `CPU µs per request, ${FEW} events`, `${EVENTS} events`, 'ratio'], rows)
}

function growth(zipf: Rounds, few: Rounds, name: string): number[] {
  return ratios(cpuOf(zipf, name), cpuOf(few, name))
}

function cpuOf(rounds: Rounds, name: string): number[] {
  return (rounds.get(name) ?? []).map(({ cpuUsPerRequest }) => cpuUsPerRequest)
}
