import { holdsPassword } from '../config/config-problem.ts'
import { isName } from '../config/values.ts'
import { printable } from '../observe/printable.ts'

/** A line of the configuration: what stands there, and what was seen that speaks for it. */
export interface Line {
  readonly key: string
  readonly value: string
  readonly evidence: string
}

/** What `check` refuses until somebody has written an answer there. */
export const OPEN = "'?'"

export function example({ texts }: { readonly texts: readonly { readonly text: string }[] }): string {
  return `e.g. ${(texts[0]?.text ?? 'nothing').slice(0, 40)}`
}

export function byName(column: Parameters<typeof example>[0]): string {
  return `by its name; ${example(column)}`
}

export function counted(count: number): string {
  return count.toLocaleString('en')
}

/** As YAML takes it for a text, whatever it holds: what is not seen is escaped, and nothing in it is taken for an open question. */
export function quoted(text: string): string {
  const isPlain = /^\p{L}[\p{L}\p{N} _-]*\p{L}$/u.test(text) && !/^(?:true|false|null|yes|no|on|off|y|n)$/i.test(text)
  if (isPlain) return text
  const escaped = JSON.stringify(text).replaceAll(/(?! )[\p{C}\p{Z}]/gu, (sign) => {
    const code = sign.codePointAt(0) ?? 0
    return code > 0xffff ? `\\U${hex(code, 8)}` : `\\u${hex(code, 4)}`
  })
  return escaped.replaceAll(OPEN, "'\\u003f'")
}

function hex(code: number, digits: number): string {
  return code.toString(16).padStart(digits, '0')
}

const LONGEST_COMMENT = 2000

/** As it stands in a comment, which ends with its line. */
export function comment(text: string): string {
  return printable(text.replaceAll(/\s+/g, ' '), LONGEST_COMMENT)
}

/** YAML takes no longer key. */
const LONGEST_KEY = 1000

/** Whether a configuration can name a column so: `'?'` is an open question there. */
export function canBeNamed(name: string): boolean {
  return name !== '?' && isName(name) && !holdsPassword(name) && quoted(name).length <= LONGEST_KEY
}

export function lineOf(key: string, { name }: { readonly name: string }, evidence: string): Line {
  return { key, value: quoted(name), evidence }
}
