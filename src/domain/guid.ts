import { trimWhiteSpace } from './white-space.ts'
import { Buffer } from 'node:buffer'

declare const guid: unique symbol

/** A GUID in its canonical form: 36 characters, lower-case, hyphenated (contract §1.1). */
export type Guid = string & { readonly [guid]: true }

const EMPTY = '00000000-0000-0000-0000-000000000000'

export const EMPTY_GUID: Guid = asGuid(EMPTY)

/**
 * Parses a GUID in any of the forms that .NET reads (contract §1.1). `null` for any other text and for the empty GUID.
 *
 * @example parseGuid('{5F6C2A3E-8D0B-4C57-9E21-0A4B7D9C1E34}') // '5f6c2a3e-8d0b-4c57-9e21-0a4b7d9c1e34'
 */
export function parseGuid(text: string): Guid | null {
  const parsed = parseGuidOrEmpty(text)
  return parsed === EMPTY ? null : parsed
}

/** Like `parseGuid`, but accepts the empty GUID: an event's venue may not be assigned yet. */
export function parseGuidOrEmpty(text: string): Guid | null {
  // Nearly every id arrives canonical, because our links are. Checking for that first allocates nothing.
  if (text.length === 36 && isCanonical(text)) return asGuid(text)
  const bare = trimWhiteSpace(text)
  const inner = WRAPPED.test(bare) ? bare.slice(1, -1) : bare
  if (HYPHENATED.test(inner)) return asGuid(inner.toLowerCase())
  return HEX_DIGITS.test(bare) ? asGuid(bare.toLowerCase().replace(HEX_DIGITS, '$1-$2-$3-$4-$5')) : null
}

const WRAPPED = /^(?:\{.{36}\}|\(.{36}\))$/
const HYPHENATED = /^[\da-f]{8}(?:-[\da-f]{4}){3}-[\da-f]{12}$/i
const HEX_DIGITS = /^([\da-f]{8})([\da-f]{4})([\da-f]{4})([\da-f]{4})([\da-f]{12})$/i

const HYPHEN = 0x2d

// Lookup tables are about twice as fast as comparisons: a branch predictor cannot guess whether a hex digit is a
// letter.
const DIGITS = '0123456789abcdef'
const IS_DIGIT = new Uint8Array(128)
const VALUE_OF = new Uint8Array(128)
const CODE_OF = new Uint8Array(16)
for (let value = 0; value < 16; value++) {
  const code = DIGITS.charCodeAt(value)
  IS_DIGIT[code] = 1
  VALUE_OF[code] = value
  CODE_OF[value] = code
}

function isCanonical(text: string): boolean {
  return (
    text.charCodeAt(8) === HYPHEN &&
    text.charCodeAt(13) === HYPHEN &&
    text.charCodeAt(18) === HYPHEN &&
    text.charCodeAt(23) === HYPHEN &&
    isHex(text, 0, 8) &&
    isHex(text, 9, 13) &&
    isHex(text, 14, 18) &&
    isHex(text, 19, 23) &&
    isHex(text, 24, 36)
  )
}

function isHex(text: string, from: number, until: number): boolean {
  for (let index = from; index < until; index++) if (IS_DIGIT[text.charCodeAt(index)] !== 1) return false
  return true
}

function asGuid(text: string): Guid {
  // oxlint-disable-next-line typescript/consistent-type-assertions, typescript/no-unsafe-type-assertion -- the one place
  return text as Guid
}

const NO_SLOT = -1
// All empty tables share these: a list has 256 of them.
const NO_KEYS = new Uint32Array(0)
const NO_BUCKETS = new Int32Array(0)
const NONE_FREE: ReadonlySet<number> = new Set()
/** The most slots of which none is given back. */
const LITTLE_ROOM = 32

/**
 * Maps GUIDs to slots: an open-addressing hash table of numbers, with linear probing, at most half full. Slots are
 * reused.
 */
export class GuidTable {
  /** Four words per slot. */
  #keys: Uint32Array = NO_KEYS
  #buckets: Int32Array = NO_BUCKETS
  readonly #free: number[] = []
  slots = 0
  capacity = 0
  /** Stored, not computed: it is read for all shards after each page. */
  sizeBytes = 0

  guid(slot: number): Guid {
    return guidText(this.#keys, slot * 4)
  }

  /** Copies the words of a slot's GUID into `into`. */
  readWords(slot: number, into: Uint32Array): void {
    for (let word = 0; word < 4; word++) into[word] = this.#keys[slot * 4 + word] ?? 0
  }

  /**
   * Compares a slot's GUID with `words` in the order of their texts: negative if it comes before, positive if after, 0
   * if equal.
   */
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
    if (mask < 0) return NO_SLOT
    const keys = this.#keys
    for (let bucket = hash & mask; ; bucket = (bucket + 1) & mask) {
      const slot = this.#buckets[bucket] ?? NO_SLOT
      if (slot === NO_SLOT) return NO_SLOT
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

  /** Returns a slot for a GUID that is not in the table. */
  insert(words: Uint32Array, hash: number): number {
    let slot = this.#free.pop()
    if (slot === undefined) {
      if (this.slots === this.capacity) this.#resize(Math.max(4, this.capacity + (this.capacity >> 1)))
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
    // Backward-shift deletion: entries pushed past the hole move into it, so no probe ends too early.
    for (let bucket = (hole + 1) & mask; ; bucket = (bucket + 1) & mask) {
      const moved = this.#buckets[bucket] ?? NO_SLOT
      if (moved === NO_SLOT) break
      const home = hashWords(this.#keys, moved * 4) & mask
      if (((bucket - home) & mask) >= ((bucket - hole) & mask)) {
        this.#buckets[hole] = moved
        hole = bucket
      }
    }
    this.#buckets[hole] = NO_SLOT
    this.#free.push(slot)
  }

  #place(slot: number, hash: number): void {
    const mask = this.#buckets.length - 1
    let bucket = hash & mask
    while (this.#buckets[bucket] !== NO_SLOT) bucket = (bucket + 1) & mask
    this.#buckets[bucket] = slot
  }

  /** Makes room for `slots` slots, unless a slot is free for reuse. */
  reserve(slots: number): void {
    if (this.#free.length === 0 && slots > this.capacity) this.#resize(slots)
  }

  /** Gives back the room after the last slot in use, if it is much. Returns true if it was. */
  trim(): boolean {
    // Asked of every table after each read of all rows, which may have reserved some room beyond them.
    const isMuch = (used: number): boolean => this.capacity > LITTLE_ROOM && used * 2 < this.capacity
    if (!isMuch(this.slots - this.#free.length)) return false
    const free = new Set(this.#free)
    let { slots } = this
    while (free.delete(slots - 1)) slots--
    if (!isMuch(slots)) return false
    this.slots = slots
    this.#free.splice(0, this.#free.length, ...free)
    this.#resize(slots, free)
    return true
  }

  #resize(capacity: number, free: ReadonlySet<number> = NONE_FREE): void {
    const keys = new Uint32Array(capacity * 4)
    keys.set(this.#keys.subarray(0, keys.length))
    this.#keys = keys
    this.capacity = capacity
    let size = capacity === 0 ? 0 : 8
    while (size < capacity * 2) size *= 2
    this.sizeBytes = 4 * (keys.length + size)
    if (size === this.#buckets.length) return
    this.#buckets = new Int32Array(size).fill(NO_SLOT)
    // Whenever the table grows, every slot is in use.
    for (let slot = 0; slot < this.slots; slot++) if (!free.has(slot)) this.#place(slot, hashWords(keys, slot * 4))
  }
}

/** Reads a canonical GUID into `words`: four 32-bit numbers, which an index of numbers can compare. */
export function readGuidWords(id: Guid, words: Uint32Array): void {
  words[0] = (fourDigits(id, 0) << 16) | fourDigits(id, 4)
  words[1] = (fourDigits(id, 9) << 16) | fourDigits(id, 14)
  words[2] = (fourDigits(id, 19) << 16) | fourDigits(id, 24)
  words[3] = (fourDigits(id, 28) << 16) | fourDigits(id, 32)
}

function fourDigits(id: Guid, at: number): number {
  return (digit(id, at) << 12) | (digit(id, at + 1) << 8) | (digit(id, at + 2) << 4) | digit(id, at + 3)
}

function digit(id: Guid, at: number): number {
  return VALUE_OF[id.charCodeAt(at)] ?? 0
}

/** The buffer in which `guidText` writes. Its hyphens never change. */
const written = Buffer.alloc(36, HYPHEN)

/** Returns the canonical text of the GUID at `offset` of `words`. */
export function guidText(words: Uint32Array, offset: number): Guid {
  let at = 0
  for (let word = offset; word < offset + 4; word++) {
    for (let shift = 28; shift >= 0; shift -= 4) {
      if (at === 8 || at === 13 || at === 18 || at === 23) at++
      written[at++] = CODE_OF[((words[word] ?? 0) >>> shift) & 15] ?? 0
    }
  }
  // oxlint-disable-next-line typescript/consistent-type-assertions, typescript/no-unsafe-type-assertion -- canonical by construction
  return written.toString('latin1') as Guid
}

/** Mixes all 128 bits with murmur3's finalizer: a database's sequential GUIDs must spread as well as random ones. */
export function hashWords(words: Uint32Array, offset: number): number {
  let hash = 0x9747b28c
  for (let word = 0; word < 4; word++) {
    hash = Math.imul(hash ^ (words[offset + word] ?? 0), 0x85ebca6b)
    hash ^= hash >>> 15
  }
  hash = Math.imul(hash, 0xc2b2ae35)
  return (hash ^ (hash >>> 16)) >>> 0
}
