import type { FieldType, LINKS } from '../../domain/field.ts'
import { trimWhiteSpace } from '../../domain/white-space.ts'
import { openNamedZone } from '../../domain/zone.ts'
import {
  type Key,
  type Keys,
  type ValueSchema,
  isNull,
  leaf,
  orReference,
  scalarOf,
  section,
  wholeKey,
} from '../key.ts'
import type { Tree } from '../tree.ts'
import { flag, isName, NAME, text, textSchema } from '../values.ts'
import { wherever } from './condition.ts'
import {
  type ColumnSource,
  type FieldSource,
  type LastingSource,
  type WallTimeIn,
  PICKS,
  columnSource,
} from './sources.ts'

/** The types of fields, further ones included, as far as their sources differ. */
export type SourceType = FieldType | 'flag' | (typeof LINKS)['type']

/** A mapping that is the source of a field: one of its keys, the name of the form, tells it from the others. */
interface Form<Source> {
  readonly key: Key<Source>
  readonly schema: ValueSchema
}

export type Forms<Source = FieldSource> = Readonly<Record<string, Form<Source>>>

/** `init` marks open questions with `'?'`: a column of that name must be written `{ column: '?' }`. */
export const PLAIN_COLUMN: ValueSchema = orReference(textSchema(/^(?!\?$)[^\u0000]+$/))

/** Parses a column that is written as its name alone; `null` if it is an open question, or no name. */
export function plainColumn(node: Tree): string | null {
  const name = scalarOf(node)?.value
  return typeof name === 'string' && isName(name) && name !== '?' ? name : null
}

const column = text('the name of a column', NAME)

const columns = wholeKey(
  'a list of two columns or more, such as [day, time]',
  { type: 'array', minItems: 2, items: PLAIN_COLUMN },
  (node) => {
    const names = node.kind === 'list' ? node.items.map(plainColumn) : []
    return names.length >= 2 && names.every((name) => name !== null) ? names : null
  },
)

/** The constants that a type of field allows; `crm.texts` has no effect on them. A blank one counts as a blank cell. */
interface Constant {
  readonly allowed: string
  readonly pattern: RegExp
}

const TEXT: Constant = { allowed: 'a text', pattern: /[^]*/ }
const NUMBER: Constant = { allowed: 'a number', pattern: /\d|^\s*$/ }
const MOMENT: Constant = { allowed: 'a date-time such as 2036-07-12T19:30', pattern: /\d{4}.*\d|^\s*$/ }

function constantOf(type: SourceType): Constant {
  if (type === 'date-time') return MOMENT
  return type === 'int32' || type === 'decimal' ? NUMBER : TEXT
}

/** What is read instead of some texts of a cell. */
function values(constant: Constant): Key<NonNullable<ColumnSource['values']>> {
  const scalar = { type: ['string', 'number', 'boolean', 'null'], pattern: constant.pattern.source }
  const schema = {
    type: ['object', 'null'],
    minProperties: 1,
    propertyNames: { pattern: /\S/.source },
    additionalProperties: orReference(scalar),
  }
  return wholeKey('a mapping with at least one value, such as { FOUND: VALUE }', schema, (node, place) => {
    if (node.kind !== 'map' || node.entries.size === 0) return null
    const pairs: (readonly [string, string | null])[] = []
    for (const [found, inner] of node.entries) {
      const from = trimWhiteSpace(found).toLowerCase()
      if (from === '') return place.report('replaces blank cells; write whenBlank beside it for these')
      const value = isNull(inner) ? null : scalarOf(inner)?.value
      const to = value === null || value === undefined ? null : String(value)
      if (to?.trim() === '?' && constant !== TEXT) return null
      if (value === undefined || (to !== null && !constant.pattern.test(to)))
        return place.in(found, inner).refuse(inner, `must be ${constant.allowed}, or null for a blank cell`)
      pairs.push([from, to])
    }
    return pairs
  })
}

const DURATION = textSchema(/^\s*(?:day|(?=.*[1-9])(?:\d{1,4}h)? ?(?:\d{1,5}m)? ?(?:\d{1,6}s)?)\s*$/)

/** `day`, or a duration such as `2h30m`, `90m` or `1h 15m`. */
const lasting = leaf('a duration such as 2h30m, 90m or 1h, or day', DURATION, ({ value }) => {
  const written = String(value).trim()
  if (written === 'day') return written
  const match = /^(?:(\d{1,4})h)? ?(?:(\d{1,5})m)? ?(?:(\d{1,6})s)?$/.exec(written) ?? []
  const [hours = 0, minutes = 0, seconds = 0] = match.slice(1).map((digits) => Number(digits ?? 0))
  const lastingMs = (hours * 3600 + minutes * 60 + seconds) * 1000
  return lastingMs === 0 ? null : lastingMs
})

const lastingForm = formOf({ lasting }, (settings): LastingSource => ({ kind: 'lasting', lastingMs: settings.lasting }))

const ZONE = 'a zone such as Europe/London or UTC+2, or { column: NAME }'

const zoneColumn = section({ column }).map((settings): WallTimeIn => ({ kind: 'column', ...settings }))

const wallTimeIn = wholeKey<WallTimeIn>(
  ZONE,
  { anyOf: [PLAIN_COLUMN, mappingOf({ column: PLAIN_COLUMN }, ['column'])] },
  (node, place) => {
    if (node.kind === 'map') return zoneColumn.read(node, place)
    const zone = openNamedZone(String(scalarOf(node)?.value ?? '').trim())
    return zone === null ? null : { kind: 'zone', zone }
  },
)
  .orNull()
  .override('none')

/** The beginning of addresses. */
const ADDRESS = /^\s*https?:\/\/(?:[^\s/?#]\S*)?\s*$/

const prefix = text('the beginning of an http or https URL', ADDRESS).map((address) => address.trim())

/** What is read instead of a blank cell: a constant; for dates also another column; for Finish also a duration. */
function whenBlank(type: SourceType, lasts: boolean): Key<ColumnSource['whenBlank'] | undefined> {
  const constant = constantOf(type)
  const instead = constantKey(constant, lasts)
  const second = formOf({ column, whenBlank: instead.orNull().override('none'), wallTimeIn }, columnFrom)
  const mappings: Forms<ColumnSource | LastingSource> = {
    ...(lasts ? { lasting: lastingForm } : {}),
    ...(type === 'date-time' ? { column: second } : {}),
  }
  const schemas = Object.values(mappings).map(({ schema }) => schema)
  const schema = schemas.length === 0 ? (instead.notes.schema ?? {}) : { anyOf: [instead.notes.schema, ...schemas] }
  return wholeKey<ColumnSource['whenBlank']>(instead.notes.allowed, schema, (node, place) => {
    const form =
      node.kind === 'map' ? Object.entries(mappings).find(([name]) => node.entries.has(name))?.[1] : undefined
    return (form?.key ?? instead).read(node, place)
  })
    .orNull()
    .override('none')
}

function constantKey({ allowed, pattern }: Constant, lasts: boolean): Key<string> {
  return text(lasts ? `${allowed}, or { lasting: 2h30m }` : allowed, pattern)
}

const pick = leaf(
  `one of ${PICKS.join(', ')}`,
  { enum: [...PICKS] },
  ({ value }) => PICKS.find((one) => one === value) ?? null,
)

interface FormOptions {
  readonly type: SourceType
  /** Whether the CRM has labels for its codes. */
  readonly labels: boolean
  /** Whether the field may be a duration after Start. */
  readonly lasts: boolean
}

/** The forms of a field's source besides a column's name, each by the key that tells it from the others. */
export function formsOf({ type, labels, lasts }: FormOptions): Forms {
  const isDate = type === 'date-time'
  const constant = constantOf(type)
  const blank = whenBlank(type, lasts)
  const replaced = values(constant).orNull().override('none')
  const zone = isDate ? { wallTimeIn } : {}
  const onOff = flag().orNull().override('off')
  const ofColumn = {
    column,
    ...(labels ? { label: onOff } : {}),
    values: replaced,
    ...(type === 'text' ? { html: onOff, prefix: prefix.orNull().override('none') } : {}),
    whenBlank: blank,
    ...zone,
    pick: pick.override('none'),
    onlyWhere: wherever.override('none'),
  }
  const joined = { join: columns, whenBlank: blank, ...zone, values: values(TEXT).orNull().override('none') }
  const difference = {
    subtract: columns,
    whenBlank: constantKey(constant, false).orNull().override('none'),
    values: replaced,
    onlyWhere: wherever.override('none'),
  }
  return {
    column: formOf(ofColumn, columnFrom),
    value: formOf(
      { value: constantKey(constant, lasts), onlyWhere: wherever.override('none') },
      ({ value, ...rest }) => ({
        kind: 'value',
        value,
        ...presentOf(rest),
      }),
    ),
    ...(type === 'int32'
      ? {
          subtract: formOf(difference, ({ subtract, ...rest }) => ({
            kind: 'subtract',
            columns: subtract,
            ...presentOf(rest),
          })),
        }
      : {
          join: formOf(joined, ({ join, whenBlank: instead = null, ...rest }) => ({
            kind: 'join',
            columns: join,
            whenBlank: instead,
            ...presentOf(rest),
          })),
        }),
    ...(lasts ? { lasting: lastingForm } : {}),
  }
}

/** The forms of an id's source besides a column's name. */
export const ID_FORMS: Forms = {
  join: formOf({ join: columns, values: values(TEXT).orNull().override('none') }, ({ join, ...rest }) => ({
    kind: 'join',
    columns: join,
    whenBlank: null,
    ...presentOf(rest),
  })),
  column: formOf({ column, values: values(TEXT).orNull().override('none') }, columnFrom),
}

/** What the keys of a column say, where the type of field has them. */
type ColumnSettings = { readonly column: string } & {
  readonly [Name in Exclude<keyof ColumnSource, 'kind' | 'column'>]?: ColumnSource[Name] | null | undefined
}

function columnFrom({ column: name, whenBlank: instead = null, label, ...rest }: ColumnSettings): ColumnSource {
  return { ...columnSource(name), whenBlank: instead, label: label === true, ...presentOf(rest) }
}

function formOf<const Given extends Keys, Source extends FieldSource>(
  keys: Given,
  sourceFrom: (settings: Parameters<Parameters<ReturnType<typeof section<Given>>['map']>[0]>[0]) => Source,
): Form<Source> {
  const required = Object.entries(keys).flatMap(([name, { notes }]) => (notes.fallback === null ? [name] : []))
  const properties = Object.fromEntries(
    Object.entries(keys).map(([name, { notes }]) => {
      const schema = notes.schema ?? {}
      return [name, notes.isNullable ? { anyOf: [schema, { type: 'null' }] } : schema] as const
    }),
  )
  return { key: section(keys).map((settings) => sourceFrom(settings)), schema: mappingOf(properties, required) }
}

type Present<Settings> = { readonly [Name in keyof Settings]?: NonNullable<Settings[Name]> }

/** What the configuration gives: without null, which stands for an absent key. */
function presentOf<Settings extends object>(settings: Settings): Present<Settings> {
  const entries = Object.entries(settings).filter(([, value]) => value !== undefined && value !== null)
  // oxlint-disable-next-line typescript/consistent-type-assertions, typescript/no-unsafe-type-assertion -- of these settings
  return Object.fromEntries(entries) as Present<Settings>
}

/** The schema of a mapping with exactly these keys. */
export function mappingOf(properties: Readonly<Record<string, ValueSchema>>, required: readonly string[]): ValueSchema {
  return { type: 'object', properties, required, additionalProperties: false }
}
