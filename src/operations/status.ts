import { indexOf } from '../order/list-index.ts'
import type { ListName } from '../domain/field.ts'
import type { Suspicion } from '../domain/suspicion.ts'
import type { ReadyBodiesCount } from '../records/ready-bodies.ts'
import { type Aged, isAnswered, listStanding } from '../sync/admission.ts'
import { type HeldLists, type ToldList, type ToldLists, withheldIn } from '../sync/held-lists.ts'
import type { RefreshSettings } from '../sync/list-replica.ts'
import { type Shrunk, untilOf } from '../sync/shrink-guard.ts'
import type { Moment } from '../time/time.ts'
import type { ClusterStatus } from './cluster-status.ts'
import { countWithheld, faultCounts } from '../faults/fault-words.ts'

/** The snapshot in its file. */
export interface SnapshotStanding {
  readonly rows: number
  readonly bytes: number
  readonly ageMs: number
}

/** A SIGHUP that changed nothing: when, and why, a sentence each. */
export interface RefusedReload {
  readonly at: string
  readonly problems: readonly string[]
}

export interface Status {
  readonly ready: boolean
  /** A signal has come: what is in flight may end, and nothing new is to be sent here. */
  readonly stopping: boolean
  readonly version: string
  readonly startedAt: string
  /** Requests that wait for a refresh now. */
  readonly waiting: number
  /** What a restart goes on from; null where there is none. */
  readonly snapshot: SnapshotStanding | null
  readonly readyBodies: ReadyBodiesCount
  /** Absent where this instance stands alone. */
  readonly cluster?: ClusterStatus
  /** Absent unless the last reload was refused. */
  readonly reload?: RefusedReload
  readonly settings: RefreshSettings
  /** What dates without an offset are read in, whether somebody said so, and how many there are. */
  readonly zone: { readonly name: string; readonly set: boolean; readonly datesWithoutOffset: number }
  readonly lists: { readonly events: ListStatus; readonly venues: ListStatus }
}

export interface StatusOptions extends Pick<
  Status,
  'settings' | 'version' | 'startedAt' | 'stopping' | 'waiting' | 'snapshot' | 'readyBodies'
> {
  readonly lists: ToldLists
  readonly now: Moment
  readonly cluster: ClusterStatus | null
  readonly refused: RefusedReload | null
  readonly ignoredColumns: (list: string) => readonly string[]
  readonly watched: {
    readonly zone: Status['zone']
    readonly found: Readonly<Record<ListName, readonly Suspicion[]>>
    /** When rows of each list were last withheld anew for a mistake, monotonic ms. */
    readonly mistakenAtMs: Readonly<Record<ListName, number>>
  }
}

/** What `/status` says: whether answers may be given, and how each list is. */
export function statusOf(options: StatusOptions): Status {
  const { lists, settings, now, version, startedAt, stopping, waiting, snapshot, readyBodies, cluster, refused } =
    options
  const { events, venues } = lists
  return {
    ready: !stopping && isReady(lists, settings, now),
    stopping,
    version,
    startedAt,
    waiting,
    snapshot,
    readyBodies,
    ...(cluster === null ? {} : { cluster }),
    ...(refused === null ? {} : { reload: refused }),
    settings,
    zone: options.watched.zone,
    lists: { events: listStatus(events, options), venues: listStatus(venues, options) },
  }
}

/** Both lists were read in full, and neither is past what may be answered. */
export function isReady({ events, venues }: HeldLists, settings: RefreshSettings, now: Moment): boolean {
  return mayAnswer(events, settings, now) && mayAnswer(venues, settings, now)
}

/** Whether requests are answered from this list rather than with 502. */
export function mayAnswer(list: Aged, settings: RefreshSettings, now: Moment): boolean {
  const standing = listStanding(list, settings, now)
  if (standing === 'empty') return false
  if (isAnswered(standing, list)) return true
  // Renewed on demand: being past the maximum age between two requests is no trouble.
  return settings.refreshEveryMs > settings.maxAgeMs && !list.isFailing
}

function shrunkStatus(shrunk: Shrunk, shrinkGuardMs: number, now: Moment) {
  const { absent, unreadable } = shrunk
  const [since, until] = [0, shrinkGuardMs].map((ms) => new Date(untilOf(shrunk, ms, now)).toISOString())
  return { since, until, absent, unreadable }
}

type ListStatus = ReturnType<typeof listStatus>

function listStatus<Item>(told: ToldList<Item>, { now, settings, ignoredColumns, watched }: StatusOptions) {
  const { list, freshness, drift, shrunk, isLoaded } = told
  const index = indexOf(list)
  const withheld = withheldIn(told)
  const mistakenAt = watched.mistakenAtMs[list.kind.name]
  return {
    served: list.served,
    // Events that `/api/events` begins with; only where lists are on.
    ...(list.kind.name === 'events' && index !== null ? { notYetOver: index.countFrom(now.wallMs) } : {}),
    withheld,
    withheldByReason: countWithheld(list),
    // The same by column too; a row with several faults counts in several groups.
    groups: faultCounts(list).flatMap(({ column, fault, count }) => (count > 0 ? [{ column, fault, count }] : [])),
    // Since rows were last withheld for a mistake that had not been before; null where none ever were.
    newMistakesAgeMs: mistakenAt === -Infinity ? null : now.monotonicMs - mistakenAt,
    servesNothing: isLoaded && list.served === 0 && withheld > 0,
    suspicious: watched.found[list.kind.name],
    ignoredColumns: ignoredColumns(list.kind.name),
    standing: listStanding(told, settings, now),
    answers: mayAnswer(told, settings, now),
    // Null where the list was never read in full.
    confirmedAgeMs: freshness.confirmedAgeMs(now),
    auditedAgeMs: freshness.auditedAgeMs(now),
    ...(told.hasOwnAvailability ? { availabilityAgeMs: freshness.availabilityAgeMs(now) } : {}),
    lastError: told.lastFailure?.message ?? null,
    // Whether that only says that a file may be half-written, which is read once it is whole.
    waits: told.lastFailure?.kind === 'waiting',
    nextTryInMs: told.nextReadInMs,
    // What the shrink guard does not believe, and until when the old list is served; null while the list is believed.
    shrunk: shrunk === null ? null : shrunkStatus(shrunk, settings.shrinkGuardMs ?? 0, now),
    // Records that had changed without the CRM reporting it, by column, since the start.
    drift: Object.fromEntries(drift.byColumn),
  }
}
