import type { ListName } from '../domain/field.ts'
import type { Guid } from '../domain/guid.ts'
import type { Withheld } from '../domain/withheld.ts'
import type { Body } from '../formats/body.ts'
import type { Shape } from '../formats/media-types.ts'
import { SHAPES } from '../formats/media-types.ts'
import { hashWords, readGuidWords } from './guid-words.ts'
import type { WithheldRow } from './packed-withheld.ts'
import { PackedRows } from './packed-withheld.ts'
import type { Packing } from './packing.ts'
import type { Held } from './port.ts'
import { ReadyBodies } from './ready-bodies.ts'
import { FREE, SERVED, Shard, WITHHELD } from './shard.ts'

const SHARDS = 256
const BATCH_ROWS = 500

/** The ceiling of bodies kept ready, a list: 10,000 events in all four shapes fit. */
const READY_BYTES = 64 * 1024 * 1024

/** A body and its entity tag, as they are sent. The body is good until control is given back: whoever waits takes a copy. */
export interface Representation {
  readonly body: Body
  readonly etag: string
}

/** What a list needs to know of its kind of record. */
export interface ListKind<Item> {
  readonly name: ListName
  readonly packing: Packing<Item>
  readonly format: (item: Item, shape: Shape) => string
  /** `details` with the availability of another; the record itself where the kind has none. */
  readonly withAvailability: (details: Item, availability: Availability | Item) => Item
  /** The names of the fields in which two packed records differ. */
  readonly differences: (id: Guid, before: string, after: string) => readonly string[]
}

interface Availability {
  readonly TicketCapacity: number
  readonly TicketsAvailable: number
}

/** What is held of one id. */
export interface HeldRow {
  readonly served: boolean
  /** Null where it is served. */
  readonly withheld: Withheld | null
  /** Monotonic ms: since when it is as it is, and when a read last mentioned it. */
  readonly changedAt: number
  readonly seenAt: number
}

/** The rows of one list as they lie in memory (docs/decisions/0001-records-in-memory.md). */
export class RecordList<Item> implements Held {
  readonly kind: ListKind<Item>
  readonly shards: readonly Shard[] = Array.from({ length: SHARDS }, () => new Shard())
  served = 0
  withheld = 0
  /** Rows without a place of their own: no id, or one that another row has. From the last full read. */
  extras: PackedRows = new PackedRows()
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
    let bytes = this.extras.sizeBytes
    for (const shard of this.shards) bytes += shard.sizeBytes
    return bytes
  }

  /** The record as it is served, null where it is not. */
  get(id: Guid): Item | null {
    const shard = this.shardOf(id)
    const slot = this.slotIn(shard)
    return slot === -1 || shard.state[slot] !== SERVED ? null : this.kind.packing.unpack(id, shard.read(slot))
  }

  /** The bytes of one shape and their entity tag, null where the record is not served. */
  represent(id: Guid, shape: Shape): Representation | null {
    const shard = this.shardOf(id)
    const slot = this.slotIn(shard)
    if (slot === -1) return null
    const place = slot * SHAPES.length + SHAPES.indexOf(shape)
    const ready = this.ready.read(shard.ready, place)
    if (ready !== null) return { body: ready, etag: shard.etag(place, ready) }
    if (shard.state[slot] !== SERVED) return null
    const text = this.kind.format(this.kind.packing.unpack(id, shard.read(slot)), shape)
    const body = this.ready.keep(shard.ready, place, text)
    return { body, etag: shard.etag(place, body) }
  }

  /** What is held of an id, null where it is not held at all. */
  inspect(id: Guid): HeldRow | null {
    const shard = this.shardOf(id)
    const slot = this.slotIn(shard)
    if (slot === -1) return null
    return {
      served: shard.state[slot] === SERVED,
      withheld: shard.withheldAt(slot),
      changedAt: shard.changedAt[slot] ?? 0,
      seenAt: shard.seenAt[slot] ?? 0,
    }
  }

  serves(id: Guid): boolean {
    const shard = this.shardOf(id)
    const slot = this.slotIn(shard)
    return slot !== -1 && shard.state[slot] === SERVED
  }

  version(id: Guid): number {
    const shard = this.shardOf(id)
    const slot = this.slotIn(shard)
    return slot === -1 ? Number.NaN : (shard.version[slot] ?? Number.NaN)
  }

  /** The shard an id belongs to; `slotIn` and `insertIn` then speak of that id until the next call. */
  shardOf(id: Guid): Shard {
    readGuidWords(id, this.#words)
    const shard = this.shards[hashWords(this.#words, 0) >>> 24]
    if (shard === undefined) throw new Error('a hash has 32 bits')
    return shard
  }

  /** The slot of the id last given to `shardOf`, -1 where it is not held. */
  slotIn(shard: Shard): number {
    return shard.find(this.#words, hashWords(this.#words, 0))
  }

  /** A slot for the id last given to `shardOf`, which must not be held; counted as withheld until it is written. */
  insertIn(shard: Shard): number {
    const slot = shard.insert(this.#words, hashWords(this.#words, 0))
    shard.state[slot] = WITHHELD
    this.withheld++
    return slot
  }

  /** Stores a packed record; returns whether that changed what is served. */
  serve(shard: Shard, slot: number, packed: string): boolean {
    if (shard.state[slot] === WITHHELD) {
      this.withheld--
      this.served++
    }
    return shard.write(slot, packed)
  }

  withhold(shard: Shard, slot: number, withheld: Withheld): void {
    if (shard.state[slot] === SERVED) {
      this.served--
      this.withheld++
    }
    shard.withhold(slot, withheld)
  }

  remove(shard: Shard, slot: number): void {
    if (shard.state[slot] === SERVED) this.served--
    else this.withheld--
    shard.remove(slot)
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

  /** Every row that is held, as its shard and slot. */
  *places(): Generator<readonly [Shard, number], void> {
    for (const shard of this.shards) {
      for (let slot = 0; slot < shard.slots; slot++) if (shard.state[slot] !== FREE) yield [shard, slot]
    }
  }
}
