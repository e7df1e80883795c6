import { QUICK } from '../measure/scale.ts'
import type { Section } from '../part.ts'
import type { Figure, Measured } from './figure.ts'
import { table } from './table.ts'
import { machineAndVersions } from './versions.ts'

const ABOUT = `# Benchmarks

<!-- Written by npm run bench. -->

What was measured on one machine; another has other figures, and much the same ratios.

<picture>
  <source media="(prefers-color-scheme: dark)" srcset="images/cost-dark.svg">
  <img src="images/cost-light.svg" alt="Processor time of one request to Marquee, nginx, Varnish, Hono and Fastify">
</picture>

[Sizing](sizing.md) says how large a machine needs to be.

To measure again:

\`\`\`sh
npm run bench                      # all of it, and writes this page; an hour
npm run bench -- servers start     # these parts, and writes nothing
BENCH_QUICK=1 npm run bench        # a minute: shows that everything runs, and no more
\`\`\`

wrk, nginx, Varnish, taskset, Redis and PostgreSQL take part where they are installed
(\`apt-get install wrk nginx varnish util-linux redis-server postgresql\`).
`

const QUICK_WARNING = '**A quick run: it shows that everything runs; its figures say nothing.**\n'

/** Renders all results as a page in Markdown. */
export function pageOf(sections: readonly Section[], leftOut: ReadonlySet<string>): string {
  const missing = [...leftOut].map((what) => `- Left out: ${what}.\n`).join('')
  const day = `- Date: ${new Date().toISOString().slice(0, 10)}\n`
  const summary = summaryOf(sections.flatMap(({ figures }) => figures))
  const parts = sections.map(({ title, markdown }) => `## ${title}\n\n${markdown.trimEnd()}\n`)
  const top = `${ABOUT}\n${QUICK ? `${QUICK_WARNING}\n` : ''}${day}${machineAndVersions()}${missing}`
  return [top, `## Goals\n\n${summary}`, ...parts].join('\n')
}

function summaryOf(figures: readonly Figure[]): string {
  const cell = (measured: Measured | null): string => {
    if (measured === null) return 'not measured'
    return measured.isMet ? `${measured.text}, met` : `**${measured.text}, not met**`
  }
  const rows = figures.map(({ figure, goal, measured }) => [figure, goal, cell(measured.bun), cell(measured.node)])
  return table(['figure', 'goal', 'measured on Bun', 'measured on Node'], rows)
}
