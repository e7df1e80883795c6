// The records in memory. In: records, and withheld rows with their faults. Out: rows by id, packed records, and bodies
// that are ready to be sent.

import type { Guid } from '../domain/guid.ts'
import {
  type Revision,
  type WallSeconds,
  isSameRevision,
  joined,
  noClock,
  revised,
  UNREVISED,
} from '../domain/revision.ts'
import { type Withheld, type WithheldRow, isOnPurpose } from '../domain/withheld.ts'
import type { FaultCounts } from '../domain/fault-counts.ts'
import type { Shape } from '../formats/media-types.ts'
import type { ListKind, SortKey } from './list-kinds.ts'
import { RowKeys, isSamePlace } from './row-keys.ts'
import { type Representation, ReadyBodies } from './ready-bodies.ts'
import { type RowKey, HeldRow } from './held-row.ts'
import { KeptFaults } from './kept-faults.ts'
import { UnidentifiedRows } from './unidentified-rows.ts'
import { WithheldDetails } from './withheld-details.ts'

/** Rows are held in this many maps: to double one that holds a million takes longer than a request may wait. */
const SHARDS = 256
/** An estimate of the memory of a row besides its text, bytes. */
const ROW_BYTES = 600

/** Receives each write of a list. */
export interface WriteListener {
  /** The row was written. `wasServed` is what it was before. */
  note(row: HeldRow, wasServed: boolean): void
  /** Called when a row gets another version, even if its record stays the same. */
  noteVersion?(row: HeldRow): void
  /** The row was removed. */
  noteRemoval(row: HeldRow, wasServed: boolean): void
}

/** The served rows by their keys. Implemented by the index behind the lists. */
export interface RowOrder {
  readonly sizeBytes: number
  /** A row has got its key. */
  insert(row: HeldRow): void
  /** A row is about to lose its key. */
  remove(row: HeldRow): void
}

/** What a process knows of a list besides its rows. */
interface KnownElsewhere {
  readonly unidentified: readonly number[]
  readonly lost: number
  readonly readsPrice: boolean
}

/** The rows of one list in memory (docs/decisions/0001-records-in-memory.md). */
export class RecordList<Item> {
  readonly kind: ListKind<Item>
  /** The rows by id, in parts between which long work may pause. */
  readonly shards: readonly Map<Guid, HeldRow>[] = Array.from({ length: SHARDS }, () => new Map<Guid, HeldRow>())
  served = 0
  withheld = 0
  /** Withheld rows without an id of their own: they have no id, or another row's. As of the last full read. */
  unidentified: UnidentifiedRows = new UnidentifiedRows()
  /** Faults of rows that are served until the shrink guard has judged. */
  readonly kept: KeptFaults = new KeptFaults()
  /**
   * Rows that were served and became unreadable since the last full read that was believed: that read saw the whole
   * list, and the shrink guard let it through. The guard counts these rows, since many of them may mean that the CRM's
   * answers are wrong. `lostElsewhere`: the number that other processes lost.
   */
  readonly lost: Set<HeldRow> = new Set()
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
  /** The ready bodies, of other lists too. */
  readonly ready: ReadyBodies
  /** Why rows are withheld. The details of a served row are something else: its fields besides the availability. */
  readonly #details = new WithheldDetails()
  readonly #keys = new RowKeys()
  #textBytes = 0
  /** The revision given last, which many rows share. */
  #revision: Revision = UNREVISED

  constructor(kind: ListKind<Item>, ready: ReadyBodies = new ReadyBodies()) {
    this.kind = kind
    this.ready = ready
  }

  get size(): number {
    return this.served + this.withheld
  }

  /** The number of withheld rows, those without an id of their own included. */
  get withheldInAll(): number {
    return this.withheld + this.unidentified.length
  }

  /** The faults of withheld rows with an id of their own. */
  get faults(): FaultCounts {
    return this.#details.faults
  }

  /** An estimate of the memory of the list. */
  get sizeBytes(): number {
    const rows = this.size * ROW_BYTES + this.#textBytes + this.#keys.sizeBytes
    const withheld = this.#details.sizeBytes + this.unidentified.sizeBytes + this.kept.sizeBytes
    return rows + withheld + (this.order?.sizeBytes ?? 0)
  }

  /** Adopts what another process knows of the list besides its rows. */
  adopt({ unidentified, lost, readsPrice }: KnownElsewhere): void {
    this.unidentified = UnidentifiedRows.counted(unidentified)
    this.lostElsewhere = lost
    this.readsPrice = readsPrice
  }

  /** Returns no withheld rows: a read adds those that it finds. */
  newUnidentified(): UnidentifiedRows {
    return new UnidentifiedRows()
  }

  /** Returns the row of an id; `null` if it is not held. */
  find(id: Guid): HeldRow | null {
    return this.#shardOf(id).get(id) ?? null
  }

  /** Returns true if the row is held still. */
  isHeld(row: HeldRow): boolean {
    return this.find(row.id) === row
  }

  serves(id: Guid): boolean {
    return this.find(id)?.isServed ?? false
  }

  /** Returns the served record; `null` if the id is not served. */
  get(id: Guid): Item | null {
    const row = this.find(id)
    return row === null ? null : this.read(row)
  }

  /** Returns the record of a row; `null` if the row is not served. */
  read({ id, packed }: HeldRow): Item | null {
    return packed === null ? null : this.kind.packing.unpack(id, packed)
  }

  /** Returns the body in one shape with its entity tag; `null` if the id is not served. */
  represent(id: Guid, shape: Shape): Representation | null {
    const row = this.find(id)
    return row === null ? null : this.bodyOf(row, shape)
  }

  /** Returns the body of a row in one shape; `null` if the row is not served. */
  bodyOf(row: HeldRow, shape: Shape): Representation | null {
    const ready = this.ready.read(row, shape)
    if (ready !== null) return ready
    const record = this.read(row)
    return record === null ? null : this.ready.keep(row, shape, this.kind.format(record, shape))
  }

  /** Returns the version of the last read row of an id, even if that row was unreadable. */
  version(id: Guid): number {
    const row = this.find(id)
    return row === null ? Number.NaN : this.versionOf(row)
  }

  versionOf(row: HeldRow): number {
    return this.kept.get(row)?.version ?? row.version
  }

  /** Returns when the row's details were last read. Only a read that began later may change them. */
  knownAt(row: HeldRow): number {
    return Math.max(row.detailsAt, this.kept.get(row)?.at ?? Number.NEGATIVE_INFINITY)
  }

  /** Returns the revision of an id. One that is not held may be the one that went last. */
  revisionOf(id: Guid): Revision {
    return this.find(id)?.revision ?? this.lastRemoval
  }

  /** The number of lost rows, here and in other processes. */
  get lostCount(): number {
    return this.lost.size + this.lostElsewhere
  }

  /** Starts counting again: a full read was believed, or the operator accepted the list. */
  forgetLost(): void {
    this.lost.clear()
    this.lostElsewhere = 0
  }

  /** Inserts a row for a new id. It counts as withheld until it is written. */
  insert(id: Guid): HeldRow {
    const row = new HeldRow(id)
    this.#shardOf(id).set(id, row)
    this.withheld++
    return row
  }

  /** Serves a record from now on. Returns true if that changed what is served. */
  serve(row: HeldRow, record: Item, wallS: WallSeconds = noClock): boolean {
    return this.servePacked(row, this.kind.packing.pack(record), wallS, record)
  }

  /**
   * Like `serve`, with the packed record.
   *
   * @param when may be the revision that another process has given the row
   * @param record what was packed, if the caller has it: to unpack it takes longer
   */
  servePacked(row: HeldRow, packed: string, when: WallSeconds | Revision = noClock, record?: Item): boolean {
    const before = row.packed
    if (before === packed) return false
    const key = this.kind.sortKeyOf(record ?? this.kind.packing.unpack(row.id, packed))
    if (before === null) {
      this.#forgetFaults(row)
      this.withheld--
      this.served++
      this.lost.delete(row)
    }
    if (typeof when === 'object') row.revision = when
    else if (before === null) this.#revise(row, 'time-or-place', when)
    else this.#revise(row, this.kind.changeOf(this.kind.differences(row.id, before, packed)), when)
    this.#write(row, packed)
    this.changes++
    this.#place(row, key)
    for (const listener of this.listeners) listener.note(row, before !== null)
    return true
  }

  /** Stores the faults of a withheld row. Returns true if they are new. */
  withhold(row: HeldRow, withheld: Withheld, wallS: WallSeconds = noClock): boolean {
    this.kept.drop(row)
    if (isOnPurpose(withheld)) this.lost.delete(row)
    const wasServed = row.isServed
    if (wasServed) {
      this.#unlist(row)
      this.served--
      this.withheld++
      this.#revise(row, 'time-or-place', wallS)
    } else if (this.isWithheldAs(row, withheld)) return false
    else this.#forgetFaults(row)
    this.#write(row, null)
    row.withheld = this.#details.keep(withheld)
    for (const listener of this.listeners) listener.note(row, wasServed)
    return true
  }

  /** Returns true if the row is withheld for these faults already. */
  isWithheldAs(row: HeldRow, withheld: Withheld): boolean {
    return row.withheld !== null && this.#details.isSame(row.withheld, withheld)
  }

  setVersion(row: HeldRow, version: number): void {
    if (Object.is(row.version, version)) return
    row.version = version
    for (const listener of this.listeners) listener.noteVersion?.(row)
  }

  remove(row: HeldRow, wallS: WallSeconds = noClock): void {
    this.#revise(row, 'time-or-place', wallS)
    this.lastRemoval = joined(this.lastRemoval, row.revision)
    this.kept.drop(row)
    this.lost.delete(row)
    const wasServed = row.isServed
    if (wasServed) {
      this.#unlist(row)
      this.served--
    } else {
      this.#forgetFaults(row)
      this.withheld--
    }
    this.#write(row, null)
    this.#shardOf(row.id).delete(row.id)
    for (const listener of this.listeners) listener.noteRemoval(row, wasServed)
  }

  #shardOf(id: Guid): Map<Guid, HeldRow> {
    // Digits of both ends, because the sequential ids of some databases differ only at one of them.
    const hash = id.charCodeAt(6) * 31 + id.charCodeAt(7) + id.charCodeAt(34) * 17 + id.charCodeAt(35) * 7
    const shard = this.shards[hash % SHARDS]
    if (shard === undefined) throw new Error('there are as many shards as a hash can name')
    return shard
  }

  #write(row: HeldRow, packed: string | null): void {
    this.#textBytes += bytesOf(packed) - bytesOf(row.packed)
    row.packed = packed
    this.ready.forget(row)
  }

  #revise(row: HeldRow, change: Parameters<typeof revised>[1], wallS: WallSeconds): void {
    const revision = revised(row.revision, change, wallS())
    if (!isSameRevision(revision, this.#revision)) this.#revision = revision
    row.revision = this.#revision
  }

  #forgetFaults(row: HeldRow): void {
    if (row.withheld !== null) this.#details.drop(row.withheld)
    row.withheld = null
  }

  #unlist(row: HeldRow): void {
    this.changes++
    this.#place(row, null)
  }

  #place(row: HeldRow, next: SortKey | null): void {
    const { key } = row
    if (key !== null && next !== null && isSamePlace(key, next)) {
      key.isAvailable = next.isAvailable
      return
    }
    if (key !== null) {
      this.order?.remove(row)
      this.#keys.release(key)
    }
    row.key = next === null ? null : this.#keys.hold(next)
    if (row.key !== null) this.order?.insert(row)
  }

  /** Yields every withheld row. Reads may continue meanwhile. */
  *withheldRows(): Generator<WithheldRow, void> {
    for (const shard of this.shards) {
      for (const { id, withheld } of shard.values().toArray()) if (withheld !== null) yield { id, withheld }
    }
    yield* this.unidentified
  }

  /** Returns true if the key of any served row satisfies `isIt`. Pauses between shards. */
  async someServed(isIt: (key: RowKey) => boolean, pause: () => Promise<void>): Promise<boolean> {
    let sincePause = 0
    for (const shard of this.shards) {
      for (const { key } of shard.values()) if (key !== null && isIt(key)) return true
      sincePause += shard.size
      if (sincePause < 1000) continue
      sincePause = 0
      await pause()
    }
    return false
  }

  /** Yields every held row. Rows may be removed meanwhile. */
  *rows(): Generator<HeldRow, void> {
    for (const shard of this.shards) yield* shard.values()
  }
}

const WIDE = /[^\u0000-\u00ff]/

/** Estimates the memory of a text: a byte for each character, or two if any is beyond Latin-1. */
function bytesOf(text: string | null): number {
  return text === null ? 0 : text.length * (WIDE.test(text) ? 2 : 1)
}
