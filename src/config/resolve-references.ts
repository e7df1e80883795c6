import { dirname, resolve } from 'node:path'
import type { Problem } from './problem.ts'
import { keyOf } from './problem.ts'
import { Referenced, Reported } from './reference.ts'
import type { ReadFile } from './read-text.ts'
import { readText } from './read-text.ts'
import { holdsPassword } from './redact-url.ts'
import type { Reread } from './secret.ts'
import { showName } from './show-text.ts'
import type { MapTree, Tree } from './tree.ts'

export interface Surroundings {
  /** The configuration file as the person named it, for messages, and where it lies. */
  readonly file: string
  readonly path: string
  readonly env: Readonly<Record<string, string | undefined>>
  readonly readFile: ReadFile
}

export interface Resolved {
  /** Plain values for the schema; each `{ env }` or `{ file }` has become a `Referenced`, or `Reported` where it failed. */
  readonly raw: unknown
  readonly problems: readonly Problem[]
}

type Path = readonly (string | number)[]

/** Fetches what `{ env: NAME }` and `{ file: PATH }` stand for, anywhere in the tree. */
export async function resolveReferences(tree: Tree, around: Surroundings): Promise<Resolved> {
  const problems: Problem[] = []

  function report(path: Path, line: number, message: string): Reported {
    problems.push({ file: around.file, key: keyOf(path), line, found: null, message })
    return new Reported()
  }

  async function plain(here: Tree, path: Path): Promise<unknown> {
    if (here.kind === 'scalar') {
      if (typeof here.value !== 'string' || !holdsPassword(here.value)) return here.value
      return report(path, here.line, `${NOT_HERE}: it is a URL with a password in it`)
    }
    if (here.kind === 'list') {
      const items: unknown[] = []
      for (const [index, item] of here.items.entries()) items.push(await plain(item, [...path, index]))
      return items
    }
    if (path.length > 0 && isReference(here)) return refer(here, path)
    // Without a prototype, so that `__proto__` is a key like others and is told as unknown.
    const values: Record<string, unknown> = { __proto__: null }
    for (const [key, value] of here.entries) values[key] = await plain(value, [...path, key])
    return values
  }

  async function refer(here: MapTree, path: Path): Promise<Referenced | Reported> {
    const env = here.entries.get('env')
    const file = here.entries.get('file')
    if (env !== undefined && file !== undefined)
      return report(path, here.line, 'names both an env and a file; keep one')
    const named = env ?? file
    if (named?.kind !== 'scalar' || typeof named.value !== 'string' || named.value === '') {
      const message = env === undefined ? 'must name a file: { file: PATH }' : `must name ${VARIABLE}`
      return report(path, named?.line ?? here.line, message)
    }
    const read = env === undefined ? await fromFile(named.value) : fromEnv(named.value)
    return read instanceof Referenced ? read : report(path, named.line, read.message)
  }

  function fromEnv(name: string): Referenced | { readonly message: string } {
    // Whoever writes the secret itself in place of its name must not read it in a log.
    if (!/^[A-Za-z_][A-Za-z0-9_]{0,127}$/.test(name)) return { message: `must name ${VARIABLE}` }
    const shown = `the environment variable ${name}`
    const text = Object.hasOwn(around.env, name) ? around.env[name] : undefined
    if (text === undefined) return { message: `needs ${shown}, which is not set` }
    if (text === '') return { message: `needs ${shown}, which is empty` }
    return new Referenced(text, shown, null)
  }

  async function fromFile(name: string): Promise<Referenced | { readonly message: string }> {
    const shown = `the file ${showName(name)}`
    const path = resolve(dirname(around.path), name)
    const reread = async (): Promise<Reread> => {
      const read = await readText(path, around.readFile)
      if (!read.ok) return { ok: false, message: `needs ${shown}, which ${read.message}` }
      const text = read.text.replace(/\r?\n$/, '')
      return text === '' ? { ok: false, message: `needs ${shown}, which is empty` } : { ok: true, text }
    }
    const read = await reread()
    return read.ok ? new Referenced(read.text, shown, reread) : read
  }

  return { raw: await plain(tree, []), problems }
}

const NOT_HERE = 'must not be written in the file; give { env: NAME } or { file: PATH }'
const VARIABLE = 'an environment variable, of letters, digits and _: { env: NAME }'

/** A mapping of nothing but `env` or `file` with text: a CRM's own mapping may well name a column `file`, but gives it a list. */
function isReference(map: MapTree): boolean {
  if (map.entries.size === 0) return false
  for (const [key, value] of map.entries) if ((key !== 'env' && key !== 'file') || value.kind !== 'scalar') return false
  return true
}
