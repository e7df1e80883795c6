import { setImmediate } from 'node:timers/promises'
import type { Guid } from '../../domain/guid.ts'
import {
  type Cursor,
  type Failed,
  type Failure,
  type Page,
  type PageStream,
  type ReadOutcome,
  type ReadRequest,
  type ServedRows,
  cursorOf,
  failed,
  failureOf,
  heartbeat,
} from '../../sync/port.ts'
import { type Moment, type Time, elapsedMs } from '../../time/time.ts'
import type { ConnectorContext, CrmLimits } from '../kit/crm-limits.ts'
import { FileBatch } from './batch.ts'
import type { OpenFile } from './found-file.ts'
import { HalfWritten } from './half-written.ts'
import { type ColumnsBefore, type ListFile, IgnoredColumns } from './list-file.ts'
import { Pace } from './pace.ts'
import { readListFile } from './read-list-file.ts'
import type { BrokenSyntax } from './row-parser.ts'
import { TIMED_OUT, withTimeout } from '../../time/waiting.ts'

export interface FileReadsSettings<Item> extends Pick<ConnectorContext, 'time' | 'observe'> {
  readonly list: ListFile<Item>
  readonly limits: FileLimits
  readonly isClosed: () => boolean
}

export type FileLimits = Pick<CrmLimits, 'requestTimeoutMs' | 'maxAgeMs' | 'memoryBytes'>

interface FileVersion {
  readonly file: Pick<OpenFile, 'read'>
  readonly found: FileBatch<unknown>['found']
  readonly id: string
  readonly begunAt: Moment
  /** When the read of the file began, in monotonic ms. */
  readonly readAtMs: number
  /** Whether its rows are held back until the whole file has been read, as long as they are few (`HELD_BACK_ROWS`). */
  readonly isSmall: boolean
  /** Whether any later change makes another version of it. */
  readonly isSettled: boolean
}

/** `changed` if the file changed during the read and nothing was applied; `shown` if some pages were. */
export type Interrupted = 'changed' | 'shown'

interface Whole {
  readonly ok: true
  readonly isLeftOut: boolean
}

/** The most text in the cells, and the most rows, of a list that is applied only after a complete read. */
const HELD_BACK_BYTES = 64 * 1024 * 1024
const HELD_BACK_ROWS = 50_000
const NO_VERSION = (): number => Number.NaN

/** Reads the versions of one list's file, and keeps the results that later reads need. */
export class FileReads<Item> {
  readonly halfWritten: HalfWritten
  readonly #settings: FileReadsSettings<Item>
  #columns: ColumnsBefore | null = null
  /** The unused columns, and the number of blank rows, that have been reported. */
  readonly #told = new Set<string>()
  #blankRows = 0
  #hasMappedAll = false
  /** The last broken version, which is not read again. */
  #refused: { readonly id: string; readonly failure: Failure } | null = null

  constructor(settings: FileReadsSettings<Item>) {
    this.#settings = settings
    this.halfWritten = new HalfWritten(settings.list.name, settings.limits)
  }

  /** Whether this process has mapped every row: a snapshot does not contain suspicions and unused columns. */
  get hasMappedAll(): boolean {
    return this.#hasMappedAll
  }

  /** Explains why this version is not read again; `null` if it should be read. */
  refusalOf(id: string): Failed | null {
    return this.#refused?.id === id ? { ok: false, failure: this.#refused.failure } : null
  }

  /**
   * Reads a version in full.
   * @param isKnown whether the list was read from this version before: every row is then mapped again
   * @param isWhole called at the end of the file; tells whether the file still has the bytes of this version
   */
  async *read(
    version: FileVersion,
    request: ReadRequest,
    isKnown: boolean,
    isWhole: (fault: BrokenSyntax | null) => Promise<boolean> = () => Promise.resolve(true),
  ): PageStream<Item, Failed | Interrupted | Whole> {
    const { list, time, isClosed, limits } = this.#settings
    const { file, found, begunAt, readAtMs } = version
    const { name, format } = found
    const { signal, served = null } = request
    const held = isKnown ? { size: request.held.size, version: NO_VERSION } : request.held
    const extent = this.halfWritten.extentOf(format, served, readAtMs)
    const rows = new FileBatch<Item>(found, begunAt, held.size === 0, extent)
    const columns = new IgnoredColumns(list.columns, this.#columns, list.named.keys())
    const isGivenUp = (): boolean => signal.aborted || isClosed()
    const { memoryBytes: limitBytes = 2e9 } = limits
    const pace = new Pace(held.size === 0)
    const reading = readListFile({ file, list, rows, columns, held, limitBytes, isGivenUp, pace })
    const pages: Page<Item>[] = []
    let shown = false
    const signs = new SignsOfLife<Item>({ time, everyMs: limits.requestTimeoutMs, begunAt, pace, signal })
    let next = yield* signs.during(reading.next())
    for (; next.done !== true; next = yield* signs.during(reading.next())) {
      pages.push(next.value)
      if (version.isSmall && rows.textBytes <= HELD_BACK_BYTES && rows.count <= HELD_BACK_ROWS) continue
      shown = true
      yield* oneByOne(pages)
    }
    const fault = next.value
    if (isGivenUp()) return failed('unreachable', `the read of ${name} was stopped`)
    if (!(await isWhole(fault))) return shown ? 'shown' : 'changed'
    if (extent === 'whole-lines' && served !== null && (fault === null || rows.isCut)) {
      const isList = fault === null && !rows.isOpen
      const countMissing = async (): Promise<number> =>
        shown ? served.countMissing() : served.count - (await countServed(pages, served))
      const lines = { isCut: rows.isCut, isList, countMissing }
      const failure = await this.halfWritten.doubtAbout(name, lines, served, readAtMs)
      if (failure !== null) return { ok: false, failure }
    }
    if (fault === null) this.#columns = columns.all
    const failure = failureIn(list, rows, columns, fault)
    this.#refused = failure !== null && version.isSettled ? { id: version.id, failure } : null
    if (failure !== null) return { ok: false, failure }
    yield* oneByOne(pages)
    const cut = rows.takeCut()
    if (cut !== null) yield cut
    this.halfWritten.took(rows.isLeftOut ? extent : 'all', time.now().monotonicMs - readAtMs)
    this.#hasMappedAll ||= isKnown || held.size === 0
    this.#tell(name, columns.names, rows.blankRows)
    return { ok: true, isLeftOut: rows.isLeftOut }
  }

  #tell(name: string, ignored: readonly string[], blankRows: number): void {
    const { list, observe } = this.#settings
    const columns = ignored.filter((column) => !this.#told.has(column))
    for (const column of columns) this.#told.add(column)
    if (columns.length > 0) observe({ kind: 'columns-ignored', list: list.name, columns })
    if (blankRows > 0 && blankRows !== this.#blankRows) {
      const rows = blankRows === 1 ? '1 blank row is' : `${blankRows} blank rows are`
      observe({ kind: 'crm-noticed', message: `${name}: ${rows} skipped` })
    }
    this.#blankRows = blankRows
  }
}

/** Returns why a file, read to its end or to a fault, is not a list; `null` if it is one. */
function failureIn<Item>(
  list: ListFile<Item>,
  { found: { name, format }, count }: FileBatch<Item>,
  columns: IgnoredColumns,
  fault: BrokenSyntax | null,
): Failure | null {
  // JSON names its columns in each row, so an empty list lacks no column.
  const isTold = format === 'csv' || format === 'xlsx' || count > 0
  const lacking = fault === null && isTold ? columns.lacking(list, name) : (fault?.lacking ?? null)
  if (lacking !== null) return failureOf('misconfigured', lacking)
  if (fault === null) return null
  // Line 0 stands for the whole file.
  const place = fault.line === 0 ? name : `${name}, ${format === 'xlsx' ? 'row' : 'line'} ${fault.line}`
  return failureOf('broken', `${place}: ${fault.problem}`)
}

const UNSETTLED = ':unsettled'

/**
 * Returns a cursor that never equals a version of the file, so the file is read again even if it does not change. Used
 * if a change might go unnoticed, or if the last line was left out.
 */
export function unsettled(id: string): Cursor {
  return cursorOf(`${id}${UNSETTLED}`)
}

/** Returns true if a cursor identifies a version of the file, so any process can confirm the list by it. */
export function namesVersion(cursor: Cursor): boolean {
  return !cursor.endsWith(UNSETTLED)
}

export function endOf(cursor: Cursor, asOf: Moment, isRead: boolean): ReadOutcome {
  return { ok: true, cursor, complete: isRead, oneMoment: true, unchanged: !isRead, asOf, confirms: true }
}

async function* oneByOne<Item>(pages: Page<Item>[]): PageStream<Item, void> {
  for (const page of pages.splice(0)) {
    yield page
    await setImmediate()
  }
}

/** Counts the served records in these pages; yields to requests in between. */
async function countServed<Item>(pages: readonly Page<Item>[], served: ServedRows): Promise<number> {
  const ids = new Set<Guid>()
  for (const { changes } of pages) {
    for (const { id } of changes) if (id !== null && served.has(id)) ids.add(id)
    await setImmediate()
  }
  return ids.size
}

const HOUR_MS = 3_600_000
const MINUTE_MS = 60_000

/** Explains that an export has stopped: its file is older than crm.maxFileAge. `null` if it is young enough. */
export function tooOld(name: string, writtenAtMs: number, nowMs: number, maxAgeMs: number | null): Failure | null {
  if (maxAgeMs === null || nowMs - writtenAtMs <= maxAgeMs) return null
  const fact = `${name} was last written ${spelled(nowMs - writtenAtMs)} ago`
  return failureOf('unreachable', `${fact}, and crm.maxFileAge allows ${spelled(maxAgeMs)}: has the export stopped?`)
}

function spelled(ms: number): string {
  if (ms >= HOUR_MS) return `${Math.floor(ms / (HOUR_MS / 10)) / 10} h`
  return ms >= MINUTE_MS ? `${Math.floor(ms / MINUTE_MS)} min` : `${Math.floor(ms / 1000)} s`
}

interface Signs {
  readonly time: Time
  /** The longest time without a page while the read makes progress, ms. */
  readonly everyMs: number
  readonly begunAt: Moment
  readonly pace: Pick<Pace, 'slices'>
  readonly signal: AbortSignal
}

/**
 * Yields empty pages while the rows of a file are held back until its end. Otherwise a slow share or a busy processor
 * would look like a file that does not answer. A read without progress yields no page, and times out.
 */
class SignsOfLife<Item> {
  readonly #signs: Signs
  #since: Moment

  constructor(signs: Signs) {
    this.#signs = signs
    this.#since = signs.begunAt
  }

  async *during<Next>(pending: Promise<Next>): AsyncGenerator<Page<Item>, Next, void> {
    const { time, everyMs, begunAt, pace, signal } = this.#signs
    for (;;) {
      const before = pace.slices
      const leftMs = Math.max(0, everyMs - elapsedMs(this.#since, time.now()))
      const next = await withTimeout(time, leftMs, pending, signal)
      if (next !== TIMED_OUT && leftMs > 0) return next
      if (signal.aborted) return pending
      if (next !== TIMED_OUT || pace.slices > before) yield heartbeat(begunAt)
      this.#since = time.now()
      if (next !== TIMED_OUT) return next
    }
  }
}
