import type { FieldType, LINKS } from '../../domain/field.ts'
import { type ValueSchema, orReference, REFERENCE } from '../key.ts'
import { FLAG, NAME, textSchema } from '../values.ts'
import { PICKS } from './sources.ts'

/** The schema of a mapping with exactly these keys. */
export function mappingOf(properties: Readonly<Record<string, ValueSchema>>, required: readonly string[]): ValueSchema {
  return { type: 'object', properties, required, additionalProperties: false }
}

const VALUE: ValueSchema = { type: ['string', 'number', 'boolean'], pattern: /\S/.source }
const VALUES: ValueSchema = { type: 'array', minItems: 1, items: orReference(VALUE) }

/** The schema of a condition: columns, and the values each must hold. */
export const CONDITION_SCHEMA: ValueSchema = {
  type: 'object',
  minProperties: 1,
  additionalProperties: { anyOf: [{ const: 'blank' }, VALUES, mappingOf({ not: VALUES }, ['not']), REFERENCE] },
}

// `'?'` marks an open question of `init`; a column of that name must be written `{ column: '?' }`.
const COLUMN = orReference(textSchema(/^(?!\?$)[^\u0000]+$/))
const COLUMNS: ValueSchema = { type: 'array', minItems: 2, items: COLUMN }
const DURATION = textSchema(/^\s*(?:day|(?=.*[1-9])(?:\d{1,4}h)? ?(?:\d{1,5}m)? ?(?:\d{1,6}s)?)\s*$/)
const LASTING = mappingOf({ lasting: orReference(DURATION) }, ['lasting'])

/** The constants that a type of field allows. `crm.texts` has no effect on them. */
export interface Constant {
  readonly allowed: string
  /** The least that a valid constant contains. A blank one is refused elsewhere. */
  readonly pattern: RegExp
}

const A_NUMBER: Constant = { allowed: 'a number', pattern: /\d|^\s*$/ }

export const CONSTANTS: Partial<Record<SourceType, Constant>> = {
  int32: A_NUMBER,
  decimal: A_NUMBER,
  'date-time': { allowed: 'a date-time such as 2036-07-12T19:30', pattern: /\d{4}.*\d|^\s*$/ },
}

/** The beginning of addresses. */
export const ADDRESS = /^\s*https?:\/\/[^\s/?#]\S*\s*$/

const SWITCH: ValueSchema = { anyOf: [FLAG, REFERENCE, { type: 'null' }] }

/** The schema of the values that replace others. A pattern applies to texts alone. */
function valuesSchema(constant: Constant | undefined): ValueSchema {
  const pattern = constant === undefined ? {} : { pattern: constant.pattern.source }
  const value: ValueSchema = { type: ['string', 'number', 'boolean', 'null'], ...pattern }
  return { type: ['object', 'null'], minProperties: 1, additionalProperties: orReference(value) }
}

/** The schema of an id's source. */
export function idSchema(joins: boolean): ValueSchema {
  const values = { values: valuesSchema(undefined) }
  const column = { column: orReference(textSchema(NAME)) }
  const others = [mappingOf({ join: COLUMNS, ...values }, ['join']), mappingOf({ ...column, ...values }, ['column'])]
  return joins ? { anyOf: [COLUMN, ...others] } : COLUMN
}

/** The types of fields, further ones included, as far as their sources differ. */
export type SourceType = FieldType | 'flag' | (typeof LINKS)['type']

interface FieldKind {
  readonly type: SourceType
  readonly labels: boolean
  readonly lasts: boolean
}

/** The schema of any other field's source. */
export function sourceSchema({ type, labels, lasts }: FieldKind): ValueSchema {
  const constant = CONSTANTS[type]
  const value = orReference(constant === undefined ? { type: 'string' } : textSchema(constant.pattern))
  const zone = { wallTimeIn: { anyOf: [COLUMN, mappingOf({ column: COLUMN }, ['column'])] } }
  const second = mappingOf({ column: COLUMN, whenBlank: value, ...zone }, ['column'])
  const instead = [...(lasts ? [LASTING] : []), ...(type === 'date-time' ? [second] : [])]
  const whenBlank: ValueSchema = { anyOf: [value, { type: 'null' }, ...instead] }
  const rest = { whenBlank, ...(type === 'date-time' ? zone : {}) }
  const picked = { pick: orReference({ enum: [...PICKS] }), onlyWhere: CONDITION_SCHEMA }
  const label = labels ? { label: SWITCH } : {}
  const texts = {
    values: valuesSchema(constant),
    ...(type === 'text'
      ? { html: SWITCH, prefix: orReference({ ...textSchema(ADDRESS), type: ['string', 'null'] }) }
      : {}),
  }
  return {
    anyOf: [
      COLUMN,
      mappingOf({ column: orReference(textSchema(NAME)), ...label, ...texts, ...rest, ...picked }, ['column']),
      mappingOf({ value }, ['value']),
      type === 'int32'
        ? mappingOf({ subtract: COLUMNS, whenBlank, values: valuesSchema(constant) }, ['subtract'])
        : mappingOf({ join: COLUMNS, ...rest, values: valuesSchema(undefined) }, ['join']),
      ...(lasts ? [LASTING] : []),
    ],
  }
}

/** The schema of a further field's source: an editor does not know the type that the file declares. */
export function furtherSourceSchema(labels: boolean): ValueSchema {
  const types: readonly SourceType[] = ['text', 'int32', 'decimal', 'date-time', 'flag', 'tags']
  return { anyOf: [...types.map((type) => sourceSchema({ type, labels, lasts: false })), { type: 'null' }] }
}
