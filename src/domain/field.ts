/** What a field of a record holds; every value but an int32 is kept as its canonical text (contract §2). */
export type FieldType = 'guid' | 'text' | 'int32' | 'decimal' | 'date-time' | 'tags'

export interface Field<Name extends string> {
  readonly name: Name
  readonly type: FieldType
}

export type FieldValue = string | number | null | readonly string[]
