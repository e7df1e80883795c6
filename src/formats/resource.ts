import { type EventRecord, EVENTS } from '../domain/event.ts'
import {
  type Field,
  type FieldType,
  type FieldValue,
  type RecordTable,
  type Link,
  encodeAddress,
  isWebAddress,
  percentEncode,
  untitled,
} from '../domain/field.ts'
import {
  type Extended,
  type FurtherField,
  type FurtherFields,
  type FurtherValue,
  FIELD_TYPE_OF,
} from '../domain/further.ts'
import { trimWhiteSpace } from '../domain/white-space.ts'
import { type VenueRecord, VENUES } from '../domain/venue.ts'

/** A record as the formats see it: its fields, their values and all its links (contract §2.1). */
export interface Resource {
  /** Written as Rel and LinkName in plain XML, and as `rel` and `name` in HAL XML. */
  readonly rel: 'event' | 'venue'
  readonly href: string
  readonly fields: readonly WrittenField[]
  /**
   * The positions of the fields in ordinal alphabetical order, as the data contract requires. Further fields come last,
   * in the order of their declaration (contract §7).
   */
  readonly ordinal: readonly number[]
  readonly values: readonly WrittenValue[]
  readonly links: readonly Link[]
}

/** The operator's links, appended after all others (contract §2.1). */
export interface ConfiguredLinks {
  readonly event: readonly LinkTemplate[]
  readonly venue: readonly LinkTemplate[]
}

/** A value of any field, as the formats write it. */
export type WrittenValue = FieldValue | FurtherValue

/** Turns records into resources. The further fields come after the contract's own (contract §7). */
export class Resources {
  readonly #event: WrittenTable<(typeof EVENTS.fields)[number]['name']>
  readonly #venue: WrittenTable<(typeof VENUES.fields)[number]['name']>

  constructor({ events, venues }: FurtherFields) {
    this.#event = writtenTable(EVENTS, events)
    this.#venue = writtenTable(VENUES, venues)
  }

  event(event: EventRecord, configured: readonly LinkTemplate[]): Resource {
    const href = `~/events/${event.Id}`
    const links = [untitled('self', href), untitled('venue', `${href}/venue`)]
    return resourceOf(this.#event, event, href, links, configured)
  }

  venue(venue: VenueRecord, configured: readonly LinkTemplate[]): Resource {
    const href = `~/venues/${venue.Id}`
    return resourceOf(this.#venue, venue, href, [untitled('self', href)], configured)
  }

  /** Fills the fields of an event into an address, as in configured links. */
  fillIn(href: string, event: EventRecord): string | null {
    return fillInFrom(href, this.#event, event)
  }
}

interface WrittenTable<Name extends string> {
  readonly kind: Resource['rel']
  readonly fields: readonly { readonly name: Name }[]
  readonly further: readonly FurtherField[]
  /** The contract's fields, then the further fields. */
  readonly written: readonly WrittenField[]
  readonly ordinal: Resource['ordinal']
}

function writtenTable<Name extends string>(
  { kind, fields }: RecordTable<readonly (Field & { readonly name: Name })[]>,
  further: readonly FurtherField[],
): WrittenTable<Name> {
  const own = fields.map(({ name, type }) => writtenField(name, type))
  const others = further.map(({ name, type }) => writtenField(name, FIELD_TYPE_OF[type]))
  const names: readonly string[] = fields.map(({ name }) => name)
  const ordinal = [...names.toSorted().map((name) => names.indexOf(name)), ...others.map((_, at) => own.length + at)]
  return { kind, fields, further, written: [...own, ...others], ordinal }
}

function resourceOf<Name extends string>(
  table: WrittenTable<Name>,
  record: Readonly<Record<Name, FieldValue>> & Extended & { readonly Links: readonly Link[] },
  href: string,
  links: Link[],
  configured: readonly LinkTemplate[],
): Resource {
  for (const further of record.Links) links.push(further)
  for (const { rel, href: template, title } of configured) {
    const target = fillInFrom(template, table, record)
    if (target !== null) links.push({ Rel: rel, Href: target, Title: title })
  }
  const values: WrittenValue[] = []
  for (const field of table.fields) values.push(record[field.name])
  for (let index = 0; index < table.further.length; index++) values.push(record.Further?.[index] ?? null)
  return { rel: table.kind, href, fields: table.written, ordinal: table.ordinal, values, links }
}

/** A field with the text around its value in each format, built once. */
export interface WrittenField {
  readonly name: string
  readonly type: WrittenType
  readonly jsonKey: string
  readonly open: string
  readonly close: string
  /** The XML elements of a null and of an empty value. */
  readonly nil: string
  readonly empty: string
}

type WrittenType = FieldType | 'flag'

function writtenField(name: string, type: WrittenType): WrittenField {
  return {
    name,
    type,
    jsonKey: `"${name}":`,
    open: `<${name}>`,
    close: `</${name}>`,
    nil: `<${name} i:nil="true" />`,
    empty: `<${name} />`,
  }
}

/** A link that the operator configured. `{Field}` and `{+Field}` in its href are replaced by each record's value. */
export interface LinkTemplate {
  readonly rel: string
  readonly href: string
  readonly title: string | null
}

/**
 * Returns the address of one record (RFC 6570). Each `{Field}` becomes the percent-encoded value, empty for null, with
 * tags joined by commas (§3.2.2). `{+Field}` is an address or a part of one and keeps its signs (§3.2.3): `null` if it is
 * blank, or if it begins the address and is not absolute. A name that is not a field stays, as a template for the API's
 * user.
 */
function fillInFrom<Name extends string>(
  href: string,
  { fields, further }: WrittenTable<Name>,
  record: Readonly<Record<Name, FieldValue>> & Extended,
): string | null {
  if (!href.includes('{')) return href
  let isWhole = true
  const filled = href.replace(/\{(\+?)(\w+)\}/g, (whole, plus: string, name: string, at: number) => {
    const field = fields.find((candidate) => candidate.name === name)
    const position = field === undefined ? further.findIndex((candidate) => candidate.name === name) : -1
    if (field === undefined && position === -1) return whole
    const value = field === undefined ? (record.Further?.[position] ?? null) : record[field.name]
    if (plus === '') return encodeValue(value)
    const address = encodeAddress(trimWhiteSpace(String(value ?? '')))
    isWhole &&= address !== '' && (at > 0 || isWebAddress(address))
    return address
  })
  return isWhole ? filled : null
}

function encodeValue(value: WrittenValue): string {
  if (value === null) return ''
  if (typeof value === 'object') return value.map(percentEncode).join(',')
  return percentEncode(String(value))
}
