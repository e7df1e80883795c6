/** Characters that move a terminal's cursor or reverse its text: the C0, C1 and bidirectional controls. */
const TREACHEROUS = /[\x00-\x1f\x7f-\x9f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069]/g

/** Returns the text with control characters written as `\u001b`, cut to `longest` characters. */
export function printable(text: string, longest = 2000): string {
  const cut = text.length > longest ? `${text.slice(0, longest - 1)}…` : text
  return cut.replace(TREACHEROUS, (char) => `\\u${char.charCodeAt(0).toString(16).padStart(4, '0')}`)
}

/** @example howMany(1200, 'event') // 1,200 events */
export function howMany(count: number, one: string): string {
  // The first `toLocaleString` of a process holds it up for 10 to 20 ms, in which nobody is answered.
  return `${String(count).replaceAll(/\B(?=(?:\d{3})+$)/g, ',')} ${one}${count === 1 ? '' : 's'}`
}

/** @example sizeText(2_000_000_000) // 2 GB */
export function sizeText(bytes: number): string {
  if (bytes < 1e6) return howMany(bytes, 'byte')
  const [unit, name] = bytes < 1e9 ? [1e6, 'MB'] : [1e9, 'GB']
  return `${(bytes / unit).toLocaleString('en', { maximumFractionDigits: 1 })} ${name}`
}

const MOST_FRAMES = 3

/**
 * Returns where a bug occurred: the error's name and its innermost stack frames. Never the message, which may contain a
 * row.
 */
export function bugPlace(cause: unknown): string {
  if (!(cause instanceof Error)) return 'something that is not an Error was thrown'
  const frames = (cause.stack ?? '')
    // The lines of a message may look like stack frames.
    .replace(cause.message, '')
    .split('\n')
    .filter((line) => /^\s+at /.test(line))
    .slice(0, MOST_FRAMES)
    .map((line) => line.trim().replace(/(?:file:\/\/)?\/[^\s()]*\/(src|node_modules)\//, '$1/'))
  return [cause.name, ...frames].join(' ')
}

/** Formats a configured duration exactly: `12 h`, `90 min`, `7.5 s`. */
export function spanText(ms: number): string {
  if (ms % 3_600_000 === 0) return `${ms / 3_600_000} h`
  return ms % 60_000 === 0 ? `${ms / 60_000} min` : `${ms / 1000} s`
}
