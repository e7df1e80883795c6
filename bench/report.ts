// Results, the tables and the picture made of them, and the two pages that show them.
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { ROOT } from '../test/support/child.ts'

/** What one program measured. */
export interface Result {
  /** The day in UTC, as `2026-11-23`. */
  readonly date: string
  /** The processor, the system and the versions of the programs. */
  readonly machine: string
  readonly tables: readonly Table[]
}

export interface Table {
  readonly title: string
  readonly head: readonly string[]
  readonly rows: readonly (readonly string[])[]
}

export const PROGRAMS = ['serve', 'read', 'size'] as const
export type Program = (typeof PROGRAMS)[number]

const README = join(ROOT, 'bench/README.md')
const USERS_PAGE = join(ROOT, 'docs/benchmarks.md')
const RESULTS = join(ROOT, 'bench/results')

/** Replaces the result of a program, and what the pages show of it. */
export function writeResult(program: Program, result: Result): void {
  mkdirSync(RESULTS, { recursive: true })
  writeFileSync(join(RESULTS, `${program}.json`), `${JSON.stringify(result, null, 2)}\n`)
  replaceIn(README, program, renderResult(result))
  if (program !== 'serve') return
  replaceIn(USERS_PAGE, program, `${renderTable(result.tables[0])}\nMeasured on ${result.date}: ${result.machine}.\n`)
  for (const theme of ['light', 'dark'] as const) {
    writeFileSync(join(ROOT, `docs/images/cost-${theme}.svg`), drawCosts(costsIn(result), theme))
  }
}

/** The latest result of a program; null if it has never been measured. */
export function readResult(program: Program): Result | null {
  const file = join(RESULTS, `${program}.json`)
  return existsSync(file) ? (JSON.parse(readFileSync(file, 'utf8')) as Result) : null
}

/** Renders all tables of a result in Markdown. */
export function renderResult({ date, machine, tables }: Result): string {
  const parts = tables.map((table) => `### ${table.title}\n\n${renderTable(table)}`)
  return `${parts.join('\n')}\nMeasured on ${date}: ${machine}.\n`
}

export function renderTable(table: Table = { title: '', head: [], rows: [] }): string {
  const line = (cells: readonly string[]): string => `| ${cells.join(' | ')} |\n`
  return `${line(table.head)}|${'---|'.repeat(table.head.length)}\n${table.rows.map(line).join('')}`
}

/** Replaces what stands between `<!-- name -->` and `<!-- /name -->` on a page. */
function replaceIn(page: string, name: string, text: string): void {
  const [before, rest = ''] = readFileSync(page, 'utf8').split(`<!-- ${name} -->\n`)
  const after = rest.split(`<!-- /${name} -->`)[1]
  if (after === undefined) throw new Error(`${page} lacks <!-- ${name} --> … <!-- /${name} -->`)
  writeFileSync(page, `${before}<!-- ${name} -->\n${text}<!-- /${name} -->${after}`)
}

export function median(values: readonly number[]): number {
  const sorted = values.toSorted((left, right) => left - right)
  const upper = sorted[Math.floor(sorted.length / 2)] ?? Number.NaN
  const lower = sorted[Math.ceil(sorted.length / 2) - 1] ?? Number.NaN
  return (lower + upper) / 2
}

/** The median with the range of the values: `1.62 (1.58–1.71)`. */
export function spread(values: readonly number[]): string {
  return `${show(median(values))} (${show(Math.min(...values))}–${show(Math.max(...values))})`
}

/** The ratios of values of the same round: a machine that slows down affects both. */
export function ratios(values: readonly number[], against: readonly number[]): number[] {
  return values.flatMap((value, round) => {
    const other = against[round]
    return other === undefined ? [] : [value / other]
  })
}

/** Formats a number with three significant digits and at most two decimals: 0.62, 17.3, 1240. */
export function show(value: number): string {
  const size = Math.abs(value)
  return value.toFixed(size < 10 ? 2 : size < 100 ? 1 : 0)
}

/** Formats bytes in MB of 1,000,000. */
export function megabytes(bytes: number): string {
  return (bytes / 1e6).toFixed(0)
}

interface Cost {
  readonly server: string
  readonly median: number
  readonly least: number
  readonly most: number
}

/** The CPU time of a request by server, the cheapest first. */
export function costsIn(result: Result): readonly Cost[] {
  const costs = (result.tables[0]?.rows ?? []).map(([server = '', cost = '']) => {
    const [middle = 0, least = 0, most = 0] = Array.from(cost.matchAll(/[\d.]+/g), ([number]) => Number(number))
    return { server, median: middle, least, most }
  })
  return costs.toSorted((left, right) => left.median - right.median)
}

/** The colours of the picture, for pages with a light and a dark background. */
const COLOURS = {
  light: { ink: '#1b1b1f', quiet: '#5c5c66', bar: '#b9b9c4', ours: '#7a1f3d' },
  dark: { ink: '#ececf1', quiet: '#a9a9b4', bar: '#5d5d68', ours: '#b8476b' },
} as const
const WIDTH = 760
const NAME_WIDTH = 180
const VALUE_WIDTH = 60
const ROW = 30
const BAR = 18
const TOP = 34

/** Draws a bar for each server with the spread of its rounds, as SVG. */
export function drawCosts(costs: readonly Cost[], theme: keyof typeof COLOURS): string {
  const { ink, quiet, bar, ours } = COLOURS[theme]
  const scale = (WIDTH - NAME_WIDTH - VALUE_WIDTH) / Math.max(...costs.map(({ most }) => most))
  const rows = costs.map(({ server, median: middle, least, most }, index) => {
    const y = TOP + index * ROW
    const line = y + BAR / 2
    const isOurs = server.startsWith('Marquee')
    const at = (us: number): string => (NAME_WIDTH + us * scale).toFixed(1)
    return `<text x="${NAME_WIDTH - 10}" y="${line + 4}" text-anchor="end" font-size="13"${isOurs ? ' font-weight="600"' : ''} fill="${ink}">${server}</text>
<rect x="${NAME_WIDTH}" y="${y}" width="${(middle * scale).toFixed(1)}" height="${BAR}" rx="3" fill="${isOurs ? ours : bar}"/>
<path d="M${at(least)} ${line}H${at(most)}M${at(least)} ${line - 4}v8M${at(most)} ${line - 4}v8" stroke="${ink}" stroke-width="1.2" fill="none"/>
<text x="${Number(at(most)) + 8}" y="${line + 4}" font-size="13" fill="${ink}">${middle}</text>`
  })
  const title = 'Processor time of one request, in µs; less is better'
  return `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${WIDTH} ${TOP + costs.length * ROW + 4}" role="img" aria-label="${title}" font-family="system-ui, sans-serif">
<title>${title}</title>
<text x="${NAME_WIDTH}" y="18" font-size="13" fill="${quiet}">${title}. The line is the spread of the rounds.</text>
${rows.join('\n')}
</svg>
`
}
