import { type EventRecord, EVENTS } from '../domain/event.ts'
import type { Field, FieldType, FieldValue } from '../domain/field.ts'
import { type Link, untitled } from '../domain/link.ts'
import { type VenueRecord, VENUES } from '../domain/venue.ts'

/** A record as the formats see it: its fields, their values and all its links (contract §2.1). */
export interface Resource {
  /** Written as Rel and LinkName in plain XML, and as `rel` and `name` in HAL XML. */
  readonly rel: 'event' | 'venue'
  readonly href: string
  readonly fields: readonly WrittenField[]
  readonly values: readonly FieldValue[]
  readonly links: readonly Link[]
}

/** The operator's links, appended after all others (contract §2.1). */
export interface ConfiguredLinks {
  readonly event: readonly LinkTemplate[]
  readonly venue: readonly LinkTemplate[]
}

const EVENT = { ...EVENTS, written: writtenFields(EVENTS.fields) }
const VENUE = { ...VENUES, written: writtenFields(VENUES.fields) }

export function eventResource(event: EventRecord, configured: readonly LinkTemplate[]): Resource {
  const href = `~/events/${event.Id}`
  return resourceOf(EVENT, event, href, [untitled('self', href), untitled('venue', `${href}/venue`)], configured)
}

export function venueResource(venue: VenueRecord, configured: readonly LinkTemplate[]): Resource {
  const href = `~/venues/${venue.Id}`
  return resourceOf(VENUE, venue, href, [untitled('self', href)], configured)
}

interface WrittenTable<Name extends string> {
  readonly kind: Resource['rel']
  readonly fields: readonly (Field & { readonly name: Name })[]
  readonly written: readonly WrittenField[]
}

function resourceOf<Name extends string>(
  { kind, fields, written }: WrittenTable<Name>,
  record: Readonly<Record<Name, FieldValue>> & { readonly Links: readonly Link[] },
  href: string,
  links: Link[],
  configured: readonly LinkTemplate[],
): Resource {
  for (const further of record.Links) links.push(further)
  for (const template of configured) links.push(expandLink(template, fields, record))
  const values: FieldValue[] = []
  for (const field of fields) values.push(record[field.name])
  return { rel: kind, href, fields: written, values, links }
}

/** A field with the text around its value in each format, built once. */
interface WrittenField {
  readonly name: string
  readonly type: FieldType
  readonly jsonKey: string
  readonly open: string
  readonly close: string
  /** The XML elements of a null and of an empty value. */
  readonly nil: string
  readonly empty: string
}

function writtenFields(fields: readonly Field[]): readonly WrittenField[] {
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

/** A link that the operator configured. `{Field}` in its href is replaced by each record's value. */
export interface LinkTemplate {
  readonly rel: string
  readonly href: string
  readonly title: string | null
}

function expandLink<Name extends string>(
  template: LinkTemplate,
  fields: readonly { readonly name: Name }[],
  record: Readonly<Record<Name, FieldValue>>,
): Link {
  return { Rel: template.rel, Href: fillInFrom(template.href, fields, record), Title: template.title }
}

/** An address with the fields of an event filled in, as in configured links. */
export function fillIn(href: string, event: EventRecord): string {
  return fillInFrom(href, EVENTS.fields, event)
}

/**
 * Returns the address of one record. Each `{Field}` becomes the percent-encoded value, empty for null, with tags joined by
 * commas (RFC 6570 §3.2.2). A name that is not a field stays, as a template for the API's user.
 */
function fillInFrom<Name extends string>(
  href: string,
  fields: readonly { readonly name: Name }[],
  record: Readonly<Record<Name, FieldValue>>,
): string {
  if (!href.includes('{')) return href
  return href.replace(/\{(\w+)\}/g, (whole, name: string) => {
    const field = fields.find((candidate) => candidate.name === name)
    return field === undefined ? whole : encodeValue(record[field.name])
  })
}

function encodeValue(value: FieldValue): string {
  if (value === null) return ''
  if (typeof value === 'object') return value.map(percentEncode).join(',')
  return percentEncode(String(value))
}

/** Encodes everything except RFC 3986 §2.3's unreserved characters: `!'()*` in addition to encodeURIComponent. */
export function percentEncode(text: string): string {
  return encodeURIComponent(text.toWellFormed()).replace(
    /[!'()*]/g,
    (character) => `%${character.charCodeAt(0).toString(16).toUpperCase()}`,
  )
}
