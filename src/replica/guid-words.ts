import type { Guid } from '../domain/guid.ts'

/** A GUID as four 32-bit words, the form an index of numbers can compare. Reused between calls: copy what must last. */
export type GuidWords = Uint32Array

const DASH = 45

/** Reads a canonical GUID into `words`: 32 hex digits, dashes skipped. */
export function readGuidWords(id: Guid, words: GuidWords): void {
  let position = 0
  for (let word = 0; word < 4; word++) {
    let value = 0
    for (let digit = 0; digit < 8; position++) {
      const code = id.charCodeAt(position)
      if (code === DASH) continue
      // '0'…'9' are 48…57, 'a'…'f' 97…102.
      value = (value << 4) | (code < 58 ? code - 48 : code - 87)
      digit++
    }
    words[word] = value
  }
}

/** The canonical text of the GUID at `offset` of `words`. */
export function guidText(words: Uint32Array, offset: number): Guid {
  let digits = ''
  for (let word = 0; word < 4; word++) digits += (words[offset + word] ?? 0).toString(16).padStart(8, '0')
  const text = `${digits.slice(0, 8)}-${digits.slice(8, 12)}-${digits.slice(12, 16)}-${digits.slice(16, 20)}-${digits.slice(20)}`
  // oxlint-disable-next-line typescript/consistent-type-assertions, typescript/no-unsafe-type-assertion -- canonical by construction
  return text as Guid
}

/** Mixes all 128 bits: sequential GUIDs of a database must spread as well as random ones (murmur3's finaliser). */
export function hashWords(words: Uint32Array, offset: number): number {
  let hash = 0x9747b28c
  for (let word = 0; word < 4; word++) {
    hash = Math.imul(hash ^ (words[offset + word] ?? 0), 0x85ebca6b)
    hash ^= hash >>> 15
  }
  hash = Math.imul(hash, 0xc2b2ae35)
  return (hash ^ (hash >>> 16)) >>> 0
}
