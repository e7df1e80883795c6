import type { ErrorCode, YAMLError } from 'yaml'
import { isAlias, isMap, isScalar, isSeq, Lexer, LineCounter, parseDocument } from 'yaml'
import type { Reread } from '../domain/secret.ts'

/** A value of the file and its line. For a value in a mapping, it is the key's line. */
export type Tree = ScalarTree | ListTree | MapTree | ReferenceTree | ReportedTree

interface ScalarTree {
  readonly kind: 'scalar'
  readonly line: number
  readonly value: string | number | boolean | null
}

interface ListTree {
  readonly kind: 'list'
  readonly line: number
  readonly items: readonly Tree[]
}

export interface MapTree {
  readonly kind: 'map'
  readonly line: number
  /** A Map, so that `__proto__` and `constructor` are ordinary keys. */
  readonly entries: ReadonlyMap<string, Tree>
}

/** The value of `{ env: NAME }` or `{ file: PATH }`: always a text, and never shown. */
export interface ReferenceTree {
  readonly kind: 'reference'
  readonly line: number
  readonly text: string
  /** The name to show in its place, for example `the environment variable PORT`. */
  readonly name: string
  readonly reread: (() => Promise<Reread>) | null
}

/** Replaces a value whose problem has been reported, so that it is reported once. */
interface ReportedTree {
  readonly kind: 'reported'
  readonly line: number
}

export type Path = readonly (string | number)[]

/** Reports a problem on a line, and of a key if it concerns one. */
export type ReportProblem = (line: number | null, message: string, path?: Path) => void

const MOST_ALIASES = 100
const MOST_VALUES = 100_000
const DEEPEST = 32
const TOO_DEEP = `is nested deeper than ${DEEPEST} levels`

/**
 * Converts the parser's nodes to a tree. Replaces aliases, with a limit on their number against alias bombs; requires
 * keys to be unique texts. Returns `null` if the text cannot be understood.
 */
function buildTree(contents: unknown, lines: LineCounter, report: ReportProblem): MapTree | null {
  const anchors = new Map<string, unknown>()
  let aliases = 0
  let values = 0
  let stopped = false

  function stop(line: number, message: string): Tree {
    if (!stopped) report(line, message)
    stopped = true
    return { kind: 'scalar', line, value: null }
  }

  function treeOf(node: unknown, line: number, path: Path): Tree {
    if (stopped) return { kind: 'scalar', line, value: null }
    values++
    if (values > MOST_VALUES) return stop(line, `contains more than ${MOST_VALUES} values`)
    if (path.length > DEEPEST) return stop(line, TOO_DEEP)
    if (isAlias(node)) {
      aliases++
      if (aliases > MOST_ALIASES) return stop(line, `uses aliases (*name) more than ${MOST_ALIASES} times`)
      if (!anchors.has(node.source)) {
        report(line, 'uses an alias (*name) without an anchor (&name) before it; text that begins with * needs quotes')
      }
      // Anchors are collected in text order, so this is the latest one before the alias (YAML 1.2 §7.1).
      return treeOf(anchors.get(node.source), line, path)
    }
    if (isMap(node) || isSeq(node) || isScalar(node)) {
      if (node.anchor !== undefined) anchors.set(node.anchor, node)
    }
    if (isMap(node)) return mapOf(node.items, line, path)
    if (isSeq(node)) {
      const items = node.items.map((item, index) => treeOf(item, lineOf(item) ?? line, [...path, index]))
      return { kind: 'list', line, items }
    }
    const value = isScalar(node) ? node.value : null
    const isPlain = typeof value === 'string' || typeof value === 'number' || typeof value === 'boolean'
    return { kind: 'scalar', line, value: isPlain ? value : null }
  }

  function mapOf(pairs: readonly { key: unknown; value: unknown }[], line: number, path: Path): Tree {
    const entries = new Map<string, Tree>()
    for (const pair of pairs) {
      const keyLine = lineOf(pair.key) ?? line
      const key = keyText(pair.key, anchors)
      if (key === null) {
        report(keyLine, 'has a key that is not text')
        continue
      }
      const inside = [...path, key]
      const first = entries.get(key)
      if (first !== undefined) {
        report(keyLine, `is given twice, first on line ${first.line}; remove one`, inside)
        continue
      }
      entries.set(key, treeOf(pair.value, keyLine, inside))
    }
    return { kind: 'map', line, entries }
  }

  function lineOf(node: unknown): number | null {
    if (!isScalar(node) && !isMap(node) && !isSeq(node) && !isAlias(node)) return null
    return node.range ? lines.linePos(node.range[0]).line : null
  }

  const tree = treeOf(contents, 1, [])
  if (stopped) return null
  if (tree.kind === 'map') return tree
  const isEmpty = tree.kind === 'scalar' && tree.value === null
  if (isEmpty) return { kind: 'map', line: 1, entries: new Map() }
  const found = tree.kind === 'list' ? 'a list' : 'text'
  report(lineOf(contents), `must hold keys such as "crm:", but is ${found}`)
  return null
}

function keyText(key: unknown, anchors: Map<string, unknown>): string | null {
  if (!isScalar(key)) return null
  if (key.anchor !== undefined) anchors.set(key.anchor, key)
  // The key as written in the file, for example `on`, `8080` or `null`.
  return typeof key.value === 'string' ? key.value : (key.source ?? String(key.value))
}

const MOST_TOKENS = 100_000
const MOST_FAULTS = 5

/** Parses the single YAML 1.2 document in the text. An empty text is an empty mapping; `null` if it is invalid. */
export function parseYaml(text: string, report: ReportProblem): MapTree | null {
  const control = /[\0-\x08\x0B\x0C\x0E-\x1F\x7F]/.exec(text)
  if (control !== null) {
    const code = control[0].charCodeAt(0).toString(16).toUpperCase().padStart(4, '0')
    report(text.slice(0, control.index).split('\n').length, `contains a control character (U+${code})`)
    return null
  }
  if (!isModest(text, report)) return null
  const lines = new LineCounter()
  const document = parseDocument(text, {
    lineCounter: lines,
    prettyErrors: false,
    // The parser's own check takes quadratic time; buildTree checks instead.
    uniqueKeys: false,
    version: '1.2',
    schema: 'core',
    merge: false,
    resolveKnownTags: false,
    // With 'silent', the parser would ignore a second document.
    logLevel: 'error',
  })
  const faults = [...document.errors, ...document.warnings]
  if (faults.length > 0) {
    reportSyntax(faults.slice(0, MOST_FAULTS), lines, report)
    return null
  }
  return buildTree(document.contents, lines, report)
}

/**
 * Returns true if the text is small and flat enough to parse: a megabyte of junk or 40 KB of brackets would keep the
 * parser busy for a second, but the lexer is fast.
 */
function isModest(text: string, report: ReportProblem): boolean {
  // `signs`: how many values begin within one another on a line, as in `- - -`.
  let [tokens, line, brackets, signs, isText] = [0, 1, 0, 0, false]
  for (const token of new Lexer().lex(text)) {
    if (++tokens > MOST_TOKENS) {
      report(null, `is not a configuration: it contains more than ${MOST_TOKENS} words and signs`)
      return false
    }
    const isSign: boolean = !isText
    isText = token === SCALAR
    if (token.includes('\n')) {
      line += token.split('\n').length - 1
      signs = 0
    }
    if (!isSign) continue
    if (token === '[' || token === '{') brackets++
    else if (token === ']' || token === '}') brackets--
    else if (token === FLOW_END) brackets = 0
    else if (token === ',') signs = 0
    else if (token === '-' || token === '?' || token === ':') signs++
    if (Math.max(brackets, signs) <= DEEPEST) continue
    report(line, TOO_DEEP)
    return false
  }
  return true
}

/** Tokens of the lexer: the mark before a scalar's text, and the end of brackets that are not closed. */
const SCALAR = '\u001f'
const FLOW_END = '\u0018'

function reportSyntax(faults: readonly YAMLError[], lines: LineCounter, report: ReportProblem): void {
  const said = new Set<string>()
  for (const { pos, code } of faults) {
    const { line, col } = lines.linePos(pos[0])
    const message = `is not valid YAML at column ${col}: ${FAULTS[code]}`
    if (!said.has(`${line} ${message}`)) report(line, message)
    said.add(`${line} ${message}`)
  }
}

/** Marquee's messages for syntax errors. The parser's own quote the file, which may contain secrets. */
const FAULTS: Readonly<Record<ErrorCode, string>> = {
  ALIAS_PROPS: 'an alias (*name) must stand alone',
  BAD_ALIAS: 'an alias (*name) has no anchor (&name) before it; text that begins with * needs quotes',
  BAD_COLLECTION_TYPE: 'a tag does not fit its value',
  BAD_DIRECTIVE: 'a directive (%…) is unknown',
  BAD_DQ_ESCAPE: 'an escape (\\…) in double quotes is unknown; write \\\\ for a backslash, or use single quotes',
  BAD_INDENT: 'the indentation does not fit the lines around it',
  BAD_PROP_ORDER: 'an anchor or tag is in the wrong place',
  BAD_SCALAR_START: 'text that begins with a reserved character (@ or `) needs quotes',
  BLOCK_AS_IMPLICIT_KEY:
    'a mapping or list is not allowed here; text that contains ": " or begins with "- " needs quotes',
  BLOCK_IN_FLOW: 'lists with - and indented keys are not allowed inside { } or [ ]',
  DUPLICATE_KEY: 'a key is given twice',
  IMPOSSIBLE: 'it cannot be read',
  KEY_OVER_1024_CHARS: 'a key is longer than 1024 characters',
  MISSING_CHAR: 'a colon, comma, closing quote or closing bracket is missing',
  MULTILINE_IMPLICIT_KEY: 'a key must be on one line; a colon may be missing after it',
  MULTIPLE_ANCHORS: 'a value has two anchors',
  MULTIPLE_DOCS: 'only one document is allowed; remove what follows the second ---',
  MULTIPLE_TAGS: 'a value has two tags',
  NON_STRING_KEY: 'a key must be text',
  RESOURCE_EXHAUSTION: 'it is nested too deeply',
  TAB_AS_INDENT: 'a tab is used for indentation; use spaces',
  TAG_RESOLVE_FAILED: 'tags (!…) are not used here; text that begins with ! needs quotes',
  UNEXPECTED_TOKEN: 'there is something unexpected here; check the quotes, colons and brackets',
}
