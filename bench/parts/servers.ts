import { openLoader } from '../load/load.ts'
import type { Round } from '../measure/round.ts'
import { interleave } from '../measure/round.ts'
import { fromEnvironment, scaled } from '../measure/scale.ts'
import type { Section } from '../part.ts'
import { contestTables, cpuRatios } from '../report/contest-tables.ts'
import type { Figure } from '../report/figure.ts'
import { figureOf } from '../report/figure.ts'
import { median } from '../report/statistics.ts'
import { checkAnswers } from '../servers/check-answers.ts'
import { NAMES, startContestants } from '../servers/contestants.ts'
import { KEPT_OPEN } from '../servers/nginx.ts'
import type { CacheCounts } from '../servers/varnish.ts'
import { cacheCounts, warmVarnish } from '../servers/varnish.ts'
import type { Workshop } from '../workshop.ts'

const EVENTS = fromEnvironment('BENCH_EVENTS', scaled(10_000, 1000))
const ROUNDS = fromEnvironment('BENCH_ROUNDS', scaled(7, 1))
const SECONDS = fromEnvironment('BENCH_SECONDS', scaled(4, 1))
const WELL_CACHED = 0.99

const SETTING = `
${EVENTS} events, ${ROUNDS} rounds of ${SECONDS} s for each server in turn, after one that does not count; 64 keep-alive connections. The server
has a core for itself, the client the other. nginx serves, as files, the bodies that Marquee answered, and keeps up to ${KEPT_OPEN} of them
open, by the limit of open files; Varnish caches that nginx; Hono and Fastify render each answer when it is asked for; the floor
is the same runtime answering the same thousand bytes and headers whatever it is asked. CPU is that of the whole process tree,
the kernel's part included; memory is its resident set.
Requests/s may be all that the client can send; CPU per request tells more.
`.trim()

/** What Marquee costs beside what else could serve the same, and beside the least a runtime can do. */
export async function servers(workshop: Workshop): Promise<Section> {
  const lists = workshop.lists(EVENTS)
  const loader = openLoader(workshop, lists)
  const { servers: contestants, home } = await startContestants(workshop, lists)
  const floors: readonly string[] = Object.values(NAMES.floor)
  for (const server of contestants) if (!floors.includes(server.name)) await checkAnswers(server, lists.ids)
  const varnish = contestants.find(({ name }) => name === NAMES.varnish)
  if (varnish !== undefined) await warmVarnish(varnish.port, lists.ids)

  const before = varnish === undefined ? null : await cacheCounts(home)
  const subjects = contestants.map((server) => ({ server, loader }))
  const measured = await interleave(subjects, ROUNDS, SECONDS)
  const rounds = new Map(contestants.map(({ name }, index) => [name, measured[index] ?? []]))
  const after = varnish === undefined ? null : await cacheCounts(home)
  return {
    title: 'Side by side',
    markdown: `${SETTING}\n\n${contestTables(rounds)}${before === null || after === null ? '' : cacheSentence(before, after)}`,
    figures: figures(rounds),
  }
}

function figures(rounds: ReadonlyMap<string, readonly Round[]>): Figure[] {
  const against = (figure: string, goal: string, ceilings: readonly [number, number], others: Others): Figure =>
    figureOf(`CPU per request against ${figure}`, goal, '×', (runtime) => ({
      value: median(cpuRatios(rounds, NAMES.marquee[runtime], others[runtime])),
      ceiling: ceilings[runtime === 'bun' ? 0 : 1],
    }))
  const both = (name: string): Others => ({ bun: name, node: name })
  return [
    against('nginx serving the same bodies as files', '≤ 1.0×', [1, 1], both(NAMES.nginx)),
    against('the same runtime answering constant bytes', '≤ 1.7× on Bun, ≤ 1.5× on Node', [1.7, 1.5], NAMES.floor),
    against('Varnish', '≤ 0.5×', [0.5, 0.5], both(NAMES.varnish)),
    against('Hono (Marquee on Bun), Fastify (on Node)', '≤ 0.25×', [0.25, 0.25], NAMES.framework),
  ]
}

interface Others {
  readonly bun: string
  readonly node: string
}

function cacheSentence(before: CacheCounts, after: CacheCounts): string {
  const hits = after.hits - before.hits
  const share = hits / (hits + after.misses - before.misses)
  const verdict = share < WELL_CACHED ? ' That is little: its figures are those of nginx behind it, too.' : ''
  return `\nVarnish answered ${(share * 100).toFixed(2)} % from its cache.${verdict}\n`
}
