import { FEED_TYPES, MEDIA_TYPES } from '../formats/media-types.ts'
import { type LogOptions, Log } from './log.ts'
import {
  type Observe,
  type RequestReport,
  type Observation,
  type ReadReport,
  type Outcome,
  type RouteLabel,
  ROUTES,
} from './observation.ts'
import { printable } from '../domain/printable.ts'

const LONGEST_PATH = 200

/** Turns observations and answered requests into log lines, metrics and history. */
export class Telemetry {
  readonly log: Log
  readonly requests: RequestMeter = new RequestMeter()
  readonly reads: ReadMeter = new ReadMeter(['events', 'venues'])
  readonly history: ReadHistory = new ReadHistory()
  /** Whether each request has a log line. */
  logsRequests: boolean
  /** The time of the first observation, wall clock. */
  firstAtMs = Infinity
  readonly #now: () => number

  readonly observe: Observe = (observation) => {
    const nowMs = this.#now()
    this.firstAtMs = Math.min(this.firstAtMs, nowMs)
    this.log.write(observation)
    this.reads.note(observation)
    this.history.note(observation, nowMs)
  }

  constructor(options: LogOptions, logsRequests: boolean) {
    this.log = new Log(options)
    this.logsRequests = logsRequests
    this.#now = options.now
  }

  /** Writes a request's log line. `contentType` is the answer's. */
  logRequest(request: Omit<RequestReport, 'type'>, contentType: string | undefined): void {
    const path = printable(request.path, LONGEST_PATH)
    this.log.write({ kind: 'request-answered', request: { ...request, path, type: typeLabel(contentType) } })
  }
}

/** One read, or several equal ones of one list in a row. */
export interface PastReads {
  /** ISO 8601: when the first and the last of them ended. */
  readonly from: string
  readonly until: string
  readonly times: number
  readonly read: ReadReport
}

const MOST = 50
const MOST_COLUMNS = 100

/**
 * Remembers the last reads for the dashboard. Equal reads without changes share an entry, which keeps faults and
 * changes visible longer.
 */
export class ReadHistory {
  readonly #past: PastReads[] = []
  readonly #ignored = new Map<string, Set<string>>()

  note(observation: Observation, nowMs: number): void {
    if (observation.kind === 'read-ended') this.#remember(observation.read, new Date(nowMs).toISOString())
    if (observation.kind !== 'columns-ignored') return
    const columns = this.#ignored.get(observation.list) ?? new Set<string>()
    this.#ignored.set(observation.list, columns)
    for (const column of observation.columns) if (columns.size < MOST_COLUMNS) columns.add(column)
  }

  /** The remembered reads, newest first. */
  get reads(): readonly PastReads[] {
    return this.#past.toReversed()
  }

  /** The unused columns of a list that were seen since the start. */
  ignoredColumns(list: string): readonly string[] {
    return [...(this.#ignored.get(list) ?? [])]
  }

  #remember(read: ReadReport, at: string): void {
    const last = this.#past.findLastIndex((past) => past.read.list === read.list)
    const before = this.#past[last]
    if (before === undefined || !isAlike(before.read, read)) this.#past.push({ from: at, until: at, times: 1, read })
    else {
      this.#past.splice(last, 1)
      this.#past.push({ from: before.from, until: at, times: before.times + 1, read })
    }
    if (this.#past.length > MOST) this.#past.shift()
  }
}

function isAlike(before: ReadReport, after: ReadReport): boolean {
  const names = ['kind', 'outcome', 'message', 'served', 'withheld'] as const
  return before.changed === 0 && after.changed === 0 && names.every((name) => before[name] === after[name])
}

/** The statuses that the service sends. Any other is counted as 0. */
const STATUSES = [0, 200, 204, 304, 400, 404, 405, 429, 500, 502] as const

const TYPES = [
  'none',
  ...MEDIA_TYPES,
  'application/problem+json',
  'application/problem+xml',
  'application/openapi+json',
  'text/html',
  ...FEED_TYPES,
] as const

const STATUS_AT = new Uint8Array(600)
STATUSES.forEach((status, index) => (STATUS_AT[status] = index))

/** By the header as sent, so counting a request builds no string. */
const TYPE_AT: ReadonlyMap<string, number> = new Map(
  TYPES.flatMap((type, index) =>
    [type, `${type}; charset=utf-8`, `${type};version=3.1`].map((sent) => [sent, index] as const),
  ),
)

const DURATION_BOUNDS_S = [
  0.00005, 0.0001, 0.00025, 0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10,
]

export interface RequestCount {
  readonly route: RouteLabel
  readonly status: number
  readonly type: string
  readonly count: number
}

/** Counts requests in plain arrays: one call of a metrics library would take longer than the answer. */
export class RequestMeter {
  readonly durations: Buckets = new Buckets(DURATION_BOUNDS_S)
  readonly #counts = new Float64Array(ROUTES.length * STATUSES.length * TYPES.length)

  count(route: RouteLabel, status: number, contentType: string | undefined, durationMs: number): void {
    const type = contentType === undefined ? 0 : (TYPE_AT.get(contentType) ?? 0)
    const at = (ROUTES.indexOf(route) * STATUSES.length + (STATUS_AT[status] ?? 0)) * TYPES.length + type
    this.#counts[at] = (this.#counts[at] ?? 0) + 1
    this.durations.add(durationMs / 1000)
  }

  /** Yields all counts above 0. Failures also at 0, because an alert on a rise needs the 0 before it. */
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

/** Returns the media type of a `Content-Type` header; `none` if there is no header. */
export function typeLabel(contentType: string | undefined): string {
  return contentType === undefined ? 'none' : (TYPES[TYPE_AT.get(contentType) ?? 0] ?? 'none')
}

const READ_BOUNDS_S = [0.001, 0.005, 0.025, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60, 300]
const DELAY_BOUNDS_S = [0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 15, 30, 60, 300, 900, 3600]

export interface ListReads {
  readonly byOutcome: Map<Outcome, number>
  readonly durations: Buckets
}

/** Counts reads of the CRM from the observations. */
export class ReadMeter {
  readonly lists: ReadonlyMap<string, ListReads>
  readonly crmRequests: Map<Outcome, number> = new Map()
  readonly publishDelay: Buckets = new Buckets(DELAY_BOUNDS_S)

  constructor(lists: readonly string[]) {
    this.lists = new Map(lists.map((list) => [list, { byOutcome: new Map(), durations: new Buckets(READ_BOUNDS_S) }]))
  }

  note(observation: Observation): void {
    if (observation.kind === 'read-ended') {
      const { list, outcome, durationMs } = observation.read
      const reads = this.lists.get(list)
      if (reads === undefined) return
      increase(reads.byOutcome, outcome)
      reads.durations.add(durationMs / 1000)
    } else if (observation.kind === 'read-paused') {
      const reads = this.lists.get(observation.list)
      if (reads !== undefined) increase(reads.byOutcome, 'throttled')
    } else if (observation.kind === 'crm-request') increase(this.crmRequests, observation.outcome)
    else if (observation.kind === 'changes-published') {
      for (const delayMs of observation.delaysMs) this.publishDelay.add(delayMs / 1000)
    }
  }
}

function increase(counts: Map<Outcome, number>, outcome: Outcome): void {
  counts.set(outcome, (counts.get(outcome) ?? 0) + 1)
}

/** A histogram's counts by bucket, cheaper than a metrics library's. */
export class Buckets {
  /** Ascending, in base units. One more bucket counts values above the last. */
  readonly bounds: readonly number[]
  readonly counts: Float64Array
  sum = 0

  constructor(bounds: readonly number[]) {
    this.bounds = bounds
    this.counts = new Float64Array(bounds.length + 1)
  }

  add(value: number): void {
    const { bounds, counts } = this
    let at = 0
    // Lowest first, because most answers take microseconds.
    while (at < bounds.length && value > (bounds[at] ?? 0)) at++
    counts[at] = (counts[at] ?? 0) + 1
    this.sum += value
  }
}
