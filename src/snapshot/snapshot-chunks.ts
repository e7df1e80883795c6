import type { Buffer } from 'node:buffer'
import { type ListName, LISTS } from '../domain/field.ts'
import type { DirtyRows } from '../records/dirty-rows.ts'
import {
  applyRowRecord,
  type RowRecord,
  rowRecordOf,
  RowRecordWriter,
  readRowRecords,
  type RecordLists,
} from '../records/row-records.ts'
import { pack, unpack } from './chunk-body.ts'

/** The number of rows written between two requests, and the approximate size of a chunk. */
export const SLICE_ROWS = 1000
const CHUNK_BYTES = 1024 * 1024

/** Packed row records of both lists. */
export interface SnapshotChunk {
  readonly body: Buffer
  readonly rows: number
}

/** Yields a record of each row, venues before the events that refer to them. */
export function* allRowRecords(
  { events, venues }: RecordLists,
  names: readonly ListName[] = LISTS,
): Generator<RowRecord, void> {
  if (names.includes('venues')) for (const row of venues.rows()) yield rowRecordOf(venues, row)
  if (names.includes('events')) for (const row of events.rows()) yield rowRecordOf(events, row)
}

/** Yields records of the rows written or removed since, including during the iteration. */
export function* outboxRowRecords(dirtyRows: readonly DirtyRows[]): Generator<RowRecord, void> {
  for (const one of dirtyRows) yield* one.take(Number.POSITIVE_INFINITY)
}

/** Packs row records into chunks, in slices: requests are answered between them, and rows may change. */
export async function* chunksOf(
  rowRecords: Iterable<RowRecord>,
  pause: () => Promise<void>,
): AsyncGenerator<SnapshotChunk, void> {
  const writer = new RowRecordWriter()
  let sincePause = 0
  for (const rowRecord of rowRecords) {
    writer.add(rowRecord)
    const isFull = writer.sizeBytes >= CHUNK_BYTES
    if (isFull) yield chunkOf(writer)
    if (++sincePause < SLICE_ROWS && !isFull) continue
    sincePause = 0
    await pause()
  }
  if (writer.count > 0) yield chunkOf(writer)
}

/** Packs a few row records at once. */
export function lastChunk(rowRecords: Iterable<RowRecord>): SnapshotChunk {
  const writer = new RowRecordWriter()
  for (const rowRecord of rowRecords) writer.add(rowRecord)
  return chunkOf(writer)
}

function chunkOf(writer: RowRecordWriter): SnapshotChunk {
  const chunk = { body: pack(writer.bytes), rows: writer.count }
  writer.clear()
  return chunk
}

/** Writes the rows of a chunk into the lists, in slices between which requests are answered. */
export async function applyChunk(
  lists: RecordLists,
  { body, rows }: SnapshotChunk,
  nowMs: number,
  pause: () => Promise<void>,
): Promise<void> {
  let applied = 0
  for (const rowRecord of readRowRecords(unpack(body))) {
    applyRowRecord(lists, rowRecord, nowMs)
    if (++applied % SLICE_ROWS === 0) await pause()
  }
  if (applied !== rows) throw new Error(`it has ${applied} rows in a chunk of ${rows}`)
}

/** Removes all rows. */
export function emptyLists({ events, venues }: RecordLists): void {
  for (const row of events.rows()) events.remove(row)
  for (const row of venues.rows()) venues.remove(row)
}
