const CELL_WIDTH = 8.4
const LINE_HEIGHT = 20
const MARGIN = 20
const TITLE_HEIGHT = 36

/** The colours of the start-up output, by SGR code. */
const STYLES: Readonly<Record<string, string>> = {
  '1': 'fill="#ffffff" font-weight="bold"',
  '2': 'fill="#8b949e"',
  '32': 'fill="#3fb950"',
  '33': 'fill="#d29922"',
  '36': 'fill="#79c0ff"',
}

/** Draws a command and its terminal output as an SVG that contains only text. */
export function drawTerminal(typed: string, printed: string): string {
  const lines = [`\x1b[2m$\x1b[0m \x1b[1m${typed}\x1b[0m`, ...printed.split('\n')]
  const columns = Math.max(...lines.map((line) => withoutStyle(line).length))
  const width = Math.ceil(columns * CELL_WIDTH + 2 * MARGIN)
  const height = lines.length * LINE_HEIGHT + TITLE_HEIGHT + MARGIN
  const dots = ['#ff5f57', '#febc2e', '#28c840']
    .map((colour, index) => `<circle cx="${MARGIN + index * 20}" cy="18" r="6" fill="${colour}"/>`)
    .join('')
  const texts = lines.map((line, index) => {
    const y = TITLE_HEIGHT + (index + 1) * LINE_HEIGHT
    return `<text x="${MARGIN}" y="${y}" xml:space="preserve">${spans(line)}</text>`
  })
  return `<svg xmlns="http://www.w3.org/2000/svg" width="${width}" height="${height}" viewBox="0 0 ${width} ${height}" font-family="ui-monospace, 'DejaVu Sans Mono', Menlo, Consolas, monospace" font-size="14" fill="#e6edf3">
<rect width="100%" height="100%" rx="10" fill="#0d1117"/>${dots}
${texts.join('\n')}
</svg>
`
}

/** The lines of text in such an image. */
export function textOfDrawing(svg: string): readonly string[] {
  return Array.from(svg.matchAll(/<text [^>]*>(.*?)<\/text>/g), ([, text = '']) =>
    text
      .replaceAll(/<[^>]+>/g, '')
      .replaceAll('&lt;', '<')
      .replaceAll('&amp;', '&'),
  )
}

export function withoutStyle(line: string): string {
  return line.replaceAll(/\x1b\[\d*m/g, '')
}

function spans(line: string): string {
  let at = 0
  return line
    .split('\x1b[0m')
    .map((part) => {
      const [plain = '', code = '', styled = ''] = part.split(/\x1b\[(\d+)m/)
      const drawn = [span(plain, at, ''), span(styled, at + plain.length, STYLES[code] ?? '')].join('')
      at += plain.length + styled.length
      return drawn
    })
    .join('')
}

/** Places each piece by its column, so columns stay aligned in any font. */
function span(text: string, column: number, style: string): string {
  if (text === '') return ''
  const x = (MARGIN + column * CELL_WIDTH).toFixed(1)
  const length = (text.length * CELL_WIDTH).toFixed(1)
  const escaped = text.replaceAll('&', '&amp;').replaceAll('<', '&lt;')
  return `<tspan x="${x}" textLength="${length}" lengthAdjust="spacingAndGlyphs"${style === '' ? '' : ` ${style}`}>${escaped}</tspan>`
}
