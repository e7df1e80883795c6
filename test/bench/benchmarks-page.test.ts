import { expect, it } from 'bun:test'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { SaxesParser } from 'saxes'
import { costsIn, drawCosts, PROGRAMS, readResult, renderResult, renderTable } from '../../bench/report.ts'
import { ROOT } from '../support/child.ts'

const page = readFileSync(join(ROOT, 'docs/benchmarks.md'), 'utf8')
const readme = readFileSync(join(ROOT, 'bench/README.md'), 'utf8')

it('docs/benchmarks.md and bench/README.md show the latest results of the benchmark', () => {
  const serve = readResult('serve')
  if (serve === null) throw new Error('serve was never measured')
  expect(page).toContain(renderTable(serve.tables[0]))
  for (const program of PROGRAMS) {
    const result = readResult(program)
    const shown = readme.split(`<!-- ${program} -->\n`)[1]?.split(`<!-- /${program} -->`)[0]
    expect(shown).toBe(result === null ? '' : renderResult(result))
  }
})

it.each(['light', 'dark'] as const)('docs/images/cost-%s.svg shows the figures of docs/benchmarks.md', (theme) => {
  const serve = readResult('serve')
  const costs = serve === null ? [] : costsIn(serve)
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
})
