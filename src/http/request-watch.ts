import type { RouteLabel } from '../observe/meters.ts'
import type { Answer, Call } from './call.ts'
import type { Resource } from './route.ts'

/** Is told of every answer. It must be quick, and must not throw. */
export type RequestWatch = (route: RouteLabel, call: Call, answer: Answer, durationMs: number) => void

const LABELS: Readonly<Record<Resource, RouteLabel>> = {
  event: '/api/events/{id}',
  'event-venue': '/api/events/{id}/venue',
  venue: '/api/venues/{id}',
}

/** The route's template, whatever the path's spelling; `other` for a path that is none of ours. */
export function routeLabel(resource: Resource | null): RouteLabel {
  return resource === null ? 'other' : LABELS[resource]
}
