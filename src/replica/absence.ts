import type { RecordList } from './record-list.ts'
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

/**
 * Rows that are served and missing from a complete read: neither mentioned by it nor seen since it began. More than would be
 * removed where the source lags, since rows seen after the moment it shows stay.
 */
export function countMissing<Item>(list: RecordList<Item>, read: number, begunAt: number, audit: boolean): number {
  let missing = 0
  for (const shard of list.shards) {
    const numbers = audit ? shard.auditedIn : shard.seenIn
    for (let slot = 0; slot < shard.slots; slot++) {
      if (shard.state[slot] !== SERVED || (numbers[slot] ?? 0) >= read) continue
      if ((shard.seenAt[slot] ?? 0) < begunAt) missing++
    }
  }
  return missing
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
