import { resolve } from 'node:path'
import { type Reread, holdsPassword } from '../domain/secret.ts'
import { type ReadFile, readText } from '../time/read-text.ts'
import { showName } from './config-problem.ts'
import type { MapTree, Path, ReferenceTree, ReportProblem, Tree } from './tree.ts'

interface ReferenceContext {
  /** The directory of the configuration file. */
  readonly folder: string
  readonly env: Readonly<Record<string, string | undefined>>
  readonly readFile: ReadFile
  /** The time limit for reading all files at a start; later reads have limits of their own. */
  readonly limit: AbortSignal
  readonly report: ReportProblem
}

/** Replaces each `{ env: NAME }` and `{ file: PATH }` in the tree by what it refers to. */
export async function resolveReferences(root: MapTree, around: ReferenceContext): Promise<MapTree> {
  const crm = root.entries.get('crm')
  const kind = crm?.kind === 'map' ? crm.entries.get('kind') : undefined
  const isOfFiles = kind?.kind === 'scalar' && kind.value === 'files'

  function report(path: Path, line: number, at: number, message: string): Tree {
    around.report(at, message, path)
    return { kind: 'reported', line }
  }

  async function resolved(here: Tree, path: Path): Promise<Tree> {
    if (here.kind === 'scalar') {
      if (typeof here.value !== 'string' || !holdsPassword(here.value)) return here
      return report(path, here.line, here.line, `${NOT_HERE}: it is a URL with a password in it`)
    }
    if (here.kind === 'list') {
      const items = here.items.entries()
      return { ...here, items: await Array.fromAsync(items, ([index, item]) => resolved(item, [...path, index])) }
    }
    if (here.kind !== 'map') return here
    return isReference(here) && !namesList(here, path) ? refer(here, path) : resolvedMap(here, path)
  }

  /** Returns true if the key is the file of a list. `{ file: NAME, sheet: NAME }` only looks like a reference there. */
  function namesList({ entries }: MapTree, path: Path): boolean {
    return isOfFiles && entries.has('file') && /^crm\.(?:events|venues)\.from$/.test(path.join('.'))
  }

  async function resolvedMap(here: MapTree, path: Path): Promise<MapTree> {
    const entries = new Map<string, Tree>()
    for (const [key, value] of here.entries) entries.set(key, await resolved(value, [...path, key]))
    return { ...here, entries }
  }

  async function refer({ line, entries }: MapTree, path: Path): Promise<Tree> {
    const env = entries.get('env')
    const file = entries.get('file')
    if (env !== undefined && file !== undefined)
      return report(path, line, line, 'names both an env and a file; keep one')
    const named = env ?? file
    if (named?.kind !== 'scalar' || typeof named.value !== 'string' || named.value === '') {
      const message = env === undefined ? 'must name a file: { file: PATH }' : `must name ${VARIABLE}`
      return report(path, line, named?.line ?? line, message)
    }
    const read = env === undefined ? await fromFile(named.value) : fromEnv(named.value)
    return 'text' in read ? { kind: 'reference', line, ...read } : report(path, line, named.line, read.message)
  }

  function fromEnv(name: string): Referred | { readonly message: string } {
    // An invalid name is not shown: it may be the secret itself.
    if (!/^[A-Za-z_][A-Za-z0-9_]{0,127}$/.test(name)) return { message: `must name ${VARIABLE}` }
    const shown = `the environment variable ${name}`
    const text = Object.hasOwn(around.env, name) ? around.env[name] : undefined
    if (text === undefined) return { message: `needs ${shown}, which is not set` }
    return text === '' ? { message: `needs ${shown}, which is empty` } : { text, name: shown, reread: null }
  }

  async function fromFile(name: string): Promise<Referred | { readonly message: string }> {
    const shown = `the file ${showName(name)}`
    const readOnce = async (limit?: AbortSignal): Promise<Reread> => {
      const read = await readText(resolve(around.folder, name), around.readFile, limit)
      if (!read.ok) return { ok: false, message: `needs ${shown}, which ${read.message}` }
      const text = read.text.replace(/\r?\n$/, '')
      return text === '' ? { ok: false, message: `needs ${shown}, which is empty` } : { ok: true, text }
    }
    const read = await readOnce(around.limit)
    return read.ok ? { text: read.text, name: shown, reread: () => readOnce() } : read
  }

  return resolvedMap(root, [])
}

type Referred = Pick<ReferenceTree, 'text' | 'name' | 'reread'>

const NOT_HERE = 'must not be written in the file; give { env: NAME } or { file: PATH }'
const VARIABLE = 'an environment variable, of letters, digits and _: { env: NAME }'

export function isReference({ entries }: MapTree): boolean {
  if (entries.size === 0) return false
  for (const [key, value] of entries) if ((key !== 'env' && key !== 'file') || value.kind !== 'scalar') return false
  return true
}
