import { type Guid, GuidTable } from '../domain/guid.ts'
import { type ChangeOfRecord, type Revision, revised } from '../domain/revision.ts'
import { type Withheld, isOnPurpose } from '../domain/withheld.ts'
import { ETAG_LENGTH } from '../domain/body.ts'
import { SHAPES } from '../formats/media-types.ts'
import { EMPTY_BYTES, EMPTY_FLOATS, EMPTY_WORDS, PackedTexts, resized } from './packed-texts.ts'
import { PackedEtags, type ReadyBodies, ReadyPlaces } from './ready-bodies.ts'
import { unpackWithheld } from './packed-withheld.ts'

/** The contents of a slot. */
export const FREE = 0
export const SERVED = 1
export const WITHHELD = 2

/**
 * A part of a list, small enough to grow or compact without a noticeable pause: columns of numbers and one buffer of
 * packed records, one slot per row. Times are monotonic ms in the source's time (its lag subtracted).
 */
export class Shard {
  readonly number: number
  readonly ids: GuidTable = new GuidTable()
  readonly #texts = new PackedTexts()
  state: Uint8Array = EMPTY_BYTES
  /** When the details and the availability were last written. Only a read that began later may change them. */
  detailsAt: Float64Array = EMPTY_FLOATS
  availabilityAt: Float64Array = EMPTY_FLOATS
  /** When any read last mentioned the row. */
  seenAt: Float64Array = EMPTY_FLOATS
  /** The number of the refresh, and of the audit, that last mentioned the row. */
  seenIn: Uint32Array = EMPTY_WORDS
  auditedIn: Uint32Array = EMPTY_WORDS
  /** When the row last changed. */
  updatedAt: Float64Array = EMPTY_FLOATS
  version: Float64Array = EMPTY_FLOATS
  /** The revision of each row. */
  sinceS: Uint32Array = EMPTY_WORDS
  sequence: Uint32Array = EMPTY_WORDS
  /** The entity tags of requested bodies, four places per slot. */
  readonly etags: PackedEtags = new PackedEtags()
  /** The positions of ready bodies, four places per slot. */
  readonly ready: ReadyPlaces

  constructor(number: number, ready: ReadyBodies) {
    this.number = number
    this.ready = new ReadyPlaces(ready)
  }

  get slots(): number {
    return this.ids.slots
  }

  get sizeBytes(): number {
    return (
      this.#texts.sizeBytes +
      this.ids.sizeBytes +
      this.state.length * (1 + 4 * 4 + 5 * 8 + SHAPES.length * (ETAG_LENGTH + 8 + 4))
    )
  }

  /** Returns a slot for a new GUID. */
  insert(words: Uint32Array, hash: number): number {
    const slot = this.ids.insert(words, hash)
    if (slot >= this.state.length) this.#resize(this.ids.capacity)
    this.seenAt[slot] = this.detailsAt[slot] = this.availabilityAt[slot] = Number.NEGATIVE_INFINITY
    this.seenIn[slot] = this.auditedIn[slot] = this.sinceS[slot] = this.sequence[slot] = 0
    this.version[slot] = Number.NaN
    return slot
  }

  /** Makes room for `slots` rows in all. */
  reserve(slots: number): void {
    this.ids.reserve(slots)
    if (this.ids.capacity > this.state.length) this.#resize(this.ids.capacity)
  }

  /** Gives back the room of removed rows, if it is much. */
  trim(): void {
    if (this.ids.trim()) this.#resize(this.ids.capacity)
    else this.#texts.trim()
  }

  remove(slot: number): void {
    this.#texts.remove(slot)
    this.forgetBodies(slot, 1)
    this.state[slot] = FREE
    this.ids.remove(slot)
  }

  /** Returns true if the slot's row is served with this packed record. */
  holds(slot: number, packed: string): boolean {
    return this.state[slot] === SERVED && this.#texts.holds(slot, packed)
  }

  /** Stores a packed record that differs from the slot's previous contents. */
  write(slot: number, packed: string): void {
    this.#texts.write(slot, packed)
    this.state[slot] = SERVED
    this.forgetBodies(slot, 1)
  }

  revisionAt(slot: number): Revision {
    return { sinceS: this.sinceS[slot] ?? 0, sequence: this.sequence[slot] ?? 0 }
  }

  /** Notes a change of what is served, and returns the new revision. */
  revise(slot: number, change: ChangeOfRecord, nowS: number): Revision {
    const revision = revised(this.revisionAt(slot), change, nowS)
    this.setRevision(slot, revision)
    return revision
  }

  setRevision(slot: number, { sinceS, sequence }: Revision): void {
    this.sinceS[slot] = sinceS
    this.sequence[slot] = sequence
  }

  /** Stores the packed record of a new slot, given as UTF-8. */
  writeBytes(slot: number, packed: Buffer): void {
    this.#texts.writeBytes(slot, packed)
    this.state[slot] = SERVED
  }

  /** Stores a row's packed faults in place of its record. */
  withhold(slot: number, packed: string): void {
    this.#texts.write(slot, packed)
    this.state[slot] = WITHHELD
    this.forgetBodies(slot, 1)
  }

  isServed(slot: number): boolean {
    return this.state[slot] === SERVED
  }

  isHeld(slot: number): boolean {
    return this.state[slot] !== FREE
  }

  /** Returns true if the slot's row was mentioned by a numbered read, or by another since that began. */
  isSeen(slot: number, number: number, begunAt: number, isAudit: boolean): boolean {
    const numbers = isAudit ? this.auditedIn : this.seenIn
    return (numbers[slot] ?? 0) >= number || (this.seenAt[slot] ?? 0) >= begunAt
  }

  /** Returns true if the slot's row is withheld because of a mistake, not on purpose. */
  isMistake(slot: number): boolean {
    const withheld = this.withheldAt(slot)
    return withheld !== null && !isOnPurpose(withheld)
  }

  /** `null` if the row is served or was not written yet. */
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

  #resize(capacity: number): void {
    this.state = resized(this.state, new Uint8Array(capacity))
    this.detailsAt = resized(this.detailsAt, new Float64Array(capacity))
    this.availabilityAt = resized(this.availabilityAt, new Float64Array(capacity))
    this.seenAt = resized(this.seenAt, new Float64Array(capacity))
    this.seenIn = resized(this.seenIn, new Uint32Array(capacity))
    this.auditedIn = resized(this.auditedIn, new Uint32Array(capacity))
    this.updatedAt = resized(this.updatedAt, new Float64Array(capacity))
    this.version = resized(this.version, new Float64Array(capacity))
    this.sinceS = resized(this.sinceS, new Uint32Array(capacity))
    this.sequence = resized(this.sequence, new Uint32Array(capacity))
    this.etags.resize(capacity * SHAPES.length)
    this.ready.resize(capacity * SHAPES.length)
    this.#texts.resize(capacity)
  }
}
