import type { DateTime } from './date-time.ts'
import type { Decimal } from './number.ts'
import type { Guid } from './guid.ts'
import { trimWhiteSpace } from './white-space.ts'

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

/** A link of a record (contract §2). `Href` is kept as the CRM or the operator wrote it; `~/` is the service's root. */
export interface Link {
  readonly Rel: string
  readonly Href: string
  readonly Title: string | null
}

export function untitled(Rel: string, Href: string): Link {
  return { Rel, Href, Title: null }
}

/**
 * Returns true if `href` is templated: it matches the reference's pattern `{.+}`, which needs both braces on one line.
 */
export function isTemplated(href: string): boolean {
  const opened = href.indexOf('{')
  if (opened === -1) return false
  if (!href.includes('\n')) return href.lastIndexOf('}') > opened + 1
  return href.split('\n').some((line) => {
    const start = line.indexOf('{')
    return start !== -1 && line.lastIndexOf('}') > start + 1
  })
}

/** Returns true if the whole text is one web address. */
export function isWebAddress(text: string): boolean {
  return /^https?:\/\/\S+$/i.test(trimWhiteSpace(text))
}

/**
 * Encodes what an address may not contain, and keeps what means something there: RFC 6570's reserved expansion.
 *
 * @example encodeAddress('https://a.example/Großes Haus?x=1') // 'https://a.example/Gro%C3%9Fes%20Haus?x=1'
 */
export function encodeAddress(text: string): string {
  return text.toWellFormed().replace(/%(?![0-9a-f]{2})|[^%\w.~:/?#[\]@!$&'()*+,;=-]/giu, encodeURIComponent)
}

/** Encodes everything except RFC 3986 §2.3's unreserved characters: `!'()*` in addition to encodeURIComponent. */
export function percentEncode(text: string): string {
  return encodeURIComponent(text.toWellFormed()).replace(
    /[!'()*]/g,
    (character) => `%${character.charCodeAt(0).toString(16).toUpperCase()}`,
  )
}
