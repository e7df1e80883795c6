import { setImmediate } from 'node:timers/promises'
import type { Guid } from '../../domain/guid.ts'
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
import type { FoundFile, NotFound, OpenFile } from './found-file.ts'
import { HalfWritten } from './half-written.ts'
import { type ColumnsBefore, type ListFile, IgnoredColumns } from './list-file.ts'
import { readListFile } from './read-list-file.ts'
import type { BrokenSyntax } from './row-parser.ts'
import { type Rest, TIMED_OUT, inSlices, withTimeout } from '../../time/waiting.ts'
import { howMany, spanText } from '../../domain/printable.ts'

export interface VersionedFileSettings<Item> extends Pick<ConnectorContext, 'time' | 'observe' | 'limits'> {
  readonly list: ListFile<Item>
  readonly maxFileAgeMs?: number | null | undefined
  readonly isClosed: () => boolean
}

/** One state of a list's file, as it was found. */
interface FileVersion {
  readonly id: string
  readonly found: FileBatch<unknown>['found'] & Pick<FoundFile, 'inode'>
  /** When its bytes are known to have been these. */
  readonly begunAt: Moment
}

interface OpenVersion extends FileVersion {
  readonly file: Pick<OpenFile, 'read'>
  /** Whether its rows are held back until the whole file has been read, as long as they are few (`HELD_BACK_ROWS`). */
  readonly isSmall: boolean
}

/** A file that still has the bytes of its version at the end of a read. */
export interface StillThere {
  /** When it was still the list's file. */
  readonly asOf: Moment
  /** Whether it is the list's file now, and any later change makes another version of it. */
  readonly isSettled: boolean
}

/** The most text in the cells, and the most rows, of a list that is applied only after a complete read. */
const HELD_BACK_BYTES = 64 * 1024 * 1024
const HELD_BACK_ROWS = 50_000
/** The work between two pauses for requests. */
const SLICE_MS = 2
const NO_VERSION = (): number => Number.NaN

/**
 * One list in a file, wherever that is, read in full whenever the file has changed. Keeps the results that later reads
 * need.
 */
export abstract class VersionedFile<Item> implements ListSource<Item> {
  readonly reportsChanges = false
  readonly availabilityEveryMs = null
  readonly repeatedId = 'serves-first'
  abstract readonly patienceMs: number
  readonly #settings: VersionedFileSettings<Item>
  readonly #halfWritten: HalfWritten
  #columns: ColumnsBefore | null = null
  /** The unused columns, and the number of blank rows, that have been reported. */
  readonly #told = new Set<string>()
  #saidOfRows = ''
  /** What the last read file lacked. */
  #lacked: string | null = null
  /** Whether this process has mapped every row: a snapshot does not contain suspicions and unused columns. */
  #hasMappedAll = false
  /** The last broken version, which is not read again. */
  #refused: { readonly id: string; readonly failure: Failure } | null = null

  constructor(settings: VersionedFileSettings<Item>) {
    this.#settings = settings
    this.#halfWritten = new HalfWritten(settings.list.name, settings.limits)
  }

  abstract read(request: ReadRequest): PageStream<Item>

  /** Returns why the list cannot be read, without reading it; `null` if it most likely can. */
  abstract examine(): Promise<Failure | null>

  get idColumn(): string {
    return this.#settings.list.idName
  }

  /** A cursor identifies a version of the file by itself, so any process can confirm the list by it. */
  travels(cursor: Cursor): boolean {
    return !cursor.endsWith(UNSETTLED)
  }

  protected sawNone({ inode }: NotFound, atMs: number): void {
    this.#halfWritten.saw(null, inode ?? null, atMs)
  }

  /**
   * Returns the outcome of a read if it is known without reading the file; `null` if it is not.
   * @param isEnough whether rows that this process has not mapped need not be mapped now
   */
  protected knownOutcome(
    { id, found, begunAt }: FileVersion,
    { cursor }: ReadRequest,
    isEnough: boolean,
  ): ReadOutcome | null {
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

  /**
   * Reads a version in full. If the list was read from it before, every row is mapped again. A file that may be
   * half-written changes nothing: if its rows are too many to hold back, it is read again once it is believed.
   * @param whatIsThere called at the end of the file; returns `null` if it no longer has the bytes of this version
   * @returns the outcome; `changed` if the file changed meanwhile and nothing was applied
   */
  protected async *readVersion(
    version: OpenVersion,
    request: ReadRequest,
    whatIsThere: (fault: BrokenSyntax | null) => Promise<StillThere | null>,
  ): PageStream<Item, ReadOutcome | 'changed'> {
    const { list, time, isClosed, limits } = this.#settings
    const { file, found, id, begunAt } = version
    const { name, format } = found
    const { signal, served = null } = request
    const readAtMs = time.now().monotonicMs
    this.#halfWritten.saw(id, found.inode, readAtMs)
    const isSure = this.#halfWritten.isSure(format, served, readAtMs)
    const waiting = isSure ? null : this.#halfWritten.waiting(name, readAtMs)
    if (waiting !== null) return { ok: false, failure: waiting }
    const isKnown = id === request.cursor
    const isMapped = isKnown || list.isMadeOfEvents
    const held = isMapped ? { size: request.held.size, version: NO_VERSION } : request.held
    const rows = new FileBatch<Item>(found, begunAt)
    const columns = new IgnoredColumns(list.columns, this.#columns, list.named.keys())
    const isGivenUp = (): boolean => signal.aborted || isClosed()
    const { memoryBytes: limitBytes = 2e9, requestTimeoutMs: everyMs } = limits
    const slice = inSlices(SLICE_MS)
    let slices = 0
    const rest = (): ReturnType<Rest> => {
      const resting = slice()
      if (resting !== null) slices++
      return resting
    }
    const reading = readListFile({ file, list, rows, columns, held, limitBytes, isGivenUp, rest })
    const pages: Page<Item>[] = []
    const seen = new Set<Guid>()
    let isHeldBack = true
    let toldAtMs = readAtMs
    const awaited = (): AsyncGenerator<Page<never>, IteratorResult<Page<Item>, BrokenSyntax | null>, void> =>
      this.#awaited(reading.next(), version, () => slices, signal)
    let next = yield* awaited()
    for (; next.done !== true; next = yield* awaited()) {
      const page = next.value
      if (!isSure) for (const { id: row } of page.changes) if (row !== null && served?.has(row) === true) seen.add(row)
      isHeldBack &&= version.isSmall && rows.textBytes <= HELD_BACK_BYTES && rows.count <= HELD_BACK_ROWS
      if (isHeldBack || isSure) pages.push(page)
      else pages.length = 0
      if (isSure && !isHeldBack) yield* oneByOne(pages)
      else if (time.now().monotonicMs - toldAtMs >= everyMs) {
        toldAtMs = time.now().monotonicMs
        yield heartbeat(begunAt)
      }
    }
    const fault = next.value
    if (fault === null) pages.push(...rows.end())
    if (isGivenUp()) return failed('unreachable', `the read of ${name} was stopped`)
    const there = await whatIsThere(fault)
    if (there === null) return isSure && !isHeldBack ? changedWhileRead(name) : 'changed'
    if (!isSure && served !== null && (fault === null || rows.isCut)) {
      this.#halfWritten.doubt(rows.isCut, served.count - seen.size, served)
      const doubt = this.#halfWritten.waiting(name, readAtMs)
      if (doubt !== null) return { ok: false, failure: doubt }
      if (!isHeldBack) return yield* this.readVersion(version, request, whatIsThere)
    }
    if (fault === null) this.#columns = columns.all
    const failure = failureIn(list, rows, columns, fault)
    this.#refused = failure !== null && there.isSettled ? { id, failure } : null
    if (failure !== null) return { ok: false, failure }
    yield* oneByOne(pages)
    this.#halfWritten.believe()
    this.#hasMappedAll ||= isMapped || held.size === 0
    this.#tell(name, columns.names, rows)
    // JSON names its columns in each row, and may leave out what is blank.
    const lacking = rows.count > 0 ? columns.lacking(list, name) : null
    if (lacking !== null && lacking !== this.#lacked)
      this.#settings.observe({ kind: 'crm-noticed', message: `${lacking}; what is missing is blank` })
    this.#lacked = lacking
    return endOf(cursorOf(there.isSettled ? id : `${id}${UNSETTLED}`), there.asOf, true)
  }

  /**
   * Waits for the next page, and yields an empty one in each interval in which the read makes progress. Otherwise a slow
   * share or a busy processor would look like a file that does not answer. A read without progress yields none, and
   * times out.
   */
  async *#awaited<Next>(
    pending: Promise<Next>,
    { begunAt }: FileVersion,
    slices: () => number,
    signal: AbortSignal,
  ): AsyncGenerator<Page<never>, Next, void> {
    const { time, limits } = this.#settings
    for (;;) {
      const before = slices()
      const next = await withTimeout(time, limits.requestTimeoutMs, pending, signal)
      if (next !== TIMED_OUT) return next
      if (signal.aborted) return pending
      if (slices() > before) yield heartbeat(begunAt)
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

export function changedWhileRead(name: string): Failed {
  return failed('broken', `${name} changed while it was read`)
}

function endOf(cursor: Cursor, asOf: Moment, isRead: boolean): ReadOutcome {
  return { ok: true, cursor, complete: isRead, oneMoment: true, unchanged: !isRead, asOf, confirms: true }
}

async function* oneByOne<Item>(pages: Page<Item>[]): PageStream<Item, void> {
  for (const page of pages.splice(0)) {
    yield page
    await setImmediate()
  }
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
