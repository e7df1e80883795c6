import type { FieldType, FieldValue } from '../domain/field.ts'
import { jsonString, jsonStrings } from './escape.ts'
import type { Resource } from './resource.ts'

/** The members both JSON shapes share: every field in declaration order, nulls written, no braces. */
export function jsonFields({ fields, values }: Resource): string {
  let members = ''
  for (let index = 0; index < fields.length; index++) {
    const field = fields[index]
    const value = values[index]
    if (field === undefined || value === undefined) break
    members += (index === 0 ? field.jsonKey : `,${field.jsonKey}`) + jsonValue(value, field.type)
  }
  return members
}

function jsonValue(value: FieldValue, type: FieldType): string {
  if (value === null) return 'null'
  if (typeof value === 'number') return String(value)
  if (typeof value === 'object') return jsonStrings(value)
  if (type === 'text') return jsonString(value)
  // An integral decimal gets `.0` in JSON, and only there (contract §3.2).
  if (type === 'decimal') return value.includes('.') ? value : `${value}.0`
  return `"${value}"`
}
