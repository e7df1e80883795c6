import type { LineCounter } from 'yaml'
import { isAlias, isMap, isScalar, isSeq } from 'yaml'
import type { Problem } from './problem.ts'
import { keyOf } from './problem.ts'
import type { Tree } from './tree.ts'

const MOST_ALIASES = 100
const MOST_VALUES = 100_000
const DEEPEST = 32

export interface PlantedTree {
  /** Null where the text cannot be understood at all. */
  readonly tree: Tree | null
  readonly problems: readonly Problem[]
}

type Path = readonly (string | number)[]

/** Turns the parser's nodes into our tree: aliases in place (few of them: an alias bomb is refused), keys text and distinct. */
export function plantTree(
  contents: unknown,
  lines: LineCounter,
  problem: (line: number | null, message: string) => Problem,
): PlantedTree {
  const problems: Problem[] = []
  const anchors = new Map<string, unknown>()
  let aliases = 0
  let values = 0
  let stopped = false

  function stop(line: number, message: string): Tree {
    if (!stopped) problems.push(problem(line, message))
    stopped = true
    return { kind: 'scalar', line, value: null }
  }

  function grow(node: unknown, line: number, path: Path): Tree {
    if (stopped) return { kind: 'scalar', line, value: null }
    values++
    if (values > MOST_VALUES) return stop(line, `holds more than ${MOST_VALUES} values`)
    if (path.length > DEEPEST) return stop(line, `is nested deeper than ${DEEPEST} levels`)
    if (isAlias(node)) {
      aliases++
      if (aliases > MOST_ALIASES) return stop(line, `uses aliases (*name) more than ${MOST_ALIASES} times`)
      if (!anchors.has(node.source)) {
        problems.push(
          problem(
            line,
            'uses an alias (*name) without an anchor (&name) before it; text that begins with * needs quotes',
          ),
        )
      }
      // Anchors are met in the order of the text, so this is the latest before the alias, as YAML 1.2 §7.1 says.
      return grow(anchors.get(node.source), line, path)
    }
    if (isMap(node)) {
      if (node.anchor !== undefined) anchors.set(node.anchor, node)
      return growMap(node.items, line, path)
    }
    if (isSeq(node)) {
      if (node.anchor !== undefined) anchors.set(node.anchor, node)
      const items = node.items.map((item, index) => grow(item, lineOf(item) ?? line, [...path, index]))
      return { kind: 'list', line, items }
    }
    if (isScalar(node)) {
      if (node.anchor !== undefined) anchors.set(node.anchor, node)
      const { value } = node
      if (typeof value === 'string' || typeof value === 'number' || typeof value === 'boolean' || value === null) {
        return { kind: 'scalar', line, value }
      }
    }
    return { kind: 'scalar', line, value: null }
  }

  function growMap(pairs: readonly { key: unknown; value: unknown }[], line: number, path: Path): Tree {
    const entries = new Map<string, Tree>()
    for (const pair of pairs) {
      const keyLine = lineOf(pair.key) ?? line
      const key = keyText(pair.key, anchors)
      if (key === null) {
        problems.push(problem(keyLine, 'has a key that is not text'))
        continue
      }
      const inside = [...path, key]
      const first = entries.get(key)
      if (first !== undefined) {
        const message = `is given twice, first on line ${first.line}; remove one`
        problems.push({ ...problem(keyLine, message), key: keyOf(inside) })
        continue
      }
      entries.set(key, grow(pair.value, keyLine, inside))
    }
    return { kind: 'map', line, entries }
  }

  function lineOf(node: unknown): number | null {
    if (!isScalar(node) && !isMap(node) && !isSeq(node) && !isAlias(node)) return null
    return node.range ? lines.linePos(node.range[0]).line : null
  }

  const tree = grow(contents, 1, [])
  if (stopped) return { tree: null, problems }
  if (tree.kind === 'map') return { tree, problems }
  const isEmpty = tree.kind === 'scalar' && tree.value === null
  if (isEmpty) return { tree: { kind: 'map', line: 1, entries: new Map() }, problems }
  const found = tree.kind === 'list' ? 'a list' : 'text'
  return { tree: null, problems: [problem(lineOf(contents), `must hold keys such as "crm:", but is ${found}`)] }
}

function keyText(key: unknown, anchors: Map<string, unknown>): string | null {
  if (!isScalar(key)) return null
  if (key.anchor !== undefined) anchors.set(key.anchor, key)
  // As written: `on: 1`, `8080: 1` and `null: 1` are keys a person can find again.
  return typeof key.value === 'string' ? key.value : (key.source ?? String(key.value))
}
