import type { FieldValue } from '../domain/field.ts'
import type { Link } from '../domain/link.ts'

/** A link the operator configured; `{Field}` in its href is filled in from each record. */
export interface LinkTemplate {
  readonly rel: string
  readonly href: string
  readonly title: string | null
}

/**
 * The link of one record: each `{Field}` becomes the field's percent-encoded value, null nothing, tags joined by commas
 * (RFC 6570 §3.2.2); a name that is no field stays, as a template for the reader.
 */
export function expandLink<Name extends string>(
  template: LinkTemplate,
  fields: readonly { readonly name: Name }[],
  record: Readonly<Record<Name, FieldValue>>,
): Link {
  const href = template.href.includes('{')
    ? template.href.replace(/\{(\w+)\}/g, (whole, name: string) => {
        const field = fields.find((candidate) => candidate.name === name)
        return field === undefined ? whole : encodeValue(record[field.name])
      })
    : template.href
  return { Rel: template.rel, Href: href, Title: template.title }
}

function encodeValue(value: FieldValue): string {
  if (value === null) return ''
  if (typeof value === 'object') return value.map(percentEncode).join(',')
  return percentEncode(String(value))
}

/** Everything but RFC 3986 §2.3's unreserved characters, which is stricter than encodeURIComponent by `!'()*`. */
export function percentEncode(text: string): string {
  return encodeURIComponent(text.toWellFormed()).replace(
    /[!'()*]/g,
    (character) => `%${character.charCodeAt(0).toString(16).toUpperCase()}`,
  )
}
