import { RUNTIMES, type Figure, type Measured } from './figure.ts'
import { WHY_MISSED } from './missed-goals.ts'
import type { Result } from './results.ts'
import { table } from './table.ts'

const ABOUT = `# Benchmarks

<!-- Written by npm run bench. -->

Each part says when it was measured. The machine is the one below unless the part names another. Ratios differ less from machine to machine than
figures do.

<picture>
  <source media="(prefers-color-scheme: dark)" srcset="images/cost-dark.svg">
  <img src="images/cost-light.svg" alt="Processor time of one request to Marquee, nginx, Varnish, Hono and Fastify">
</picture>

[Sizing](sizing.md) says how large a machine needs to be.
`

const AGAIN = `## To measure again

\`\`\`sh
npm run bench                      # all of it: an hour
npm run bench -- servers start     # these parts only; this page keeps the others
BENCH_QUICK=1 npm run bench        # a minute: only shows that everything runs
\`\`\`

The benchmark uses wrk, nginx, Varnish, taskset, Redis and PostgreSQL if they are installed
(\`apt-get install wrk nginx varnish util-linux redis-server postgresql\`).
`

/** Renders the results as a page in Markdown. */
export function pageOf(results: readonly Result[]): string {
  const latest = results.toSorted((left, right) => right.date.localeCompare(left.date))[0]
  const parts = results.map(({ title, markdown, ...when }) => {
    const another = when.machine === latest?.machine ? '' : `\n\n${when.machine.trimEnd()}`
    return `## ${title}\n\n${markdown.trimEnd()} Measured on ${when.date}.${another}\n`
  })
  const missing = new Set(results.flatMap(({ leftOut }) => leftOut))
  const top = `${ABOUT}\n${latest?.machine ?? ''}${Array.from(missing, (what) => `- Left out: ${what}.\n`).join('')}`
  return [top, goals(results.flatMap(({ figures }) => figures)), ...parts, AGAIN].join('\n')
}

/** Whether a runtime misses the goal. */
export function isMissed({ measured }: Figure): boolean {
  return RUNTIMES.some((runtime) => measured[runtime]?.isMet === false)
}

function goals(figures: readonly Figure[]): string {
  const missed = figures.filter(isMissed)
  const met = figures.filter((figure) => !isMissed(figure))
  const cells = ({ figure, goal, measured }: Figure): readonly string[] => [
    figure,
    goal,
    cell(measured.bun),
    cell(measured.node),
  ]
  const head = ['figure', 'goal', 'Bun', 'Node']
  return [
    `## Goals that are missed\n`,
    `${missed.length} of ${figures.length}, with the reason. Figures that miss their goal are in bold.\n`,
    table(
      [...head, 'why'],
      missed.map((figure) => [...cells(figure), WHY_MISSED[figure.figure] ?? 'not known']),
    ),
    `## Goals that are met\n`,
    table(head, met.map(cells)),
  ].join('\n')
}

function cell(measured: Measured | null): string {
  if (measured === null) return 'not measured'
  return measured.isMet ? measured.text : `**${measured.text}**`
}
