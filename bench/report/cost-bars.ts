/** The colours of the picture, for pages with a light and a dark background. */
const COLOURS = {
  light: { ink: '#1b1b1f', quiet: '#5c5c66', bar: '#b9b9c4', ours: '#7a1f3d', spread: '#1b1b1f' },
  dark: { ink: '#ececf1', quiet: '#a9a9b4', bar: '#5d5d68', ours: '#b8476b', spread: '#ececf1' },
} as const

export type BarsTheme = keyof typeof COLOURS

/** The CPU time of a request to one server, in µs: the median of the rounds, and between what they lay. */
interface Cost {
  readonly server: string
  readonly median: number
  readonly least: number
  readonly most: number
}

const WIDTH = 760
const NAME_WIDTH = 150
const VALUE_WIDTH = 60
const ROW = 30
const BAR = 18
const TOP = 34

/** Reads the costs from the page's part "Side by side", the cheapest first. Empty if the page does not have it. */
export function costsIn(page: string): readonly Cost[] {
  const part = page.split(/^(?=## )/m).find((one) => one.startsWith('## Side by side\n')) ?? ''
  const table = part.split('\n\n').find((block) => block.startsWith('| server | CPU µs per request |')) ?? ''
  const costs = Array.from(
    table.matchAll(/^\| ([^|]+) \| ([\d.]+) \(([\d.]+)–([\d.]+)\) \|/gm),
    ([, server, ...found]) => {
      const [median = 0, least = 0, most = 0] = found.map(Number)
      return { server: server ?? '', median, least, most }
    },
  )
  return costs.toSorted((left, right) => left.median - right.median)
}

/** Draws a bar for each server with the spread of its rounds, as SVG. */
export function drawCosts(costs: readonly Cost[], theme: BarsTheme): string {
  const { ink, quiet, bar, ours, spread } = COLOURS[theme]
  const most = Math.max(...costs.map((cost) => cost.most))
  const scale = (WIDTH - NAME_WIDTH - VALUE_WIDTH) / most
  const rows = costs.map(({ server, median, least, most: highest }, index) => {
    const y = TOP + index * ROW
    const middle = y + BAR / 2
    const isOurs = server.startsWith('Marquee')
    const at = (us: number): string => (NAME_WIDTH + us * scale).toFixed(1)
    return `<text x="${NAME_WIDTH - 10}" y="${middle + 4}" text-anchor="end" font-size="13"${isOurs ? ' font-weight="600"' : ''} fill="${ink}">${server}</text>
<rect x="${NAME_WIDTH}" y="${y}" width="${(median * scale).toFixed(1)}" height="${BAR}" rx="3" fill="${isOurs ? ours : bar}"/>
<path d="M${at(least)} ${middle}H${at(highest)}M${at(least)} ${middle - 4}v8M${at(highest)} ${middle - 4}v8" stroke="${spread}" stroke-width="1.2" fill="none"/>
<text x="${Number(at(highest)) + 8}" y="${middle + 4}" font-size="13" fill="${ink}">${median}</text>`
  })
  const title = 'Processor time of one request, in µs; less is better'
  return `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${WIDTH} ${TOP + costs.length * ROW + 4}" role="img" aria-label="${title}" font-family="system-ui, sans-serif">
<title>${title}</title>
<text x="${NAME_WIDTH}" y="18" font-size="13" fill="${quiet}">${title}. The line is the spread of the rounds.</text>
${rows.join('\n')}
</svg>
`
}
