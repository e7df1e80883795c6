import { hash } from 'node:crypto'

/** How many 32-bit words of the digest an ETag carries: 64 bits, since it is only compared among versions of one resource. */
export const ETAG_WORDS = 2

/** Writes the digest of a body's bytes into `words` at `offset`: a function of the bytes alone (contract §1.3). */
export function digestBody(body: string, words: Uint32Array, offset: number): void {
  // Not for secrecy, only to tell versions apart: SHA-1 takes half the time of SHA-256.
  const digest = hash('sha1', body, 'hex')
  words[offset] = Number.parseInt(digest.slice(0, 8), 16)
  words[offset + 1] = Number.parseInt(digest.slice(8, 16), 16)
}

/** The strong entity tag of a digest (RFC 9110 §8.8.3). */
export function etagText(high: number, low: number): string {
  return `"${hex(high)}${hex(low)}"`
}

/** Some times faster than to convert and to pad a number. */
const BYTES: readonly string[] = Array.from({ length: 256 }, (_, byte) => byte.toString(16).padStart(2, '0'))

function hex(word: number): string {
  return `${BYTES[word >>> 24]}${BYTES[(word >>> 16) & 255]}${BYTES[(word >>> 8) & 255]}${BYTES[word & 255]}`
}
