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

/** Reads a canonical GUID into `words`: four 32-bit numbers. */
export function readGuidWords(id: Guid, words: Uint32Array): void {
  words[0] = (fourDigits(id, 0) << 16) | fourDigits(id, 4)
  words[1] = (fourDigits(id, 9) << 16) | fourDigits(id, 14)
  words[2] = (fourDigits(id, 19) << 16) | fourDigits(id, 24)
  words[3] = (fourDigits(id, 28) << 16) | fourDigits(id, 32)
}

/** Returns the first eight digits as a number. */
export function firstGuidDigits(id: Guid): number {
  return fourDigits(id, 0) * 0x10000 + fourDigits(id, 4)
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
