// Everything worth reporting is an observation. Log lines, counts and the dashboard's history derive from it.
// In: observations and answered requests. Out: lines (log.ts, line-sink.ts), counts and the last reads (telemetry.ts).
// This room never makes a caller fail or wait: lines that cannot be written are counted.
import type { ListName } from '../domain/field.ts'
import type { WithheldCount } from '../domain/fault-counts.ts'

/** Everything worth reporting. No observation contains a CRM value or a secret. */
export type Observation =
  | { readonly kind: 'read-ended'; readonly read: ReadReport }
  /** One exchange with the CRM, as its connector counts them: a page, a statement or a file. */
  | { readonly kind: 'crm-request'; readonly outcome: Outcome }
  /** Changes are now served. `delaysMs`: the time of each since it was made in the CRM. */
  | { readonly kind: 'changes-published'; readonly delaysMs: readonly number[] }
  /**
   * A read is not believed because the list lost too many records: how many of `records`, with which faults, and until
   * when the old list is served (ISO 8601); `null` if it is not served, because its age is unknown.
   */
  | {
      readonly kind: 'shrunk'
      readonly list: string
      readonly absent: number
      readonly unreadable: number
      readonly records: number
      readonly faults: readonly WithheldCount[]
      readonly until: string | null
    }
  /**
   * Callers begin to get 502 for a list. `ageMs`: since the beginning of the last read that confirmed it; `null` if
   * none ever did.
   */
  | { readonly kind: 'answers-stopped'; readonly list: string; readonly why: string; readonly ageMs: number | null }
  /** Callers get answers again, after `lastedMs` of 502. */
  | { readonly kind: 'answers-resumed'; readonly list: string; readonly lastedMs: number }
  /** The operator accepted shorter lists. */
  | { readonly kind: 'shorter-accepted'; readonly lists: readonly string[] }
  | { readonly kind: 'drift-found'; readonly list: string; readonly byColumn: Readonly<Record<string, number>> }
  | { readonly kind: 'columns-ignored'; readonly list: string; readonly columns: readonly string[] }
  /** A finding about a CRM whose lists can be read: one sentence, with the row's id if it concerns a row. */
  | { readonly kind: 'crm-noticed'; readonly message: string }
  /** A read of the list waits in its middle. `why` names the CRM's host or the budget, `untilMs` is by the wall clock. */
  | {
      readonly kind: 'read-paused'
      readonly list: ListName
      readonly why: string
      readonly forMs: number
      readonly untilMs: number
    }
  /** Rows of a list are served but most likely wrong: how many, and the position of the first. */
  | {
      readonly kind: 'suspicious'
      readonly list: string
      readonly column: string
      readonly what: string
      readonly count: number
      readonly where: string | null
    }
  /** All served events are over. `since`: when the last one ended, ISO 8601. */
  | { readonly kind: 'all-over'; readonly count: number; readonly since: string }
  /** Dates without an offset were read in this zone. `isSet`: the operator configured the zone. */
  | {
      readonly kind: 'wall-times'
      readonly list: string
      readonly zone: string
      readonly isSet: boolean
      readonly count: number
    }
  /**
   * The lists were loaded from the snapshot of an earlier process. They are served once a read of changes has confirmed
   * them.
   */
  | { readonly kind: 'snapshot-read'; readonly rows: number; readonly ageMs: number; readonly durationMs: number }
  /**
   * The snapshot is not used, and the lists are read in full. `reason` completes a sentence that begins with the
   * snapshot.
   */
  | { readonly kind: 'snapshot-ignored'; readonly reason: string }
  | { readonly kind: 'snapshot-written'; readonly rows: number; readonly bytes: number; readonly durationMs: number }
  /** `keptAgeMs`: the age of the snapshot that a start would continue from; `null` if there is none. */
  | { readonly kind: 'snapshot-not-written'; readonly reason: string; readonly keptAgeMs: number | null }
  /** The role of this instance in the cluster, or the state of the cluster's store, has changed. */
  | { readonly kind: 'cluster-changed'; readonly what: ClusterChange; readonly detail: string | null }
  /** A webhook's receiver begins to fail, has failed for a day, wants no more calls, or takes them again. */
  | {
      readonly kind: 'webhook-changed'
      readonly webhook: string
      readonly what: 'failing' | 'failed-for-a-day' | 'gone' | 'recovered'
      readonly detail: string
    }
  | { readonly kind: 'request-answered'; readonly request: RequestReport }
  | { readonly kind: 'stopping'; readonly signal: string; readonly drainMs: number }
  /** The process ends. `inOrder` is false if requests were cut off. */
  | { readonly kind: 'stopped'; readonly inOrder: boolean }
  /** A signal without a meaning for the service. */
  | { readonly kind: 'signal-ignored'; readonly signal: string }
  /** SIGHUP changed these keys. `later`: keys that take effect at the next start. */
  | { readonly kind: 'reloaded'; readonly changed: readonly string[]; readonly later: readonly string[] }
  /** SIGHUP changed nothing because of these problems, one sentence each. */
  | { readonly kind: 'reload-refused'; readonly problems: readonly string[] }
  | { readonly kind: 'internal-error'; readonly message: string }

export type ClusterChange =
  | 'became-leader'
  | 'lost-leadership'
  | 'reads-alone'
  | 'store-lost'
  | 'store-found'
  /** The rows here cannot be kept up to date any further, and are loaded again beside those that are served. */
  | 'loads-again'
  | 'rows-unusable'
  /** The leader fills the store again. */
  | 'refills'
  /** The leader's data is too old for the maximum age of this instance. */
  | 'max-age-too-short'
  /** This instance cannot read the CRM, so it could not become the leader. */
  | 'unfit'
  /** The store is on another machine, and is used without TLS. */
  | 'unencrypted'

export interface ReadReport {
  readonly list: string
  /**
   * `addition`: an extra read of changes, made while a refresh of this list waits for the other list. It adds and
   * changes rows, and removes none.
   */
  readonly kind: 'full' | 'changes' | 'availability' | 'addition'
  /** Whether it was an audit: a full read beside the refreshes, which finds what the CRM does not report. */
  readonly isAudit: boolean
  readonly outcome: Outcome
  /** One sentence for the operator if the read failed; else `null`. */
  readonly message: string | null
  readonly durationMs: number
  readonly rows: number
  readonly changed: number
  /** Rows that this read withheld and that, before it, were not withheld by mistake. */
  readonly newlyWithheld: readonly WithheldCount[]
  /** The list has rows but serves none, since this read. */
  readonly servesNothing: boolean
  readonly served: number
  readonly withheld: number
}

/** The public routes by their templates. `other` is any other path. */
export const ROUTES = [
  '/api/events/{id}',
  '/api/events/{id}/venue',
  '/api/venues/{id}',
  '/api/events',
  '/api/venues',
  '/api/tags',
  '/api/changes',
  '/api/events/{id}.ics',
  '/api/events.ics',
  '/api/events.atom',
  '/api/openapi.json',
  '/',
  'other',
] as const

export type RouteLabel = (typeof ROUTES)[number]

export interface RequestReport {
  readonly method: string
  /** The route's template: `/api/events/{id}`. */
  readonly route: RouteLabel
  /** The requested path without its query, cut to 200 characters. */
  readonly path: string
  readonly status: number
  /** The media type of the answer; `none` without a body. */
  readonly type: string
  readonly durationMs: number
  /** From the caller's `traceparent`; `null` if that is missing or malformed. */
  readonly traceId: string | null
}

export type Observe = (observation: Observation) => void

/**
 * The outcomes of a read of the CRM. Each is counted from the start, because an alert on a rise needs the 0 before it.
 */
export const OUTCOMES = [
  'ok',
  /** An outage: no answer, or an internal error of the CRM. */
  'unreachable',
  'timeout',
  'throttled',
  /** The CRM refused the credentials or the rights. */
  'refused',
  /** The configuration names something that the CRM does not have. */
  'misconfigured',
  /** The answer cannot be parsed: broken syntax, HTML, cut short. */
  'broken',
  /** The cursor is no longer valid. A full read follows at once. */
  'cursor-refused',
  /** The list lost too many records to be believed. */
  'shrunk',
  /** Many rows are missing from a list that was read at several moments. A second read must agree. */
  'unconfirmed',
  /** The list is larger than `limits.memory`, or an answer exceeds its own limit. */
  'too-large',
  /** The data may be incomplete. The list stays unchanged, with its age, until a later read. */
  'waiting',
  /** A bug in Marquee or the connector. */
  'internal',
] as const

export type Outcome = (typeof OUTCOMES)[number]

/** Why a read of the CRM failed. */
export type FailureKind = Exclude<Outcome, 'ok'>
