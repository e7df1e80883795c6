import type { PackedRows } from '../records/packed-withheld.ts'
import type { Cursor } from './port.ts'
import type { Freshness, Shrunk, SnapshotList } from './served-list.ts'
import type { ShrinkGuard } from './shrink-guard.ts'
import type { Moment } from '../time/time.ts'

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
