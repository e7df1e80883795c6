import { Buffer } from 'node:buffer'
import { hash } from 'node:crypto'
import { type JsonFields, numberAt } from '../domain/json-value.ts'
import type { SnapshotList, SnapshotState } from '../sync/served-list.ts'
import {
  decodeManifest,
  encodeManifest,
  listStateOf,
  SnapshotFault,
  type SnapshotManifest,
  unspoken,
} from './snapshot-chunks.ts'

/** The head of a snapshot file. */
export interface SnapshotHead extends SnapshotManifest<SnapshotList>, SnapshotState {
  readonly fingerprint: string
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
  const { lists, chunks, fields } = decodeManifest(written.toString('utf8'), snapshotListOf)
  const { fingerprint, writtenAtMs } = fields
  if (typeof fingerprint !== 'string' || typeof writtenAtMs !== 'number') throw unspoken()
  return { fingerprint, writtenAtMs, lists, chunks }
}

function snapshotListOf(given: JsonFields): SnapshotList {
  return {
    ...listStateOf(given),
    auditedAtMs: timeAt(given, 'auditedAtMs'),
    confirmedAtMs: timeAt(given, 'confirmedAtMs'),
  }
}

function timeAt(given: JsonFields, name: string): number | null {
  return given[name] === null ? null : numberAt(given, name)
}
