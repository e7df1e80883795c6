import { type Place, BAD } from './config-problem.ts'
import type { ReferenceTree, Tree } from './tree.ts'

/** Why a value was refused: the rest of a sentence, such as `must be at least 10ms`. */
export class Wrong {
  readonly message: string
  /** True where the value must not be shown. */
  readonly isHidden: boolean

  constructor(message: string, isHidden = false) {
    this.message = message
    this.isHidden = isHidden
  }
}

/** What the page about the configuration says of a key. */
interface Notes {
  /** Completes `must be …`. */
  readonly allowed: string
  readonly description: string
  /** The default in the words of the page; null where the key must be given. */
  readonly fallback: string | null
  readonly isNullable: boolean
  readonly inside: Inside | null
}

type Inside =
  | { readonly kind: 'section'; readonly keys: Keys }
  | { readonly kind: 'list'; readonly item: AnyKey }
  | { readonly kind: 'kinds'; readonly kinds: Keys }

export type AnyKey = Key<unknown, string>

export type Keys = Readonly<Record<string, AnyKey>>

type Read<Value> = (node: Tree | undefined, place: Place) => Value | typeof BAD

/**
 * One key: said once, it gives the type of its setting, the reading, the default, and its row of the page. `unit` is
 * what the setting's name ends in: `maxAge: 30s` is `maxAgeMs`.
 */
export class Key<out Value, out Unit extends string = ''> {
  /** Reads what stands there, undefined where nothing does. What is wrong goes into the report. */
  readonly read: Read<Value>
  readonly notes: Notes
  readonly unit: Unit

  constructor(read: Read<Value>, notes: Notes, unit: Unit) {
    this.read = read
    this.notes = notes
    this.unit = unit
  }

  /** What it means, for the page. */
  says(description: string): Key<Value, Unit> {
    return new Key(this.read, { ...this.notes, description }, this.unit)
  }

  /** What the setting's name ends in. */
  in<Given extends string>(unit: Given): Key<Value, Given> {
    return new Key(this.read, this.notes, unit)
  }

  /** Absent, it is as if this stood there. */
  default(written: string | number | boolean | null): Key<Value, Unit> {
    const tree: Tree = { kind: 'scalar', line: 0, value: written }
    const fallback = `\`${String(written)}\``
    return new Key((node, place) => this.read(node ?? tree, place), { ...this.notes, fallback }, this.unit)
  }

  /** Absent, it is null; `fallback` says what that comes to. */
  optional(fallback = 'none'): Key<Value | null, Unit> {
    const read: Read<Value | null> = (node, place) => (node === undefined ? null : this.read(node, place))
    return new Key(read, { ...this.notes, fallback }, this.unit)
  }

  /** Absent, it is left out of the settings: what a connector has in stock holds. */
  override(fallback: string): Key<Value | undefined, Unit> {
    const read: Read<Value | undefined> = (node, place) => (node === undefined ? undefined : this.read(node, place))
    return new Key(read, { ...this.notes, fallback }, this.unit)
  }

  /** Null may stand there, and is what the setting is then. */
  orNull(): Key<Value | null, Unit> {
    const read: Read<Value | null> = (node, place) => (isNull(node) ? null : this.read(node, place))
    return new Key(read, { ...this.notes, isNullable: true }, this.unit)
  }

  /** What has a problem is null; what stands around it is still read. */
  nullWhereBad(): Key<Value | null, Unit> {
    const read: Read<Value | null> = (node, place) => {
      const value = this.read(node, place)
      return value === BAD ? null : value
    }
    return new Key(read, this.notes, this.unit)
  }

  /** The setting that is made of the value. */
  map<Mapped>(mapped: (value: Value, place: Place) => Mapped): Key<Mapped, Unit> {
    const read: Read<Mapped> = (node, place) => {
      const value = this.read(node, place)
      return value === BAD ? BAD : mapped(value, place)
    }
    return new Key(read, this.notes, this.unit)
  }
}

/** A key that is read as a whole; `read` gives null for what is not `allowed`, and BAD where it has said what is wrong. */
export function wholeKey<Value>(
  allowed: string,
  read: (node: Tree, place: Place) => Value | Wrong | typeof BAD | null,
): Key<Value> {
  const readNode: Read<Value> = (node, place) => {
    if (node === undefined) return place.say(`is missing; it must be ${allowed}`)
    if (holdsReported(node)) return BAD
    const value = read(node, place)
    const open = value === null || value instanceof Wrong ? openQuestion(node, place) : null
    if (open !== null) return open.say(`is '?', an open question: write the answer in its place`)
    if (value === null) return place.refuse(node, `must be ${allowed}`)
    return value instanceof Wrong ? place.refuse(node, value.message, value.isHidden) : value
  }
  return new Key(readNode, { allowed, description: '', fallback: null, isNullable: false, inside: null }, '')
}

/** Where `'?'` stands, as `init` writes it for what it cannot know; null where all was answered. */
function openQuestion(node: Tree, place: Place): Place | null {
  if (node.kind === 'scalar') return node.value === '?' ? place : null
  if (node.kind !== 'list' && node.kind !== 'map') return null
  for (const [step, inner] of node.kind === 'list' ? node.items.entries() : node.entries) {
    const open = openQuestion(inner, place.in(step, inner))
    if (open !== null) return open
  }
  return null
}

/** One value as it stands in the file, or as `{ env }` or `{ file }` gave it. */
export interface Scalar {
  readonly value: string | number | boolean
  /** Null where the value is written in the file itself. */
  readonly reference: ReferenceTree | null
}

/** A key that takes one value. */
export function leaf<Value>(allowed: string, read: (scalar: Scalar, place: Place) => Value | Wrong | null): Key<Value> {
  return wholeKey(allowed, (node, place) => {
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
