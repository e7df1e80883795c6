type Paint = (text: string) => string

/** How a terminal shows what a text is for. */
export interface Palette {
  readonly strong: Paint
  readonly quiet: Paint
  readonly good: Paint
  readonly bad: Paint
  readonly link: Paint
}

const PLAIN: Paint = (text) => text

/** Colours, but not where NO_COLOR is set (no-color.org) or the terminal has none. */
export function paletteFor(env: Readonly<Record<string, string | undefined>>): Palette {
  const isPlain = (env['NO_COLOR'] ?? '') !== '' || env['TERM'] === 'dumb'
  const sgr = (code: number): Paint => (isPlain ? PLAIN : (text) => `\x1b[${code}m${text}\x1b[0m`)
  return { strong: sgr(1), quiet: sgr(2), good: sgr(32), bad: sgr(33), link: sgr(36) }
}
