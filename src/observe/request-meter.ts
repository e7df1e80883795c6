import { Buckets } from './buckets.ts'

/** The routes of the public side, by their templates; `other` is a path that is none of ours. */
export const ROUTES = [
  '/api/events/{id}',
  '/api/events/{id}/venue',
  '/api/venues/{id}',
  '/api/events',
  '/api/venues',
  'other',
] as const

export type RouteLabel = (typeof ROUTES)[number]

/** Every status that the service answers; what else there may be is counted as 0. */
const STATUSES = [0, 200, 204, 304, 400, 404, 405, 500, 502] as const

const TYPES = [
  'none',
  'application/json',
  'text/json',
  'application/xml',
  'text/xml',
  'application/hal+json',
  'application/hal+xml',
  'application/problem+json',
  'application/problem+xml',
] as const

const STATUS_AT = new Uint8Array(600)
STATUSES.forEach((status, index) => (STATUS_AT[status] = index))

/** By the header as it is sent, so that counting a request builds no string. */
const TYPE_AT: ReadonlyMap<string, number> = new Map(
  TYPES.flatMap((type, index) => [[type, index] as const, [`${type}; charset=utf-8`, index] as const]),
)

const ROUTE_AT: Readonly<Record<RouteLabel, number>> = {
  '/api/events/{id}': 0,
  '/api/events/{id}/venue': 1,
  '/api/venues/{id}': 2,
  '/api/events': 3,
  '/api/venues': 4,
  other: 5,
}

const DURATION_BOUNDS_S = [
  0.00005, 0.0001, 0.00025, 0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10,
]

export interface RequestCount {
  readonly route: RouteLabel
  readonly status: number
  readonly type: string
  readonly count: number
}

/** Counts requests in plain arrays: a metrics library's call for each would cost more than the answer. */
export class RequestMeter {
  readonly durations: Buckets = new Buckets(DURATION_BOUNDS_S)
  readonly #counts = new Float64Array(ROUTES.length * STATUSES.length * TYPES.length)

  count(route: RouteLabel, status: number, contentType: string | undefined, durationMs: number): void {
    const type = contentType === undefined ? 0 : (TYPE_AT.get(contentType) ?? 0)
    const at = (ROUTE_AT[route] * STATUSES.length + (STATUS_AT[status] ?? 0)) * TYPES.length + type
    this.#counts[at] = (this.#counts[at] ?? 0) + 1
    this.durations.add(durationMs / 1000)
  }

  /** What was asked for at least once; and failures also before the first: an alert on a rise needs the 0 before it. */
  *counts(): Generator<RequestCount, void> {
    let at = 0
    for (const route of ROUTES) {
      for (const status of STATUSES) {
        for (const type of TYPES) {
          const count = this.#counts[at++] ?? 0
          if (count > 0 || (status >= 500 && type.startsWith('application/problem')))
            yield { route, status, type, count }
        }
      }
    }
  }
}

/** The media type of a `Content-Type` header, `none` where there is none. */
export function typeLabel(contentType: string | undefined): string {
  return contentType === undefined ? 'none' : (TYPES[TYPE_AT.get(contentType) ?? 0] ?? 'none')
}
