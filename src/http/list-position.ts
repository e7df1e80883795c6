import { Buffer } from 'node:buffer'
import type { ListName } from '../domain/field.ts'
import { type Guid, parseGuid } from '../domain/guid.ts'
import { sha1 } from '../domain/sha1.ts'
import { TICKS_PER_MS } from '../domain/tick.ts'
import type { ListPosition } from '../order/list-index.ts'

// The layout of `after`, which never changes (contract §4.1): a byte for the version and the list, the Start of an
// event in units of 100 ns since 1970, the id, and a check sum.
const VERSION = 1
const LISTS = { events: 0, venues: 1 } as const
const START_BYTES = { events: 8, venues: 0 } as const
const ID_BYTES = 16
const CHECK_BYTES = 4

/** Returns the text for a position in links. It is valid on any instance and in any release. */
export function writePosition(list: ListName, { start, id }: ListPosition): string {
  const bytes = Buffer.alloc(1 + START_BYTES[list] + ID_BYTES + CHECK_BYTES)
  bytes[0] = (VERSION << 4) | LISTS[list]
  if (START_BYTES[list] > 0) bytes.writeBigInt64BE(BigInt(start.ms) * BigInt(TICKS_PER_MS) + BigInt(start.ticks), 1)
  bytes.write(id.replaceAll('-', ''), 1 + START_BYTES[list], 'hex')
  bytes.write(checkOf(bytes.subarray(0, -CHECK_BYTES)), bytes.length - CHECK_BYTES, 'hex')
  return bytes.toString('base64url')
}

/** Returns the length of the texts of `writePosition` for this list. */
export function positionLength(list: ListName): number {
  return Math.ceil(((1 + START_BYTES[list] + ID_BYTES + CHECK_BYTES) * 4) / 3)
}

/** Parses a text of `writePosition` for this list; `null` for any other text (contract §4.3). */
export function readPosition(list: ListName, text: string): ListPosition | null {
  const length = 1 + START_BYTES[list] + ID_BYTES + CHECK_BYTES
  if (text.length !== positionLength(list)) return null
  const bytes = Buffer.from(text, 'base64url')
  // The decoder is lenient, so only the exact spelling of `writePosition` is accepted.
  if (bytes.length !== length || bytes.toString('base64url') !== text) return null
  if (bytes[0] !== ((VERSION << 4) | LISTS[list])) return null
  if (bytes.toString('hex', length - CHECK_BYTES) !== checkOf(bytes.subarray(0, -CHECK_BYTES))) return null
  const id: Guid | null = parseGuid(bytes.toString('hex', 1 + START_BYTES[list], length - CHECK_BYTES))
  if (id === null) return null
  if (START_BYTES[list] === 0) return { start: { ms: 0, ticks: 0 }, id }
  const ticks = bytes.readBigInt64BE(1)
  const ms = ticks / BigInt(TICKS_PER_MS) - (ticks % BigInt(TICKS_PER_MS) < 0n ? 1n : 0n)
  return { start: { ms: Number(ms), ticks: Number(ticks - ms * BigInt(TICKS_PER_MS)) }, id }
}

/** Protects against typing errors, not forgery: a forged position does no harm. */
function checkOf(bytes: Uint8Array): string {
  return sha1(bytes).slice(0, CHECK_BYTES * 2)
}
