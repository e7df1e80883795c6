import { Buffer } from 'node:buffer'
import { createHash } from 'node:crypto'
import { SNAPSHOT_FORMAT, type SnapshotLists, parseSnapshotList } from '../sync/snapshot-list.ts'
import { fieldsOf } from '../records/row-records.ts'

/** What is known of a chunk before it is read. */
export interface ChunkSum {
  readonly bytes: number
  readonly rows: number
  /** The SHA-256 of the stored bytes, in hexadecimal. */
  readonly sha256: string
}

/** The head of a snapshot file. */
export interface SnapshotHead {
  readonly format: number
  readonly fingerprint: string
  /** By the wall clock, for scheduling only. */
  readonly writtenAtMs: number
  readonly lists: SnapshotLists
  readonly chunks: readonly ChunkSum[]
}

/** Why a snapshot cannot be used or written: the rest of a sentence that begins with its name. */
export class SnapshotFault extends Error {}

export const LENGTH_BYTES = 4
export const SUM_BYTES = 32
const MOST_HEAD_BYTES = 16 * 1024 * 1024
const MOST_CHUNK_BYTES = 8 * 1024 * 1024

export function sumOf(bytes: Buffer): Buffer {
  return createHash('sha256').update(bytes).digest()
}

/**
 * Encodes the head, with its length before and its checksum behind it, in exactly `sizeBytes`: the chunks are written
 * before the head is complete.
 */
export function encodeHead(head: SnapshotHead, sizeBytes: number): Buffer {
  const length = sizeBytes - LENGTH_BYTES - SUM_BYTES
  const text = JSON.stringify(head)
  if (Buffer.byteLength(text) > length) throw new SnapshotFault('there is more to say of it than there is room for')
  const bytes = Buffer.alloc(sizeBytes, ' ')
  bytes.writeUInt32BE(length)
  bytes.write(text, LENGTH_BYTES)
  sumOf(bytes.subarray(LENGTH_BYTES, LENGTH_BYTES + length)).copy(bytes, LENGTH_BYTES + length)
  return bytes
}

/** Returns the length of the head from the first bytes of a file. */
export function headLength(bytes: Buffer): number {
  const length = bytes.readUInt32BE(0)
  if (length > MOST_HEAD_BYTES) throw new SnapshotFault('it does not begin as a snapshot does')
  return length
}

/** Decodes a head with the checksum behind it. */
export function decodeHead(bytes: Buffer): SnapshotHead {
  const written = bytes.subarray(0, bytes.length - SUM_BYTES)
  if (!sumOf(written).equals(bytes.subarray(written.length))) throw new SnapshotFault('the sum of its head is wrong')
  const { format, fingerprint, writtenAtMs, chunks, lists } = fieldsOf(JSON.parse(written.toString('utf8')))
  if (format !== SNAPSHOT_FORMAT) {
    throw new SnapshotFault(`it is of format ${String(format).slice(0, 20)}, and this release reads ${SNAPSHOT_FORMAT}`)
  }
  const named = fieldsOf(lists)
  const [events, venues] = [parseSnapshotList(named['events']), parseSnapshotList(named['venues'])]
  const isWhole = typeof fingerprint === 'string' && typeof writtenAtMs === 'number' && Array.isArray(chunks)
  if (!isWhole || events === null || venues === null || !chunks.every(isChunkSum)) {
    throw new SnapshotFault('its head does not say what a snapshot must say')
  }
  return { format, fingerprint, writtenAtMs, lists: { events, venues }, chunks }
}

export function isChunkSum(given: unknown): given is ChunkSum {
  const { bytes, rows, sha256 } = fieldsOf(given)
  const isSized = Number.isSafeInteger(bytes) && Number(bytes) >= 0 && Number(bytes) <= MOST_CHUNK_BYTES
  return isSized && Number.isSafeInteger(rows) && typeof sha256 === 'string'
}
