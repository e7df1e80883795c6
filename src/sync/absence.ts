import type { Guid } from '../domain/guid.ts'
import type { Freshness } from './freshness.ts'
import { type ReadPurpose, type ServedRows, REPEATED } from './port.ts'
import { type RecordList, rowOf } from '../records/record-list.ts'
import { type Moment, elapsedMs } from '../time/time.ts'
import { type Shard, FREE, SERVED } from '../records/shard.ts'

/** The ids that are served and that a complete read, begun at `since`, did not mention. */
export function* absentIds<Item>(list: RecordList<Item>, since: number): Generator<Guid, void> {
  for (const shard of list.shards) {
    for (let slot = 0; slot < shard.slots; slot++) {
      if (shard.state[slot] === SERVED && (shard.seenAt[slot] ?? 0) < since) yield shard.guid(slot)
    }
  }
}

/** A read of all rows: what it mentioned carries its number or a higher one. */
export interface Sighting {
  readonly number: number
  /** Monotonic ms. */
  readonly begunAt: number
  readonly audit: boolean
}

/**
 * Rows that are served and missing from a complete read: neither mentioned by it nor seen since it began. More than would be
 * removed where the source lags, since rows seen after the moment it shows stay. With `before`, only those that were not
 * missing from that read. `unreadable`: how many of them are served though their rows became unreadable.
 */
export function countMissing(
  list: Pick<RecordList<unknown>, 'shards' | 'kept'>,
  read: Sighting,
  before?: Sighting,
): { readonly missing: number; readonly unreadable: number } {
  let [missing, unreadable] = [0, 0]
  for (const shard of list.shards) {
    for (let slot = 0; slot < shard.slots; slot++) {
      if (shard.state[slot] !== SERVED || isSeen(shard, slot, read)) continue
      if (before !== undefined && !isSeen(shard, slot, before)) continue
      missing++
      if (list.kept.has(rowOf(shard.number, slot))) unreadable++
    }
  }
  return { missing, unreadable }
}

function isSeen(shard: Shard, slot: number, { number, begunAt, audit }: Sighting): boolean {
  const numbers = audit ? shard.auditedIn : shard.seenIn
  return (numbers[slot] ?? 0) >= number || (shard.seenAt[slot] ?? 0) >= begunAt
}

/** What is served, or will be once it is confirmed, while the list is read; null if nothing is. */
export function servedRows<Item>(
  { purpose, begun, reading }: ReadUnderWay,
  list: RecordList<Item>,
  { freshness, loadedAtMs, adoptedAtMs, guard: { shrunk } }: HeldSince,
  now: Moment,
  { maxAgeMs, shrinkGuardMs }: { readonly maxAgeMs: number; readonly shrinkGuardMs: number | null },
): ServedRows | null {
  const heldAtMs = Math.min(loadedAtMs, adoptedAtMs)
  if (heldAtMs === Number.POSITIVE_INFINITY) return null
  const sighting = { number: reading.number, begunAt: begun.monotonicMs, audit: purpose === 'audit' }
  const ageMs = freshness.confirmedAgeMs(now) ?? now.monotonicMs - heldAtMs
  return {
    get count() {
      return list.served
    },
    has: (id) => list.serves(id),
    countMissing: () => countMissing(list, sighting).missing,
    tooOldAtMs: now.monotonicMs + maxAgeMs - ageMs,
    servedOnUntilMs: shrunk === null ? null : now.monotonicMs - elapsedMs(shrunk.since, now) + (shrinkGuardMs ?? 0),
  }
}

/** What a reader holds, and by the monotonic clock since when; infinite if it does not. */
interface HeldSince {
  readonly freshness: Freshness
  readonly loadedAtMs: number
  readonly adoptedAtMs: number
  readonly guard: { readonly shrunk: { readonly since: Moment } | null }
}

interface ReadUnderWay {
  readonly purpose: ReadPurpose
  readonly begun: Moment
  readonly reading: { readonly number: number }
}

/** Whether a read of the availability, begun at `since`, left out any row that is served. */
export function hasOlderAvailability<Item>(list: RecordList<Item>, since: number): boolean {
  return list.shards.some((shard) => {
    for (let slot = 0; slot < shard.slots; slot++) {
      if (shard.state[slot] === SERVED && (shard.availabilityAt[slot] ?? 0) < since) return true
    }
    return false
  })
}

/** Removes the rows that a complete read, begun at `since`, did not mention; yields between shards, and requests pass. */
export async function removeAbsent<Item>(
  list: RecordList<Item>,
  since: number,
  pause: () => Promise<void>,
): Promise<number> {
  let removed = 0
  let sincePause = 0
  for (const [index, shard] of list.shards.entries()) {
    for (let slot = 0; slot < shard.slots; slot++) {
      if (shard.state[slot] === FREE || (shard.seenAt[slot] ?? 0) >= since) continue
      list.remove(rowOf(index, slot))
      removed++
      sincePause++
    }
    if (sincePause > 1000) {
      sincePause = 0
      await pause()
    }
  }
  return removed
}

/**
 * A read of all rows, begun at `since`, did not find these, and a comparison of versions has seen them since: they were away in
 * between, and may have changed then under the version they had. The next comparison reads them.
 */
export function doubtVersions<Item>(list: RecordList<Item>, since: number): void {
  for (const shard of list.shards) {
    for (let slot = 0; slot < shard.slots; slot++) {
      if (shard.state[slot] === FREE || (shard.detailsAt[slot] ?? 0) >= since || shard.version[slot] === REPEATED)
        continue
      list.setVersion(rowOf(shard.number, slot), Number.NaN)
    }
  }
}
