// The room of what is told: everything worth telling is one of these; log lines, counts and the dashboard's history derive from it.
// In: observations and answered requests. Out: lines (log.ts, line-sink.ts), counts (meters.ts), the last reads (read-history.ts).
// It fails nobody and waits for nobody: what cannot be written is counted.
import type { WithheldFault } from '../domain/withheld.ts'

/** Everything worth telling: log lines and metrics derive from it. No CRM value and no secret is ever in one. */
export type Observation =
  | { readonly kind: 'read-ended'; readonly read: ReadReport }
  /** One exchange with the CRM, as the connector counts them: a page asked for, a statement, a file read. */
  | { readonly kind: 'crm-request'; readonly outcome: Outcome }
  /** Changes are served, each so long after the CRM says that it was made. */
  | { readonly kind: 'changes-published'; readonly delaysMs: readonly number[] }
  /** A list lost so much that the read is not believed: of so many records, which faults, and until when the old list is served. */
  | {
      readonly kind: 'shrunk'
      readonly list: string
      readonly absent: number
      readonly unreadable: number
      readonly records: number
      readonly faults: readonly WithheldCount[]
      readonly until: string
    }
  /** Callers begin to get 502 for a list. `ageMs`: since the read began that last confirmed it; null if none ever did. */
  | { readonly kind: 'answers-stopped'; readonly list: string; readonly why: string; readonly ageMs: number | null }
  /** Callers get answers again. */
  | { readonly kind: 'answers-resumed'; readonly list: string; readonly lastedMs: number }
  /** The operator said that the shorter lists are right. */
  | { readonly kind: 'shorter-accepted'; readonly lists: readonly string[] }
  | { readonly kind: 'drift-found'; readonly list: string; readonly byColumn: Readonly<Record<string, number>> }
  /** The CRM does not tell what changed in a table, or what it gives to go on from fails: every refresh is a full read. */
  | {
      readonly kind: 'no-change-tracking'
      readonly list: string
      readonly table: string
      readonly why: 'off' | 'failing'
    }
  /** Rows of a table hold codes for which the CRM has no word, and are served without it. */
  | { readonly kind: 'labels-missing'; readonly table: string; readonly column: string; readonly codes: number }
  | { readonly kind: 'columns-ignored'; readonly list: string; readonly columns: readonly string[] }
  /** What the operator should know of the CRM though its lists can be read: a sentence, with the row's id where it is about one. */
  | { readonly kind: 'crm-noticed'; readonly message: string }
  /** Rows of a list are served, and most likely wrong: how many, and where the first one stands. */
  | {
      readonly kind: 'suspicious'
      readonly list: string
      readonly column: string
      readonly what: string
      readonly count: number
      readonly where: string | null
    }
  /** Dates without an offset were read in this zone. */
  | {
      readonly kind: 'wall-times'
      readonly list: string
      readonly zone: string
      readonly isSet: boolean
      readonly count: number
    }
  /** The lists go on from what an earlier process wrote, once a read of changes has confirmed it. */
  | { readonly kind: 'snapshot-read'; readonly rows: number; readonly ageMs: number; readonly durationMs: number }
  /** What lies there is not used, and the lists are read in full: the rest of a sentence that begins with it. */
  | { readonly kind: 'snapshot-ignored'; readonly reason: string }
  | { readonly kind: 'snapshot-written'; readonly rows: number; readonly bytes: number; readonly durationMs: number }
  | { readonly kind: 'snapshot-not-written'; readonly reason: string }
  /** What this instance is to the others that share what one of them reads, or what became of their store. */
  | { readonly kind: 'cluster-changed'; readonly what: ClusterChange; readonly detail: string | null }
  | { readonly kind: 'request-answered'; readonly request: RequestReport }
  | { readonly kind: 'stopping'; readonly signal: string; readonly drainMs: number }
  /** All is over; `inOrder` is false if what was in flight was cut off. */
  | { readonly kind: 'stopped'; readonly inOrder: boolean }
  /** A signal that means nothing to the service. */
  | { readonly kind: 'signal-ignored'; readonly signal: string }
  /** SIGHUP: these keys have other values now; `later`: from the next start on. */
  | { readonly kind: 'reloaded'; readonly changed: readonly string[]; readonly later: readonly string[] }
  /** SIGHUP, and all stays as it was: why, a sentence each. */
  | { readonly kind: 'reload-refused'; readonly problems: readonly string[] }
  | { readonly kind: 'internal-error'; readonly message: string }

export type ClusterChange =
  | 'became-leader'
  | 'lost-leadership'
  | 'reads-alone'
  | 'store-lost'
  | 'store-found'
  | 'resynced'
  | 'snapshot-written'
  | 'snapshot-failed'
  | 'snapshot-ignored'
  | 'entry-refused'
  | 'nonces-refused'
  | 'log-unusable'
  | 'log-replaced'
  /** Instances that share nothing with this one use the same name. */
  | 'other-logs'
  /** What the leader reads is too old for the maximum age that is set here. */
  | 'max-age-too-short'
  /** The CRM cannot be read from here: others would have to. */
  | 'unfit'
  /** There is no key, and the store is on another machine. */
  | 'unsigned'

export interface ReadReport {
  readonly list: string
  /** `addition`: of what came to the list while a refresh of it waited for the other list; nothing else of it counts. */
  readonly kind: 'full' | 'changes' | 'availability' | 'addition'
  readonly outcome: Outcome
  /** One sentence for the operator where it failed. */
  readonly message: string | null
  readonly durationMs: number
  readonly rows: number
  readonly changed: number
  /** Rows that are withheld since this read, and were not for a mistake before. */
  readonly newlyWithheld: readonly WithheldCount[]
  /** The list has rows and serves none, since this read. */
  readonly servesNothing: boolean
  /** In how long the next try comes is the cycle's to say. */
  readonly served: number
  readonly withheld: number
}

export interface WithheldCount {
  /** Null where the row as a whole is meant. */
  readonly column: string | null
  readonly fault: WithheldFault
  readonly count: number
}

export interface RequestReport {
  readonly method: string
  /** The route's template, such as `/api/events/{id}`. */
  readonly route: string
  /** The path that was asked for, without its query, cut to 200 characters. */
  readonly path: string
  readonly status: number
  /** The media type of the answer, `none` where it has no body. */
  readonly type: string
  readonly durationMs: number
  /** Of the caller's `traceparent`, null where that is missing or malformed. */
  readonly traceId: string | null
}

export type Observe = (observation: Observation) => void

/** How a read of the CRM ends. Each has its count from the start, since an alert on a rise needs the 0 before it. */
export const OUTCOMES = [
  'ok',
  /** No answer, or an error of the CRM's own: an outage. */
  'unreachable',
  'timeout',
  'throttled',
  /** Credentials or rights. */
  'refused',
  /** The configuration names what the CRM does not have. */
  'misconfigured',
  /** An answer that cannot be understood: broken syntax, HTML, cut short. */
  'broken',
  /** The cursor is no longer good: a full read follows at once. */
  'cursor-refused',
  /** The list lost so much that it is not believed. */
  'shrunk',
  /** Much is missing from a list that was read at several moments: a second reading has to agree. */
  'unconfirmed',
  /** The list is larger than `limits.memory`, or an answer than any may be. */
  'too-large',
  /** What is there may be unfinished: the list stays as it is, at its age, until a later look. */
  'waiting',
  /** A bug of ours or the connector's. */
  'internal',
] as const

export type Outcome = (typeof OUTCOMES)[number]

/** What a read of the CRM can fail for. */
export type FailureKind = Exclude<Outcome, 'ok'>
