import type { Guid } from '../domain/guid.ts'
import { type Withheld, isOnPurpose } from '../domain/withheld.ts'
import { ETAG_LENGTH } from '../formats/body.ts'
import { SHAPES } from '../formats/media-types.ts'
import { EMPTY_BYTES, EMPTY_FLOATS, EMPTY_WORDS, grown } from './columns.ts'
import { GuidTable } from './guid-table.ts'
import { PackedEtags, ReadyPlaces } from './ready-bodies.ts'
import { PackedTexts } from './packed-texts.ts'
import { unpackWithheld } from './packed-withheld.ts'

/** What a slot holds. */
export const FREE = 0
export const SERVED = 1
export const WITHHELD = 2

/**
 * A part of a list small enough that growing or compacting it stalls nobody: columns of numbers beside one buffer of packed
 * records, a slot a row. Times are monotonic milliseconds in the source's time (its lag subtracted).
 */
export class Shard {
  /** Which of its list's shards it is. */
  readonly number: number
  /** The GUID of each slot. */
  readonly ids: GuidTable = new GuidTable()
  readonly #texts = new PackedTexts()
  state: Uint8Array = EMPTY_BYTES
  /** When the details, and the availability, were last written: only a read that began later may change them. */
  detailsAt: Float64Array = EMPTY_FLOATS
  availabilityAt: Float64Array = EMPTY_FLOATS
  /** When the row was last mentioned by any read. */
  seenAt: Float64Array = EMPTY_FLOATS
  /** The number of the refresh, and of the audit beside it, that last mentioned the row. */
  seenIn: Uint32Array = EMPTY_WORDS
  auditedIn: Uint32Array = EMPTY_WORDS
  /** When what is held became what it is. */
  updatedAt: Float64Array = EMPTY_FLOATS
  version: Float64Array = EMPTY_FLOATS
  /** The entity tags of bodies that were asked for, four places a slot. */
  readonly etags: PackedEtags = new PackedEtags()
  /** Where bodies that were asked for lately lie, four places a slot. */
  readonly ready: ReadyPlaces = new ReadyPlaces()

  constructor(number: number) {
    this.number = number
  }

  get slots(): number {
    return this.ids.slots
  }

  get sizeBytes(): number {
    return (
      this.#texts.sizeBytes +
      this.ids.sizeBytes +
      this.state.length * (1 + 2 * 4 + 5 * 8 + SHAPES.length * (ETAG_LENGTH + 8 + 4))
    )
  }

  /** A new slot for a GUID that is not held. */
  insert(words: Uint32Array, hash: number): number {
    const slot = this.ids.insert(words, hash)
    if (slot >= this.state.length) this.#grow(this.ids.capacity)
    this.seenAt[slot] = this.detailsAt[slot] = this.availabilityAt[slot] = Number.NEGATIVE_INFINITY
    this.seenIn[slot] = this.auditedIn[slot] = 0
    this.version[slot] = Number.NaN
    return slot
  }

  /** Makes room for so many rows in all. */
  reserve(slots: number): void {
    this.ids.reserve(slots)
    if (this.ids.capacity > this.state.length) this.#grow(this.ids.capacity)
  }

  remove(slot: number): void {
    this.#texts.remove(slot)
    this.forgetBodies(slot, 1)
    this.state[slot] = FREE
    this.ids.remove(slot)
  }

  /** Stores a packed record; returns whether it differs from what the slot held. */
  write(slot: number, packed: string): boolean {
    const changed = this.#texts.write(slot, packed) || this.state[slot] !== SERVED
    this.state[slot] = SERVED
    if (changed) this.forgetBodies(slot, 1)
    return changed
  }

  /** Stores why a row is not served, as it is packed. */
  withhold(slot: number, packed: string): void {
    this.#texts.write(slot, packed)
    this.state[slot] = WITHHELD
    this.forgetBodies(slot, 1)
  }

  /** Whether what is withheld there is so for a mistake, rather than on purpose. */
  isMistake(slot: number): boolean {
    const withheld = this.withheldAt(slot)
    return withheld !== null && !isOnPurpose(withheld)
  }

  /** Null where the row is served, or was not written yet. */
  withheldAt(slot: number): Withheld | null {
    const packed = this.state[slot] === WITHHELD ? this.#texts.read(slot) : ''
    return packed === '' ? null : unpackWithheld(packed)
  }

  read(slot: number): string {
    return this.#texts.read(slot)
  }

  guid(slot: number): Guid {
    return this.ids.guid(slot)
  }

  forgetBodies(slot = 0, slots: number = this.state.length): void {
    this.etags.forget(slot * SHAPES.length, slots * SHAPES.length)
    this.ready.forget(slot * SHAPES.length, slots * SHAPES.length)
  }

  #grow(capacity: number): void {
    this.state = grown(this.state, new Uint8Array(capacity))
    this.detailsAt = grown(this.detailsAt, new Float64Array(capacity))
    this.availabilityAt = grown(this.availabilityAt, new Float64Array(capacity))
    this.seenAt = grown(this.seenAt, new Float64Array(capacity))
    this.seenIn = grown(this.seenIn, new Uint32Array(capacity))
    this.auditedIn = grown(this.auditedIn, new Uint32Array(capacity))
    this.updatedAt = grown(this.updatedAt, new Float64Array(capacity))
    this.version = grown(this.version, new Float64Array(capacity))
    this.etags.grow(capacity * SHAPES.length)
    this.ready.grow(capacity * SHAPES.length)
    this.#texts.grow(capacity)
  }
}
