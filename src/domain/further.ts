import type { FieldType, ListName } from './field.ts'

/** The types of further fields, as the configuration names them (contract §7). */
export const FURTHER_TYPES = ['text', 'url', 'integer', 'decimal', 'date-time', 'flag', 'texts'] as const

export type FurtherType = (typeof FURTHER_TYPES)[number]

/** The type of the contract's fields that are read and written in the same way. */
export const FIELD_TYPE_OF: Readonly<Record<FurtherType, FieldType | 'flag'>> = {
  text: 'text',
  url: 'text',
  integer: 'int32',
  decimal: 'decimal',
  'date-time': 'date-time',
  flag: 'flag',
  texts: 'tags',
}

/** A field that an organisation adds to the contract's own (contract §7). */
export interface FurtherField {
  readonly name: string
  readonly type: FurtherType
}

/** The further fields of each list, in the order of their declaration. */
export type FurtherFields = Readonly<Record<ListName, readonly FurtherField[]>>

export const NO_FURTHER: FurtherFields = { events: [], venues: [] }

/** The value of a further field; decimals and date-times are canonical texts. Each may be `null`. */
export type FurtherValue = string | number | boolean | readonly string[] | null

/** The further part of a record. */
export interface Extended {
  /** The values of the further fields in the order of their declaration; absent if none is declared. */
  readonly Further?: readonly FurtherValue[]
}
