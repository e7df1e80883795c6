import type { EventRecord } from '../domain/event.ts'
import { EVENT_FIELDS } from '../domain/event.ts'
import type { FieldValue } from '../domain/field.ts'
import type { Link } from '../domain/link.ts'
import type { VenueRecord } from '../domain/venue.ts'
import { VENUE_FIELDS } from '../domain/venue.ts'
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

const EVENT = writtenFields(EVENT_FIELDS)
const VENUE = writtenFields(VENUE_FIELDS)

export function eventResource(event: EventRecord, configured: readonly LinkTemplate[]): Resource {
  const href = `~/events/${event.Id}`
  const links = [link('self', href), link('venue', `${href}/venue`), ...event.Links]
  for (const template of configured) links.push(expandLink(template, event))
  const values: FieldValue[] = []
  for (const field of EVENT_FIELDS) values.push(event[field.name])
  return { rel: 'event', href, fields: EVENT, values, links }
}

export function venueResource(venue: VenueRecord, configured: readonly LinkTemplate[]): Resource {
  const href = `~/venues/${venue.Id}`
  const links = [link('self', href), ...venue.Links]
  for (const template of configured) links.push(expandLink(template, venue))
  const values: FieldValue[] = []
  for (const field of VENUE_FIELDS) values.push(venue[field.name])
  return { rel: 'venue', href, fields: VENUE, values, links }
}

function link(Rel: string, Href: string): Link {
  return { Rel, Href, Title: null }
}
