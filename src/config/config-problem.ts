import { unreachable } from '../domain/unreachable.ts'
import { printable } from '../observe/printable.ts'
import type { Tree } from './tree.ts'

/** One thing that is wrong with a configuration, in words that can be acted on; never holds a secret's text. */
export interface Problem {
  readonly file: string
  /** Such as `freshness.maxAge`; empty where the whole file is meant. */
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

/** What a key gives that has a problem, which was said. */
export const BAD = Symbol('bad')

/** All that is found wrong while a file is read. */
export interface Findings {
  readonly file: string
  /** What relative paths are relative to. */
  readonly folder: string
  /** Where the system says that a service keeps what it needs again; null where it does not say. */
  readonly stateDirectory: string | null
  /** Where a key of a name does exist, such as `freshness.maxAge` for `maxAge`. */
  readonly elsewhere: (name: string) => string | null
  readonly problems: Problem[]
  /** The sections that hold unknown keys: one of them may be what another key is missing. */
  readonly doubtful: Set<string>
}

/** Where a value stands, or should. */
export class Place {
  readonly findings: Findings
  /** The line of what stands here, else of the nearest thing around it that exists; null for an empty file. */
  readonly line: number | null
  readonly #around: Place | null
  readonly #step: string | number

  constructor(findings: Findings, around: Place | null = null, step: string | number = '', line: number | null = null) {
    this.findings = findings
    this.#around = around
    this.#step = step
    this.line = line
  }

  in(step: string | number, node: Tree | undefined): Place {
    return new Place(this.findings, this, step, node?.line ?? this.line)
  }

  get key(): string {
    return keyOf(this.#path())
  }

  say(message: string, found: string | null = null): typeof BAD {
    const { file, problems } = this.findings
    problems.push({ file, key: this.key, line: this.line, found, message })
    return BAD
  }

  #path(): (string | number)[] {
    return this.#around === null ? [] : [...this.#around.#path(), this.#step]
  }

  /** What stands here is not what it must be; nothing is said of what has a problem already. */
  refuse(node: Tree, message: string, isHidden = false): typeof BAD {
    return node.kind === 'reported' ? BAD : this.say(message, isHidden ? null : shown(node))
  }
}

/** The key as people write it: `representation.links.event[0].rel`. */
export function keyOf(path: readonly (string | number)[]): string {
  let key = ''
  for (const step of path) {
    if (typeof step === 'number') key += `[${step}]`
    else key += `${key === '' ? '' : '.'}${showName(step)}`
  }
  return key
}

function shown(node: Exclude<Tree, { kind: 'reported' }>): string {
  switch (node.kind) {
    case 'reference':
      return `what ${node.name} holds (not shown)`
    case 'list':
      return node.items.length === 0 ? 'an empty list' : 'a list'
    case 'map':
      return 'a mapping'
    case 'scalar':
      if (node.value === null) return 'empty'
      return typeof node.value === 'string' ? showText(node.value) : String(node.value)
    default:
      return unreachable(node)
  }
}

const LONGEST = 60

/** Text from a file as a message may carry it: quoted, on one line, without URL passwords, cut where it is long. */
function showText(text: string): string {
  return printable(JSON.stringify(cut(redactUrl(text))))
}

/** As `showText`, but without quotes where the text is plain: for names of files and keys. */
export function showName(text: string): string {
  return text.length < 200 && /^[\p{L}\p{N} ._/\\:@+~()[\]-]+$/u.test(text) ? redactUrl(text) : showText(text)
}

function cut(text: string): string {
  return text.length > LONGEST ? `${text.slice(0, LONGEST).toWellFormed()}…` : text
}

const HIDDEN = '[secret]'
const SECRET_PARAMETER =
  /([?&;](?:password|passwd|pwd|secret|client_secret|token|access_token|sig|key|api_?key)=)[^&;\s#"']*/gi

/**
 * The text without the passwords of the URLs in it. It errs towards hiding: what stands between the first `:` and the last
 * `@` behind a `://` goes, since people leave `/`, `#` and `@` unencoded in passwords.
 */
export function redactUrl(text: string): string {
  if (!text.includes('://')) return text
  const parts = text.split('://')
  for (const [index, part] of parts.entries()) {
    if (index === 0) continue
    const end = part.lastIndexOf('@')
    const colon = part.indexOf(':')
    if (colon !== -1 && colon < end) parts[index] = `${part.slice(0, colon)}:${HIDDEN}${part.slice(end)}`
  }
  return parts.join('://').replace(SECRET_PARAMETER, `$1${HIDDEN}`)
}

/** Tells whether the text is one URL with a password in it, which makes it a secret. */
export function holdsPassword(text: string): boolean {
  if (!text.includes('://')) return false
  const url = URL.parse(text.trim())
  // What no parser reads (`postgres://u:p#w@host`, `{…}` for a port) is judged by its look.
  return url === null
    ? /^[^\s:/]+:\/\/[^\s/:@]*:[^\s@]*@/.test(text.trim())
    : url.password !== '' || Boolean(url.searchParams.get('password'))
}
