// The records in memory. In: records, and withheld rows with their faults. Out: rows by id, packed records, and bodies
// that are ready to be sent.

import { type Guid, hashWords, readGuidWords } from '../domain/guid.ts'
import { type Revision, type WallSeconds, joined, noClock, UNREVISED } from '../domain/revision.ts'
import { type Withheld, isOnPurpose, type WithheldRow } from '../domain/withheld.ts'
import type { Body } from '../domain/body.ts'
import { type Shape, SHAPES } from '../formats/media-types.ts'
import { FaultCounts } from '../domain/fault-counts.ts'
import { KeptFaults, PackedRows, packWithheld, unpackWithheld } from './packed-withheld.ts'
import type { ListKind } from './packing.ts'
import { ReadyBodies } from './ready-bodies.ts'
import { FREE, SERVED, Shard, WITHHELD } from './shard.ts'
import type { WriteListener } from './write-listener.ts'

const SHARD_BITS = 8
const SHARDS = 2 ** SHARD_BITS
/** The highest bits of a hash select the shard; the lowest select the bucket within it. */
const SHARD_SHIFT = 32 - SHARD_BITS

/** A body and its entity tag. The body is valid until the next await; copy it to keep it longer. */
export interface Representation {
  readonly body: Body
  readonly etag: string
}

/** The state of one held id. */
export interface HeldRow {
  readonly served: boolean
  /** `null` if the row is served. */
  readonly withheld: Withheld | null
  /** Why the CRM's row is unreadable although its previous record is still served; `null` if it is readable. */
  readonly kept: Withheld | null
  /** Monotonic ms: when the row last changed, and when a read last mentioned it. */
  readonly updatedAt: number
  readonly seenAt: number
}

/** Follows every write to the served rows. Implemented by the index behind the lists. */
export interface RowOrder {
  readonly sizeBytes: number
  /** A served row was written. `before` is its previous packed record; `null` if it was not served. */
  follow(row: number, before: string | null, packed: string): void
  /** A row is no longer served. */
  forget(row: number, before: string): void
}

// A held row has a number, made of its shard and its slot. The number is valid until the next await.

export function rowOf(shard: number, slot: number): number {
  return (slot << SHARD_BITS) | shard
}

export function slotOf(row: number): number {
  return row >>> SHARD_BITS
}

/** The place of a row's body and entity tag among those of its shard. */
function placeOf(row: number, shape: Shape): number {
  return slotOf(row) * SHAPES.length + SHAPES.indexOf(shape)
}

/** The rows of one list in memory (docs/decisions/0001-records-in-memory.md). */
export class RecordList<Item> {
  readonly kind: ListKind<Item>
  readonly shards: readonly Shard[]
  served = 0
  withheld = 0
  /** The faults of withheld rows with an id of their own. */
  readonly faults: FaultCounts = new FaultCounts()
  /** Withheld rows without an id of their own: they have no id, or another row's. As of the last full read. */
  unidentified: PackedRows = new PackedRows()
  /** Faults of rows that are served until the shrink guard has judged. */
  readonly kept: KeptFaults = new KeptFaults()
  /**
   * Rows withdrawn as unreadable since the last full read that was believed, and the number that other processes
   * withdrew.
   */
  readonly lost: Set<number> = new Set()
  lostElsewhere = 0
  /** Whether Price is read from the CRM: its rows have the column. Without it, a price of 0 does not mean free. */
  readsPrice = false
  /** The revision of a text that has lost the row that was removed last. */
  lastRemoval: Revision = UNREVISED
  /** Incremented by each change to the served rows. */
  changes = 0
  /** The index behind the lists; `null` if lists are off. */
  order: RowOrder | null = null
  readonly listeners: Set<WriteListener> = new Set()
  readonly #words = new Uint32Array(4)

  /** The ready bodies, of other lists too. */
  readonly ready: ReadyBodies

  constructor(kind: ListKind<Item>, ready: ReadyBodies = new ReadyBodies()) {
    this.kind = kind
    this.ready = ready
    this.shards = Array.from({ length: SHARDS }, (_, number) => new Shard(number, ready))
  }

  get size(): number {
    return this.served + this.withheld
  }

  /** The number of withheld rows, those without an id of their own included. */
  get withheldInAll(): number {
    return this.withheld + this.unidentified.length
  }

  get sizeBytes(): number {
    let bytes = this.unidentified.sizeBytes + (this.order?.sizeBytes ?? 0) + this.kept.sizeBytes
    for (const shard of this.shards) bytes += shard.sizeBytes
    return bytes
  }

  /** Adopts what another process knows of the list besides its rows. */
  adopt(known: {
    readonly unidentified: readonly number[]
    readonly lost: number
    readonly readsPrice: boolean
  }): void {
    const { unidentified, lost, readsPrice } = known
    this.unidentified = PackedRows.counted(unidentified)
    this.lostElsewhere = lost
    this.readsPrice = readsPrice
  }

  /** Returns the served record; `null` if the id is not served. */
  get(id: Guid): Item | null {
    const packed = this.packed(id)
    return packed === null ? null : this.kind.packing.unpack(id, packed)
  }

  /** Returns the served record as it is packed, which stays equal while the record does; `null` if the id is not served. */
  packed(id: Guid): string | null {
    const row = this.find(id)
    return this.isServed(row) ? this.shardAt(row).read(slotOf(row)) : null
  }

  /** Returns the body in one shape with its entity tag; `null` if the id is not served. */
  represent(id: Guid, shape: Shape): Representation | null {
    const row = this.find(id)
    if (row === -1) return null
    const body = this.bodyAt(row, shape, id)
    return body === null ? null : { body, etag: this.shardAt(row).etags.of(placeOf(row, shape), body) }
  }

  /** Returns the body of a row in one shape; `null` if the row is not served. */
  bodyAt(row: number, shape: Shape, id?: Guid): Body | null {
    const shard = this.shardAt(row)
    const slot = slotOf(row)
    const place = placeOf(row, shape)
    const ready = this.ready.read(shard.ready, place)
    if (ready !== null) return ready
    if (shard.state[slot] !== SERVED) return null
    const text = this.kind.format(this.kind.packing.unpack(id ?? shard.guid(slot), shard.read(slot)), shape)
    return this.ready.keep(shard.ready, place, text)
  }

  /** Forgets all ready bodies, because the format has changed. */
  forgetBodies(): void {
    for (const shard of this.shards) shard.forgetBodies()
  }

  /** Returns the state of an id; `null` if it is not held. */
  inspect(id: Guid): HeldRow | null {
    const row = this.find(id)
    if (row === -1) return null
    const shard = this.shardAt(row)
    const slot = slotOf(row)
    const kept = this.kept.get(row)
    return {
      served: shard.state[slot] === SERVED,
      withheld: shard.withheldAt(slot),
      kept: kept === undefined ? null : unpackWithheld(kept.packed),
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

  isHeld(row: number): boolean {
    return this.shardAt(row).isHeld(slotOf(row))
  }

  version(id: Guid): number {
    const row = this.find(id)
    return row === -1 ? Number.NaN : this.versionOf(row)
  }

  /** Returns the version of the last read row, even if that row was unreadable. */
  versionOf(row: number): number {
    return this.kept.get(row)?.version ?? this.shardAt(row).version[slotOf(row)] ?? Number.NaN
  }

  /** Returns when the row's details were last read. Only a read that began later may change them. */
  knownAt(row: number): number {
    return Math.max(this.shardAt(row).detailsAt[slotOf(row)] ?? -Infinity, this.kept.get(row)?.at ?? -Infinity)
  }

  /** The number of rows withdrawn as unreadable since the last full read that was believed. */
  get lostCount(): number {
    return this.lost.size + this.lostElsewhere
  }

  /** Starts counting again: a full read was believed, or the operator accepted the list. */
  forgetLost(): void {
    this.lost.clear()
    this.lostElsewhere = 0
  }

  /** Returns the row of an id; -1 if it is not held. */
  find(id: Guid): number {
    const hash = this.#hashOf(id)
    const slot = this.shardAt(hash >>> SHARD_SHIFT).ids.find(this.#words, hash)
    return slot === -1 ? -1 : rowOf(hash >>> SHARD_SHIFT, slot)
  }

  /** Makes room for `rows` rows at once, which saves a fifth of the time to fill a list. */
  reserve(rows: number): void {
    for (const _ of this.roomFor(rows));
  }

  /** Like `reserve`, in steps between which requests may run: room for a million rows takes about 100 ms. */
  *roomFor(rows: number): Generator<void, void> {
    const slots = Math.ceil(rows / SHARDS)
    for (const shard of this.shards) yield shard.reserve(slots + Math.ceil(3 * Math.sqrt(slots)))
  }

  /** Inserts a row for a new id. It counts as withheld until it is written. */
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

  /** Returns the packed record of a served row. */
  read(row: number): string {
    return this.shardAt(row).read(slotOf(row))
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

  /** Stores a packed record that is served from now on. Returns true if that changed what is served. */
  serve(row: number, packed: string, wallS: WallSeconds = noClock): boolean {
    const shard = this.shardAt(row)
    const slot = slotOf(row)
    if (shard.holds(slot, packed)) return false
    const before = shard.state[slot] === SERVED ? shard.read(slot) : null
    if (before === null) {
      this.#forgetFaults(shard, slot)
      this.withheld--
      this.served++
      this.lost.delete(row)
    }
    shard.write(slot, packed)
    shard.revise(slot, before === null ? 'time-or-place' : this.kind.packed.changeBetween(before, packed), wallS())
    this.changes++
    this.order?.follow(row, before, packed)
    for (const listener of this.listeners) listener.note(row)
    return true
  }

  /** Returns the revision of an id. One that is not held may be the one that went last. */
  revisionOf(id: Guid): Revision {
    const row = this.find(id)
    return row === -1 ? this.lastRemoval : this.shardAt(row).revisionAt(slotOf(row))
  }

  /**
   * Inserts a served row from the words of its id and its packed record as UTF-8, which no text is made of. Returns
   * false if the id is held, or if others follow the list: then nothing has changed.
   */
  insertServed(words: Uint32Array, version: number, revision: Revision, nowMs: number, packed: Buffer): boolean {
    const hash = hashWords(words, 0)
    const shard = this.shardAt(hash >>> SHARD_SHIFT)
    if (this.order !== null || this.listeners.size > 0 || shard.ids.find(words, hash) !== -1) return false
    const slot = shard.insert(words, hash)
    shard.writeBytes(slot, packed)
    shard.version[slot] = version
    shard.setRevision(slot, revision)
    shard.updatedAt[slot] = nowMs
    this.served++
    this.changes++
    return true
  }

  /** Stores the faults of a withheld row. Returns true if they are new. */
  withhold(row: number, withheld: Withheld, wallS: WallSeconds = noClock): boolean {
    const shard = this.shardAt(row)
    const slot = slotOf(row)
    const packed = packWithheld(withheld)
    this.kept.drop(row)
    if (isOnPurpose(withheld)) this.lost.delete(row)
    if (shard.state[slot] === SERVED) {
      this.#unlist(row)
      this.served--
      this.withheld++
      shard.revise(slot, 'time-or-place', wallS())
    } else if (shard.read(slot) === packed) return false
    else this.#forgetFaults(shard, slot)
    shard.withhold(slot, packed)
    this.faults.add(withheld, 1)
    for (const listener of this.listeners) listener.note(row)
    return true
  }

  setVersion(row: number, version: number): void {
    const shard = this.shardAt(row)
    const slot = slotOf(row)
    if (Object.is(shard.version[slot], version)) return
    shard.version[slot] = version
    for (const listener of this.listeners) listener.noteVersion(row)
  }

  remove(row: number, wallS: WallSeconds = noClock): void {
    const shard = this.shardAt(row)
    const slot = slotOf(row)
    this.lastRemoval = joined(this.lastRemoval, shard.revise(slot, 'time-or-place', wallS()))
    for (const listener of this.listeners) listener.noteRemoval(row, shard.guid(slot))
    this.kept.drop(row)
    this.lost.delete(row)
    if (shard.state[slot] === SERVED) {
      this.#unlist(row)
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

  #unlist(row: number): void {
    this.changes++
    this.order?.forget(row, this.read(row))
  }

  /** Yields every withheld row. Reads may continue meanwhile: no row comes twice, and the order is stable. */
  *withheldRows(): Generator<WithheldRow, void> {
    for (const shard of this.shards) {
      const rows: WithheldRow[] = []
      for (let slot = 0; slot < shard.slots; slot++) {
        const withheld = shard.withheldAt(slot)
        if (withheld !== null) rows.push({ id: shard.guid(slot), withheld })
      }
      yield* rows
    }
    yield* this.unidentified
  }

  /** Returns true if the packed record of any served row satisfies `isIt`. Pauses between shards. */
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

  /** Yields every held row. */
  *rows(): Generator<number, void> {
    for (const [index, shard] of this.shards.entries()) {
      for (let slot = 0; slot < shard.slots; slot++) if (shard.state[slot] !== FREE) yield rowOf(index, slot)
    }
  }
}
