import { sha1 } from '../../domain/sha1.ts'

/**
 * A 53-bit digest of a row's bytes: two of murmur3's mixing functions, as a single one would collide too often. It
 * only detects changes and is not cryptographic.
 */
export function digestOf(bytes: Uint8Array, from = 0, to: number = bytes.length, seed = 0): number {
  let low = 0x9747b28c ^ seed
  let high = 0x85ebca6b ^ Math.imul(seed, 0xcc9e2d51)
  const whole = from + ((to - from) & ~3)
  for (let at = from; at < whole; at += 4) {
    const word = wordAt(bytes, at)
    low = Math.imul(low ^ mixed(word, 0xcc9e2d51), 5) + 0xe6546b64
    high = Math.imul(high ^ mixed(word, 0x1b873593), 5) + 0x38b34ae5
    low = (low << 13) | (low >>> 19)
    high = (high << 17) | (high >>> 15)
  }
  let rest = to - from
  for (let at = whole; at < to; at++) rest = (rest << 8) | (bytes[at] ?? 0)
  low = finished(low ^ rest)
  high = finished(high ^ Math.imul(rest, 0xcc9e2d51) ^ (to - from))
  return (high >>> 11) * 0x1_0000_0000 + (low >>> 0)
}

function wordAt(bytes: Uint8Array, at: number): number {
  return (bytes[at] ?? 0) | ((bytes[at + 1] ?? 0) << 8) | ((bytes[at + 2] ?? 0) << 16) | ((bytes[at + 3] ?? 0) << 24)
}

function mixed(word: number, factor: number): number {
  const product = Math.imul(word, factor)
  return (product << 15) | (product >>> 17)
}

function finished(hash: number): number {
  let mixing = Math.imul(hash ^ (hash >>> 16), 0x85ebca6b)
  mixing = Math.imul(mixing ^ (mixing >>> 13), 0xc2b2ae35)
  return mixing ^ (mixing >>> 16)
}

/** The seed of rows' digests: with another mapping, the same bytes become another record. */
export function seedOf(shaping: readonly unknown[]): number {
  const text = JSON.stringify(shaping, (_, value: unknown) =>
    // Only the name of a zone, not its data.
    typeof value === 'object' && value !== null && 'spanAt' in value && 'id' in value ? value.id : value,
  )
  return Number.parseInt(sha1(text).slice(0, 8), 16) | 0
}
