import type { Guid } from '../domain/guid.ts'
import type { Observe } from '../observe/observation.ts'
import { type CrmFailure, type ReadPurpose, type ServedRows, REPEATED, failureOf } from './port.ts'
import type { Freshness } from './freshness.ts'
import { type RecordList, rowOf } from './record-list.ts'
import type { Moment } from './time.ts'
import { type Shard, FREE, SERVED } from './shard.ts'

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
 * missing from that read.
 */
function countMissing<Item>(list: RecordList<Item>, read: Sighting, before?: Sighting): number {
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

/** What is served, or will be once it is confirmed, while the list is read; null if nothing is. */
export function servedRows<Item>(
  { purpose, begun, reading }: ReadUnderWay,
  list: RecordList<Item>,
  { freshness, loadedAtMs, adoptedAtMs }: HeldSince,
  now: Moment,
  boundMs: number,
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
    countMissing: () => countMissing(list, sighting),
    tooOldAtMs: now.monotonicMs + boundMs - ageMs,
  }
}

/** What a reader holds, and by the monotonic clock since when; infinite if it does not. */
interface HeldSince {
  readonly freshness: Freshness
  readonly loadedAtMs: number
  readonly adoptedAtMs: number
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

/** Whether so much absence is rather a fault than the truth: more than half of the records, and more than ten. */
function isBraked(absent: number, served: number): boolean {
  return absent > 10 && absent * 2 > served
}

/** Whether more is absent than one read of several moments may say: more than ten, and a twentieth of the records. */
function isMuch(absent: number, served: number): boolean {
  return absent > 10 && absent * 20 > served
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

/** Whether it is believed that what a complete read does not mention is gone (architecture: The brake, One moment). */
export class Belief {
  /** Why the list is not believed to have got so short, until a read shows otherwise; null where it is believed. */
  braked: CrmFailure | null = null
  /** A read of several moments that missed much, and when it ended: one that begins then has to miss the same. */
  #doubted: { readonly read: Sighting; readonly endedAt: number } | null = null
  /** When the operator said that a shorter list is right, until a read of all rows has proved it; null otherwise. */
  #acceptedAt: number | null = null

  get acceptsShorter(): boolean {
    return this.#acceptedAt !== null
  }

  acceptShorter(atMs: number): void {
    this.#acceptedAt = atMs
  }

  /** Why the rows that a complete read is missing must stay; null where they may go. */
  judge<Item>(
    list: RecordList<Item>,
    read: Sighting,
    { oneMoment, brake, sinceMs, nowMs, observe }: Circumstances,
  ): CrmFailure | null {
    const { served } = list
    const { name } = list.kind
    const missing = countMissing(list, read)
    const isShort = isBraked(missing, served)
    const isHeld = brake && isShort && !this.acceptsShorter
    // A second reading has agreed before where the brake holds already.
    if (!oneMoment && isMuch(missing, served) && !(isHeld && this.braked !== null)) {
      const doubted = this.#doubted
      // One that began before the other had ended may have been cut by the same change.
      const isSecond = doubted !== null && read.begunAt >= doubted.endedAt
      if (!isSecond || isMuch(countMissing(list, read, doubted.read), served)) {
        if (isSecond || doubted === null) this.#doubted = { read, endedAt: nowMs }
        return failureOf('doubted', doubtMessage(name, missing, served, isSecond))
      }
    }
    this.#doubted = null
    if (isHeld) {
      observe({ kind: 'brake-engaged', list: name, absent: missing, served })
      return (this.braked = failureOf('braked', brakeMessage(name, missing, served)))
    }
    this.braked = null
    // A read that shows the list as it was before, still long, is not the one the operator meant.
    if (isShort || sinceMs >= (this.#acceptedAt ?? sinceMs)) this.#acceptedAt = null
    return null
  }
}

interface Circumstances {
  /** All of the read shows one state of the CRM. */
  readonly oneMoment: boolean
  readonly brake: boolean
  /** The moment that the read shows. */
  readonly sinceMs: number
  readonly nowMs: number
  readonly observe: Observe
}

function brakeMessage(list: string, missing: number, served: number): string {
  return `${missing} of ${served} ${list} are missing from the CRM's list, which is not believed until \`./marquee accept\``
}

function doubtMessage(list: string, missing: number, served: number, isSecond: boolean): string {
  const what = `${missing} of ${served} ${list} are missing from the CRM's list, which may have changed while it was read`
  return isSecond
    ? `${what}: the reading before missed others, so nothing goes until two agree`
    : `${what}: they go when a second reading agrees`
}
