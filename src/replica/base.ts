import { Buffer } from 'node:buffer'
import type { ListName } from '../domain/field.ts'
import type { Effects } from './effects.ts'
import { pack, unpack } from './frame-body.ts'
import type { RecordLists } from './frames.ts'
import { applyFrame, frameOf, FrameWriter, readFrames } from './frames.ts'
import { FAULTS } from './packed-withheld.ts'
import type { Cursor } from './port.ts'
import { cursorOf } from './port.ts'

/** Raised where frames, chunks or heads are written otherwise: no instance reads another format, and none writes an older one. */
export const BASE_FORMAT = 1

/** What is written of the rows between two requests, at most; and how large a chunk becomes, about. */
const SLICE_ROWS = 1000
const CHUNK_BYTES = 1024 * 1024

/** Rows of both lists, packed. */
export interface BaseChunk {
  readonly body: Buffer
  readonly rows: number
}

/** What a base says of a list beside its rows. */
export interface BaseList {
  /** What the next read of changes goes on from; null where that takes a full read. */
  readonly cursor: Cursor | null
  readonly served: number
  readonly withheld: number
  /** How many rows have no place of their own, in the order of the faults. */
  readonly extras: readonly number[]
  /** As of when the list was last read in full, by the wall clock; null where nobody knows. */
  readonly auditedAtMs: number | null
}

export type BaseLists = Readonly<Record<ListName, BaseList>>

/** All rows of the lists, chunk by chunk. Requests pass between slices, and rows may change: effects tell which. */
export async function* chunksOf(lists: RecordLists, pause: () => Promise<void>): AsyncGenerator<BaseChunk, void> {
  const writer = new FrameWriter()
  let sincePause = 0
  for (const list of [lists.venues, lists.events]) {
    for (const row of list.rows()) {
      writer.add(frameOf(list, row))
      if (writer.sizeBytes >= CHUNK_BYTES) {
        yield chunkOf(writer)
        sincePause = SLICE_ROWS
      }
      if (++sincePause < SLICE_ROWS) continue
      sincePause = 0
      await pause()
    }
  }
  if (writer.count > 0) yield chunkOf(writer)
}

/** Some of what is owed; of what is left nothing else may be awaited before the lists are described. */
export function owedChunk(effects: readonly Effects[]): BaseChunk {
  const writer = new FrameWriter()
  for (const one of effects) for (const frame of one.take(SLICE_ROWS - writer.count)) writer.add(frame)
  return chunkOf(writer)
}

function chunkOf(writer: FrameWriter): BaseChunk {
  const chunk = { body: pack(writer.bytes), rows: writer.count }
  writer.clear()
  return chunk
}

/** Writes the rows of a chunk into the lists. */
export function applyChunk(lists: RecordLists, { body, rows }: BaseChunk, nowMs: number): void {
  let applied = 0
  for (const frame of readFrames(unpack(body))) {
    applyFrame(lists, frame, nowMs)
    applied++
  }
  if (applied !== rows) throw new Error(`it has ${applied} rows in a chunk of ${rows}`)
}

/** Takes all rows out again. */
export function emptyLists({ events, venues }: RecordLists): void {
  for (const row of events.rows()) events.remove(row)
  for (const row of venues.rows()) venues.remove(row)
}

/** What a base says of a list, of a value that was JSON; null where it is not that. */
export function parseBaseList(given: unknown): BaseList | null {
  const { cursor, served, withheld, extras, auditedAtMs }: Partial<Record<string, unknown>> = Object(given)
  if (cursor !== null && typeof cursor !== 'string') return null
  if (!isCount(served) || !isCount(withheld) || (auditedAtMs !== null && typeof auditedAtMs !== 'number')) return null
  if (!Array.isArray(extras) || extras.length > FAULTS.length || !extras.every(isCount)) return null
  return { cursor: cursor === null ? null : cursorOf(cursor), served, withheld, extras, auditedAtMs }
}

function isCount(given: unknown): given is number {
  return Number.isSafeInteger(given) && Number(given) >= 0
}
