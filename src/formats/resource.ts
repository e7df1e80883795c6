import type { EventRecord } from '../domain/event.ts'
import { EVENTS } from '../domain/event.ts'
import type { Field, FieldValue } from '../domain/field.ts'
import type { Link } from '../domain/link.ts'
import type { VenueRecord } from '../domain/venue.ts'
import { VENUES } from '../domain/venue.ts'
import type { LinkTemplate } from './link-template.ts'
import { expandLink } from './link-template.ts'
import type { WrittenField } from './written-field.ts'
import { writtenFields } from './written-field.ts'

/** A record as a format sees it: what its fields are, what they hold, and all its links (contract §2.1). */
export interface Resource {
  /** The base members Rel and LinkName, and HAL XML's `rel` and `name`. */
  readonly rel: 'event' | 'venue'
  readonly href: string
  readonly fields: readonly WrittenField[]
  readonly values: readonly FieldValue[]
  readonly links: readonly Link[]
}

/** The links the operator configured, appended after all others (contract §2.1). */
export interface ConfiguredLinks {
  readonly event: readonly LinkTemplate[]
  readonly venue: readonly LinkTemplate[]
}

const EVENT = { ...EVENTS, written: writtenFields(EVENTS.fields) }
const VENUE = { ...VENUES, written: writtenFields(VENUES.fields) }

export function eventResource(event: EventRecord, configured: readonly LinkTemplate[]): Resource {
  const href = `~/events/${event.Id}`
  return resourceOf(EVENT, event, href, [link('self', href), link('venue', `${href}/venue`)], configured)
}

export function venueResource(venue: VenueRecord, configured: readonly LinkTemplate[]): Resource {
  const href = `~/venues/${venue.Id}`
  return resourceOf(VENUE, venue, href, [link('self', href)], configured)
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

function link(Rel: string, Href: string): Link {
  return { Rel, Href, Title: null }
}
