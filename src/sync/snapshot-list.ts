import type { ListName } from '../domain/field.ts'
import { fieldsOf } from '../records/row-records.ts'
import { type PackedRows, FAULTS } from '../records/packed-withheld.ts'
import { type Failure, type Cursor, cursorOf } from './port.ts'
import type { Freshness, Shrunk, ToldShrunk } from './served-list.ts'
import type { ShrinkGuard } from './shrink-guard.ts'
import type { Moment } from '../time/time.ts'

/**
 * Incremented if the format of row records, chunks or heads changes. Instances only read and write their own format.
 */
export const SNAPSHOT_FORMAT = 1

/** A list's part of a snapshot, without its rows. */
export interface SnapshotList {
  /** The cursor for the next read of changes; `null` if that must be a full read. */
  readonly cursor: Cursor | null
  readonly served: number
  readonly withheld: number
  /**
   * For each fault, in the order of `FAULTS`: the number of rows that are withheld for it and have no id of their own.
   */
  readonly unidentified: readonly number[]
  /** When the list was last read in full, wall ms; `null` if unknown. */
  readonly auditedAtMs: number | null
  /** The time up to which all changes have been read, wall ms; `null` if unknown. */
  readonly confirmedAtMs: number | null
  /** What the shrink guard did not believe, with the wall time since when; `null` while the list is believed. */
  readonly shrunk: { readonly sinceMs: number; readonly absent: number; readonly unreadable: number } | null
  /** Records withdrawn as unreadable since the last full read that was believed. */
  readonly lost: number
}

/**
 * The knowledge of a previous reader of the same list, from which this process continues. The rows are already in the
 * list.
 */
export interface ResumeState extends Pick<SnapshotList, 'cursor' | 'unidentified' | 'lost'> {
  /** The age of the list, continued from the previous reader. */
  readonly freshness: Freshness
  readonly isLoaded: boolean
  /** What the shrink guard did not believe; `null` while the list is believed. */
  readonly shrunk: ToldShrunk | null
  /** The operator has accepted a shorter list. */
  readonly accepting: boolean
  /** The failure of the last read, with the rest of the CRM's `Retry-After`, which the next reader must obey. */
  readonly failure: Failure | null
  /** The number of failures in a row. */
  readonly failures: number
}

/** Returns a list's part of a snapshot. `resumed` is the snapshot that the list itself was loaded from. */
export function snapshotListOf(
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
    readonly resumed: SnapshotList | null
    readonly now: Moment
  },
): SnapshotList {
  const { freshness, guard, cursor, resumed, now } = known
  const { shrunk } = guard
  const wallMsOf = (ageMs: number | null): number | null => (ageMs === null ? null : now.wallMs - ageMs)
  return {
    // If the list is not believed, the next process must read it in full and judge it against the rows.
    cursor: shrunk === null ? cursor : null,
    served: list.served,
    withheld: list.withheld,
    unidentified: [...list.unidentified.counts],
    auditedAtMs: wallMsOf(freshness.auditedAgeMs(now)) ?? resumed?.auditedAtMs ?? null,
    confirmedAtMs: wallMsOf(freshness.confirmedAgeMs(now)) ?? resumed?.confirmedAtMs ?? null,
    shrunk: shrunk === null ? null : shrunkAt(shrunk),
    lost: list.lostCount,
  }
}

function shrunkAt({ since, absent, unreadable }: Shrunk): SnapshotList['shrunk'] {
  return { sinceMs: since.wallMs, absent, unreadable }
}

export type SnapshotLists = Readonly<Record<ListName, SnapshotList>>

/** Parses a list's part of a snapshot; `null` if it is not valid. */
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

/** `undefined` if the value is not valid. */
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
