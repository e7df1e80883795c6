import { REPEATED } from './port.ts'
import type { RecordList } from './record-list.ts'
import type { Shard } from './shard.ts'
import { FREE, SERVED } from './shard.ts'

/** Rows that a complete read, begun at `since`, did not mention: how many are served of all that are. */
export function countAbsent<Item>(list: RecordList<Item>, since: number): number {
  let served = 0
  for (const shard of list.shards) {
    for (let slot = 0; slot < shard.slots; slot++) {
      if (shard.state[slot] === SERVED && (shard.seenAt[slot] ?? 0) < since) served++
    }
  }
  return served
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
 * missing from that read.
 */
export function countMissing<Item>(list: RecordList<Item>, read: Sighting, before?: Sighting): number {
  let missing = 0
  for (const shard of list.shards) {
    for (let slot = 0; slot < shard.slots; slot++) {
      if (shard.state[slot] !== SERVED || isSeen(shard, slot, read)) continue
      if (before === undefined || isSeen(shard, slot, before)) missing++
    }
  }
  return missing
}

function isSeen(shard: Shard, slot: number, { number, begunAt, audit }: Sighting): boolean {
  const numbers = audit ? shard.auditedIn : shard.seenIn
  return (numbers[slot] ?? 0) >= number || (shard.seenAt[slot] ?? 0) >= begunAt
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

/** Whether so much absence is rather a fault than the truth: more than half of the records, and more than ten. */
export function isBraked(absent: number, served: number): boolean {
  return absent > 10 && absent * 2 > served
}

/** Whether more is absent than one read of several moments may say: more than ten, and a twentieth of the records. */
export function isMuch(absent: number, served: number): boolean {
  return absent > 10 && absent * 20 > served
}

/** Removes the rows that a complete read, begun at `since`, did not mention; yields between shards, so that requests pass. */
export async function removeAbsent<Item>(
  list: RecordList<Item>,
  since: number,
  pause: () => Promise<void>,
): Promise<number> {
  let removed = 0
  let sincePause = 0
  for (const shard of list.shards) {
    for (let slot = 0; slot < shard.slots; slot++) {
      if (shard.state[slot] === FREE || (shard.seenAt[slot] ?? 0) >= since) continue
      list.remove(shard, slot)
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
      shard.version[slot] = Number.NaN
    }
  }
}
