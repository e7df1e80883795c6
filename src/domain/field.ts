import type { DateTime } from './date-time.ts'
import type { Decimal } from './number.ts'
import type { Guid } from './guid.ts'
import type { Link } from './link.ts'

/** The value of each field type. All but int32 are kept as canonical text (contract §2). */
interface FieldValues {
  readonly guid: Guid
  readonly text: string | null
  readonly int32: number
  readonly decimal: Decimal
  readonly 'date-time': DateTime
  readonly tags: readonly string[]
}

export type FieldType = keyof FieldValues

export type FieldValue = FieldValues[FieldType]

/** One field of a record. All code that handles every field is driven by tables of these. */
export interface Field {
  readonly name: string
  readonly type: FieldType
  /** The meaning of the field, for users of the API. */
  readonly description: string
  /** A value in JSON. */
  readonly example: string
}

/** One kind of record: the name of its list, and its fields in declaration order (contract §2). */
export interface RecordTable<Fields extends readonly Field[] = readonly Field[]> {
  readonly list: ListName
  readonly kind: 'event' | 'venue'
  /** The name of the records in a page of the list (contract §4.2). */
  readonly member: 'Events' | 'Venues'
  readonly fields: Fields
}

export type ListName = 'events' | 'venues'

/** Both lists. Venues come before the events that refer to them. */
export const LISTS: readonly ListName[] = ['venues', 'events']

/** The links of a row. The formats add `self`, `venue` and the operator's links (contract §2.1). */
export const LINKS = { name: 'Links', type: 'links' } as const

export interface RowValues extends FieldValues {
  readonly links: readonly Link[]
}

/** The record type of a table. */
export type RecordOf<Fields extends readonly Field[]> = {
  readonly [Part in Fields[number] | typeof LINKS as Part['name']]: RowValues[Part['type']]
}

/**
 * Returns a record without values, to be copied and filled. All records of a table then have the same layout, which
 * runtimes read faster.
 */
export function blankRecord(fields: readonly Pick<Field, 'name'>[], isExtended: boolean): Record<string, unknown> {
  const names = [...fields.map(({ name }) => name), LINKS.name, ...(isExtended ? ['Further'] : [])]
  return Object.fromEntries(names.map((name) => [name, null]))
}

/** Replaces the column names if the whole row appeared, disappeared, or changed between served and withheld. */
export const WHOLE_ROW = '(row)'
