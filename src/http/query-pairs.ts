import { Buffer } from 'node:buffer'

/** Returns the query of a request target or URL without its `?`; empty if there is none. */
export function queryOf(target: string): string {
  const hash = target.indexOf('#')
  const end = hash === -1 ? target.length : hash
  const mark = target.indexOf('?')
  return mark === -1 || mark > end ? '' : target.slice(mark + 1, end)
}

/**
 * Parses a query by WHATWG's application/x-www-form-urlencoded rules (contract §4.1).
 *
 * @example pairsOf('tag=a+b&&tag=%c3%a9') // [['tag', 'a b'], ['tag', 'é']]
 */
export function pairsOf(query: string): readonly (readonly [name: string, value: string])[] {
  const pairs: (readonly [string, string])[] = []
  for (const pair of query.split('&')) {
    if (pair === '') continue
    const equals = pair.indexOf('=')
    if (equals === -1) pairs.push([decode(pair), ''])
    else pairs.push([decode(pair.slice(0, equals)), decode(pair.slice(equals + 1))])
  }
  return pairs
}

function decode(text: string): string {
  const spaced = text.includes('+') ? text.replaceAll('+', ' ') : text
  if (!ENCODED.test(spaced)) return spaced
  // Node passes non-ASCII bytes on as one character each, Bun as percent-encoded.
  const bytes = Buffer.from(spaced, BEYOND_BYTES.test(spaced) ? 'utf8' : 'latin1')
  let length = 0
  for (let at = 0; at < bytes.length; at++) {
    const byte = bytes[at] ?? 0
    const value = byte === PERCENT ? hexAt(bytes, at + 1) : -1
    bytes[length++] = value === -1 ? byte : value
    if (value !== -1) at += 2
  }
  return bytes.toString('utf8', 0, length)
}

const ENCODED = /[%\u0080-\uffff]/
const BEYOND_BYTES = /[\u0100-\uffff]/
const PERCENT = 0x25

/** Returns the byte of two hexadecimal digits; -1 if there are none, in which case the per cent sign is literal. */
function hexAt(bytes: Uint8Array, at: number): number {
  const high = digitOf(bytes[at])
  const low = digitOf(bytes[at + 1])
  return high === -1 || low === -1 ? -1 : high * 16 + low
}

function digitOf(code: number | undefined): number {
  if (code === undefined) return -1
  if (code >= 0x30 && code <= 0x39) return code - 0x30
  const letter = code | 0x20
  return letter >= 0x61 && letter <= 0x66 ? letter - 0x57 : -1
}
