import type { ListName } from '../domain/field.ts'
import type { FurtherField } from '../domain/further.ts'
import { unreachable } from '../domain/unreachable.ts'
import { printable } from '../domain/printable.ts'
import type { Tree } from './tree.ts'

/** One problem of a configuration, described so that it can be fixed; never contains a secret. */
export interface Problem {
  readonly file: string
  /** The key, for example `freshness.maxAge`; empty for the whole file. */
  readonly key: string
  readonly line: number | null
  /** The value in the file, fit to be shown; `null` if there is none or it is secret. */
  readonly found: string | null
  /** The rest of the sentence: `must be a whole number from 0 to 65535`. */
  readonly message: string
}

/**
 * Renders the problem as one sentence on one line.
 * @example `marquee.yaml:3: listen.port is "http"; it must be a whole number from 0 to 65535`
 */
export function renderProblem(problem: Problem): string {
  const file = showName(problem.file)
  const where = problem.line === null ? file : `${file}:${problem.line}`
  if (problem.key === '') return `${where}: ${problem.message}`
  if (problem.found === null) return `${where}: ${problem.key} ${problem.message}`
  return `${where}: ${problem.key} is ${problem.found}; it ${problem.message}`
}

/** The result of reading a value whose problem has been reported. */
export const PROBLEM = Symbol('problem')

/** The problems that reading a file has found, and what reading it needs to know. */
export interface FileProblems {
  readonly file: string
  /** The folder that relative paths are resolved against. */
  readonly folder: string
  /** systemd's directory for the service's state; `null` if it is not set. */
  readonly stateDirectory: string | null
  /** The further fields that the file declares, filled in while `representation` is read, before `crm`. */
  readonly further: Record<ListName, readonly FurtherField[]>
  /** Finds where a key of this name exists: `freshness.maxAge` for `maxAge`. */
  readonly elsewhere: (name: string) => string | null
  readonly problems: Problem[]
  /** Sections with unknown keys. One of them may be the misspelt name of a key that seems missing. */
  readonly doubtful: Set<string>
  /**
   * The values by key, for the rules that concern several keys. `line` is the line of the key, or of its section if the
   * key is absent.
   */
  readonly values: Map<string, { readonly value: unknown; readonly line: number | null }>
}

/** The problems of a file that has not been read yet. */
export function noProblems(file: string, folder: string): FileProblems {
  const context = { file, folder, stateDirectory: null, further: { events: [], venues: [] }, elsewhere: () => null }
  return { ...context, problems: [], doubtful: new Set(), values: new Map() }
}

/** The position of a value, present or not. */
export class Place {
  readonly inFile: FileProblems
  /** The line of the value, or of the nearest section around it; `null` for an empty file. */
  readonly line: number | null
  readonly #around: Place | null
  readonly #step: string | number

  constructor(
    inFile: FileProblems,
    around: Place | null = null,
    step: string | number = '',
    line: number | null = null,
  ) {
    this.inFile = inFile
    this.#around = around
    this.#step = step
    this.line = line
  }

  in(step: string | number, node: Tree | undefined): Place {
    return new Place(this.inFile, this, step, node?.line ?? this.line)
  }

  get key(): string {
    return keyOf(this.#path())
  }

  /** Returns true if a problem has been reported at this key or inside it. */
  get isWrong(): boolean {
    const { key: here, inFile } = this
    return inFile.problems.some(({ key }) => key === here || key.startsWith(`${here}.`) || key.startsWith(`${here}[`))
  }

  report(message: string, found: string | null = null): typeof PROBLEM {
    const { file, problems } = this.inFile
    problems.push({ file, key: this.key, line: this.line, found, message })
    return PROBLEM
  }

  #path(): (string | number)[] {
    return this.#around === null ? [] : [...this.#around.#path(), this.#step]
  }

  /** Reports an invalid value, unless its problem has been reported already. */
  refuse(node: Tree, message: string, isHidden = false): typeof PROBLEM {
    return node.kind === 'reported' ? PROBLEM : this.report(message, isHidden ? null : shown(node))
  }
}

/** Writes a key's path as people do: `representation.links.event[0].rel`. */
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
      return `the value in ${node.name} (not shown)`
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

/** Renders a text from a file for a message: quoted, on one line, without URL passwords, shortened. */
function showText(text: string): string {
  return printable(JSON.stringify(cut(redactUrl(text))))
}

/** As `showText`, for names of files and keys: without quotes if the text is plain. */
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
 * Removes the passwords of URLs from a text. It removes everything between the first `:` and the last `@` after a
 * `://`, because people leave `/`, `#` and `@` unencoded in passwords.
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
