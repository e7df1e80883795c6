import { EVENTS } from '../domain/event.ts'
import { type ListName, type RecordTable, LINKS } from '../domain/field.ts'
import { type FurtherField, type FurtherFields, type FurtherType, FURTHER_TYPES } from '../domain/further.ts'
import { VENUES } from '../domain/venue.ts'
import { BAD, type Place } from './config-problem.ts'
import { type Key, type ValueSchema, scalarOf, wholeKey } from './key.ts'
import { nearestName } from './nearest-name.ts'
import type { MapTree, Tree } from './tree.ts'

/** What a further field may be called (contract §7). */
export const FURTHER_NAME = /^[A-Z][A-Za-z0-9]{0,63}$/

const TABLES: Readonly<Record<ListName, RecordTable>> = { events: EVENTS, venues: VENUES }

/** Members that records and lists have besides their fields. */
const RESERVED = [LINKS.name, 'Rel', 'Href', 'LinkName', 'Events', 'Venues']

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

function declaredBy(node: MapTree, list: ListName, place: Place): readonly FurtherField[] | typeof BAD {
  const taken = new Map(
    [...TABLES[list].fields.map(({ name }) => name), ...RESERVED].map((name) => [lower(name), name]),
  )
  const declared: FurtherField[] = []
  for (const [name, said] of node.entries) {
    const inside = place.in(name, said)
    const other = taken.get(lower(name))
    const type = typeOf(said)
    if (!FURTHER_NAME.test(name)) {
      inside.say('is not a name for a further field: it must be a capital letter and up to 63 letters and digits')
    } else if (other !== undefined) {
      inside.say(`is a name that is taken: ${TABLES[list].kind}s have ${other}; choose another`)
    } else if (type === null) inside.refuse(said, `must be one of ${FURTHER_TYPES.join(', ')}${hintFor(said)}`)
    else declared.push({ name, type })
    taken.set(lower(name), name)
  }
  return declared.length === node.entries.size ? declared : BAD
}

function lower(name: string): string {
  return name.toLowerCase()
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
