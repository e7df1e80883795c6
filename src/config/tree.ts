import type { ErrorCode, YAMLError } from 'yaml'
import { isAlias, isMap, isScalar, isSeq, Lexer, LineCounter, parseDocument } from 'yaml'
import type { Reread } from '../domain/secret.ts'

/** A value of the file and its line. For a value in a mapping, it is the key's line. */
export type Tree =
  | { readonly kind: 'scalar'; readonly line: number; readonly value: PlainValue }
  | { readonly kind: 'list'; readonly line: number; readonly items: readonly Tree[] }
  | MapTree
  | ReferenceTree
  /** Replaces a value whose problem has been reported, so that it is reported once. */
  | { readonly kind: 'reported'; readonly line: number }

type PlainValue = string | number | boolean | null

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

/** A JSON value as the parser gives it. */
export function treeOf(value: unknown): Tree {
  if (Array.isArray(value)) return { kind: 'list', line: 0, items: value.map(treeOf) }
  if (typeof value === 'object' && value !== null) return mapTreeOf(value)
  return { kind: 'scalar', line: 0, value: plainValue(value) }
}

export function mapTreeOf(values: object): MapTree {
  return { kind: 'map', line: 0, entries: new Map(Object.entries(values).map(([key, value]) => [key, treeOf(value)])) }
}

function plainValue(value: unknown): PlainValue {
  return typeof value === 'string' || typeof value === 'number' || typeof value === 'boolean' ? value : null
}

export type Path = readonly (string | number)[]

/** Reports a problem on a line, and of a key if it concerns one. */
export type ReportProblem = (line: number | null, message: string, path?: Path) => void

const MOST_VALUES = 100_000
const DEEPEST = 32
const TOO_DEEP = `is nested deeper than ${DEEPEST} levels`

/**
 * Converts the parser's nodes to a tree. Replaces aliases, with a limit on the values that they lead to; requires keys to
 * be unique texts. Returns `null` if the text cannot be understood.
 */
function buildTree(contents: unknown, lines: LineCounter, report: ReportProblem): MapTree | null {
  const anchors = new Map<string, unknown>()
  let values = 0
  let stopped = false

  function stop(line: number, message: string): Tree {
    if (!stopped) report(line, message)
    stopped = true
    return { kind: 'scalar', line, value: null }
  }

  function nodeTree(node: unknown, line: number, path: Path): Tree {
    if (stopped) return { kind: 'scalar', line, value: null }
    values++
    if (values > MOST_VALUES) return stop(line, `contains more than ${MOST_VALUES} values`)
    if (path.length > DEEPEST) return stop(line, TOO_DEEP)
    if (isAlias(node)) {
      if (!anchors.has(node.source)) {
        report(line, 'uses an alias (*name) without an anchor (&name) before it; text that begins with * needs quotes')
      }
      // Anchors are collected in text order, so this is the latest one before the alias (YAML 1.2 §7.1).
      return nodeTree(anchors.get(node.source), line, path)
    }
    if (isMap(node) || isSeq(node) || isScalar(node)) {
      if (node.anchor !== undefined) anchors.set(node.anchor, node)
    }
    if (isMap(node)) return mapOf(node.items, line, path)
    if (isSeq(node)) {
      const items = node.items.map((item, index) => nodeTree(item, lineOf(item) ?? line, [...path, index]))
      return { kind: 'list', line, items }
    }
    return { kind: 'scalar', line, value: isScalar(node) ? plainValue(node.value) : null }
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
      entries.set(key, nodeTree(pair.value, keyLine, inside))
    }
    return { kind: 'map', line, entries }
  }

  function lineOf(node: unknown): number | null {
    if (!isScalar(node) && !isMap(node) && !isSeq(node) && !isAlias(node)) return null
    return node.range ? lines.linePos(node.range[0]).line : null
  }

  const tree = nodeTree(contents, 1, [])
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
  // The parser takes seconds for a megabyte of junk; its lexer is fast.
  if ([...new Lexer().lex(text)].length > MOST_TOKENS) {
    report(null, `is not a configuration: it contains more than ${MOST_TOKENS} words and signs`)
    return null
  }
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

function reportSyntax(faults: readonly YAMLError[], lines: LineCounter, report: ReportProblem): void {
  const messages = new Set<string>()
  for (const { pos, code } of faults) {
    const { line, col } = lines.linePos(pos[0])
    const message = `is not valid YAML at column ${col}: ${FAULTS[code] ?? OTHER_FAULT}`
    if (!messages.has(`${line} ${message}`)) report(line, message)
    messages.add(`${line} ${message}`)
  }
}

/** Marquee's messages for syntax errors. The parser's own quote the file, which may contain secrets. */
const FAULTS: Partial<Record<ErrorCode, string>> = {
  BAD_ALIAS: 'an alias (*name) has no anchor (&name) before it; text that begins with * needs quotes',
  BAD_DQ_ESCAPE: 'an escape (\\…) in double quotes is unknown; write \\\\ for a backslash, or use single quotes',
  BAD_INDENT: 'the indentation does not fit the lines around it',
  BAD_SCALAR_START: 'text that begins with a reserved character (@ or `) needs quotes',
  BLOCK_AS_IMPLICIT_KEY:
    'a mapping or list is not allowed here; text that contains ": " or begins with "- " needs quotes',
  BLOCK_IN_FLOW: 'lists with - and indented keys are not allowed inside { } or [ ]',
  MISSING_CHAR: 'a colon, comma, closing quote or closing bracket is missing',
  MULTILINE_IMPLICIT_KEY: 'a key must be on one line; a colon may be missing after it',
  MULTIPLE_DOCS: 'only one document is allowed; remove what follows the second ---',
  RESOURCE_EXHAUSTION: 'it is nested too deeply',
  TAB_AS_INDENT: 'a tab is used for indentation; use spaces',
  TAG_RESOLVE_FAILED: 'tags (!…) are not used here; text that begins with ! needs quotes',
}
const OTHER_FAULT = 'there is something unexpected here; check the quotes, colons and brackets'
