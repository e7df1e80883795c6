import { holdsPassword } from '../domain/secret.ts'
import { printable } from '../domain/printable.ts'

/** A line of the configuration: key, value, and the evidence for it. */
export interface Line {
  readonly key: string
  readonly value: string
  readonly evidence: string
}

/** The value of an open question; `check` refuses it until it is answered. */
export const OPEN = "'?'"

export function example({ texts }: { readonly texts: readonly { readonly text: string }[] }): string {
  return `e.g. ${(texts[0]?.text ?? 'nothing').slice(0, 40)}`
}

/** The source of a text: HTML becomes the text that people see. */
export function textSource(column: { readonly name: string } & Parameters<typeof example>[0]): string {
  const isHtml = column.texts.some(({ text }) =>
    /<(?:p|br|div|b|i|strong|em|ul|ol|li|a|span|h\d)\b[^<]*>|&(?:[a-z]{2,8}|#\d{2,5});/i.test(text),
  )
  return isHtml ? sourceOf([column], 'html: true') : quoted(column.name)
}

export function byName(column: Parameters<typeof example>[0]): string {
  return `by its name; ${example(column)}`
}

export function counted(count: number): string {
  return count.toLocaleString('en')
}

/** Quotes a text for YAML. Escapes invisible characters, and `'?'`, which marks an open question. */
export function quoted(text: string): string {
  const isPlain = /^\p{L}[\p{L}\p{N} _-]*\p{L}$/u.test(text) && !/^(?:true|false|null|yes|no|on|off|y|n)$/i.test(text)
  if (isPlain) return text
  const escaped = JSON.stringify(text).replaceAll(/(?! )[\p{C}\p{Z}]/gu, (sign) => {
    return `\\U${(sign.codePointAt(0) ?? 0).toString(16).padStart(8, '0')}`
  })
  return escaped.replaceAll(OPEN, "'\\u003f'")
}

/** A list of texts in YAML. */
export function listed(texts: readonly string[]): string {
  return `[${texts.map(quoted).join(', ')}]`
}

const LONGEST_COMMENT = 2000

/** Prepares a text for a comment, which must be one line. */
export function comment(text: string): string {
  return printable(text.replaceAll(/\s+/g, ' '), LONGEST_COMMENT)
}

/** The longest key in YAML. */
const LONGEST_KEY = 1000

/** Returns true if a configuration can name the column: it refuses NUL, and `'?'` is reserved for open questions. */
export function canBeNamed(name: string): boolean {
  if (name === '' || name === '?' || name.includes('\0')) return false
  return !holdsPassword(name) && quoted(name).length <= LONGEST_KEY
}

export function lineOf(key: string, { name }: { readonly name: string }, evidence: string): Line {
  return { key, value: quoted(name), evidence }
}

/** A source of one column, or of several that are joined. @param more further keys, in YAML */
export function sourceOf(columns: readonly { readonly name: string }[], ...more: readonly string[]): string {
  const names = columns.map(({ name }) => quoted(name)).join(', ')
  if (columns.length === 1 && more.length === 0) return names
  return `{ ${[columns.length === 1 ? `column: ${names}` : `join: [${names}]`, ...more].join(', ')} }`
}
