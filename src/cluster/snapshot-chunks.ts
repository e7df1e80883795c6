import { Buffer } from 'node:buffer'
import { hash } from 'node:crypto'
import { constants, zstdCompressSync, zstdDecompressSync } from 'node:zlib'
import type { ListName } from '../domain/field.ts'
import { fieldsOf, type JsonFields } from '../domain/json-value.ts'
import { type RecordLists, type RowRecord, applyRowRecords, RowRecordWriter } from '../records/row-records.ts'
import { SNAPSHOT_FORMAT, SnapshotFault } from '../snapshot/snapshot-lines.ts'
import type { ListState } from '../sync/served-list.ts'

/** The size and the checksum of a chunk, known before the chunk is read. */
export interface ChunkSum {
  readonly bytes: number
  readonly rows: number
  /** The SHA-256 of the stored bytes, in hexadecimal. */
  readonly sha256: string
}

/** What a snapshot says of itself, wherever it is stored. */
export interface SnapshotManifest<State extends ListState = ListState> {
  readonly lists: Readonly<Record<ListName, State>>
  readonly chunks: readonly ChunkSum[]
}

const PACKED_CEILING = 4 * 1024 * 1024
const UNPACKED_CEILING = 16 * 1024 * 1024
/** Smaller bodies are not compressed. */
const SMALL = 1024
const LEVEL_1 = { params: { [constants.ZSTD_c_compressionLevel]: 1 } }

// The uncompressed length comes first (uint32), because Bun 1.4 accepts a truncated stream as complete. 0: not
// compressed.
const HEAD = 4

/** The size limit of a packed body. */
export const BODY_CEILING: number = PACKED_CEILING + HEAD

/** Compresses bytes for storage or sending, if that makes them smaller. */
export function pack(bytes: Buffer): Buffer {
  if (bytes.length > UNPACKED_CEILING) throw new Error(`${bytes.length} bytes are more than one body may hold`)
  const isSmall = bytes.length <= SMALL
  const body = isSmall ? bytes : zstdCompressSync(bytes, LEVEL_1)
  if (body.length > PACKED_CEILING) throw new Error(`${body.length} bytes, compressed, are more than one body may hold`)
  const head = Buffer.alloc(HEAD)
  head.writeUInt32BE(isSmall ? 0 : bytes.length)
  return Buffer.concat([head, body])
}

/** Restores the bytes that `pack` was given; throws if they are damaged or too large. */
export function unpack(packed: Buffer): Buffer {
  if (packed.length < HEAD) throw new Error('a body is cut short')
  if (packed.length > BODY_CEILING) throw new Error(`a body of ${packed.length} bytes is too large`)
  const length = packed.readUInt32BE(0)
  const body = packed.subarray(HEAD)
  if (length === 0) return body
  if (length > UNPACKED_CEILING) throw new Error(`a body of ${length} bytes, unpacked, is too large`)
  let bytes: Buffer
  try {
    // In one piece: by default zlib makes pieces of 16 KB and joins them, which takes twice the memory and half as long again.
    bytes = zstdDecompressSync(body, { maxOutputLength: length, chunkSize: length })
  } catch (cause) {
    throw new Error('a body cannot be decompressed', { cause })
  }
  if (bytes.length !== length) throw new Error('a body does not have the length that it declares')
  return bytes
}

/** The number of rows written between two requests, and the approximate size of a chunk. */
const SLICE_ROWS = 1000
/**
 * The longest slice of applying rows, and the number of rows between two looks at the clock. The clock decides, because
 * rows take longer until the runtime has compiled the code.
 */
const TURN_MS = 5
const ROWS_A_LOOK = 32
const CHUNK_BYTES = 1024 * 1024
const MOST_CHUNK_BYTES = 8 * 1024 * 1024

/** Packed row records of both lists. */
export interface SnapshotChunk {
  readonly body: Buffer
  readonly rows: number
}

/**
 * Packs row records into chunks. Yields `null` where a slice ends within a chunk. At each step the caller may let
 * requests be answered, and rows may change.
 */
export function* chunksOf(rowRecords: Iterable<RowRecord>): Generator<SnapshotChunk | null, void> {
  const writer = new RowRecordWriter()
  let sliceRows = 0
  for (const rowRecord of rowRecords) {
    writer.add(rowRecord)
    const isFull = writer.sizeBytes >= CHUNK_BYTES
    if (++sliceRows < SLICE_ROWS && !isFull) continue
    sliceRows = 0
    yield isFull ? chunkOf(writer) : null
  }
  if (writer.count > 0) yield chunkOf(writer)
}

function chunkOf(writer: RowRecordWriter): SnapshotChunk {
  const chunk = { body: pack(writer.bytes), rows: writer.count }
  writer.clear()
  return chunk
}

/** Writes the rows of a chunk into the lists, in slices between which requests are answered. */
async function applyChunk(
  lists: RecordLists,
  { body, rows }: SnapshotChunk,
  nowMs: number,
  pause: () => Promise<void>,
): Promise<void> {
  let applied = 0
  const bytes = unpack(body)
  await pause()
  let turnEndsAt = performance.now() + TURN_MS
  for (const _ of applyRowRecords(lists, bytes, nowMs)) {
    if (++applied % ROWS_A_LOOK > 0 || performance.now() < turnEndsAt) continue
    await pause()
    turnEndsAt = performance.now() + TURN_MS
  }
  free(bytes)
  if (applied !== rows) throw new Error(`it has ${applied} rows in a chunk of ${rows}`)
}

/** Gives the memory of a large buffer back at once. Collectors leave many of them waiting, since each is one object. */
function free({ buffer, length }: Buffer): void {
  if (buffer instanceof ArrayBuffer && buffer.byteLength === length) buffer.transfer(0)
}

/** Describes a chunk, for the manifest. */
export function sumOf({ body, rows }: SnapshotChunk): ChunkSum {
  return { bytes: body.length, rows, sha256: hash('sha256', body) }
}

export function sizeOf({ chunks }: Pick<SnapshotManifest, 'chunks'>): {
  readonly rows: number
  readonly bytes: number
} {
  const sum = (of: 'rows' | 'bytes'): number => chunks.reduce((total, chunk) => total + chunk[of], 0)
  return { rows: sum('rows'), bytes: sum('bytes') }
}

export function encodeManifest(manifest: SnapshotManifest): string {
  return JSON.stringify({ format: SNAPSHOT_FORMAT, ...manifest })
}

/**
 * Decodes a manifest, and returns the other fields of its place too.
 * @param stateOf parses the part of a list; throws if it is not valid
 */
export function decodeManifest<State extends ListState>(
  text: string,
  stateOf: (given: JsonFields) => State,
): SnapshotManifest<State> & { readonly fields: JsonFields } {
  const fields = fieldsOf(JSON.parse(text))
  const { format, lists, chunks } = fields
  if (format !== SNAPSHOT_FORMAT) {
    throw new SnapshotFault(`it is of format ${String(format).slice(0, 20)}, and this release reads ${SNAPSHOT_FORMAT}`)
  }
  const named = fieldsOf(lists)
  if (!Array.isArray(chunks) || !chunks.every(isChunkSum)) throw unspoken()
  try {
    return {
      lists: { events: stateOf(fieldsOf(named['events'])), venues: stateOf(fieldsOf(named['venues'])) },
      chunks,
      fields,
    }
  } catch {
    throw unspoken()
  }
}

/** The fault of a manifest that lacks a field. */
export function unspoken(): SnapshotFault {
  return new SnapshotFault('its header is incomplete or invalid')
}

function isChunkSum(given: unknown): given is ChunkSum {
  const { bytes, rows, sha256 } = fieldsOf(given)
  const isSized = Number.isSafeInteger(bytes) && Number(bytes) >= 0 && Number(bytes) <= MOST_CHUNK_BYTES
  return isSized && Number.isSafeInteger(rows) && typeof sha256 === 'string'
}

/** How the rows of a snapshot are loaded. */
export interface LoadOptions {
  readonly memoryBytes: number
  readonly nowMs: number
  /** Called between slices. */
  readonly pause: () => Promise<void>
}

/**
 * Fills the lists, which must be empty, with the chunks that `get` reads. Throws if one is not as the manifest says.
 */
export async function loadChunks(
  manifest: SnapshotManifest,
  lists: RecordLists,
  { memoryBytes, nowMs, pause }: LoadOptions,
  get: (index: number, sum: ChunkSum) => Promise<Buffer>,
): Promise<void> {
  for (const [index, sum] of manifest.chunks.entries()) {
    const chunk = { body: await get(index, sum), rows: sum.rows }
    if (sumOf(chunk).sha256 !== sum.sha256) throw new SnapshotFault(`the checksum of its chunk ${index} is wrong`)
    await pause()
    await applyChunk(lists, chunk, nowMs, pause)
    if (lists.events.sizeBytes + lists.venues.sizeBytes > memoryBytes) {
      throw new SnapshotFault('it contains more than limits.memory allows')
    }
  }
}
