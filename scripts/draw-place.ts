/** The colours of the diagram, for pages with a light and a dark background. */
const COLOURS = {
  light: { ink: '#1b1b1f', quiet: '#5c5c66', line: '#9a9aa6', box: '#ffffff', ours: '#7a1f3d', oursInk: '#ffffff' },
  dark: { ink: '#ececf1', quiet: '#a9a9b4', line: '#6d6d78', box: '#22222a', ours: '#b8476b', oursInk: '#ffffff' },
} as const

export type Theme = keyof typeof COLOURS

interface Box {
  readonly x: number
  readonly y: number
  readonly width: number
  readonly height: number
  readonly lines: readonly string[]
  readonly isOurs?: boolean
}

const WIDTH = 880
const HEIGHT = 250
const LINE_HEIGHT = 19

const BOXES: readonly Box[] = [
  {
    x: 10,
    y: 75,
    width: 210,
    height: 100,
    lines: ['Your CRM', 'Dataverse, Odoo, Salesforce,', 'PostgreSQL, spreadsheets'],
  },
  {
    x: 335,
    y: 75,
    width: 210,
    height: 100,
    isOurs: true,
    lines: ['Marquee', 'a replica in memory, at most', 'as old as you allow'],
  },
  ...['Your website', 'Your apps', 'Partners', 'Search and calendars'].map((name, index) => ({
    x: 655,
    y: 10 + index * 60,
    width: 215,
    height: 46,
    lines: [name],
  })),
]

/** Draws where Marquee stands, between the CRM and those who ask, as SVG. */
export function drawPlace(theme: Theme): string {
  const { ink, quiet, line } = COLOURS[theme]
  const [crm, marquee, ...callers] = BOXES
  if (crm === undefined || marquee === undefined) throw new Error('the diagram has a CRM and a Marquee')
  const arrows = [
    arrow(right(crm), left(marquee), line),
    ...callers.map((caller) => arrow(right(marquee), left(caller), line)),
  ]
  const alt = 'The CRM is read by Marquee alone; websites, apps, partners, calendars and search engines ask Marquee.'
  return `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${WIDTH} ${HEIGHT}" role="img" aria-label="${alt}" font-family="system-ui, sans-serif">
<title>${alt}</title>
<defs><marker id="tip" viewBox="0 0 8 8" refX="7" refY="4" markerWidth="8" markerHeight="8" orient="auto"><path d="M0 0L8 4L0 8z" fill="${line}"/></marker></defs>
${arrows.join('\n')}
${BOXES.map((box) => drawBox(box, theme)).join('\n')}
${label(277, 112, 'a few reads', ink)}
${label(277, 146, 'of changes', quiet)}
${label(600, 236, 'JSON, XML, HAL, iCalendar', quiet, 'end')}
</svg>
`
}

function right({ x, y, width, height }: Box): readonly [number, number] {
  return [x + width, y + height / 2]
}

function left({ x, y, height }: Box): readonly [number, number] {
  return [x, y + height / 2]
}

function arrow(
  [fromX, fromY]: readonly [number, number],
  [toX, toY]: readonly [number, number],
  colour: string,
): string {
  const middle = (fromX + toX) / 2
  return `<path d="M${fromX} ${fromY}C${middle} ${fromY} ${middle} ${toY} ${toX - 2} ${toY}" fill="none" stroke="${colour}" stroke-width="1.5" marker-end="url(#tip)"/>`
}

function drawBox({ x, y, width, height, lines, isOurs = false }: Box, theme: Theme): string {
  const { ink, quiet, line, box, ours, oursInk } = COLOURS[theme]
  const top = y + height / 2 - ((lines.length - 1) * LINE_HEIGHT) / 2 + 5
  const texts = lines.map((text, index) => {
    const isName = index === 0
    const colour = isOurs ? oursInk : isName ? ink : quiet
    return `<text x="${x + width / 2}" y="${top + index * LINE_HEIGHT}" text-anchor="middle" font-size="${isName ? 15 : 12.5}"${isName ? ' font-weight="600"' : ''} fill="${colour}">${text}</text>`
  })
  const frame = `<rect x="${x}" y="${y}" width="${width}" height="${height}" rx="8" fill="${isOurs ? ours : box}" stroke="${isOurs ? ours : line}"/>`
  return [frame, ...texts].join('\n')
}

function label(x: number, y: number, text: string, colour: string, anchor = 'middle'): string {
  return `<text x="${x}" y="${y}" text-anchor="${anchor}" font-size="12.5" fill="${colour}">${text}</text>`
}
