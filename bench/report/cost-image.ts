import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { costsIn, drawCosts } from './cost-bars.ts'

/** Draws docs/images/cost-light.svg and cost-dark.svg from docs/benchmarks.md, if the page has the figures. */
export function writeCostImage(docs: string): void {
  const costs = costsIn(readFileSync(join(docs, 'benchmarks.md'), 'utf8'))
  if (costs.length === 0) return
  for (const theme of ['light', 'dark'] as const) {
    writeFileSync(join(docs, `images/cost-${theme}.svg`), drawCosts(costs, theme))
  }
}
