import type { Guid } from '../domain/guid.ts'
import { guidText, hashWords } from './guid-words.ts'

const EMPTY = -1

/** GUID → slot: an open-addressing hash table of numbers, linear probing, at most half full. Slots are reused. */
export class GuidTable {
  /** Four words a slot. */
  #keys: Uint32Array = new Uint32Array(0)
  #buckets: Int32Array = new Int32Array(0)
  readonly #free: number[] = []
  slots = 0

  get capacity(): number {
    return this.#keys.length / 4
  }

  get sizeBytes(): number {
    return this.#keys.byteLength + this.#buckets.byteLength
  }

  guid(slot: number): Guid {
    return guidText(this.#keys, slot * 4)
  }

  /** The words of a slot's GUID, copied. */
  readWords(slot: number, into: Uint32Array): void {
    for (let word = 0; word < 4; word++) into[word] = this.#keys[slot * 4 + word] ?? 0
  }

  /** Below 0 where the GUID of the slot stands before `words` in the order of their texts, above where after, 0 where it is. */
  compare(slot: number, words: Uint32Array): number {
    const keys = this.#keys
    for (let word = 0; word < 4; word++) {
      const held = keys[slot * 4 + word] ?? 0
      const given = words[word] ?? 0
      if (held !== given) return held < given ? -1 : 1
    }
    return 0
  }

  find(words: Uint32Array, hash: number): number {
    const mask = this.#buckets.length - 1
    if (mask < 0) return EMPTY
    const keys = this.#keys
    for (let bucket = hash & mask; ; bucket = (bucket + 1) & mask) {
      const slot = this.#buckets[bucket] ?? EMPTY
      if (slot === EMPTY) return EMPTY
      const key = slot * 4
      if (
        keys[key] === words[0] &&
        keys[key + 1] === words[1] &&
        keys[key + 2] === words[2] &&
        keys[key + 3] === words[3]
      ) {
        return slot
      }
    }
  }

  /** A slot for a GUID that is not in the table. */
  insert(words: Uint32Array, hash: number): number {
    let slot = this.#free.pop()
    if (slot === undefined) {
      if (this.slots === this.capacity) this.#grow()
      slot = this.slots++
    }
    this.#keys.set(words, slot * 4)
    this.#place(slot, hash)
    return slot
  }

  remove(slot: number): void {
    const mask = this.#buckets.length - 1
    let hole = hashWords(this.#keys, slot * 4) & mask
    while (this.#buckets[hole] !== slot) hole = (hole + 1) & mask
    // Backward-shift deletion: what was pushed past the hole moves into it, so that no probe ends too early.
    for (let bucket = (hole + 1) & mask; ; bucket = (bucket + 1) & mask) {
      const moved = this.#buckets[bucket] ?? EMPTY
      if (moved === EMPTY) break
      const home = hashWords(this.#keys, moved * 4) & mask
      if (((bucket - home) & mask) >= ((bucket - hole) & mask)) {
        this.#buckets[hole] = moved
        hole = bucket
      }
    }
    this.#buckets[hole] = EMPTY
    this.#free.push(slot)
  }

  #place(slot: number, hash: number): void {
    const mask = this.#buckets.length - 1
    let bucket = hash & mask
    while (this.#buckets[bucket] !== EMPTY) bucket = (bucket + 1) & mask
    this.#buckets[bucket] = slot
  }

  #grow(): void {
    const capacity = Math.max(4, this.capacity + (this.capacity >> 1))
    const keys = new Uint32Array(capacity * 4)
    keys.set(this.#keys)
    this.#keys = keys
    let size = 8
    while (size < capacity * 2) size *= 2
    if (size === this.#buckets.length) return
    this.#buckets = new Int32Array(size).fill(EMPTY)
    // Growing happens only when every slot is in use.
    for (let slot = 0; slot < this.slots; slot++) this.#place(slot, hashWords(keys, slot * 4))
  }
}
