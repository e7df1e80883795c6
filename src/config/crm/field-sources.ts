import type { ListName, RecordTable } from '../../domain/field.ts'
import { FURTHER_NAME } from '../../domain/further-names.ts'
import { FIELD_TYPE_OF } from '../../domain/further.ts'
import { trimWhiteSpace } from '../../domain/white-space.ts'
import { openNamedZone } from '../../domain/zone.ts'
import { PROBLEM, type Place } from '../config-problem.ts'
import { Key, isNull, scalarOf, wholeKey, section } from '../key.ts'
import { nearestName } from '../../domain/nearest-name.ts'
import { onlyEntries, writtenText, whereIn } from './condition.ts'
import {
  type ColumnSource,
  type FieldSource,
  type FieldSources,
  type JoinSource,
  type LastingSource,
  type SubtractSource,
  type ValueSource,
  type WallTimeIn,
  PICKS,
  columnSource,
} from './sources.ts'
import { flagIn, isName } from '../values.ts'
import {
  type Constant,
  type SourceType,
  ADDRESS,
  CONSTANTS,
  furtherSourceSchema,
  sourceSchema,
  idSchema,
} from './source-schemas.ts'
import type { MapTree, Tree } from '../tree.ts'

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
  const others = { pattern: FURTHER_NAME.source, schema: furtherSourceSchema(labels) }
  return new Key(read, { ...plain.notes, inside: { kind: 'section', keys: own, others } }, '')
}

const SOURCE =
  'The source of the field; null drops it. A column, and each that is joined or subtracted, may also have `values: { FOUND: VALUE }`, which replaces values, in any case, and each tag; null stands for a blank cell; for `Status`, FOUND may also be only the beginning. `html: true` reads HTML as the text that people see. `prefix: https://…/` precedes a value that is no absolute address, percent-encoded. A path that finds several cells, such as `tickets.*.price`, may have `pick`: `first`, `least`, `greatest`, `sum` or `count`; `least` also finds the lowest amount in a text such as `ab 18,00 €`, `greatest` the highest. `onlyWhere: { COLUMN: [VALUE] }` reads the column only in such rows; in others its cell is blank. `whenBlank` of a date may be another column, in its own zone.'

/** Reports fields that nothing declares, unless a known one was most likely meant, and returns the others. */
function withoutUndeclared(
  node: Tree | undefined,
  known: readonly string[],
  list: ListName,
  place: Place,
): Tree | undefined {
  if (node?.kind !== 'map') return node
  const entries = new Map(node.entries)
  for (const [name, said] of node.entries) {
    if (known.includes(name) || !FURTHER_NAME.test(name) || nearestName(name, known) !== null) continue
    place
      .in(name, said)
      .report(`is not a field; declare it in representation.further.${list}, such as { ${name}: text }`)
    entries.delete(name)
  }
  return { ...node, entries }
}

const COLUMN = 'a column, { column: NAME, whenBlank: TEXT } or { value: TEXT }'
const JOIN = '{ join: [COLUMN, COLUMN] }'

function idKey(joins: boolean): Key<FieldSource> {
  return wholeKey(joins ? `a column, or ${JOIN}` : 'a column', idSchema(joins), (node, place) => {
    if (node.kind !== 'map') return columnOf(node, [], false)
    if (!joins) return null
    const isPlain = onlyEntries(node, ['column', 'join', 'values']) !== null
    return (
      refuseBlankFound(node, place) ?? (isPlain ? (joinOf(node, [], false) ?? columnOf(node, ['values'], false)) : null)
    )
  })
}

function fieldKey(name: string, type: SourceType, labels: boolean): Key<FieldSource> {
  const lasts = name === 'Finish' && type === 'date-time'
  const keys = type === 'date-time' ? ['wallTimeIn'] : []
  const further = ['values', ...(type === 'text' ? ['html', 'prefix'] : keys)]
  const constant = CONSTANTS[type]
  const lasting = lasts ? ', or { lasting: 2h30m } or { lasting: day }, counted from Start, also as whenBlank' : ''
  const allowed: Partial<Record<SourceType, string>> = {
    int32: `${COLUMN}, or { subtract: [COLUMN, COLUMN], whenBlank: TEXT }`,
    'date-time': `${COLUMN}, ${JOIN}, a column with wallTimeIn: a zone such as Europe/London or UTC+2, or { column: NAME }${lasting}`,
  }
  return wholeKey(
    allowed[type] ?? `${COLUMN}, or ${JOIN}`,
    sourceSchema({ type, labels, lasts }),
    (node, place) =>
      (lasts ? refuseLasting(node, place) : null) ??
      refuseBlankFound(node, place) ??
      (constant === undefined ? null : refuseWord(node, place, constant, lasts)) ??
      (type === 'text' ? refusePrefix(node, place) : null) ??
      valueOf(node) ??
      (lasts ? lastingOf(node) : null) ??
      (type === 'int32' ? subtractOf(node) : joinOf(node, keys, lasts)) ??
      columnOf(node, labels ? ['label', ...further] : further, lasts),
  )
}

/** Refuses a constant that is not a valid value of the field: every row with it would be withheld. */
function refuseWord(node: Tree, place: Place, { allowed, pattern }: Constant, lasts: boolean): typeof PROBLEM | null {
  if (node.kind !== 'map') return null
  for (const key of ['whenBlank', 'value']) {
    const said = node.entries.get(key)
    const written = writtenText(said) ?? ''
    if (said === undefined || written.trim() === '?' || pattern.test(written)) continue
    return place.in(key, said).refuse(said, `must be ${allowed}${lasts ? ', or { lasting: 2h30m }' : ''}`)
  }
  const values = node.entries.get('values')
  // Of joined columns, a value is only a part of the constant.
  for (const [found, said] of values?.kind === 'map' && !node.entries.has('join') ? values.entries : []) {
    const written = String(scalarOf(said)?.value ?? '')
    if (written.trim() === '?' || pattern.test(written)) continue
    return place.in('values', values).in(found, said).refuse(said, `must be ${allowed}, or null for a blank cell`)
  }
  return null
}

function refusePrefix(node: Tree, place: Place): typeof PROBLEM | null {
  const said = node.kind === 'map' ? node.entries.get('prefix') : undefined
  if (said === undefined || isNull(said) || ADDRESS.test(writtenText(said) ?? '')) return null
  return place.in('prefix', said).refuse(said, 'must be the beginning of an http or https URL')
}

/** Refuses a value for blank cells: in some files they are empty texts, in others there is none. */
function refuseBlankFound(node: Tree, place: Place): typeof PROBLEM | null {
  const values = node.kind === 'map' ? node.entries.get('values') : undefined
  if (values?.kind !== 'map' || ![...values.entries.keys()].some((found) => trimWhiteSpace(found) === '')) return null
  return place.in('values', values).report('replaces blank cells; write whenBlank beside it for these')
}

/** Refuses an invalid duration. An open question is reported elsewhere. */
function refuseLasting(node: Tree, place: Place): typeof PROBLEM | null {
  if (node.kind !== 'map') return null
  const said = node.entries.get('lasting')
  const blank = node.entries.get('whenBlank')
  if (said === undefined) return blank === undefined ? null : refuseLasting(blank, place.in('whenBlank', blank))
  if (writtenText(said) === '?' || lastingOf(node) !== null) return null
  return place.in('lasting', said).refuse(said, 'must be a duration such as 2h30m, 90m or 1h, or day')
}

/** Parses a column. @param further additional keys allowed @param lasts whether `whenBlank` may be a duration */
function columnOf(node: Tree, further: readonly string[], lasts: boolean): ColumnSource | null {
  const plain = answerIn(node)
  if (plain !== null) return columnSource(plain)
  const entries = onlyEntries(node, ['column', 'whenBlank', 'pick', 'onlyWhere', ...further])
  const column = nameIn(entries?.get('column'))
  if (entries === null || column === null) return null
  const label = switchIn(entries.get('label'))
  const rest = besidesOf(entries, lasts, further.includes('wallTimeIn'))
  const texts = textRulesOf(entries)
  const picked = pickedOf(entries)
  if (label === null || rest === null || texts === null || picked === null) return null
  return { kind: 'column', column, label, ...rest, ...texts, ...picked }
}

/** Parses a switch, which is off by default; `null` if it is invalid. */
function switchIn(node: Tree | undefined): boolean | null {
  if (node === undefined || isNull(node)) return false
  const scalar = scalarOf(node)
  return scalar === null ? null : flagIn(scalar)
}

/** Parses which cells of a column are read; `null` if that is invalid. */
function pickedOf(entries: MapTree['entries']): Pick<ColumnSource, 'pick' | 'onlyWhere'> | null {
  const [said, where] = [entries.get('pick'), entries.get('onlyWhere')]
  const pick = PICKS.find((one) => one === writtenText(said))
  const onlyWhere = where === undefined ? undefined : whereIn(where)
  if ((said !== undefined && pick === undefined) || onlyWhere === null) return null
  return { ...(pick === undefined ? {} : { pick }), ...(onlyWhere === undefined ? {} : { onlyWhere }) }
}

/** Parses how to convert the texts of a column; `null` if it is invalid. */
function textRulesOf(entries: MapTree['entries']): Pick<ColumnSource, 'values' | 'html' | 'prefix'> | null {
  const [said, html, before] = [entries.get('values'), switchIn(entries.get('html')), entries.get('prefix')]
  const prefix = writtenText(before)?.trim()
  if (html === null) return null
  const isHtml = entries.has('html') ? { html } : {}
  const rules = prefix === undefined ? isHtml : { ...isHtml, prefix }
  if (said === undefined || isNull(said)) return rules
  const pairs = said.kind === 'map' ? [...said.entries] : []
  const values = pairs.map(([from, to]) => {
    const value = isNull(to) ? null : scalarOf(to)?.value
    if (value === undefined) return null
    return [trimWhiteSpace(from).toLowerCase(), value === null ? null : String(value)] as const
  })
  return values.length > 0 && values.every((pair) => pair !== null) ? { ...rules, values } : null
}

function joinOf(node: Tree, further: readonly string[], lasts: boolean): JoinSource | null {
  const entries = onlyEntries(node, ['join', 'whenBlank', 'values', ...further])
  const columns = columnsIn(entries?.get('join'))
  if (entries === null || columns === null) return null
  const rest = besidesOf(entries, lasts, further.includes('wallTimeIn'))
  const texts = textRulesOf(entries)
  return rest === null || texts === null ? null : { kind: 'join', columns, ...rest, ...texts }
}

/** Parses the keys allowed next to columns; `null` if they are invalid. */
function besidesOf(
  entries: MapTree['entries'],
  lasts: boolean,
  isDate: boolean,
): Pick<ColumnSource, 'whenBlank' | 'wallTimeIn'> | null {
  const [blank, zone] = [entries.get('whenBlank'), entries.get('wallTimeIn')]
  const second = isDate && blank?.kind === 'map' ? columnOf(blank, ['wallTimeIn'], lasts) : null
  const whenBlank = second ?? writtenText(blank) ?? (lasts ? lastingOf(blank) : null)
  if (whenBlank === null && blank !== undefined && !isNull(blank)) return null
  if (zone === undefined) return { whenBlank }
  const wallTimeIn = wallTimeOf(zone)
  return wallTimeIn === null ? null : { whenBlank, wallTimeIn }
}

function valueOf(node: Tree): ValueSource | null {
  const value = writtenText(onlyEntries(node, ['value'])?.get('value'))
  return value === null ? null : { kind: 'value', value }
}

function subtractOf(node: Tree): SubtractSource | null {
  const entries = onlyEntries(node, ['subtract', 'whenBlank', 'values'])
  const columns = columnsIn(entries?.get('subtract'))
  if (entries === null || columns === null) return null
  const [rest, texts] = [besidesOf(entries, false, false), textRulesOf(entries)]
  if (rest === null || texts === null) return null
  const blank = typeof rest.whenBlank === 'string' ? { whenBlank: rest.whenBlank } : {}
  return { kind: 'subtract', columns, ...blank, ...texts }
}

/** Parses `day` or a duration such as `2h30m`, `90m` or `1h 15m`; `null` for anything else, including 0. */
function lastingOf(node: Tree | undefined): LastingSource | null {
  const written = writtenText(onlyEntries(node, ['lasting'])?.get('lasting'))?.trim() ?? ''
  if (written === 'day') return { kind: 'lasting', lastingMs: 'day' }
  const match = /^(?:(\d{1,4})h)? ?(?:(\d{1,5})m)? ?(?:(\d{1,6})s)?$/.exec(written)
  const [hours = 0, minutes = 0, seconds = 0] =
    match === null ? [] : match.slice(1).map((digits) => Number(digits ?? 0))
  const lastingMs = (hours * 3600 + minutes * 60 + seconds) * 1000
  return lastingMs === 0 ? null : { kind: 'lasting', lastingMs }
}

function columnsIn(node: Tree | undefined): readonly string[] | null {
  const columns = node?.kind === 'list' ? node.items.map(answerIn) : []
  return columns.length >= 2 && columns.every((column) => column !== null) ? columns : null
}

function wallTimeOf(node: Tree): WallTimeIn | null {
  const name = writtenText(node)
  const zone = name === null ? null : openNamedZone(name.trim())
  if (zone !== null) return { kind: 'zone', zone }
  const column = nameIn(onlyEntries(node, ['column'])?.get('column'))
  return column === null ? null : { kind: 'column', column }
}

function nameIn(node: Tree | undefined): string | null {
  const name = writtenText(node)
  return name !== null && isName(name) ? name : null
}

/**
 * A name other than `?`, with which `init` marks open questions. A column named `?` must be written `{ column: '?' }`.
 */
function answerIn(node: Tree | undefined): string | null {
  const name = nameIn(node)
  return name === '?' ? null : name
}
