// What is held. In: records, and rows that are withheld with a reason. Out: rows by id, packed, with bodies that are
// ready to be sent.

import type { Guid } from '../domain/guid.ts'
import { type Withheld, isOnPurpose } from '../domain/withheld.ts'
import type { Body } from '../formats/body.ts'
import { type Shape, SHAPES } from '../formats/media-types.ts'
import { FaultCounts } from './fault-counts.ts'
import { hashWords, readGuidWords } from './guid-table.ts'
import { KeptFaults } from './kept-faults.ts'
import type { ListKind } from './list-kinds.ts'
import { type WithheldRow, PackedRows, packWithheld } from './packed-withheld.ts'
import { ReadyBodies } from './ready-bodies.ts'
import { FREE, SERVED, Shard, WITHHELD } from './shard.ts'

const SHARD_BITS = 8
const SHARDS = 2 ** SHARD_BITS
/** The shard of a hash is in its highest bits: its lowest choose the bucket there. */
const SHARD_SHIFT = 32 - SHARD_BITS
const BATCH_ROWS = 500

/** The ceiling of bodies kept ready, a list: 10,000 events in all four shapes fit. */
const READY_BYTES = 64 * 1024 * 1024

/** A body and its entity tag, as they are sent. The body is good until control is given back: whoever waits takes a copy. */
export interface Representation {
  readonly body: Body
  readonly etag: string
}

/** What is held of one id. */
export interface HeldRow {
  readonly served: boolean
  /** Null where it is served. */
  readonly withheld: Withheld | null
  /** Why the CRM's row cannot be read though the record of before is served; null if it can. */
  readonly kept: Withheld | null
  /** Monotonic ms: since when it is as it is, and when a read last mentioned it. */
  readonly updatedAt: number
  readonly seenAt: number
}

/** Follows what is served, write by write: the index that lists are answered from. */
export interface RowOrder {
  readonly sizeBytes: number
  /** A served row was written: `before` is what was packed there, null if it was not served. */
  follow(shard: Shard, slot: number, before: string | null, packed: string): void
  /** A row is served no longer. */
  forget(shard: Shard, slot: number, before: string): void
}

/** Is told of each write of a list, and tells it to whoever asked before. */
export interface WriteListener {
  before: WriteListener | null
  /** The row was written. */
  note(row: number): void
  /** The row has another version, whether or not it was written too. */
  noteVersion(row: number): void
  /** The row is about to go, and its number with it. */
  noteRemoval(row: number, id: Guid): void
}

// A row that is held has one number, of its shard and its slot there; it is good until control is given back.

export function rowOf(shard: number, slot: number): number {
  return (slot << SHARD_BITS) | shard
}

export function slotOf(row: number): number {
  return row >>> SHARD_BITS
}

/** The rows of one list as they lie in memory (docs/decisions/0001-records-in-memory.md). */
export class RecordList<Item> {
  readonly kind: ListKind<Item>
  readonly shards: readonly Shard[] = Array.from({ length: SHARDS }, (_, number) => new Shard(number))
  served = 0
  withheld = 0
  /** What is wrong with the rows that have a place of their own. */
  readonly faults: FaultCounts = new FaultCounts()
  /** Rows without a place of their own: no id, or one that another row has. From the last full read. */
  extras: PackedRows = new PackedRows()
  /** What is wrong with rows that are served until the shrink guard has judged. */
  readonly kept: KeptFaults = new KeptFaults()
  /** Rows that became unreadable, and left the web for it, since the last full read that was believed; and how many did elsewhere. */
  readonly lost: Set<number> = new Set()
  lostElsewhere = 0
  /** Counts up with each change of what is served. */
  changes = 0
  /** What lists are answered from; null if they are off. */
  order: RowOrder | null = null
  /** Who is told of each write; null where nobody asked. */
  dirtyRows: WriteListener | null = null
  readonly #words = new Uint32Array(4)

  readonly ready: ReadyBodies

  constructor(kind: ListKind<Item>, readyBytes: number = READY_BYTES) {
    this.kind = kind
    this.ready = new ReadyBodies(readyBytes)
  }

  get size(): number {
    return this.served + this.withheld
  }

  get sizeBytes(): number {
    let bytes = this.extras.sizeBytes + (this.order?.sizeBytes ?? 0) + this.kept.sizeBytes
    for (const shard of this.shards) bytes += shard.sizeBytes
    return bytes
  }

  /** The record as it is served, null where it is not. */
  get(id: Guid): Item | null {
    const row = this.find(id)
    return this.isServed(row) ? this.kind.packing.unpack(id, this.shardAt(row).read(slotOf(row))) : null
  }

  /** The bytes of one shape and their entity tag, null where the record is not served. */
  represent(id: Guid, shape: Shape): Representation | null {
    const row = this.find(id)
    if (row === -1) return null
    const shard = this.shardAt(row)
    const slot = slotOf(row)
    const place = slot * SHAPES.length + SHAPES.indexOf(shape)
    const body = this.bodyAt(shard, slot, shape, id)
    return body === null ? null : { body, etag: shard.etags.of(place, body) }
  }

  /** The bytes of one shape of the row in a slot, null where it is not served. */
  bodyAt(shard: Shard, slot: number, shape: Shape, id?: Guid): Body | null {
    const place = slot * SHAPES.length + SHAPES.indexOf(shape)
    const ready = this.ready.read(shard.ready, place)
    if (ready !== null) return ready
    if (shard.state[slot] !== SERVED) return null
    const text = this.kind.format(this.kind.packing.unpack(id ?? shard.guid(slot), shard.read(slot)), shape)
    return this.ready.keep(shard.ready, place, text)
  }

  /** The bodies made so far are no longer what would be made now. */
  forgetBodies(): void {
    for (const shard of this.shards) shard.forgetBodies()
  }

  /** What is held of an id, null where it is not held at all. */
  inspect(id: Guid): HeldRow | null {
    const row = this.find(id)
    if (row === -1) return null
    const shard = this.shardAt(row)
    const slot = slotOf(row)
    return {
      served: shard.state[slot] === SERVED,
      withheld: shard.withheldAt(slot),
      kept: this.kept.get(row)?.withheld ?? null,
      updatedAt: shard.updatedAt[slot] ?? 0,
      seenAt: shard.seenAt[slot] ?? 0,
    }
  }

  serves(id: Guid): boolean {
    return this.isServed(this.find(id))
  }

  isServed(row: number): boolean {
    return row !== -1 && this.shardAt(row).state[slotOf(row)] === SERVED
  }

  version(id: Guid): number {
    const row = this.find(id)
    return row === -1 ? Number.NaN : this.versionOf(row)
  }

  /** The version that was read last, of a row that became unreadable too. */
  versionOf(row: number): number {
    return this.kept.has(row) ? this.kept.version(row) : (this.shardAt(row).version[slotOf(row)] ?? Number.NaN)
  }

  /** When the row's details were last read: only a read that began later may change them. */
  knownAt(row: number): number {
    return Math.max(this.shardAt(row).detailsAt[slotOf(row)] ?? Number.NEGATIVE_INFINITY, this.kept.at(row))
  }

  /** How many rows became unreadable since the last full read that was believed, those aside that are still served. */
  get lostCount(): number {
    return this.lost.size + this.lostElsewhere
  }

  /** A full read is believed, or the operator has accepted what there is: counting begins again. */
  forgetLost(): void {
    this.lost.clear()
    this.lostElsewhere = 0
  }

  /** The row of an id, -1 where it is not held. */
  find(id: Guid): number {
    const hash = this.#hashOf(id)
    const slot = this.shardAt(hash >>> SHARD_SHIFT).ids.find(this.#words, hash)
    return slot === -1 ? -1 : rowOf(hash >>> SHARD_SHIFT, slot)
  }

  /** Makes room for so many rows: growing row by row takes a fifth of the time that it takes to fill a list. */
  reserve(rows: number): void {
    for (const _ of this.roomFor(rows));
  }

  /** The same in slices, between which requests may pass: room for a million rows takes some 100 ms in one. */
  *roomFor(rows: number): Generator<void, void> {
    const slots = Math.ceil(rows / SHARDS)
    for (const shard of this.shards) yield shard.reserve(slots + Math.ceil(3 * Math.sqrt(slots)))
  }

  /** A row for an id that is not held; counted as withheld until it is written. */
  insert(id: Guid): number {
    const hash = this.#hashOf(id)
    const shard = this.shardAt(hash >>> SHARD_SHIFT)
    const slot = shard.insert(this.#words, hash)
    shard.state[slot] = WITHHELD
    this.withheld++
    return rowOf(hash >>> SHARD_SHIFT, slot)
  }

  idOf(row: number): Guid {
    return this.shardAt(row).guid(slotOf(row))
  }

  shardAt(row: number): Shard {
    const shard = this.shards[row & (SHARDS - 1)]
    if (shard === undefined) throw new Error('there are as many shards as a row can name')
    return shard
  }

  #hashOf(id: Guid): number {
    readGuidWords(id, this.#words)
    return hashWords(this.#words, 0)
  }

  /** Stores a packed record; returns whether that changed what is served. */
  serve(row: number, packed: string): boolean {
    const shard = this.shardAt(row)
    const slot = slotOf(row)
    const before = this.order !== null && shard.state[slot] === SERVED ? shard.read(slot) : null
    if (shard.state[slot] === WITHHELD) {
      this.#forgetFaults(shard, slot)
      this.withheld--
      this.served++
      this.lost.delete(row)
    }
    const changed = shard.write(slot, packed)
    if (changed) {
      this.changes++
      this.order?.follow(shard, slot, before, packed)
      this.dirtyRows?.note(row)
    }
    return changed
  }

  /** Stores why a row is not served; returns whether that is new. */
  withhold(row: number, withheld: Withheld): boolean {
    const shard = this.shardAt(row)
    const slot = slotOf(row)
    const packed = packWithheld(withheld)
    this.kept.drop(row)
    if (isOnPurpose(withheld)) this.lost.delete(row)
    if (shard.state[slot] === SERVED) {
      this.#unlist(shard, slot)
      this.served--
      this.withheld++
    } else if (shard.read(slot) === packed) return false
    else this.#forgetFaults(shard, slot)
    shard.withhold(slot, packed)
    this.faults.add(withheld, 1)
    this.dirtyRows?.note(row)
    return true
  }

  setVersion(row: number, version: number): void {
    const shard = this.shardAt(row)
    const slot = slotOf(row)
    if (Object.is(shard.version[slot], version)) return
    shard.version[slot] = version
    this.dirtyRows?.noteVersion(row)
  }

  remove(row: number): void {
    const shard = this.shardAt(row)
    const slot = slotOf(row)
    this.dirtyRows?.noteRemoval(row, shard.guid(slot))
    this.kept.drop(row)
    this.lost.delete(row)
    if (shard.state[slot] === SERVED) {
      this.#unlist(shard, slot)
      this.served--
    } else {
      this.#forgetFaults(shard, slot)
      this.withheld--
    }
    shard.remove(slot)
  }

  #forgetFaults(shard: Shard, slot: number): void {
    const withheld = shard.withheldAt(slot)
    if (withheld !== null) this.faults.add(withheld, -1)
  }

  #unlist(shard: Shard, slot: number): void {
    this.changes++
    this.order?.forget(shard, slot, shard.read(slot))
  }

  /** Every row that is not served, and why. */
  *withheldRows(): Generator<WithheldRow, void> {
    for (const rows of this.withheldBatches()) yield* rows
  }

  /** The same in batches of some hundred, between which reads may go on: no row comes twice, and their order stays. */
  *withheldBatches(): Generator<readonly WithheldRow[], void> {
    for (const shard of this.shards) {
      const rows: WithheldRow[] = []
      for (let slot = 0; slot < shard.slots; slot++) {
        const withheld = shard.withheldAt(slot)
        if (withheld !== null) rows.push({ id: shard.guid(slot), withheld })
      }
      yield rows
    }
    let batch: WithheldRow[] = []
    for (const row of this.extras) {
      if (batch.push(row) < BATCH_ROWS) continue
      yield batch
      batch = []
    }
    yield batch
  }

  /** Whether any row is served whose packed record is as `isIt` wants it; yields between shards, and requests pass. */
  async someServed(isIt: (packed: string) => boolean, pause: () => Promise<void>): Promise<boolean> {
    let sincePause = 0
    for (const shard of this.shards) {
      for (let slot = 0; slot < shard.slots; slot++) {
        if (shard.state[slot] === SERVED && isIt(shard.read(slot))) return true
      }
      sincePause += shard.slots
      if (sincePause < 1000) continue
      sincePause = 0
      await pause()
    }
    return false
  }

  /** Every row that is held. */
  *rows(): Generator<number, void> {
    for (const [index, shard] of this.shards.entries()) {
      for (let slot = 0; slot < shard.slots; slot++) if (shard.state[slot] !== FREE) yield rowOf(index, slot)
    }
  }
}
