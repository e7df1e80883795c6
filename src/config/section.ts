import { type AnyKey, type Keys, isNull, Key, scalarOf } from './key.ts'
import { nearestName } from '../domain/nearest-name.ts'
import { type Place, PROBLEM } from './config-problem.ts'
import type { Tree } from './tree.ts'

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
      else if (value !== undefined) settings[`${name}${key.unit}`] = value
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

type Notes = AnyKey['notes']

function notesOf(allowed: string, inside: NonNullable<Notes['inside']>): Notes {
  return { allowed, description: '', fallback: null, isNullable: false, inside, schema: null, written: undefined }
}

/** A mapping whose other keys depend on its key `kind`. @param hint what to do if the section is missing */
export function byKind<Value>(known: Readonly<Record<string, Key<Value>>>, hint: string): Key<Value> {
  const names = Object.keys(known)
  const allowed = `a mapping with the key kind (${names.join(', ')}) and those of that kind`
  const one = names.length === 1 ? names.join('') : `one of ${names.join(', ')}`

  function read(node: Tree | undefined, place: Place): Value | typeof PROBLEM {
    if (node === undefined) return place.report(`is missing; ${hint}`)
    if (node.kind !== 'map' && !isNull(node)) return place.refuse(node, `must be ${allowed}`)
    const kind = node.kind === 'map' ? node.entries.get('kind') : undefined
    const inside = place.in('kind', kind)
    if (kind === undefined) return inside.report(`is missing; it must be ${one}`)
    const given = scalarOf(kind)
    const name = given?.reference?.text.trim() ?? given?.value
    const chosen = typeof name === 'string' && Object.hasOwn(known, name) ? known[name] : undefined
    if (chosen !== undefined) return chosen.read(node, place)
    const near = kind.kind === 'scalar' && typeof name === 'string' ? nearestName(name, names) : null
    const hinted = near === null || names.length === 1 ? one : `${one}; did you mean ${near}?`
    return inside.refuse(kind, `must be ${hinted}`)
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
    const near = unknown++ < MOST_HINTS ? (nearestName(name, names) ?? place.inFile.elsewhere(name)) : null
    const hint = near === null ? `known here: ${names.join(', ')}` : `did you mean ${near}?`
    place.in(name, node).report(`is not a known key; ${hint}`)
  }
  if (unknown > 0) place.inFile.doubtful.add(place.key)
}

/** The path of the key with this name in any section; `null` if there is none. */
export function keyNamed(wanted: string, keys: Keys): string | null {
  for (const [around, { notes }] of Object.entries(keys)) {
    if (notes.inside?.kind !== 'section') continue
    for (const name of Object.keys(notes.inside.keys)) {
      if (name.toLowerCase() === wanted.toLowerCase()) return `${around}.${name}`
    }
  }
  return null
}
