import { Buffer } from 'node:buffer'
import { fieldsOf, textAt, textOrNullAt } from '../domain/json-value.ts'
import type { RowRecord, RecordLists } from '../records/row-records.ts'
import { SnapshotFault } from '../snapshot/snapshot-lines.ts'
import {
  type ChunkSum,
  type LoadOptions,
  type SnapshotManifest,
  chunksOf,
  decodeManifest,
  encodeManifest,
  loadChunks,
  sumOf,
  unspoken,
} from './snapshot-chunks.ts'
import {
  type LogPosition,
  type ReportedState,
  type Signing,
  idOf,
  isBelow,
  logPositionOf,
  reportedStateOf,
} from './entries.ts'
import { type Session, StoreFailure, isFault } from './store.ts'

const MANIFEST = 'snapshot'

/**
 * A snapshot consists of rows that changed while they were taken. With the log applied from `from` to `to`, it is a
 * consistent state.
 */
export interface Manifest extends SnapshotManifest<ReportedState> {
  readonly from: LogPosition
  readonly to: LogPosition
}

function chunkNames({ from, chunks }: Manifest): readonly string[] {
  return chunks.map((_, index) => chunkName(idOf(from), index))
}

/** Returns true if the whole snapshot is in the store, which may have evicted parts of it. */
export async function isThere(session: Session, manifest: Manifest): Promise<boolean> {
  const names = [MANIFEST, ...chunkNames(manifest)]
  return (await session.ask((store) => store.countBlobs(names))) === names.length
}

function chunkName(snapshot: string, index: number): string {
  return `${MANIFEST}:${snapshot}:${index}`
}

/** The most snapshots, and chunks of one, that an instance lists. A longer list was written by another program. */
const MOST_SNAPSHOTS = 1000
const MOST_CHUNKS = 10_000
/** Another program may have written another name, of any length. */
const SNAPSHOT_NAME = /^\d{1,16}-\d{1,16}$/

/**
 * Removes the chunks of all listed snapshots, except those still in use and the one that the manifest names.
 * @param isOfUse called after the list was read, so that a snapshot begun meanwhile is not removed
 */
export async function dropSnapshotsBut(
  session: Session,
  isOfUse: (name: string) => boolean,
  signing: Signing,
): Promise<void> {
  const entered = await session.ask((store) => store.readFields('snapshots', MOST_SNAPSHOTS)).catch(ifForeign)
  if (entered === null) return session.ask((store) => store.drop(['snapshots']))
  const manifest = await readManifest(session, signing)
  const named = typeof manifest === 'object' && manifest !== null ? idOf(manifest.from) : null
  for (const [name, chunks] of entered) {
    if (name === named || isOfUse(name)) continue
    const isOurs = SNAPSHOT_NAME.test(name) && /^\d{1,9}$/.test(chunks)
    const length = isOurs ? Math.min(MOST_CHUNKS, Number(chunks)) : 0
    const names = Array.from({ length }, (_, index) => chunkName(name, index))
    await session.ask((store) => store.drop(names))
    await session.ask((store) => store.dropFields('snapshots', [name]))
  }
}

function ifForeign(cause: unknown): null {
  if (isFault(cause, 'foreign')) return null
  throw cause
}

/**
 * Removes what no instance needs from a full store without a leader: entries before the snapshot, and other snapshots.
 * Keeps those of later epochs than `top`: another instance may have claimed meanwhile.
 */
export async function makeRoom(session: Session, top: LogPosition | null, signing: Signing): Promise<void> {
  const manifest = await readManifest(session, signing)
  if (typeof manifest === 'object' && manifest !== null)
    await session.ask((store) => store.trimBefore(idOf(manifest.from)))
  const next = `${(top?.epoch ?? 0) + 1}-0`
  await dropSnapshotsBut(session, (name) => !isBelow(name, next), signing)
}

/** Adds a snapshot and its number of chunks to the list. Data of another application under this key is dropped. */
async function enter(session: Session, from: LogPosition, chunks: number): Promise<void> {
  const note = (): Promise<void> => session.ask((store) => store.writeField('snapshots', idOf(from), `${chunks}`))
  await note().catch(async (cause: unknown) => {
    ifForeign(cause)
    await session.ask((store) => store.drop(['snapshots']))
    await note()
  })
}

/** Writes rows as chunks. The rows may change meanwhile; the log has the changes. */
export async function writeChunks(
  session: Session,
  from: LogPosition,
  rowRecords: Iterable<RowRecord>,
  pause: () => Promise<void>,
): Promise<readonly ChunkSum[]> {
  const chunks: ChunkSum[] = []
  for (const chunk of chunksOf(rowRecords)) {
    if (chunk !== null) {
      // Entered first, so that the next leader can remove an unfinished snapshot. The store executes both in this
      // order; the second does not wait for the answer to the first.
      await Promise.all([
        enter(session, from, chunks.length + 1),
        session.putBlob(chunkName(idOf(from), chunks.length), chunk.body),
      ])
      chunks.push(sumOf(chunk))
    }
    await pause()
  }
  return chunks
}

export async function setManifest(session: Session, manifest: Manifest, signing: Signing): Promise<void> {
  const told = encodeManifest(manifest)
  const sealed = JSON.stringify({ manifest: told, s: signing.sign(MANIFEST, told) })
  await session.putBlob(MANIFEST, Buffer.from(sealed))
}

/** Reads the manifest in the store. Returns a text if it is not usable; `null` if there is none. */
export async function readManifest(session: Session, signing: Signing): Promise<Manifest | string | null> {
  const bytes = await session.getBlob(MANIFEST)
  if (bytes === null) return null
  try {
    const sealed = fieldsOf(JSON.parse(bytes.toString()))
    const told = textAt(sealed, 'manifest')
    if (!signing.believes(textOrNullAt(sealed, 's'), MANIFEST, told)) return 'the snapshot has a wrong signature'
    const { lists, chunks, fields } = decodeManifest(told, reportedStateOf)
    const [from, to] = [logPositionOf(fields['from']), logPositionOf(fields['to'])]
    if (from === null || to === null) throw unspoken()
    return { from, to, lists, chunks }
  } catch (cause) {
    return uselessFor(cause)
  }
}

function uselessFor(cause: unknown): string {
  return `the snapshot cannot be read: ${cause instanceof Error ? cause.message : 'it is broken'}`
}

/** Loads the rows of a snapshot into empty lists. Returns why that failed; `null` on success. */
export async function loadSnapshot(
  session: Session,
  manifest: Manifest,
  lists: RecordLists,
  options: LoadOptions,
): Promise<string | null> {
  const get = async (index: number): Promise<Buffer> => {
    const bytes = await session.getBlob(chunkName(idOf(manifest.from), index))
    if (bytes === null) throw new SnapshotFault(`its chunk ${index} is missing`)
    return bytes
  }
  try {
    await loadChunks(manifest, lists, options, get)
    return null
  } catch (cause) {
    if (cause instanceof StoreFailure) throw cause
    return uselessFor(cause)
  }
}
