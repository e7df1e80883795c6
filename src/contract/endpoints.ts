// What callers are promised, as tables: the paths, the parameters of lists, and the header fields of every answer. http
// serves by these tables, and describe describes them. In: nothing. Out: names, limits and texts.
import type { ListName } from '../domain/field.ts'
import type { RouteLabel } from '../observe/observation.ts'

/** The methods of every path (contract §1.2). */
export const METHODS = 'GET, HEAD, OPTIONS'

export type RecordResource = 'event' | 'event-venue' | 'venue'

/** The calendars with paths of their own: of one event, and of many (contract §6). */
type CalendarResource = 'event-calendar' | 'calendar'

/** The resources that describe the service (contract §5). */
export type Described = 'openapi' | 'page'

export type Endpoint = RecordResource | CalendarResource | ListName | Described

const LABELS: Readonly<Record<Endpoint, RouteLabel>> = {
  event: '/api/events/{id}',
  'event-venue': '/api/events/{id}/venue',
  'event-calendar': '/api/events/{id}.ics',
  calendar: '/api/events.ics',
  venue: '/api/venues/{id}',
  events: '/api/events',
  venues: '/api/venues',
  openapi: '/api/openapi.json',
  page: '/',
}

/** Returns the route's template for any spelling of the path; `other` for an unknown path. */
export function routeLabel(resource: Endpoint | null): RouteLabel {
  return resource === null ? 'other' : LABELS[resource]
}
