import {
  type Cursor,
  type Failed,
  type Failure,
  type ListSource,
  type Page,
  type PageStream,
  type ReadOutcome,
  type ReadRequest,
  cursorOf,
  failed,
  failureOf,
  heartbeat,
} from '../../sync/port.ts'
import type { Moment } from '../../time/time.ts'
import type { ConnectorContext } from '../kit/crm-limits.ts'
import { FileBatch } from './batch.ts'
import { type FoundFile, type NotFound, type OpenFile, errorCode, unreadable } from './found-file.ts'
import { HalfWritten } from './half-written.ts'
import { type ColumnsBefore, type ListFile, IgnoredColumns } from './list-file.ts'
import { readListFile } from './read-list-file.ts'
import type { BrokenSyntax } from './row-parser.ts'
import { type Rest, TIMED_OUT, inSlices, withTimeout } from '../../time/waiting.ts'
import { howMany, spanText } from '../../domain/printable.ts'

/** Where the file of a list is: in a directory (local-file.ts) or on a web server (web-file.ts). */
export interface FilePlace {
  /** The time limit of a page. */
  readonly patienceMs: number
  /** Returns why the list cannot be read, without reading it; `null` if it most likely can. */
  examine(): Promise<Failure | null>
  /**
   * Finds the present version of the file.
   * @param isConfirmed whether this process has confirmed or read the rows
   */
  find(request: Pick<ReadRequest, 'cursor' | 'signal'>, isConfirmed: boolean): Promise<FileVersion | NotFound>
  hasChanged?(): Promise<boolean>
}

/** One state of a list's file, as it was found. */
export interface FileVersion {
  readonly id: string
  readonly found: FileBatch<unknown>['found'] & Pick<FoundFile, 'inode'>
  /** When its bytes are known to have been these. */
  readonly begunAt: Moment
  /** Whether rows that this process has not mapped need not be mapped now. */
  readonly isEnough: boolean
  /** The end of a sentence if the bytes cannot be read. */
  readonly note?: string
  /** Opens it for reading. Returns `changed` if it is another version by now. May throw a system error. */
  open(onProgress: () => void): Promise<OpenVersion | 'changed'>
}

export interface OpenVersion extends Pick<FileVersion, 'id' | 'found'> {
  readonly file: Pick<OpenFile, 'read'>
  /** Called at the end of the file; returns `null` if it no longer has the bytes of this version. */
  stillThere(fault: BrokenSyntax | null): Promise<StillThere | null>
  close(): void
}

/** A file that still has the bytes of its version at the end of a read. */
export interface StillThere {
  /** When it was still the list's file. */
  readonly asOf: Moment
  /** Whether it is the list's file now, and any later change makes another version of it. */
  readonly isSettled: boolean
}

export interface FileListSettings<Item> extends Pick<ConnectorContext, 'time' | 'observe' | 'limits'> {
  readonly list: ListFile<Item>
  readonly place: FilePlace
  readonly maxFileAgeMs?: number | null | undefined
  readonly isClosed: () => boolean
}

const MOST_ATTEMPTS = 5
/** The work between two pauses for requests. */
const SLICE_MS = 2
const NO_VERSION = (): number => Number.NaN

/**
 * One list in a file, read in full whenever the file has changed. A cursor is the version of the file. Keeps the results
 * that later reads need.
 */
export class FileList<Item> implements ListSource<Item> {
  readonly reportsChanges = false
  readonly repeatedId = 'serves-first'
  readonly #settings: FileListSettings<Item>
  readonly #halfWritten: HalfWritten
  #columns: ColumnsBefore | null = null
  /** The unused columns, and the number of blank rows, that have been reported. */
  readonly #told = new Set<string>()
  #saidOfRows = ''
  /** What the last read file lacked. */
  #lacked: string | null = null
  #isConfirmed = false
  /** Whether this process has mapped every row: a snapshot does not contain suspicions and unused columns. */
  #hasMappedAll = false
  /** The last broken version, which is not read again. */
  #refused: { readonly id: string; readonly failure: Failure } | null = null

  constructor(settings: FileListSettings<Item>) {
    this.#settings = settings
    this.#halfWritten = new HalfWritten(settings.list.name, settings.limits())
  }

  get idColumn(): string {
    return this.#settings.list.idName
  }

  get patienceMs(): number {
    return this.#settings.place.patienceMs
  }

  /** A cursor identifies a version of the file by itself, so any process can confirm the list by it. */
  travels(cursor: Cursor): boolean {
    return !cursor.endsWith(UNSETTLED)
  }

  examine(): Promise<Failure | null> {
    return this.#settings.place.examine()
  }

  async hasChanged(): Promise<boolean> {
    return (await this.#settings.place.hasChanged?.()) === true
  }

  async *read(request: ReadRequest): PageStream<Item> {
    const { place, time } = this.#settings
    for (let attempts = 1; ; attempts++) {
      const version = await place.find(request, this.#isConfirmed)
      if ('message' in version) {
        this.#halfWritten.saw(null, version.inode ?? null, time.now().monotonicMs)
        return { ok: false, failure: version }
      }
      const outcome = this.#knownOutcome(version, request) ?? (yield* this.#readVersion(version, request))
      if (outcome === 'changed' && attempts === MOST_ATTEMPTS) return changedWhileRead(version.found.name)
      if (outcome === 'changed') continue
      this.#isConfirmed ||= outcome.ok
      const { note = '' } = version
      if (outcome.ok || note === '') return outcome
      return { ok: false, failure: { ...outcome.failure, message: `${outcome.failure.message}${note}` } }
    }
  }

  /** Returns the outcome of a read if it is known without reading the file; `null` if it is not. */
  #knownOutcome({ id, found, begunAt, isEnough }: FileVersion, { cursor }: ReadRequest): ReadOutcome | null {
    const { time, maxFileAgeMs } = this.#settings
    const now = time.now()
    const old = tooOld(found.name, found.writtenAtMs, now.wallMs, maxFileAgeMs)
    if (old !== null) return { ok: false, failure: old }
    if (id === cursor && (this.#hasMappedAll || isEnough)) {
      this.#halfWritten.saw(id, found.inode, now.monotonicMs)
      return endOf(cursor, begunAt, false)
    }
    return this.#refused?.id === id ? { ok: false, failure: this.#refused.failure } : null
  }

  async *#readVersion(version: FileVersion, request: ReadRequest): PageStream<Item, ReadOutcome | 'changed'> {
    const { name } = version.found
    let steps = 0
    const step = (): void => void steps++
    let opened: OpenVersion | 'changed' | null = null
    try {
      opened = yield* this.#awaited(version.open(step), version, () => steps, request.signal)
      return opened === 'changed' ? opened : yield* this.#readOpen(opened, version, request)
    } catch (cause) {
      return errorCode(cause) === 'ENOENT' ? 'changed' : { ok: false, failure: unreadable(name, cause) }
    } finally {
      if (opened !== null && opened !== 'changed') opened.close()
    }
  }

  /** Reads a version in full. If the list was read from it before, every row is mapped again. */
  async *#readOpen(opened: OpenVersion, version: FileVersion, request: ReadRequest): PageStream<Item> {
    const { list, time, isClosed, limits } = this.#settings
    const { id, found, file } = opened
    const { name, format } = found
    const { signal, served = null } = request
    const readAtMs = time.now().monotonicMs
    this.#halfWritten.saw(id, found.inode, readAtMs)
    // What is served was read from this very version, so it is believed.
    const isKnown = id === request.cursor
    const doubt = served === null || isKnown ? null : this.#halfWritten.doubt(name, format, readAtMs)
    const isMapped = isKnown || list.isMadeOfEvents || request.held.size === 0
    const held = isMapped ? { size: request.held.size, version: NO_VERSION } : request.held
    const rows = new FileBatch<Item>(found, version.begunAt)
    const columns = new IgnoredColumns(list.columns, this.#columns, list.named.keys())
    const isGivenUp = (): boolean => signal.aborted || isClosed()
    const slice = inSlices(SLICE_MS)
    let slices = 0
    const rest = (): ReturnType<Rest> => {
      const resting = slice()
      if (resting !== null) slices++
      return resting
    }
    const { memoryBytes: limitBytes = 2e9 } = limits()
    const reading = readListFile({ file, list, rows, columns, held, limitBytes, isGivenUp, rest })
    // Said even if the file has no rows.
    const { ifLacking = null } = doubt ?? {}
    if (ifLacking !== null) yield { ...heartbeat(version.begunAt), unsure: ifLacking }
    let next: IteratorResult<Page<Item>, BrokenSyntax | null>
    do {
      next = yield* this.#awaited(reading.next(), version, () => slices, signal)
      if (next.done !== true) yield next.value
    } while (next.done !== true)
    const fault = next.value
    if (isGivenUp()) return failed('unreachable', `the read of ${name} was stopped`)
    const there = await opened.stillThere(fault)
    if (there === null) return changedWhileRead(name)
    if (doubt !== null && rows.isCut) return failed('waiting', doubt.ifCut, doubt.leftMs)
    if (fault === null) this.#columns = columns.all
    const failure = failureIn(list, rows, columns, fault)
    this.#refused = failure !== null && there.isSettled ? { id, failure } : null
    if (failure !== null) return { ok: false, failure }
    yield* rows.end()
    this.#hasMappedAll ||= isMapped
    this.#tell(name, columns.names, rows)
    // JSON names its columns in each row, and may leave out what is blank.
    const lacking = rows.count > 0 ? columns.lacking(list, name) : null
    if (lacking !== null && lacking !== this.#lacked)
      this.#settings.observe({ kind: 'crm-noticed', message: `${lacking}; what is missing is blank` })
    this.#lacked = lacking
    return endOf(cursorOf(there.isSettled ? id : `${id}${UNSETTLED}`), there.asOf, true)
  }

  /**
   * Waits for a promise, and yields an empty page in each interval in which the read makes progress. Otherwise a slow
   * share or a busy processor would look like a file that does not answer. A read without progress yields none, and
   * times out.
   */
  async *#awaited<Next>(
    pending: Promise<Next>,
    { begunAt }: Pick<FileVersion, 'begunAt'>,
    steps: () => number,
    signal: AbortSignal,
  ): AsyncGenerator<Page<never>, Next, void> {
    const { time, limits } = this.#settings
    for (;;) {
      const before = steps()
      const next = await withTimeout(time, limits().requestTimeoutMs, pending, signal)
      if (next !== TIMED_OUT) return next
      if (signal.aborted) return pending
      if (steps() > before) yield heartbeat(begunAt)
    }
  }

  #tell(name: string, ignored: readonly string[], { blankRows, headings }: FileBatch<Item>): void {
    const { list, observe } = this.#settings
    const columns = ignored.filter((column) => !this.#told.has(column))
    for (const column of columns) this.#told.add(column)
    if (columns.length > 0) observe({ kind: 'columns-ignored', list: list.name, columns })
    const skipped = [howMany(blankRows, 'blank row'), howMany(headings, 'heading')].filter(
      (rows) => !rows.startsWith('0 '),
    )
    const said = `${skipped.join(' and ')} ${blankRows + headings === 1 ? 'is' : 'are'} skipped`
    if (skipped.length > 0 && said !== this.#saidOfRows) observe({ kind: 'crm-noticed', message: `${name}: ${said}` })
    this.#saidOfRows = said
  }
}

/** Returns why a file, read to its end or to a fault, is not a list; `null` if it is one. */
function failureIn<Item>(
  list: ListFile<Item>,
  { found: { name, format } }: FileBatch<Item>,
  columns: IgnoredColumns,
  fault: BrokenSyntax | null,
): Failure | null {
  const hasHeader = format === 'csv' || format === 'xlsx'
  const lacking = fault === null && hasHeader ? columns.lacking(list, name) : (fault?.lacking ?? null)
  if (lacking !== null) return failureOf('misconfigured', lacking)
  if (fault === null) return null
  // Line 0 stands for the whole file.
  const place = fault.line === 0 ? name : `${name}, ${format === 'xlsx' ? 'row' : 'line'} ${fault.line}`
  return failureOf('broken', `${place}: ${fault.problem}`)
}

/**
 * Ends a cursor that never equals a version of the file, so the file is read again even if it does not change. Used if
 * a change might go unnoticed.
 */
const UNSETTLED = ':unsettled'

function changedWhileRead(name: string): Failed {
  return failed('broken', `${name} changed while it was read`)
}

function endOf(cursor: Cursor, asOf: Moment, isRead: boolean): ReadOutcome {
  return { ok: true, cursor, complete: isRead, oneMoment: true, unchanged: !isRead, asOf, confirms: true }
}

/** Explains that a file is older than crm.maxFileAge, or of unknown age: an export has stopped. `null` if it is not. */
function tooOld(name: string, writtenAtMs: number, nowMs: number, maxAgeMs: number | null = null): Failure | null {
  if (maxAgeMs === null || nowMs - writtenAtMs <= maxAgeMs) return null
  if (Number.isNaN(writtenAtMs)) {
    const fact = `${name} comes without Last-Modified, so its age is unknown`
    return failureOf('misconfigured', `${fact}; remove crm.maxFileAge`)
  }
  const fact = `${name} was last written ${ageText(nowMs - writtenAtMs)} ago`
  return failureOf('unreachable', `${fact}, and crm.maxFileAge allows ${spanText(maxAgeMs)}: has the export stopped?`)
}

/** Formats an age, rounded down: `31.2 h`, `3 min`, `5 s`. */
function ageText(ms: number): string {
  if (ms >= 3_600_000) return `${Math.floor(ms / 360_000) / 10} h`
  return ms >= 60_000 ? `${Math.floor(ms / 60_000)} min` : `${Math.floor(ms / 1000)} s`
}
