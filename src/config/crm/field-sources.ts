import type { ListName, RecordTable } from '../../domain/field.ts'
import { FURTHER_NAME } from '../../domain/further-names.ts'
import { FIELD_TYPE_OF } from '../../domain/further.ts'
import { PROBLEM, type Place, showName } from '../config-problem.ts'
import { Key, wholeKey, section } from '../key.ts'
import { nearestName } from '../../domain/nearest-name.ts'
import { type Forms, type SourceType, formsOf, ID_FORMS, PLAIN_COLUMN, plainColumn } from './source-keys.ts'
import { type FieldSource, type FieldSources, columnSource } from './sources.ts'
import type { Tree } from '../tree.ts'

export interface FieldOptions {
  /** Whether the CRM has labels for its codes. */
  readonly labels: boolean
  /** Whether an id may be joined from several columns. */
  readonly joinsId?: boolean
  /** Whether a list that maps no field takes columns of the names of its further fields. */
  readonly hasStockFurther?: boolean
  /** Whether the connector itself may map further fields that the configuration does not. */
  readonly mayLackFurther?: boolean
}

/** The keys for the sources of a list's fields. */
export function fieldSources(
  { list, fields }: RecordTable,
  { labels, joinsId = false, hasStockFurther = false, mayLackFurther = false }: FieldOptions,
): Key<FieldSources> {
  const keys = [...fields, { name: 'Links', type: 'links' } as const].map(({ name, type }) => {
    const key = name === 'Id' ? idKey(joinsId) : fieldKey(name, type, labels).orNull()
    return [name, key.override('the stock column').says(SOURCE)] as const
  })
  const own = Object.fromEntries(keys)

  function read(node: Tree | undefined, place: Place): FieldSources | typeof PROBLEM {
    const further = place.inFile.further[list]
    const declared = further.map(({ name, type }) => {
      const lasting = fieldKey(name, FIELD_TYPE_OF[type], labels).orNull()
      return [name, lasting.override('none')] as const
    })
    const all = { ...Object.fromEntries(declared), ...own }
    const sources = section(all).read(withoutUndeclared(node, Object.keys(all), list, place), place)
    if (sources === PROBLEM) return PROBLEM
    const isStock = hasStockFurther && Object.values(sources).every((source) => source === null)
    for (const { name } of isStock || mayLackFurther ? [] : further) {
      const isSaid = node?.kind === 'map' && node.entries.has(name)
      if (!isSaid && !Object.hasOwn(own, name)) {
        place
          .in(name, undefined)
          .report(`is missing; representation.further.${list} declares it: name its column, or null for none`)
      }
    }
    return sources
  }

  const plain = section(own)
  // An editor does not know the type that the file declares.
  const schemas = FURTHER_TYPES.map((type) => fieldKey('', type, labels).notes.schema)
  const others = { pattern: FURTHER_NAME.source, schema: { anyOf: [...schemas, { type: 'null' }] } }
  return new Key(read, { ...plain.notes, inside: { kind: 'section', keys: own, others } }, '')
}

const FURTHER_TYPES: readonly SourceType[] = ['text', 'int32', 'decimal', 'date-time', 'flag', 'tags']

const SOURCE =
  'The source of the field; null drops it. A column, and each that is joined or subtracted, may also have `values: { FOUND: VALUE }`, which replaces values, in any case, and each tag; null stands for a blank cell; for `Status`, FOUND may also be only the beginning. `html: true` reads HTML as the text that people see. `prefix: https://…/` precedes a value that is no absolute address, percent-encoded. A path that finds several cells, such as `tickets.*.price`, may have `pick`: `first`, `least`, `greatest`, `sum` or `count`; `least` also finds the lowest amount in a text such as `ab 18,00 €`, `greatest` the highest. `onlyWhere: { COLUMN: [VALUE] }` reads the column, or the constant of `whenBlank` or `value`, only in such rows; in others the field is blank. `whenBlank` of a date may be another column, in its own zone.'

/** Reports fields that nothing declares, unless a known one was most likely meant, and returns the others. */
function withoutUndeclared(
  node: Tree | undefined,
  known: readonly string[],
  list: ListName,
  place: Place,
): Tree | undefined {
  if (node?.kind !== 'map') return node
  const entries = new Map(node.entries)
  for (const [name, inner] of node.entries) {
    if (known.includes(name) || !FURTHER_NAME.test(name) || nearestName(name, known) !== null) continue
    place
      .in(name, inner)
      .report(`is not a field; declare it in representation.further.${list}, such as { ${name}: text }`)
    entries.delete(name)
  }
  return { ...node, entries }
}

const COLUMN = 'a column, { column: NAME, whenBlank: TEXT } or { value: TEXT }'
const JOIN = '{ join: [COLUMN, COLUMN] }'

function idKey(joins: boolean): Key<FieldSource> {
  return sourceKey(joins ? `a column, or ${JOIN}` : 'a column', joins ? ID_FORMS : {})
}

function fieldKey(name: string, type: SourceType, labels: boolean): Key<FieldSource> {
  const lasts = name === 'Finish' && type === 'date-time'
  const lasting = lasts ? ', or { lasting: 2h30m } or { lasting: day }, counted from Start, also as whenBlank' : ''
  const allowed: Partial<Record<SourceType, string>> = {
    int32: `${COLUMN}, or { subtract: [COLUMN, COLUMN], whenBlank: TEXT }`,
    'date-time': `${COLUMN}, ${JOIN}, a column with wallTimeIn: a zone such as Europe/London or UTC+2, or { column: NAME }${lasting}`,
  }
  return sourceKey(allowed[type] ?? `${COLUMN}, or ${JOIN}`, formsOf({ type, labels, lasts }))
}

/** A column's name, or one of the forms: the one whose key the mapping has, so that its mistakes get their own sentences. */
function sourceKey(allowed: string, forms: Forms): Key<FieldSource> {
  const names = Object.keys(forms)
  const schemas = Object.values(forms).map(({ schema }) => schema)
  const schema = schemas.length === 0 ? PLAIN_COLUMN : { anyOf: [PLAIN_COLUMN, ...schemas] }
  return wholeKey<FieldSource>(allowed, schema, (node, place) => {
    if (node.kind !== 'map') {
      const column = plainColumn(node)
      return column === null ? null : columnSource(column)
    }
    const present = names.filter((name) => node.entries.has(name))
    const [form] = present
    if (form === undefined) return refuseUnknownForm(node.entries.keys(), names, place)
    if (present.length > 1) return place.refuse(node, `must be only one of ${present.join(' and ')}`)
    return forms[form]?.key.read(node, place) ?? null
  })
}

/** Names the form that was most likely meant; `null` if there is none. */
function refuseUnknownForm(keys: Iterable<string>, forms: readonly string[], place: Place): typeof PROBLEM | null {
  for (const key of keys) {
    const near = nearestName(key, forms)
    if (near !== null) return place.report(`has the key ${showName(key)}, which is not known; did you mean ${near}?`)
  }
  return null
}
