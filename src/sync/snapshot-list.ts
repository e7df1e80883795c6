import type { ListName } from '../domain/field.ts'
import { fieldsOf } from '../records/row-records.ts'
import type { Freshness } from './freshness.ts'
import { type PackedRows, FAULTS } from '../records/packed-withheld.ts'
import { type Failure, type Cursor, cursorOf } from './port.ts'
import type { Shrunk, ShrinkGuard, ToldShrunk } from './shrink-guard.ts'
import type { Moment } from '../time/time.ts'

/** Raised where frames, chunks or heads are written otherwise: no instance reads another format, and none writes an older one. */
export const SNAPSHOT_FORMAT = 1

/** What a snapshot says of a list beside its rows. */
export interface SnapshotList {
  /** What the next read of changes goes on from; null where that takes a full read. */
  readonly cursor: Cursor | null
  readonly served: number
  readonly withheld: number
  /** How many rows have no place of their own, in the order of the faults. */
  readonly unidentified: readonly number[]
  /** As of when the list was last read in full, by the wall clock; null where nobody knows. */
  readonly auditedAtMs: number | null
  /** As of when it was last known to be what the CRM shows, by the same clock; null if nobody knows. */
  readonly confirmedAtMs: number | null
  /** What the shrink guard did not believe, and since when, by the same clock; null while the list is believed. */
  readonly shrunk: { readonly sinceMs: number; readonly absent: number; readonly unreadable: number } | null
  /** How many records have left the web as unreadable since the last full read that was believed. */
  readonly lost: number
}

/** What another reader of the same list knew, and this one goes on from; its rows are in the list. */
export interface ResumeState extends Pick<SnapshotList, 'cursor' | 'unidentified' | 'lost'> {
  /** Ages go on counting. */
  readonly freshness: Freshness
  readonly isLoaded: boolean
  /** What the shrink guard did not believe; null while the list is believed. */
  readonly shrunk: ToldShrunk | null
  /** The operator said that the shorter list is right. */
  readonly accepting: boolean
  /** How the last read failed, with what is left of the time that the CRM asked for: whoever comes next obeys that. */
  readonly failure: Failure | null
  /** In a row, by then. */
  readonly failures: number
}

/** What a snapshot would say of a list now, of which `adopted` was taken over. */
export function baseListOf(
  list: {
    readonly served: number
    readonly withheld: number
    readonly unidentified: PackedRows
    readonly lostCount: number
  },
  known: {
    readonly freshness: Freshness
    readonly guard: Pick<ShrinkGuard, 'shrunk'>
    readonly cursor: Cursor | null
    readonly adopted: SnapshotList | null
    readonly now: Moment
  },
): SnapshotList {
  const { freshness, guard, cursor, adopted, now } = known
  const { shrunk } = guard
  const wallMsOf = (ageMs: number | null): number | null => (ageMs === null ? null : now.wallMs - ageMs)
  return {
    // Where the list is not believed, whoever goes on reads it in full, and judges that by the rows.
    cursor: shrunk === null ? cursor : null,
    served: list.served,
    withheld: list.withheld,
    unidentified: [...list.unidentified.counts],
    auditedAtMs: wallMsOf(freshness.auditedAgeMs(now)) ?? adopted?.auditedAtMs ?? null,
    confirmedAtMs: wallMsOf(freshness.confirmedAgeMs(now)) ?? adopted?.confirmedAtMs ?? null,
    shrunk: shrunk === null ? null : shrunkAt(shrunk),
    lost: list.lostCount,
  }
}

function shrunkAt({ since, absent, unreadable }: Shrunk): SnapshotList['shrunk'] {
  return { sinceMs: since.wallMs, absent, unreadable }
}

export type SnapshotLists = Readonly<Record<ListName, SnapshotList>>

/** What a snapshot says of a list, of a value that was JSON; null where it is not that. */
export function parseSnapshotList(given: unknown): SnapshotList | null {
  const {
    cursor,
    served,
    withheld,
    unidentified,
    auditedAtMs,
    confirmedAtMs = null,
    shrunk = null,
    lost = 0,
  } = fieldsOf(given)
  if (cursor !== null && typeof cursor !== 'string') return null
  if (!isCount(served) || !isCount(withheld) || !isCount(lost) || !isTime(auditedAtMs) || !isTime(confirmedAtMs))
    return null
  if (!Array.isArray(unidentified) || unidentified.length > FAULTS.length || !unidentified.every(isCount)) return null
  const held = shrunk === null ? null : shrunkOf(shrunk)
  if (held === undefined) return null
  const known = { auditedAtMs, confirmedAtMs, shrunk: held, lost }
  return { cursor: cursor === null ? null : cursorOf(cursor), served, withheld, unidentified, ...known }
}

/** Undefined if it is not what it should be. */
function shrunkOf(given: unknown): SnapshotList['shrunk'] | undefined {
  const { sinceMs, absent, unreadable } = fieldsOf(given)
  return typeof sinceMs === 'number' && isCount(absent) && isCount(unreadable)
    ? { sinceMs, absent, unreadable }
    : undefined
}

function isTime(given: unknown): given is number | null {
  return given === null || typeof given === 'number'
}

function isCount(given: unknown): given is number {
  return Number.isSafeInteger(given) && Number(given) >= 0
}
