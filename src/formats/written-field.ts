import type { Field, FieldType } from '../domain/field.ts'

/** A field with what stands around its value in each format, built once. */
export interface WrittenField {
  readonly name: string
  readonly type: FieldType
  readonly jsonKey: string
  readonly open: string
  readonly close: string
  /** The element of a null, and of nothing, as XML. */
  readonly nil: string
  readonly empty: string
}

export function writtenFields(fields: readonly Field[]): readonly WrittenField[] {
  return fields.map(({ name, type }) => ({
    name,
    type,
    jsonKey: `"${name}":`,
    open: `<${name}>`,
    close: `</${name}>`,
    nil: `<${name} i:nil="true" />`,
    empty: `<${name} />`,
  }))
}
