import { Buffer } from 'node:buffer'
import { randomUUID } from 'node:crypto'
import { type FileHandle, open, readdir, rename, stat, unlink } from 'node:fs/promises'
import { join } from 'node:path'
import { pipeline } from 'node:stream/promises'
import { createGunzip, createGzip } from 'node:zlib'
import { LISTS } from '../domain/field.ts'
import { codeOf } from '../domain/system-error.ts'
import {
  type DirtyRows,
  type RecordLists,
  type RowRecord,
  allRowRecords,
  applyRowRecord,
} from '../records/row-records.ts'
import type { KeptChanges } from '../changes/change-journal.ts'
import type { SnapshotState } from '../sync/served-list.ts'
import type { Moment } from '../time/time.ts'
import {
  makeDirectory,
  openIfThere,
  refuseOthers,
  refuseSharedDirectory,
  syncDirectory,
  writeAll,
} from './own-files.ts'
import {
  JournalReader,
  SnapshotFault,
  firstLine,
  isRowLine,
  journalLines,
  lastLine,
  readFirstLine,
  readLastLine,
  readRowLine,
  rowLine,
} from './snapshot-lines.ts'

interface SnapshotFileSettings {
  readonly directory: string
  /** Identifies the records; a snapshot with another fingerprint is not read. `null` while it is not known. */
  readonly fingerprint: () => string | null
  /** Limits the file's size, and the memory that its content takes. */
  readonly limits: () => { readonly memoryBytes: number }
  readonly pause: () => Promise<void>
  /** Returns what callers are told of changes, as of now; absent if they are told nothing. */
  readonly journal?: () => KeptChanges | null
}

/** A snapshot on disk. */
export interface StoredSnapshot extends SnapshotState {
  readonly rows: number
  readonly bytes: number
}

/** A snapshot as read. */
export interface ReadSnapshot extends StoredSnapshot {
  /** What callers were told of changes; `null` if the file has none. */
  readonly journal: KeptChanges | null
}

const SNAPSHOT_NAME = /^[0-9a-f]{12}\.snapshot(\.[0-9a-f-]{36})?$/
const OLDEST_MS = 7 * 24 * 3_600_000
/** An older partial file is left from a killed process: writing never takes that long. */
const OLDEST_UNFINISHED_MS = 600_000
/** Lines are compressed, and the file is read, in pieces of about this size. None holds up requests. */
const PIECE_BYTES = 64 * 1024
const LONGEST_LINE_BYTES = 16 * 1024 * 1024
/** The longest slice of applying rows, and the number of rows between two looks at the clock. */
const TURN_MS = 5
const ROWS_A_LOOK = 32
/** How many rounds write the rows that changed during the previous one. The few rows left are then written at once. */
const MOST_ROUNDS = 8
const FEW_ROWS = 1000

/**
 * The snapshot in a file of JSON lines, compressed by gzip, whose checksum is that of the file: the first line, a line
 * for each row, a line for each row that changed meanwhile, the lines of what callers were told of changes, if any, and
 * the last line. The rows, the changes and the cursors in the last line show the same moment.
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
  async read(lists: RecordLists, now: Moment, signal: AbortSignal): Promise<ReadSnapshot | null> {
    if (!(await refuseSharedDirectory(this.#settings.directory))) return null
    const file = await openIfThere(this.#named().path)
    if (file === null) {
      if (await this.#hasAnother()) throw new SnapshotFault('it is of another release, CRM or mapping')
      return null
    }
    try {
      return await this.#readOpen(file, lists, now, signal)
    } catch (cause) {
      // If the caller gave up, the lists may already have rows from elsewhere.
      if (!signal.aborted) emptyLists(lists)
      throw faultOf(cause)
    } finally {
      await file.close()
    }
  }

  async #readOpen(file: FileHandle, lists: RecordLists, now: Moment, signal: AbortSignal): Promise<ReadSnapshot> {
    const { memoryBytes } = this.#settings.limits()
    const stats = await file.stat()
    if (!stats.isFile()) throw new SnapshotFault('it is not a file')
    refuseOthers(stats, 'it')
    if (stats.size > memoryBytes) throw new SnapshotFault('it is larger than limits.memory')
    let state: SnapshotState | null = null
    const journal = new JournalReader()
    await pipeline(
      piecesOf(file),
      createGunzip({ chunkSize: PIECE_BYTES }),
      async (unpacked: AsyncIterable<Buffer>) => (state = await this.#apply(unpacked, lists, journal, now, signal)),
    )
    if (state === null) throw new SnapshotFault('it is cut short')
    return { ...storedAs(state, stats.size), journal: journal.kept }
  }

  /** Fills the lists with the rows of the lines. Returns the state in the last line; `null` if there is none. */
  async #apply(
    unpacked: AsyncIterable<Buffer>,
    lists: RecordLists,
    journal: JournalReader,
    now: Moment,
    signal: AbortSignal,
  ): Promise<SnapshotState | null> {
    const { limits, pause } = this.#settings
    let [count, turnEndsAt] = [0, 0]
    let state: SnapshotState | null = null
    const goOn = async (): Promise<void> => {
      await pause()
      if (signal.aborted) throw new SnapshotFault('reading it takes too long')
      turnEndsAt = performance.now() + TURN_MS
    }
    for await (const lines of linesIn(unpacked)) {
      await goOn()
      for (const line of lines) {
        count++
        if (count % ROWS_A_LOOK === 0 && performance.now() > turnEndsAt) await goOn()
        if (state !== null) throw new SnapshotFault('more follows after its end')
        if (count === 1) this.#check(line, now)
        else if (isRowLine(line)) applyRowRecord(lists, readRowLine(line), now.monotonicMs)
        else if (!journal.takes(line)) state = readLastLine(line)
      }
      if (lists.events.sizeBytes + lists.venues.sizeBytes > limits().memoryBytes) {
        throw new SnapshotFault('it contains more than limits.memory allows')
      }
    }
    for (const name of state === null ? [] : LISTS) {
      const { served, withheld } = lists[name]
      if (state?.lists[name].served !== served || state.lists[name].withheld !== withheld) {
        throw new SnapshotFault(`it does not hold as many ${name} as it says`)
      }
    }
    return state
  }

  /** Throws if the first line is not that of a snapshot which can be used now. */
  #check(line: string, now: Moment): void {
    const { fingerprint, begunAtMs } = readFirstLine(line)
    if (fingerprint !== this.#named().fingerprint) throw new SnapshotFault('it is of another release, CRM or mapping')
    if (now.wallMs - begunAtMs > OLDEST_MS) throw new SnapshotFault('it is older than 7 days')
  }

  /** Replaces the snapshot with the current rows. Calls `describe` at the moment that the file shows. */
  async write(
    lists: RecordLists,
    dirtyRows: readonly DirtyRows[],
    describe: () => SnapshotState,
    signal: AbortSignal,
  ): Promise<StoredSnapshot> {
    const { directory, limits } = this.#settings
    await makeDirectory(directory)
    await refuseSharedDirectory(directory)
    // First remove unfinished files of killed processes: they may be what fills the disk.
    const begun = describe()
    await this.#tidy(begun.writtenAtMs)
    const { fingerprint, path } = this.#named()
    const unfinished = `${path}.${randomUUID()}`
    const file = await open(unfinished, 'wx', 0o600)
    try {
      let state = begun
      let bytes = 0
      await pipeline(
        this.#textOf(
          lists,
          dirtyRows,
          { fingerprint, begunAtMs: begun.writtenAtMs },
          () => (state = describe()),
          signal,
        ),
        createGzip({ level: 1, chunkSize: PIECE_BYTES }),
        async (packed: AsyncIterable<Buffer>) => {
          for await (const piece of packed) {
            if (bytes + piece.length > limits().memoryBytes) {
              throw new SnapshotFault('it would be larger than limits.memory')
            }
            await writeAll(file, piece, bytes)
            bytes += piece.length
          }
        },
      )
      await file.sync()
      await file.close()
      await rename(unfinished, path)
      await syncDirectory(directory)
      return storedAs(state, bytes)
    } catch (cause) {
      await file.close().catch(() => {})
      await unlink(unfinished).catch(() => {})
      throw cause
    }
  }

  /** Yields the text of the file. Requests are answered, and rows may change, between two pieces. */
  async *#textOf(
    lists: RecordLists,
    dirtyRows: readonly DirtyRows[],
    first: Parameters<typeof firstLine>[0],
    describe: () => SnapshotState,
    signal: AbortSignal,
  ): AsyncGenerator<string, void> {
    const { pause } = this.#settings
    const inTurns = async function* inTurns(lines: Iterable<string>): AsyncGenerator<string, void> {
      for (const piece of textsOf(lines)) {
        if (signal.aborted) throw new SnapshotFault('writing it takes too long')
        yield piece
        await pause()
      }
    }
    const dirty = (): number => dirtyRows.reduce((sum, one) => sum + one.size, 0)
    for (const one of dirtyRows) one.clear()
    yield `${firstLine(first)}\n`
    yield* inTurns(linesOf(allRowRecords(lists)))
    for (let round = 0; round < MOST_ROUNDS && dirty() > FEW_ROWS; round++)
      yield* inTurns(linesOf(changedOf(dirtyRows)))
    if (dirty() > FEW_ROWS) throw new SnapshotFault('rows change faster than they are written')
    // No `await` or `yield` here: no read may change anything between the last rows and the cursors.
    const last = [...textsOf(linesOf(changedOf(dirtyRows)))].join('')
    const state = describe()
    const journal = this.#settings.journal?.() ?? null
    yield last
    if (journal !== null) yield* inTurns(journalLines(journal))
    yield `${lastLine(state)}\n`
  }

  /** Returns true if there are snapshots of other fingerprints. */
  async #hasAnother(): Promise<boolean> {
    return (await this.#names()).some(([, unfinished]) => unfinished === undefined)
  }

  /** Removes unfinished files, and snapshots of fingerprints that have not been used for long. */
  async #tidy(nowMs: number): Promise<void> {
    const { directory } = this.#settings
    for (const [name, unfinished] of await this.#names()) {
      const path = join(directory, name)
      const ageMs = nowMs - ((await stat(path).catch(() => null))?.mtimeMs ?? nowMs)
      if (ageMs > (unfinished === undefined ? OLDEST_MS : OLDEST_UNFINISHED_MS)) await unlink(path).catch(() => {})
    }
  }

  /** Returns the names of snapshots, each with the end by which one that is not finished differs. */
  async #names(): Promise<readonly RegExpExecArray[]> {
    const names = await readdir(this.#settings.directory).catch(() => [])
    return names.map((name) => SNAPSHOT_NAME.exec(name)).filter((found) => found !== null)
  }
}

/** Removes all rows. */
export function emptyLists({ events, venues }: RecordLists): void {
  for (const row of events.rows()) events.remove(row)
  for (const row of venues.rows()) venues.remove(row)
}

function storedAs(state: SnapshotState, bytes: number): StoredSnapshot {
  const { events, venues } = state.lists
  return { ...state, rows: events.served + events.withheld + venues.served + venues.withheld, bytes }
}

/** Yields the rows that were written or removed since the others were taken, also during the iteration. */
function* changedOf(dirtyRows: readonly DirtyRows[]): Generator<RowRecord, void> {
  for (const one of dirtyRows) yield* one.take(Number.POSITIVE_INFINITY)
}

function* linesOf(rows: Iterable<RowRecord>): Generator<string, void> {
  for (const row of rows) yield rowLine(row)
}

/** Yields lines, many at a time. */
function* textsOf(lines: Iterable<string>): Generator<string, void> {
  let text = ''
  for (const line of lines) {
    text += `${line}\n`
    if (text.length < PIECE_BYTES) continue
    yield text
    text = ''
  }
  if (text !== '') yield text
}

async function* piecesOf(file: FileHandle): AsyncGenerator<Buffer, void> {
  for (;;) {
    const { bytesRead, buffer } = await file.read(Buffer.allocUnsafe(PIECE_BYTES), 0, PIECE_BYTES, null)
    if (bytesRead === 0) return
    yield buffer.subarray(0, bytesRead)
  }
}

/** Yields the complete lines of each piece. */
async function* linesIn(pieces: AsyncIterable<Buffer>): AsyncGenerator<readonly string[], void> {
  let rest: Buffer[] = []
  let restBytes = 0
  for await (const piece of pieces) {
    const end = piece.lastIndexOf('\n') + 1
    if (end > 0) {
      const text = Buffer.concat([...rest, piece.subarray(0, end - 1)]).toString('utf8')
      rest = []
      restBytes = 0
      yield text.split('\n')
    }
    rest.push(piece.subarray(end))
    restBytes += piece.length - end
    if (restBytes > LONGEST_LINE_BYTES) throw new SnapshotFault('one of its lines is too long')
  }
  if (restBytes > 0) throw new SnapshotFault('it is cut short')
}

/** Explains what zlib, or a line that says something else than lines do, means for the file. */
function faultOf(cause: unknown): unknown {
  const code = codeOf(cause)
  if (code === 'Z_BUF_ERROR') return new SnapshotFault('it is cut short', { cause })
  const isSpoilt = code === null || code.startsWith('Z_')
  return cause instanceof SnapshotFault || !isSpoilt ? cause : new SnapshotFault('it is damaged', { cause })
}
