/** A value of the file with the line it stands on; a mapping's value has its key's line. */
export type Tree = ScalarTree | ListTree | MapTree

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
  /** A Map, so that `__proto__` and `constructor` are keys like others. */
  readonly entries: ReadonlyMap<string, Tree>
}

/** The line of the value at the path, or of the nearest thing around it that exists; null for an empty file. */
export function lineAt(tree: Tree, path: readonly PropertyKey[]): number | null {
  let here: Tree = tree
  let line: number | null = null
  for (const step of path) {
    const next: Tree | undefined = child(here, step)
    if (next === undefined) break
    here = next
    line = here.line
  }
  return line
}

function child(tree: Tree, step: PropertyKey): Tree | undefined {
  if (tree.kind === 'map') return typeof step === 'string' ? tree.entries.get(step) : undefined
  if (tree.kind === 'list') return typeof step === 'number' ? tree.items[step] : undefined
  return undefined
}
