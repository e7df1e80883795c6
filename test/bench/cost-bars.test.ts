import { expect, it } from 'bun:test'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { SaxesParser } from 'saxes'
import { type BarsTheme, costsIn, drawCosts } from '../../bench/report/cost-bars.ts'
import { ROOT } from '../support/child.ts'

const page = readFileSync(join(ROOT, 'docs/benchmarks.md'), 'utf8')

it.each(['light', 'dark'] satisfies BarsTheme[])(
  'docs/images/cost-%s.svg shows the figures of docs/benchmarks.md',
  (theme) => {
    const costs = costsIn(page)
    expect(costs.map(({ server }) => server)).toContain('Marquee on Bun')
    for (const { least, median, most } of costs) expect([least <= median, median <= most]).toEqual([true, true])
    const drawn = drawCosts(costs, theme)
    expect(readFileSync(join(ROOT, `docs/images/cost-${theme}.svg`), 'utf8')).toBe(drawn)
    expect(page).toContain(`images/cost-${theme}.svg`)
    const problems: string[] = []
    const parser = new SaxesParser()
    parser.on('error', (problem) => problems.push(problem.message))
    parser.write(drawn).close()
    expect(problems).toEqual([])
  },
)
