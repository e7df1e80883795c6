import type { ListName } from '../domain/field.ts'
import { FURTHER_NAME, takenName } from '../domain/further-names.ts'
import { type FurtherField, type FurtherFields, type FurtherType, FURTHER_TYPES } from '../domain/further.ts'
import { PROBLEM, type Place } from './config-problem.ts'
import { type Key, type ValueSchema, scalarOf, wholeKey } from './key.ts'
import { nearestName } from '../domain/nearest-name.ts'
import type { MapTree, Tree } from './tree.ts'

const ALLOWED = `a mapping of names to types (${FURTHER_TYPES.join(', ')}), such as { Description: text, Doors: date-time }`

const SCHEMA: ValueSchema = {
  type: 'object',
  additionalProperties: { enum: [...FURTHER_TYPES] },
  propertyNames: { pattern: FURTHER_NAME.source },
}

/** The key `representation.further.<list>`: the further fields of a list, in the order of their declaration. */
export function furtherKey(list: ListName): Key<readonly FurtherField[]> {
  const key = wholeKey(ALLOWED, SCHEMA, (node, place) => (node.kind === 'map' ? declaredBy(node, list, place) : null))
  return key
    .orNull()
    .optional()
    .map((declared) => declared ?? [])
}

function declaredBy(node: MapTree, list: ListName, place: Place): readonly FurtherField[] | typeof PROBLEM {
  const others: string[] = []
  const declared: FurtherField[] = []
  for (const [name, said] of node.entries) {
    const inside = place.in(name, said)
    const other = takenName(list, name) ?? others.find((one) => one.toLowerCase() === name.toLowerCase())
    const type = typeOf(said)
    if (!FURTHER_NAME.test(name)) {
      inside.report('is not a name for a further field: it must be a capital letter and up to 63 letters and digits')
    } else if (other !== undefined) {
      inside.report(`is a name that is taken: ${list} have ${other}; choose another`)
    } else if (type === null) inside.refuse(said, `must be one of ${FURTHER_TYPES.join(', ')}${hintFor(said)}`)
    else declared.push({ name, type })
    others.push(name)
  }
  return declared.length === node.entries.size ? declared : PROBLEM
}

function typeOf(said: Tree): FurtherType | null {
  const word = scalarOf(said)?.value
  return FURTHER_TYPES.find((type) => type === word) ?? null
}

function hintFor(said: Tree): string {
  const word = scalarOf(said)?.value
  const near = typeof word === 'string' && said.kind !== 'reference' ? nearestName(word, FURTHER_TYPES) : null
  return near === null ? '' : `; did you mean ${near}?`
}

/**
 * The further fields that a file declares, whatever is wrong with the declarations: the keys that map fields need them,
 * and a wrong declaration is reported once.
 */
export function declaredIn(tree: MapTree): FurtherFields {
  const representation = tree.entries.get('representation')
  const further = representation?.kind === 'map' ? representation.entries.get('further') : undefined
  const of = (list: ListName): readonly FurtherField[] => {
    const said = further?.kind === 'map' ? further.entries.get(list) : undefined
    if (said?.kind !== 'map') return []
    return Array.from(said.entries, ([name, type]) => ({ name, type: typeOf(type) ?? 'text' }))
  }
  return { events: of('events'), venues: of('venues') }
}
