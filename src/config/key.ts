import { type Place, PROBLEM } from './config-problem.ts'
import type { ReferenceTree, Tree } from './tree.ts'

/** Why a value is invalid: the rest of a sentence, `must be at least 10ms`. */
export class ValueProblem {
  readonly message: string
  /** Whether the value is secret and must not be shown. */
  readonly isHidden: boolean

  constructor(message: string, isHidden = false) {
    this.message = message
    this.isHidden = isHidden
  }
}

/** A JSON Schema of the value, for editors. It may accept invalid values, but refuses no valid one. */
export type ValueSchema = Readonly<Record<string, unknown>>

/** `{ env: NAME }` or `{ file: PATH }`; docs/marquee.schema.json has its definition. */
export const REFERENCE: ValueSchema = { $ref: '#/definitions/reference' }

export function orReference(schema: ValueSchema): ValueSchema {
  return { anyOf: [schema, REFERENCE] }
}

/** What the configuration page and the editors' schema say about a key. */
interface Notes {
  /** The rest of the sentence `must be …`. */
  readonly allowed: string
  readonly description: string
  /** The default, as the documentation puts it; `null` if the key is required. */
  readonly fallback: string | null
  readonly isNullable: boolean
  readonly inside: Inside | null
  /** The schema of the value; null for a section, whose schema is made from its keys'. */
  readonly schema: ValueSchema | null
  /** The default as it would be written; undefined if it depends on something. */
  readonly written: Scalar['value'] | null | undefined
}

/** Keys of a section that the file itself names, such as further fields. */
interface OtherKeys {
  /** A regular expression for their names. */
  readonly pattern: string
  readonly schema: ValueSchema
}

type Inside =
  | { readonly kind: 'section'; readonly keys: Keys; readonly others?: OtherKeys }
  | { readonly kind: 'list'; readonly item: AnyKey }
  | { readonly kind: 'kinds'; readonly kinds: Keys }

export type AnyKey = Key<unknown, string>

export type Keys = Readonly<Record<string, AnyKey>>

type Read<Value> = (node: Tree | undefined, place: Place) => Value | typeof PROBLEM

/**
 * One key: it defines its setting's type, parsing, default and documentation in one place. `unit` is a suffix of the
 * setting's name: `maxAge: 30s` becomes `maxAgeMs`.
 */
export class Key<out Value, out Unit extends string = ''> {
  /** Parses the value, or undefined if the key is absent. Reports problems. */
  readonly read: Read<Value>
  readonly notes: Notes
  readonly unit: Unit

  constructor(read: Read<Value>, notes: Notes, unit: Unit) {
    this.read = read
    this.notes = notes
    this.unit = unit
  }

  /** Sets the description for the documentation. */
  says(description: string): Key<Value, Unit> {
    return new Key(this.read, { ...this.notes, description }, this.unit)
  }

  /** Sets the unit, a suffix of the setting's name. */
  in<Given extends string>(unit: Given): Key<Value, Given> {
    return new Key(this.read, this.notes, unit)
  }

  /** Sets the default, as it would be written in the file. */
  default(written: string | number | boolean | null): Key<Value, Unit> {
    const tree: Tree = { kind: 'scalar', line: 0, value: written }
    const fallback = `\`${String(written)}\``
    return new Key((node, place) => this.read(node ?? tree, place), { ...this.notes, fallback, written }, this.unit)
  }

  /** Makes the key optional: if absent, the setting is null. `fallback` describes this in the documentation. */
  optional(fallback = 'none'): Key<Value | null, Unit> {
    const read: Read<Value | null> = (node, place) => (node === undefined ? null : this.read(node, place))
    return new Key(read, { ...this.notes, fallback }, this.unit)
  }

  /** Makes the key optional: if absent, the setting is absent too, and the connector's own value applies. */
  override(fallback: string): Key<Value | undefined, Unit> {
    const read: Read<Value | undefined> = (node, place) => (node === undefined ? undefined : this.read(node, place))
    return new Key(read, { ...this.notes, fallback }, this.unit)
  }

  /** Allows null as a value. */
  orNull(): Key<Value | null, Unit> {
    const read: Read<Value | null> = (node, place) => (isNull(node) ? null : this.read(node, place))
    return new Key(read, { ...this.notes, isNullable: true }, this.unit)
  }

  /** Returns null for an invalid value, so that the keys around it are still read. */
  nullIfInvalid(): Key<Value | null, Unit> {
    const read: Read<Value | null> = (node, place) => {
      const value = this.read(node, place)
      return value === PROBLEM ? null : value
    }
    return new Key(read, this.notes, this.unit)
  }

  /** Converts the value to the setting; PROBLEM if that is impossible for a reason that has been reported. */
  map<Mapped>(mapped: (value: Value, place: Place) => Mapped | typeof PROBLEM): Key<Mapped, Unit> {
    const read: Read<Mapped> = (node, place) => {
      const value = this.read(node, place)
      return value === PROBLEM ? PROBLEM : mapped(value, place)
    }
    return new Key(read, this.notes, this.unit)
  }
}

/**
 * A key with a parser for its whole value. The parser returns null for what is not `allowed`, and PROBLEM if it has
 * reported a problem.
 */
export function wholeKey<Value>(
  allowed: string,
  schema: ValueSchema,
  read: (node: Tree, place: Place) => Value | ValueProblem | typeof PROBLEM | null,
): Key<Value> {
  const readNode: Read<Value> = (node, place) => {
    if (node === undefined) return place.report(`is missing; it must be ${allowed}`)
    if (holdsReported(node)) return PROBLEM
    const value = read(node, place)
    const open = value === null || value instanceof ValueProblem ? openQuestion(node, place) : null
    if (open !== null) return open.report(`is still '?': replace it with an answer`)
    if (value === null) return place.refuse(node, `must be ${allowed}`)
    return value instanceof ValueProblem ? place.refuse(node, value.message, value.isHidden) : value
  }
  const notes = {
    allowed,
    description: '',
    fallback: null,
    isNullable: false,
    inside: null,
    schema,
    written: undefined,
  }
  return new Key(readNode, notes, '')
}

/** Finds a `'?'`, which `init` writes for what it cannot decide; `null` if there is none. */
function openQuestion(node: Tree, place: Place): Place | null {
  if (node.kind === 'scalar') return node.value === '?' ? place : null
  if (node.kind !== 'list' && node.kind !== 'map') return null
  for (const [step, inner] of node.kind === 'list' ? node.items.entries() : node.entries) {
    const open = openQuestion(inner, place.in(step, inner))
    if (open !== null) return open
  }
  return null
}

/** One value, from the file or by `{ env }` or `{ file }`. */
export interface Scalar {
  readonly value: string | number | boolean
  /** The source of the value; `null` if it is written in the file itself. */
  readonly reference: ReferenceTree | null
}

/** A key that takes one value; `schema` is for one that is written in the file itself. */
export function leaf<Value>(
  allowed: string,
  schema: ValueSchema,
  read: (scalar: Scalar, place: Place) => Value | ValueProblem | null,
): Key<Value> {
  return wholeKey(allowed, orReference(schema), (node, place) => {
    const scalar = scalarOf(node)
    return scalar === null ? null : read(scalar, place)
  })
}

export function scalarOf(node: Tree | undefined): Scalar | null {
  if (node?.kind === 'reference') return { value: node.text, reference: node }
  return node?.kind === 'scalar' && node.value !== null ? { value: node.value, reference: null } : null
}

export function isNull(node: Tree | undefined): boolean {
  return node?.kind === 'scalar' && node.value === null
}

function holdsReported(node: Tree): boolean {
  if (node.kind === 'list') return node.items.some(holdsReported)
  if (node.kind === 'map') return node.entries.values().some(holdsReported)
  return node.kind === 'reported'
}
