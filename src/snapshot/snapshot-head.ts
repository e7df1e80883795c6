import { FAULTS } from '../domain/withheld.ts'
import { Buffer } from 'node:buffer'
import { hash } from 'node:crypto'
import { fieldsOf } from '../records/row-records.ts'
import { cursorOf } from '../sync/port.ts'
import type { SnapshotList } from '../sync/served-list.ts'
import { decodeManifest, encodeManifest, SnapshotFault, type SnapshotManifest, unspoken } from './snapshot-chunks.ts'

/** The head of a snapshot file. */
export interface SnapshotHead extends SnapshotManifest<SnapshotList> {
  readonly fingerprint: string
  /** By the wall clock, for scheduling only. */
  readonly writtenAtMs: number
}

export const LENGTH_BYTES = 4
export const SUM_BYTES = 32
const MOST_HEAD_BYTES = 16 * 1024 * 1024

function digestOf(bytes: Buffer): Buffer {
  return hash('sha256', bytes, 'buffer')
}

/**
 * Encodes the head, with its length before and its checksum behind it, in exactly `sizeBytes`: the chunks are written
 * before the head is complete.
 */
export function encodeHead(head: SnapshotHead, sizeBytes: number): Buffer {
  const length = sizeBytes - LENGTH_BYTES - SUM_BYTES
  const text = encodeManifest(head)
  if (Buffer.byteLength(text) > length) throw new SnapshotFault('its header would be too large')
  const bytes = Buffer.alloc(sizeBytes, ' ')
  bytes.writeUInt32BE(length)
  bytes.write(text, LENGTH_BYTES)
  digestOf(bytes.subarray(LENGTH_BYTES, LENGTH_BYTES + length)).copy(bytes, LENGTH_BYTES + length)
  return bytes
}

/** Returns the length of the head from the first bytes of a file. */
export function headLength(bytes: Buffer): number {
  const length = bytes.readUInt32BE(0)
  if (length > MOST_HEAD_BYTES) throw new SnapshotFault('it does not begin like a snapshot')
  return length
}

/** Decodes a head with the checksum behind it. */
export function decodeHead(bytes: Buffer): SnapshotHead {
  const written = bytes.subarray(0, bytes.length - SUM_BYTES)
  if (!digestOf(written).equals(bytes.subarray(written.length)))
    throw new SnapshotFault('the checksum of its header is wrong')
  const { lists, chunks, fields } = decodeManifest(written.toString('utf8'), parseSnapshotList)
  const { fingerprint, writtenAtMs } = fields
  if (typeof fingerprint !== 'string' || typeof writtenAtMs !== 'number') throw unspoken()
  return { fingerprint, writtenAtMs, lists, chunks }
}

/** Parses a list's part of a snapshot; `null` if it is not valid. */
function parseSnapshotList(given: unknown): SnapshotList | null {
  const {
    cursor,
    served,
    withheld,
    unidentified,
    auditedAtMs,
    confirmedAtMs = null,
    shrunk = null,
    lost = 0,
  } = fieldsOf(given)
  if (cursor !== null && typeof cursor !== 'string') return null
  if (!isCount(served) || !isCount(withheld) || !isCount(lost) || !isTime(auditedAtMs) || !isTime(confirmedAtMs))
    return null
  if (!Array.isArray(unidentified) || unidentified.length > FAULTS.length || !unidentified.every(isCount)) return null
  const held = shrunk === null ? null : shrunkOf(shrunk)
  if (held === undefined) return null
  const known = { auditedAtMs, confirmedAtMs, shrunk: held, lost }
  return { cursor: cursor === null ? null : cursorOf(cursor), served, withheld, unidentified, ...known }
}

/** `undefined` if the value is not valid. */
function shrunkOf(given: unknown): SnapshotList['shrunk'] | undefined {
  const { sinceMs, absent, unreadable } = fieldsOf(given)
  return typeof sinceMs === 'number' && isCount(absent) && isCount(unreadable)
    ? { sinceMs, absent, unreadable }
    : undefined
}

function isTime(given: unknown): given is number | null {
  return given === null || typeof given === 'number'
}

function isCount(given: unknown): given is number {
  return Number.isSafeInteger(given) && Number(given) >= 0
}
