import type { DateTime } from './date-time.ts'
import type { Decimal } from './number.ts'
import type { Guid } from './guid.ts'
import type { Link } from './link.ts'

/** What each type of field holds; every value but an int32 is kept as its canonical text (contract §2). */
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

/** One field of a record, said once: whatever runs once for each field is made from the tables of these. */
export interface Field {
  readonly name: string
  readonly type: FieldType
  /** What it means to whoever reads the answers. */
  readonly description: string
  /** A value of it as JSON writes it. */
  readonly example: string
}

/** One kind of record: what its list is called, and its fields in declaration order (contract §2). */
export interface RecordTable<Fields extends readonly Field[] = readonly Field[]> {
  readonly list: ListName
  readonly kind: 'event' | 'venue'
  readonly fields: Fields
}

export type ListName = 'events' | 'venues'

/** Both lists; venues come before the events that point at them. */
export const LISTS: readonly ListName[] = ['venues', 'events']

/** What a row may hold besides the fields; `self`, `venue` and the operator's links are added when it is formatted (contract §2.1). */
export const LINKS = { name: 'Links', type: 'links' } as const

export interface RowValues extends FieldValues {
  readonly links: readonly Link[]
}

/** The record that a table describes. */
export type RecordOf<Fields extends readonly Field[]> = {
  readonly [Part in Fields[number] | typeof LINKS as Part['name']]: RowValues[Part['type']]
}
