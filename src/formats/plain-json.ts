import { type Link, isTemplated } from '../domain/field.ts'
import { jsonString } from '../domain/escape.ts'
import type { Resource, WrittenField, WrittenValue } from './resource.ts'

/**
 * `application/json`: one line, fields in declaration order, `_links` an array, `_embedded` last and always null
 * (contract §3).
 */
export function plainJson(resource: Resource): string {
  let links = ''
  for (const link of resource.links) links += links === '' ? linkJson(link) : `,${linkJson(link)}`
  return `{${jsonFields(resource)},"_links":[${links}],"_embedded":null}`
}

export function linkJson(link: Link): string {
  const title = link.Title === null ? 'null' : jsonString(link.Title)
  return `{"Rel":${jsonString(link.Rel)},"Href":${jsonString(link.Href)},"Title":${title},"IsTemplated":${isTemplated(link.Href)}}`
}

/**
 * Returns the members that both JSON shapes share: every field in declaration order, nulls included, without braces.
 */
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

function jsonValue(value: WrittenValue, type: WrittenField['type']): string {
  if (value === null) return 'null'
  if (typeof value === 'number' || typeof value === 'boolean') return String(value)
  if (typeof value === 'object') return `[${value.map(jsonString).join(',')}]`
  if (type === 'text') return jsonString(value)
  if (type === 'decimal') return jsonDecimal(value)
  return `"${value}"`
}

/** A canonical decimal as a JSON number. An integral one gets `.0` in JSON, and only there (contract §3.2). */
export function jsonDecimal(value: string): string {
  return value.includes('.') ? value : `${value}.0`
}
