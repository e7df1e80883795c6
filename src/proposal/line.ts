/** A line of the configuration: what stands there, and what was seen that speaks for it. */
export interface Line {
  readonly key: string
  readonly value: string
  readonly evidence: string
}

/** What `check` refuses until somebody has written an answer there. */
export const OPEN = "'?'"

export function example(filled: readonly string[]): string {
  return `e.g. ${(filled[0] ?? 'nothing').slice(0, 40)}`
}

export function counted(count: number): string {
  return count.toLocaleString('en')
}

/** As YAML takes it for a text, whatever it holds. */
export function quoted(text: string): string {
  const isPlain = /^\p{L}[\p{L}\p{N} _-]*\p{L}$/u.test(text) && !/^(?:true|false|null|yes|no|on|off|y|n)$/i.test(text)
  return isPlain ? text : JSON.stringify(text)
}
