import { openLoader } from '../load/load.ts'
import type { Round } from '../measure/round.ts'
import { interleave } from '../measure/round.ts'
import { fromEnvironment, scaled } from '../measure/scale.ts'
import type { Section } from '../part.ts'
import { cacheReport } from '../report/cache-report.ts'
import { contestTables, againstCheapest } from '../report/contest-tables.ts'
import type { Figure } from '../report/figure.ts'
import { figureOf } from '../report/figure.ts'
import { NAMES, startFloors, startFrameworks, startMarquees, startStores } from '../servers/contestants.ts'
import { mayKeepOpen } from '../servers/nginx.ts'
import type { Workshop } from '../workshop.ts'

const EVENTS = fromEnvironment('BENCH_EVENTS', scaled(10_000, 1000))
const ROUNDS = fromEnvironment('BENCH_ROUNDS', scaled(7, 1))
const SECONDS = fromEnvironment('BENCH_SECONDS', scaled(4, 1))

const SETTING = `
${EVENTS} events, ${ROUNDS} rounds of ${SECONDS} s for each server in turn, after a warm-up round that does not count, over 64 keep-alive connections. The
server has one core and the client the other. Hono and Fastify render each answer on request. The floor is the same runtime,
which answers every request with the same thousand bytes and headers. CPU is the processor time of the whole process tree, including
the kernel's; memory is its resident set. The client may limit requests/s, so CPU per request says more.

nginx serves the bodies that Marquee answered, as files in memory and in one folder: one process, no log, \`try_files $uri.$shape\` in a prefix
location, and the shape from a table of the values of Accept. It runs twice, because the cheaper setting differs by machine: with
\`sendfile off; output_buffers 1 8k\`, and with \`sendfile on; tcp_nopush on\`. The goal is against the cheaper one. nginx keeps files open
(\`open_file_cache\`) only if it may keep all of them open: ${mayKeepOpen(EVENTS) ? 'it does here' : 'the limit of open files is too low here'}.

Varnish has all bodies in its cache before the measurement, one object for each of four types: one pool of threads, more room than it needs, no compression,
no log of requests, and only the VCL that maps Accept to one of the four types. The configurations are in bench/servers.
`.trim()

/** Compares Marquee with other servers of the same data, and with the minimum of each runtime. */
export async function servers(workshop: Workshop): Promise<Section> {
  const lists = workshop.lists(EVENTS)
  const loader = openLoader(workshop, lists)
  const floors = await startFloors(workshop, lists)
  const marquees = await startMarquees(workshop, lists)
  const stores = await startStores(workshop, lists, marquees[0])
  const contestants = [...floors, ...marquees, ...stores.servers, ...(await startFrameworks(workshop, lists))]
  const tellCache = await cacheReport(stores)
  const measured = await interleave(
    contestants.map((server) => ({ server, loader })),
    ROUNDS,
    SECONDS,
  )
  const rounds = new Map(contestants.map(({ name }, index) => [name, measured[index] ?? []]))
  return {
    title: 'Side by side',
    markdown: `${SETTING}\n\n${contestTables(rounds)}${await tellCache()}`,
    figures: figures(rounds),
  }
}

function figures(rounds: ReadonlyMap<string, readonly Round[]>): Figure[] {
  const against = (figure: string, goal: string, ceilings: readonly [number, number], others: Others): Figure =>
    figureOf(`CPU per request against ${figure}`, goal, '×', (runtime) => ({
      value: againstCheapest(rounds, NAMES.marquee[runtime], others[runtime]),
      ceiling: ceilings[runtime === 'bun' ? 0 : 1],
    }))
  const both = (...names: readonly string[]): Others => ({ bun: names, node: names })
  const { floor, framework } = NAMES
  return [
    against(
      'nginx serving the same bodies as files',
      '≤ 1.0× on Bun',
      [1, Number.POSITIVE_INFINITY],
      both(...Object.values(NAMES.nginx)),
    ),
    against('the same runtime answering constant bytes', '≤ 1.7× on Bun, ≤ 1.5× on Node', [1.7, 1.5], {
      bun: [floor.bun],
      node: [floor.node],
    }),
    against('Varnish', '≤ 0.5×', [0.5, 0.5], both(NAMES.varnish)),
    against('Hono (Marquee on Bun), Fastify (on Node)', '≤ 0.25×', [0.25, 0.25], {
      bun: [framework.bun],
      node: [framework.node],
    }),
  ]
}

interface Others {
  readonly bun: readonly string[]
  readonly node: readonly string[]
}
