// What callers are promised, as tables: the paths, the parameters of lists, and the header fields of every answer. http
// serves by these tables, and describe describes them. In: nothing. Out: names, limits and texts.
import type { ListName } from '../domain/field.ts'
import type { RouteLabel } from '../observe/observation.ts'

/** The methods of every path (contract §1.2). */
export const METHODS = 'GET, HEAD, OPTIONS'

export type RecordResource = 'event' | 'event-venue' | 'venue'

/** The feeds of many events, which are pages of a list in other frames (contract §6). */
export type FeedOfMany = 'calendar' | 'atom'

/** The resources that describe the service (contract §5). */
export type Described = 'openapi' | 'page'

export type Endpoint = RecordResource | 'event-calendar' | FeedOfMany | ListName | 'tags' | 'changes' | Described

const LABELS: Readonly<Record<Endpoint, RouteLabel>> = {
  event: '/api/events/{id}',
  'event-venue': '/api/events/{id}/venue',
  'event-calendar': '/api/events/{id}.ics',
  calendar: '/api/events.ics',
  atom: '/api/events.atom',
  venue: '/api/venues/{id}',
  events: '/api/events',
  venues: '/api/venues',
  tags: '/api/tags',
  changes: '/api/changes',
  openapi: '/api/openapi.json',
  page: '/',
}

/** Returns the route's template for any spelling of the path; `other` for an unknown path. */
export function routeLabel(resource: Endpoint | null): RouteLabel {
  return resource === null ? 'other' : LABELS[resource]
}

/** The longest an error is cached, because a new event must not stay invisible for long (contract §1.3). */
export const ERROR_MAX_AGE_S = 5

/** The header fields of every answer with a body (contract §1.3). */
export const COMMON = {
  Vary: 'Accept',
  'X-Content-Type-Options': 'nosniff',
  'Access-Control-Allow-Origin': '*',
  // Without this, scripts on a page only see the few fields that CORS lists.
  'Access-Control-Expose-Headers': 'ETag, Age, Link, Retry-After',
}

/** A resource with query parameters: a list, its tags, or a feed of events (contract §4.1, §6). */
export type Listing = ListName | 'tags' | FeedOfMany

/** The largest `limit` of each listing, and its default. Tags have no such parameter: these are the most that are listed. */
export const LIMITS: Readonly<Record<Listing, { readonly most: number; readonly usual: number }>> = {
  events: { most: 200, usual: 50 },
  venues: { most: 200, usual: 50 },
  tags: { most: 1000, usual: 1000 },
  calendar: { most: 200, usual: 200 },
  atom: { most: 200, usual: 50 },
}

/** The values that each parameter accepts, as the end of a sentence. */
const TAKES = {
  from: 'a date such as 2026-07-12, or a date-time with an offset such as 2026-07-12T19:30:00+01:00 (its + written %2B) or 2026-07-12T18:30Z',
  to: 'a date such as 2026-07-12, or a date-time with an offset such as 2026-07-12T19:30:00+01:00 (its + written %2B) or 2026-07-12T18:30Z, not before from',
  venue:
    'the id of a venue, a GUID such as 5f6c2a3e-8d0b-4c57-9e21-0a4b7d9c1e34 and not the empty one; it may be repeated',
  tag: 'a tag, which must not be empty; it may be repeated',
  available: 'only true',
  limit: (listing: Listing) => `a whole number from 1 to ${LIMITS[listing].most} without leading zeros`,
  include: 'only venue',
  after: 'the value of after in a next link of this list, unchanged',
} as const

export type ListParameter = keyof typeof TAKES

/** Returns the values that a parameter accepts in this listing, as the end of a sentence. */
export function takenBy(name: ListParameter, listing: Listing): string {
  const takes = TAKES[name]
  return typeof takes === 'string' ? takes : takes(listing)
}

/** The parameters of each list, in the order of links (contract §4.1). */
export const LIST_PARAMETERS: Readonly<Record<Listing, readonly ListParameter[]>> = {
  events: ['from', 'to', 'venue', 'tag', 'available', 'limit', 'include', 'after'],
  venues: ['limit', 'after'],
  tags: ['from', 'to', 'venue', 'available'],
  calendar: ['from', 'to', 'venue', 'tag', 'available', 'limit', 'after'],
  atom: ['from', 'to', 'venue', 'tag', 'available', 'limit', 'after'],
}
