import { z } from 'zod'
import { nearestName } from './nearest-name.ts'
import { kindsOf, peelSchema, schemaAt, shapeOf, valueAt } from './peel-schema.ts'
import type { Problem } from './problem.ts'
import { keyOf } from './problem.ts'
import { Referenced, Reported } from './reference.ts'
import { showText } from './show-text.ts'
import type { Tree } from './tree.ts'
import { lineAt } from './tree.ts'

type Path = readonly PropertyKey[]

const MOST_HINTS = 100

/** One thing the schema refuses, before it is put in words for people. */
export interface Fault {
  readonly path: Path
  readonly found: string | null
  readonly message: string
  /** Another key that has a part in it, for a line where this one has none. */
  readonly because?: Path
}

/** What the schema's issues mean, each with its place; nothing for a value whose problem was told before. */
export function faultsOf(issues: readonly z.core.$ZodIssue[], schema: z.core.$ZodType, raw: unknown): Fault[] {
  const misplaced = new Set<unknown>()
  return issues.flatMap((issue) => {
    const { value, path } = reach(issue.path, raw)
    if (value instanceof Reported) return []
    if (value instanceof Referenced && issue.code !== 'custom') {
      // To the schema a reference looks like a mapping with odd keys of its own: one fault, whatever it says of those.
      if (misplaced.has(value)) return []
      misplaced.add(value)
      return [{ path, found: showValue(value), message: `must be ${allowedAt(path, schema, raw)}` }]
    }
    if (issue.code === 'unrecognized_keys') return unknownKeys(path, issue.keys, schema, raw)
    if (value === undefined) return [missing(path, schema, raw)]
    if (issue.code === 'custom') {
      const hidden = issue.params?.['hidden'] === true
      return [{ path, found: hidden ? null : showValue(value), message: issue.message }]
    }
    return [{ path, found: showValue(value), message: `must be ${allowedAt(path, schema, raw)}` }]
  })
}

/** The value at the path, or the reference on the way there: nothing the file says lies inside of one. */
function reach(path: Path, raw: unknown): { readonly value: unknown; readonly path: Path } {
  let value = raw
  for (const [depth, step] of path.entries()) {
    if (value instanceof Referenced || value instanceof Reported) return { value, path: path.slice(0, depth) }
    value = valueAt(value, step)
  }
  return { value, path }
}

export function problemOf(fault: Fault, tree: Tree, file: string): Problem {
  const { path, found, message } = fault
  return { file, key: keyOf(path), line: lineAt(tree, path) ?? lineAt(tree, fault.because ?? path), found, message }
}

function missing(path: Path, schema: z.core.$ZodType, raw: unknown): Fault {
  if (path.length === 1 && path[0] === 'crm') {
    const message = 'is missing; add where events and venues come from, such as crm: { kind: files, directory: ./crm }'
    return { path, found: null, message }
  }
  return { path, found: null, message: `is missing; it must be ${allowedAt(path, schema, raw)}` }
}

function allowedAt(path: Path, schema: z.core.$ZodType, raw: unknown): string {
  const around = schemaAt(schema, path.slice(0, -1), raw)
  const union = around === null ? null : peelSchema(around).core
  if (union instanceof z.ZodDiscriminatedUnion && path.at(-1) === 'kind') return kinds(union, path, raw)
  const here = schemaAt(schema, path, raw)
  if (here === null) return 'something else'
  const { core, allowed } = peelSchema(here)
  if (allowed !== null) return allowed
  if (core instanceof z.ZodArray) return 'a list'
  if (core instanceof z.ZodDiscriminatedUnion)
    return `a mapping with the key kind (${kindsOf(core).join(', ')}) and those of that kind`
  return `a mapping with the keys ${Object.keys(shapeOf(core, null) ?? {}).join(', ')}`
}

function kinds(union: z.ZodDiscriminatedUnion, path: Path, raw: unknown): string {
  const known = kindsOf(union)
  const list = known.length === 1 ? known.join('') : `one of ${known.join(', ')}`
  const given = path.reduce(valueAt, raw)
  const near = typeof given === 'string' ? nearestName(given, known) : null
  return near === null || known.length === 1 ? list : `${list}; did you mean ${near}?`
}

function unknownKeys(path: Path, keys: readonly string[], schema: z.core.$ZodType, raw: unknown): Fault[] {
  const at = schemaAt(schema, path, raw)
  const names = Object.keys((at === null ? null : shapeOf(at, path.reduce(valueAt, raw))) ?? {})
  return keys.map((key, index) => {
    // A file of nothing but unknown keys is not searched for a near one each.
    const near = index < MOST_HINTS ? (nearestName(key, names) ?? elsewhere(key, schema)) : null
    const hint = near === null ? `known here: ${names.join(', ')}` : `did you mean ${near}?`
    return { path: [...path, key], found: null, message: `is not a known key; ${hint}` }
  })
}

/** Where a key of this very name does exist: `bound` at the top is `freshness.bound`. */
function elsewhere(key: string, schema: z.core.$ZodType): string | null {
  for (const [section, inner] of Object.entries(shapeOf(schema, null) ?? {})) {
    for (const name of Object.keys(shapeOf(inner, null) ?? {})) {
      if (name.toLowerCase() === key.toLowerCase()) return `${section}.${name}`
    }
  }
  return null
}

function showValue(value: unknown): string {
  if (value instanceof Referenced) return `what ${value.name} holds (not shown)`
  if (value === null) return 'empty'
  if (Array.isArray(value)) return 'a list'
  if (typeof value === 'string') return showText(value)
  return typeof value === 'number' || typeof value === 'boolean' ? String(value) : 'a mapping'
}
