import { hash, randomUUID } from 'node:crypto'
import { type FileHandle, open, readdir, rename, stat, unlink } from 'node:fs/promises'
import { join } from 'node:path'
import type { SnapshotList, SnapshotState } from '../sync/served-list.ts'
import type { DirtyRows, RecordLists, RowRecord } from '../records/row-records.ts'
import type { Moment } from '../time/time.ts'
import {
  type ChunkSum,
  type SnapshotChunk,
  type SnapshotManifest,
  SLICE_ROWS,
  SnapshotFault,
  allRowRecords,
  chunksOf,
  decodeManifest,
  emptyLists,
  encodeManifest,
  listStateOf,
  loadChunks,
  outboxRowRecords,
  sumOf,
  unspoken,
} from './snapshot-chunks.ts'
import {
  isOursAlone,
  makeDirectory,
  openIfThere,
  readExactly,
  refuseOthers,
  syncDirectory,
  writeAll,
} from './own-files.ts'
import { Buffer } from 'node:buffer'
import { type JsonFields, numberAt } from '../domain/json-value.ts'

/** The head of a snapshot file. */
interface SnapshotHead extends SnapshotManifest<SnapshotList>, SnapshotState {
  readonly fingerprint: string
}

export const LENGTH_BYTES = 4
const SUM_BYTES = 32
const MOST_HEAD_BYTES = 16 * 1024 * 1024

function digestOf(bytes: Buffer): Buffer {
  return hash('sha256', bytes, 'buffer')
}

/**
 * Encodes the head, with its length before and its checksum behind it, in exactly `sizeBytes`: the chunks are written
 * before the head is complete.
 */
function encodeHead(head: SnapshotHead, sizeBytes: number): Buffer {
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
    // Snapshots of earlier releases lack it.
    askedUntilMs: given['askedUntilMs'] === undefined ? null : timeAt(given, 'askedUntilMs'),
  }
}

function timeAt(given: JsonFields, name: string): number | null {
  return given[name] === null ? null : numberAt(given, name)
}

interface SnapshotFileSettings {
  readonly directory: string
  /** Identifies the records; a snapshot with another fingerprint is not read. `null` while it is not known. */
  readonly fingerprint: () => string | null
  /** Limits the file's size, and the memory that its content takes. */
  readonly limits: { readonly memoryBytes: number }
  readonly pause: () => Promise<void>
}

/** A snapshot on disk. */
export interface StoredSnapshot extends SnapshotState {
  readonly rows: number
  readonly bytes: number
}

const OLDEST_MS = 7 * 24 * 3_600_000
/** An older partial file is left from a killed process: writing never takes that long. */
const OLDEST_UNFINISHED_MS = 600_000
/** How many rounds write the rows that changed during the previous one. The few rows left are then written at once. */
const MOST_ROUNDS = 8
/** The most chunks for each MB of rows: rows that change while they are written are written again. */
const MOST_TIMES = 4
const CHUNK_SUM_BYTES = 120
const MEGABYTE = 1024 * 1024

/**
 * The snapshot in a file: a head and the chunks that it lists. The last chunks have the rows that
 * changed while the others were written, so rows and cursors show the same moment.
 */
export class SnapshotFile {
  readonly #settings: SnapshotFileSettings

  constructor(settings: SnapshotFileSettings) {
    this.#settings = settings
  }

  #named(): { readonly fingerprint: string; readonly path: string } {
    const { directory, fingerprint: current } = this.#settings
    const fingerprint = current()
    if (fingerprint === null) throw new SnapshotFault('the connector has not declared its mapping yet')
    return { fingerprint, path: join(directory, `${fingerprint}.snapshot`) }
  }

  /**
   * Fills the lists, which must be empty. `null` if there is no snapshot. If it cannot be used, throws and leaves the
   * lists empty.
   */
  async read(lists: RecordLists, now: Moment, signal: AbortSignal): Promise<StoredSnapshot | null> {
    if (!(await isOursAlone(this.#settings.directory))) return null
    const file = await openIfThere(this.#named().path)
    if (file === null) return null
    try {
      return await this.#readOpen(file, lists, now, signal)
    } catch (cause) {
      // If the caller gave up, the lists may already have rows from elsewhere.
      if (!signal.aborted) emptyLists(lists)
      throw cause
    } finally {
      await file.close()
    }
  }

  async #readOpen(file: FileHandle, lists: RecordLists, now: Moment, signal: AbortSignal): Promise<StoredSnapshot> {
    const { limits, pause } = this.#settings
    const { fingerprint } = this.#named()
    const goOn = async (): Promise<void> => {
      await pause()
      if (signal.aborted) throw new SnapshotFault('reading it takes too long')
    }
    const stats = await file.stat()
    if (!stats.isFile()) throw new SnapshotFault('it is not a file')
    refuseOthers(stats, 'it')
    if (stats.size > limits.memoryBytes) throw new SnapshotFault('it is larger than limits.memory')
    const length = headLength(await readExactly(file, 0, LENGTH_BYTES))
    let at = LENGTH_BYTES + length + SUM_BYTES
    const head = decodeHead(await readExactly(file, LENGTH_BYTES, length + SUM_BYTES))
    if (head.fingerprint !== fingerprint) throw new SnapshotFault('it belongs to another CRM or mapping')
    if (now.wallMs - head.writtenAtMs > OLDEST_MS) throw new SnapshotFault('it is older than 7 days')
    const more = stats.size - head.chunks.reduce((end, { bytes }) => end + bytes, at)
    if (more !== 0) throw new SnapshotFault(more < 0 ? 'it is cut short' : `${more} bytes follow after its end`)
    const { memoryBytes } = limits
    await loadChunks(head, lists, { memoryBytes, nowMs: now.monotonicMs, pause: goOn }, (_, { bytes }) => {
      at += bytes
      return readExactly(file, at - bytes, bytes)
    })
    for (const name of ['events', 'venues'] as const) {
      const { served, withheld } = head.lists[name]
      if (lists[name].served !== served || lists[name].withheld !== withheld) {
        throw new SnapshotFault(`it does not hold as many ${name} as it says`)
      }
    }
    return storedAs(head, stats.size)
  }

  /** Replaces the snapshot with the current rows. Calls `describe` at the moment that the file shows. */
  async write(
    lists: RecordLists,
    dirtyRows: readonly DirtyRows[],
    describe: () => SnapshotState,
    signal: AbortSignal,
  ): Promise<StoredSnapshot> {
    const { directory } = this.#settings
    await makeDirectory(directory)
    await isOursAlone(directory)
    // First remove unfinished files of killed processes: they may be what fills the disk.
    await this.#tidy(describe().writtenAtMs)
    const { path } = this.#named()
    const unfinished = `${path}.${randomUUID()}`
    const file = await open(unfinished, 'wx', 0o600)
    try {
      const stored = await this.#writeOpen(file, lists, dirtyRows, describe, signal)
      await file.sync()
      await file.close()
      await rename(unfinished, path)
      await syncDirectory(directory)
      return stored
    } catch (cause) {
      await file.close().catch(() => {})
      await unlink(unfinished).catch(() => {})
      throw cause
    }
  }

  async #writeOpen(
    file: FileHandle,
    lists: RecordLists,
    dirtyRows: readonly DirtyRows[],
    describe: () => SnapshotState,
    signal: AbortSignal,
  ): Promise<StoredSnapshot> {
    const { limits, pause } = this.#settings
    const { fingerprint } = this.#named()
    const heldBytes = lists.events.sizeBytes + lists.venues.sizeBytes
    const cursors = JSON.stringify(describe()).length
    const headBytes =
      8192 + 2 * cursors + CHUNK_SUM_BYTES * (MOST_TIMES * Math.ceil(heldBytes / MEGABYTE) + 2 * MOST_ROUNDS)
    const chunks: ChunkSum[] = []
    let at = headBytes
    const put = async (chunk: SnapshotChunk | null): Promise<void> => {
      if (signal.aborted) throw new SnapshotFault('writing it takes too long')
      if (chunk === null) return
      if (at + chunk.body.length > limits.memoryBytes) throw new SnapshotFault('it would be larger than limits.memory')
      chunks.push(sumOf(chunk))
      await writeAll(file, chunk.body, at)
      at += chunk.body.length
    }
    const putInSlices = async (rowRecords: Iterable<RowRecord>): Promise<void> => {
      for (const chunk of chunksOf(rowRecords)) {
        await put(chunk)
        await pause()
      }
    }
    const dirty = (): number => dirtyRows.reduce((sum, one) => sum + one.size, 0)
    for (const one of dirtyRows) one.clear()
    await putInSlices(allRowRecords(lists))
    for (let round = 0; round < MOST_ROUNDS && dirty() > SLICE_ROWS; round++) {
      await putInSlices(outboxRowRecords(dirtyRows))
    }
    if (dirty() > SLICE_ROWS) throw new SnapshotFault('rows change faster than they are written')
    // No `await` here: no read may change anything between the last rows and the cursors.
    const last = [...chunksOf(outboxRowRecords(dirtyRows))]
    const described = describe()
    for (const chunk of last) await put(chunk)
    const head = { fingerprint, ...described, chunks }
    await writeAll(file, encodeHead(head, headBytes), 0)
    return storedAs(head, at)
  }

  /** Removes unfinished files, and snapshots of fingerprints that have not been used for long. */
  async #tidy(nowMs: number): Promise<void> {
    const { directory } = this.#settings
    for (const name of await readdir(directory).catch(() => [])) {
      const found = /^[0-9a-f]{12}\.snapshot(\.[0-9a-f-]{36})?$/.exec(name)
      if (found === null) continue
      const path = join(directory, name)
      const ageMs = nowMs - ((await stat(path).catch(() => null))?.mtimeMs ?? nowMs)
      if (ageMs > (found[1] === undefined ? OLDEST_MS : OLDEST_UNFINISHED_MS)) await unlink(path).catch(() => {})
    }
  }
}

function storedAs({ lists, writtenAtMs }: SnapshotHead, bytes: number): StoredSnapshot {
  const { events, venues } = lists
  return { lists, rows: events.served + events.withheld + venues.served + venues.withheld, bytes, writtenAtMs }
}
