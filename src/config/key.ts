import { type Place, PROBLEM } from './config-problem.ts'
import type { ReferenceTree, Tree } from './tree.ts'
import { nearestName } from '../domain/nearest-name.ts'

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

  says(description: string): Key<Value, Unit> {
    return new Key(this.read, { ...this.notes, description }, this.unit)
  }

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
  return new Key(readNode, { ...notesOf(allowed, null), schema }, '')
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

type ValueOf<Given extends AnyKey> = Given extends Key<infer Value, string> ? Value : never

type NameOf<Given extends AnyKey, Name extends string> =
  Given extends Key<unknown, infer Unit> ? `${Name}${Unit}` : never

/** The settings that the keys of a section define. Keys with `override` are optional properties. */
export type SettingsOf<Given extends Keys> = Flat<
  {
    readonly [
      Name in keyof Given & string as undefined extends ValueOf<Given[Name]> ? never : NameOf<Given[Name], Name>
    ]: ValueOf<Given[Name]>
  } & {
    readonly [
      Name in keyof Given & string as undefined extends ValueOf<Given[Name]> ? NameOf<Given[Name], Name> : never
    ]?: Exclude<ValueOf<Given[Name]>, undefined>
  }
>

type Flat<Given> = { [Name in keyof Given]: Given[Name] }

const NO_ENTRIES: ReadonlyMap<string, Tree> = new Map()

/** A mapping of exactly these keys. If all keys are optional, the section may be absent or empty. */
export function section<const Given extends Keys>(keys: Given): Key<SettingsOf<Given>> {
  const allowed = `a mapping with the keys ${Object.keys(keys).join(', ')}`
  const isRequired = Object.values(keys).some((key) => key.notes.fallback === null)

  function read(node: Tree | undefined, place: Place): SettingsOf<Given> | typeof PROBLEM {
    if (node === undefined && isRequired) return place.report(`is missing; it must be ${allowed}`)
    if (node !== undefined && node.kind !== 'map' && !isNull(node)) return place.refuse(node, `must be ${allowed}`)
    const entries = node?.kind === 'map' ? node.entries : NO_ENTRIES
    const settings: Record<string, unknown> = {}
    let isWhole = true
    for (const [name, key] of Object.entries(keys)) {
      const inside = place.in(name, entries.get(name))
      let value = key.read(entries.get(name), inside)
      // An invalid optional key counts as absent, so the rules between keys can still be checked.
      if (value === PROBLEM && key.notes.fallback !== null) value = key.read(undefined, inside)
      if (value === PROBLEM) isWhole = false
      else {
        place.inFile.values.set(inside.key, { value, line: inside.line })
        if (value !== undefined) settings[`${name}${key.unit}`] = value
      }
    }
    refuseUnknown(entries, keys, place)
    // oxlint-disable-next-line typescript/consistent-type-assertions, typescript/no-unsafe-type-assertion -- each key gave its own
    return isWhole ? (settings as SettingsOf<Given>) : PROBLEM
  }

  const fallback = isRequired ? null : '`{}`'
  return new Key(read, { ...notesOf(allowed, { kind: 'section', keys }), fallback }, '')
}

/** A list of any number of items. */
export function list<Value>(item: Key<Value>): Key<readonly Value[]> {
  const allowed = 'a list'

  function read(node: Tree | undefined, place: Place): readonly Value[] | typeof PROBLEM {
    if (node === undefined || isNull(node)) return []
    if (node.kind !== 'list') return place.refuse(node, `must be ${allowed}`)
    const values: Value[] = []
    for (const [index, child] of node.items.entries()) {
      const inside = place.in(index, child)
      const value = isNull(child) ? inside.refuse(child, `must be ${item.notes.allowed}`) : item.read(child, inside)
      if (value !== PROBLEM) values.push(value)
    }
    return values.length === node.items.length ? values : PROBLEM
  }

  return new Key(read, { ...notesOf(allowed, { kind: 'list', item }), fallback: '`[]`' }, '')
}

function notesOf(allowed: string, inside: Notes['inside']): Notes {
  return { allowed, description: '', fallback: null, isNullable: false, inside, schema: null, written: undefined }
}

/** A mapping whose other keys depend on its key `kind`. @param hint what to do if the section is missing */
export function byKind<Value>(known: Readonly<Record<string, Key<Value>>>, hint: string): Key<Value> {
  const names = Object.keys(known)
  const allowed = `a mapping with the key kind (${names.join(', ')}) and those of that kind`
  const one = `one of ${names.join(', ')}`

  function read(node: Tree | undefined, place: Place): Value | typeof PROBLEM {
    if (node === undefined) return place.report(`is missing; ${hint}`)
    if (node.kind !== 'map' && !isNull(node)) return place.refuse(node, `must be ${allowed}`)
    const kind = node.kind === 'map' ? node.entries.get('kind') : undefined
    const inside = place.in('kind', kind)
    if (kind === undefined) return inside.report(`is missing; it must be ${one}`)
    const scalar = scalarOf(kind)
    const name = scalar?.reference?.text.trim() ?? scalar?.value
    const chosen = typeof name === 'string' && Object.hasOwn(known, name) ? known[name] : undefined
    if (chosen !== undefined) return chosen.read(node, place)
    const near = kind.kind === 'scalar' && typeof name === 'string' ? nearestName(name, names) : null
    return inside.refuse(kind, `must be ${one}${near === null ? '' : `; did you mean ${near}?`}`)
  }

  return new Key(read, notesOf(allowed, { kind: 'kinds', kinds: known }), '')
}

const MOST_HINTS = 100

function refuseUnknown(entries: ReadonlyMap<string, Tree>, keys: Keys, place: Place): void {
  const names = Object.keys(keys)
  let unknown = 0
  for (const [name, node] of entries) {
    if (Object.hasOwn(keys, name)) continue
    // In a file of nothing but unknown keys, only the first ones get suggestions.
    unknown++
    const near = unknown <= MOST_HINTS ? (nearestName(name, names) ?? place.inFile.elsewhere(name)) : null
    const hint = near === null ? `known here: ${names.join(', ')}` : `did you mean ${near}?`
    place.in(name, node).report(`is not a known key; ${hint}`)
  }
  if (unknown > 0) place.inFile.doubtful.add(place.key)
}

/** Returns the path of the first key with this name in a section; `null` if no section has one. */
export function keyNamed(wanted: string, keys: Keys): string | null {
  for (const [around, { notes }] of Object.entries(keys)) {
    if (notes.inside?.kind !== 'section') continue
    for (const name of Object.keys(notes.inside.keys)) {
      if (name.toLowerCase() === wanted.toLowerCase()) return `${around}.${name}`
    }
  }
  return null
}
