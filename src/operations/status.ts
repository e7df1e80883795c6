import { orderIndexOf } from '../order/list-index.ts'
import type { ListName } from '../domain/field.ts'
import type { Suspicion } from '../domain/withheld.ts'
import { ZONE_DATA_VERSION } from '../domain/zone-data.ts'
import {
  type EitherList,
  type RefreshSettings,
  type ServedLists,
  type Shrunk,
  answeredUntil,
  isAnswered,
  listStanding,
  servedUntil,
  untilOf,
} from '../sync/served-list.ts'
import type { Moment } from '../time/time.ts'
import type { WebhookStatus } from '../webhooks/webhook.ts'
import { countWithheld, faultCounts } from '../faults/fault-words.ts'
import { NO_VENUES } from '../faults/venue-references.ts'

/** The snapshot in the file or the store. */
export interface SnapshotStanding {
  readonly rows: number
  readonly bytes: number
  readonly ageMs: number
}

export const ROLES = ['leader', 'follower', 'standalone', 'waiting'] as const

/** The role of this instance in the cluster, and what it knows about the other instances. */
export interface ClusterStatus {
  /** `standalone`: this instance reads the CRM on its own, because the store is lost. `waiting`: it has no data yet. */
  readonly role: (typeof ROLES)[number]
  readonly connected: boolean
  /** 16 random hex digits, chosen at the start. */
  readonly instance: string
  /** The instance that reads the CRM for all; `null` if none is known. */
  readonly leader: string | null
  readonly epoch: number
  /** The last write that was applied here, `<epoch>-<number>`; `null` if this instance follows nothing. */
  readonly position: string | null
  /** The number of instances according to the last heartbeat, including the leader. */
  readonly instances: number
  readonly versions: readonly string[]
  /** The instances that claim the leadership first, in this order. */
  readonly candidates: readonly string[]
  /** Why the store or its rows cannot be used; `null` if all is well. */
  readonly lastError: string | null
}

export interface ClusterCounts {
  readonly status: ClusterStatus
  /** The number of rows that were read and are not in the store yet. */
  readonly outbox: number
  /** Claims to lead that this instance has seen. */
  readonly claims: number
  /** How often rows had to be loaded again, by reason. */
  readonly loads: ReadonlyMap<string, number>
  readonly entries: Readonly<Record<string, number>>
  readonly bytes: Readonly<Record<string, number>>
}

export interface ReadingStatus {
  /** The current snapshot; `null` if there is none. */
  readonly snapshot: SnapshotStanding | null
  /** Why the snapshot file could not be written, as the rest of a sentence; `null` if it could. */
  readonly snapshotError: string | null
  /** `null` without a cluster. */
  readonly cluster: ClusterCounts | null
}

/** A refused reload: its time and its problems, one sentence each. */
export interface RefusedReload {
  readonly at: string
  readonly problems: readonly string[]
}

export interface StatusOptions {
  /** Whether the service is stopping. Running requests are completed; probes must send no new ones. */
  readonly stopping: boolean
  readonly version: string
  readonly startedAt: string
  /** The address of the page for browsers; `null` if it is off, or not on this machine alone. */
  readonly page: string | null
  readonly waiting: number
  readonly snapshot: SnapshotStanding | null
  readonly snapshotError: string | null
  readonly readyBodies: ReadyBodiesCount
  readonly cluster: ClusterStatus | null
  /** The operator's own programs that read the CRM. */
  readonly connector: readonly { readonly file: string; readonly sha256: string }[]
  readonly refused: RefusedReload | null
  readonly webhooks: readonly WebhookStatus[]
  readonly settings: RefreshSettings
  readonly lists: ServedLists
  readonly now: Moment
  /** Returns when the last event ended, wall ms, if all events are over; else `null`. */
  readonly allOverSinceMs: () => number | null
  /** Whether `lists` is on. The calendars alone need the same index. */
  readonly hasLists: boolean
  readonly ignoredColumns: (list: string) => readonly string[]
  readonly watched: {
    /** The zone of dates without an offset, whether it is configured, and the number of such dates. */
    readonly zone: { readonly name: string; readonly set: boolean; readonly datesWithoutOffset: number }
    readonly found: Readonly<Record<ListName, readonly Suspicion[]>>
    /** The last time at which a row of each list became withheld because of a mistake, monotonic ms. */
    readonly mistakenAtMs: Readonly<Record<ListName, number>>
  }
}

/** The bodies of records that are kept ready to send. */
export interface ReadyBodiesCount {
  readonly limitBytes: number
  /** The allocated memory, without pages of lists. */
  readonly bytes: number
  /** Bodies that were ready when they were requested, and bodies that were made. */
  readonly hits: number
  readonly misses: number
}

export type Status = ReturnType<typeof statusOf>

/** Creates the answer of `/status`: whether the service is ready, and the state of each list. */
export function statusOf(options: StatusOptions) {
  const { lists, settings, now, version, startedAt, stopping, waiting, snapshot, readyBodies } = options
  const { page, cluster, refused, connector, watched, snapshotError, webhooks } = options
  return {
    ready: !stopping && isReady(lists, settings, now),
    stopping,
    version,
    timeZoneData: ZONE_DATA_VERSION,
    startedAt,
    // The clock of this machine, for comparison with others.
    now: isoTime(now.wallMs),
    waiting,
    snapshot,
    snapshotError,
    readyBodies,
    ...(page === null ? {} : { page }),
    ...(cluster === null ? {} : { cluster }),
    ...(connector.length === 0 ? {} : { connector }),
    ...(refused === null ? {} : { reload: refused }),
    ...(webhooks.length === 0 ? {} : { webhooks }),
    settings,
    zone: watched.zone,
    lists: { events: listStatus(lists.events, options), venues: listStatus(lists.venues, options) },
  }
}

/** Returns true if requests for both lists are answered. */
export function isReady({ events, venues }: ServedLists, settings: RefreshSettings, now: Moment): boolean {
  return mayAnswer(events, settings, now) && mayAnswer(venues, settings, now)
}

/** Returns true if requests for this list are answered; otherwise they get 502. */
export function mayAnswer(list: EitherList, settings: RefreshSettings, now: Moment): boolean {
  const standing = listStanding(list, settings, now)
  if (standing === 'empty') return false
  if (isAnswered(standing, list)) return true
  // A list that is only refreshed on demand may be past the maximum age between two requests.
  return settings.refreshEveryMs > settings.maxAgeMs && !list.isFailing
}

function isoTime(ms: number): string {
  return new Date(ms).toISOString()
}

/** Returns the time until which callers get answers if no read succeeds before; `null` if it is past or unknown. */
function answersUntil(list: EitherList, settings: RefreshSettings, now: Moment): string | null {
  const untilMs = answeredUntil(list, settings, now)
  return untilMs === null || untilMs < now.wallMs ? null : isoTime(untilMs)
}

/** Returns until when a list past the maximum age is answered from all the same; `null` if it is not past it. */
export function bridgedUntil(list: EitherList, settings: RefreshSettings, now: Moment): string | null {
  return listStanding(list, settings, now) === 'stale' ? answersUntil(list, settings, now) : null
}

function wholeMs(ms: number | null): number | null {
  return ms === null ? null : Math.ceil(ms)
}

function shrunkStatus(shrunk: Shrunk, ageMs: number | null, settings: RefreshSettings, now: Moment) {
  const { absent, unreadable } = shrunk
  const since = isoTime(untilOf(shrunk, 0, now))
  const until = ageMs === null ? null : isoTime(servedUntil(shrunk, ageMs, settings, now))
  return { since, until, absent, unreadable }
}

/** Returns true if events name venues, of which there are none. */
function isMissed(list: ListName, { found }: StatusOptions['watched']): boolean {
  return list === 'venues' && found.events.some(({ what }) => what === NO_VENUES)
}

function listStatus(
  either: EitherList,
  { now, settings, ignoredColumns, watched, hasLists, allOverSinceMs }: StatusOptions,
) {
  const overSinceMs = allOverSinceMs()
  const { list, freshness, drift, shrunk, isLoaded } = either
  const index = hasLists ? orderIndexOf(list) : null
  const withheld = list.withheldInAll
  const mistakenAt = watched.mistakenAtMs[list.kind.name]
  return {
    served: list.served,
    // The number of events in `/api/events`, if lists are on.
    ...(list.kind.name === 'events' && index !== null ? { notYetOver: index.countFrom(now.wallMs) } : {}),
    // When the last event ended, if all events are over; else null. Venues have no end.
    ...(list.kind.name === 'events' ? { allOverSince: overSinceMs === null ? null : isoTime(overSinceMs) } : {}),
    withheld,
    withheldByReason: countWithheld(list),
    // The same by column. A row with several faults counts in several groups.
    groups: faultCounts(list).flatMap(({ column, fault, count }) => (count > 0 ? [{ column, fault, count }] : [])),
    // Time since a row was last newly withheld for a mistake; null if there was none.
    newMistakesAgeMs: mistakenAt === -Infinity ? null : Math.ceil(now.monotonicMs - mistakenAt),
    servesNothing: isLoaded && list.served === 0 && (withheld > 0 || isMissed(list.kind.name, watched)),
    suspicious: watched.found[list.kind.name],
    ignoredColumns: ignoredColumns(list.kind.name),
    standing: listStanding(either, settings, now),
    answers: mayAnswer(either, settings, now),
    // Until when callers get answers if no read succeeds before; null while they get 502.
    answersUntil: mayAnswer(either, settings, now) ? answersUntil(either, settings, now) : null,
    // Null if the list was never read in full.
    confirmedAgeMs: wholeMs(freshness.confirmedAgeMs(now)),
    auditedAgeMs: wholeMs(freshness.auditedAgeMs(now)),
    lastError: either.lastFailure?.message ?? null,
    // Whether the error only says that the file may be half-written. It is read once it is complete.
    waits: either.lastFailure?.kind === 'waiting',
    nextTryInMs: Math.ceil(either.nextReadInMs),
    // The losses that the shrink guard refuses, and until when the old list is served; null if it refuses none. `until`
    // is null if the old list is not served, because its age is unknown.
    shrunk: shrunk === null ? null : shrunkStatus(shrunk, either.ageMs(now), settings, now),
    // The number of changes that the CRM did not report, by column, since the start.
    drift: Object.fromEntries(drift.byColumn),
  }
}
