import { showName } from './show-text.ts'

/** One thing that is wrong with a configuration, in words that can be acted on; never holds a secret's text. */
export interface Problem {
  readonly file: string
  /** Such as `freshness.bound`; empty where the whole file is meant. */
  readonly key: string
  readonly line: number | null
  /** What stands there, as it may be shown; null where nothing does or it must not be shown. */
  readonly found: string | null
  /** The rest of the sentence, such as `must be a whole number from 0 to 65535`. */
  readonly message: string
}

/**
 * The problem as one sentence on one line.
 * @example `marquee.yaml:3: listen.port is "http"; it must be a whole number from 0 to 65535`
 */
export function renderProblem(problem: Problem): string {
  const file = showName(problem.file)
  const where = problem.line === null ? file : `${file}:${problem.line}`
  if (problem.key === '') return `${where}: ${problem.message}`
  if (problem.found === null) return `${where}: ${problem.key} ${problem.message}`
  return `${where}: ${problem.key} is ${problem.found}; it ${problem.message}`
}

/** The key as people write it: `representation.links.event[0].rel`. */
export function keyOf(path: readonly PropertyKey[]): string {
  let key = ''
  for (const step of path) {
    if (typeof step === 'number') key += `[${step}]`
    else key += `${key === '' ? '' : '.'}${showName(String(step))}`
  }
  return key
}
