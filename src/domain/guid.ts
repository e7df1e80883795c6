import { trimWhiteSpace } from './white-space.ts'

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
  if (text.length === 36 && isHyphenated(text, LOWER_CASE)) return asGuid(text)
  const bare = trimWhiteSpace(text)
  switch (bare.length) {
    case 36:
      return isHyphenated(bare, ANY_CASE) ? asGuid(bare.toLowerCase()) : null
    case 38:
      return unwrapped(bare)
    case 32:
      return isHex(bare, 0, 32, ANY_CASE) ? asGuid(hyphenated(bare.toLowerCase())) : null
    default:
      return null
  }
}

function unwrapped(text: string): Guid | null {
  const pair = `${text.charAt(0)}${text.charAt(37)}`
  if (pair !== '{}' && pair !== '()') return null
  const inner = text.slice(1, 37)
  return isHyphenated(inner, ANY_CASE) ? asGuid(inner.toLowerCase()) : null
}

function hyphenated(digits: string): string {
  const [a, b, c, d] = [digits.slice(0, 8), digits.slice(8, 12), digits.slice(12, 16), digits.slice(16, 20)]
  return `${a}-${b}-${c}-${d}-${digits.slice(20)}`
}

const HYPHEN = 0x2d

// Lookup tables are about twice as fast as comparisons: a branch predictor cannot guess whether a hex digit is a
// letter.
const LOWER_CASE = markers('0123456789abcdef')
const ANY_CASE = markers('0123456789abcdefABCDEF')

function markers(characters: string): Uint8Array {
  const table = new Uint8Array(128)
  for (const character of characters) table[character.charCodeAt(0)] = 1
  return table
}

function isHyphenated(text: string, hex: Uint8Array): boolean {
  return (
    text.charCodeAt(8) === HYPHEN &&
    text.charCodeAt(13) === HYPHEN &&
    text.charCodeAt(18) === HYPHEN &&
    text.charCodeAt(23) === HYPHEN &&
    isHex(text, 0, 8, hex) &&
    isHex(text, 9, 13, hex) &&
    isHex(text, 14, 18, hex) &&
    isHex(text, 19, 23, hex) &&
    isHex(text, 24, 36, hex)
  )
}

function isHex(text: string, from: number, until: number, hex: Uint8Array): boolean {
  for (let index = from; index < until; index++) if (hex[text.charCodeAt(index)] !== 1) return false
  return true
}

function asGuid(text: string): Guid {
  // oxlint-disable-next-line typescript/consistent-type-assertions, typescript/no-unsafe-type-assertion -- the one place
  return text as Guid
}
