import { constants } from 'node:fs'
import { setImmediate } from 'node:timers/promises'
import type { Guid } from '../../domain/guid.ts'
import type { Failure, Cursor, Page, PageStream, ReadOutcome } from '../../sync/port.ts'
import type { ReadRequest, ServedRows, Source } from '../../sync/port.ts'
import { cursorOf, failed, failureOf } from '../../sync/port.ts'
import type { Moment } from '../../time/time.ts'
import { type ConnectorContext, type CrmLimits, patienceOf } from '../kit/crm-limits.ts'
import type { Descriptors } from '../kit/file-descriptors.ts'
import { formatIn } from './content.ts'
import { tooOld } from './file-age.ts'
import type { FoundFile, NotFound, OpenFile } from './found-file.ts'
import { errorCode, findFile, fingerprintOf, foundAs, openFile, reasonOf } from './found-file.ts'
import { Batch } from './batch.ts'
import { HalfWritten } from './half-written.ts'
import { type ColumnsBefore, type ListFile, IgnoredColumns } from './list-file.ts'
import { Pace } from './pace.ts'
import { readListFile } from './read-list-file.ts'
import type { SyntaxFault } from './row-parser.ts'
import { SignsOfLife } from './signs-of-life.ts'

export interface FileSourceSettings<Item> extends Pick<ConnectorContext, 'time' | 'observe'> {
  readonly directory: string
  readonly list: ListFile<Item>
  readonly limits: FileLimits
  readonly maxFileAgeMs?: number | null | undefined
  readonly descriptors: Descriptors
  /** Whether the CRM has been closed. */
  readonly isClosed: () => boolean
}

export type FileLimits = Pick<CrmLimits, 'requestTimeoutMs' | 'maxAgeMs' | 'memoryBytes'>

const MOST_ATTEMPTS = 5
const NO_VERSION = (): number => Number.NaN
// File systems may record times in steps as coarse as this, so a change soon after another may leave no trace.
const SETTLING_MS = 2000
/** Ends a cursor of a file that may still change unnoticed, so the file is read again. */
const UNSETTLED = ':unsettled'
/** Files up to this size are only applied after a complete read without changes to the file. */
const HELD_BACK_BYTES = 8 * 1024 * 1024
const HELD_BACK_ROWS = 50_000
/** The assumed ratio of a workbook's unpacked size to its size. */
const PACKED = 8

/** One list in a file, read in full whenever the file has changed. */
export class FileSource<Item> implements Source<Item> {
  readonly reportsChanges = false
  readonly availabilityEveryMs = null
  readonly repeatedId = 'serves-first'
  readonly #settings: FileSourceSettings<Item>
  /** The columns of the last complete read. */
  #columns: ColumnsBefore | null = null
  /** The unused columns, and the number of blank rows, that have been reported. */
  readonly #told = new Set<string>()
  #blankRows = 0
  /** What the last look found: the file's fingerprint, or why there is no file. */
  #lookedAt: string | null = null
  /**
   * What this process knows of the rows. After a start from a snapshot a look at the file confirms them, but what is
   * suspicious or ignored in the file is known only to who has read it: it is read once, after the first answers.
   */
  #known: 'nothing' | 'unchanged' | 'read' = 'nothing'
  /** The last broken file, which is not read again until it changes. */
  #refused: { readonly fingerprint: string; readonly failure: Failure } | null = null

  readonly #halfWritten: HalfWritten

  constructor(settings: FileSourceSettings<Item>) {
    this.#settings = settings
    this.#halfWritten = new HalfWritten(settings.list.name, settings.limits)
  }

  get idColumn(): string {
    return this.#settings.list.idName
  }

  get patienceMs(): number {
    return patienceOf(this.#settings.limits)
  }

  /** Looks for the file. Returns why it cannot be read, or `null`. */
  async examine(): Promise<Failure | null> {
    const { directory, list, descriptors } = this.#settings
    const found = await findFile(directory, list.candidates)
    if ('kind' in found) return found
    try {
      openFile(found.path, constants.O_RDONLY | (constants.O_NONBLOCK ?? 0), descriptors).close()
      return null
    } catch (cause) {
      const code = errorCode(cause)
      if (code === null) throw cause
      return failureOf('unreachable', `${found.name} cannot be read: ${reasonOf(code)}`)
    }
  }

  async *read(request: ReadRequest): PageStream<Item> {
    const { directory, list, time, maxFileAgeMs = null } = this.#settings
    for (let attempts = 1; ; attempts++) {
      const begunAt = time.now()
      const found = await findFile(directory, list.candidates)
      this.#lookedAt = identityOf(found)
      if ('kind' in found) {
        this.#halfWritten.saw(found, begunAt.monotonicMs)
        return { ok: false, failure: found }
      }
      const old = tooOld(found.name, found.writtenAtMs, begunAt.wallMs, maxFileAgeMs)
      if (old !== null) return { ok: false, failure: old }
      const isUnchanged = found.fingerprint === request.cursor
      if (isUnchanged && this.#known !== 'unchanged') {
        if (this.#known === 'nothing') this.#known = 'unchanged'
        this.#halfWritten.saw(found, begunAt.monotonicMs)
        return endOf(request.cursor, begunAt, false)
      }
      if (found.fingerprint === this.#refused?.fingerprint) return { ok: false, failure: this.#refused.failure }
      const outcome = yield* this.#readFile(found, begunAt, isUnchanged ? mappingAll(request) : request)
      if (typeof outcome === 'object') return outcome
      if (outcome === 'shown' || attempts === MOST_ATTEMPTS) {
        return failed('broken', `${found.name} changed while it was read`)
      }
    }
  }

  async hasChanged(): Promise<boolean> {
    const { directory, list } = this.#settings
    return identityOf(await findFile(directory, list.candidates)) !== this.#lookedAt
  }

  /** A cursor is the file's fingerprint, so any process can check it. */
  travels(cursor: Cursor): boolean {
    return !cursor.endsWith(UNSETTLED)
  }

  async *#readFile(found: FoundFile, begunAt: Moment, request: ReadRequest): PageStream<Item, Attempt> {
    const { name, path } = found
    let file: OpenFile | null = null
    try {
      // O_NONBLOCK: if a pipe has replaced the file meanwhile, opening it must not wait for a writer.
      file = openFile(path, constants.O_RDONLY | (constants.O_NONBLOCK ?? 0), this.#settings.descriptors)
      const stats = await file.stat()
      if (!stats.isFile() || stats.size === 0n) return 'changed'
      // Another file may have replaced the one that was found.
      const format = this.#settings.list.isMapped ? await formatIn(file, found.format) : found.format
      const opened = foundAs({ ...found, format }, stats)
      this.#lookedAt = opened.fingerprint
      this.#halfWritten.saw(opened, begunAt.monotonicMs)
      const waiting = this.#halfWritten.stillWaiting(name, request.served ?? null, begunAt.monotonicMs)
      if (waiting !== null) return { ok: false, failure: waiting }
      return yield* this.#readOpen(file, opened, begunAt, request)
    } catch (cause) {
      const code = errorCode(cause)
      if (code === null) throw new Error(`${name} cannot be read`, { cause })
      if (code === 'ENOENT') return 'changed'
      return failed('unreachable', `${name} cannot be read: ${reasonOf(code)}`)
    } finally {
      file?.close()
    }
  }

  async *#readOpen(file: OpenFile, found: FoundFile, begunAt: Moment, request: ReadRequest): PageStream<Item, Attempt> {
    const { list, time, isClosed, limits } = this.#settings
    const { name, format, fingerprint } = found
    const { held, signal, served = null } = request
    const extent = this.#halfWritten.extentOf(format, served, begunAt.monotonicMs)
    const isEveryRowMapped = held.size === 0 || held.version === NO_VERSION
    const rows = new Batch<Item>(found, begunAt, held.size === 0, extent)
    const columns = new IgnoredColumns(list.columns, this.#columns, list.named.keys())
    const isGivenUp = (): boolean => signal.aborted || isClosed()
    const { memoryBytes: limitBytes = 2e9 } = limits
    const pace = new Pace(held.size === 0)
    const reading = readListFile({ file, list, rows, columns, held, limitBytes, isGivenUp, pace })
    const isSmall = found.sizeBytes * (format === 'xlsx' ? PACKED : 1) <= HELD_BACK_BYTES
    const pages: Page<Item>[] = []
    let shown = false
    const signs = new SignsOfLife<Item>({ time, everyMs: limits.requestTimeoutMs, begunAt, pace, signal })
    let next = yield* signs.during(reading.next())
    for (; next.done !== true; next = yield* signs.during(reading.next())) {
      pages.push(next.value)
      if (isSmall && rows.textBytes <= HELD_BACK_BYTES * PACKED && rows.count <= HELD_BACK_ROWS) continue
      shown = true
      yield* oneByOne(pages)
    }
    const fault = next.value
    if (isGivenUp()) return failed('unreachable', `the reading of ${name} was given up`)
    const confirmedAt = time.now()
    const change = await this.#changeIn(file, found)
    if (change === 'changed' || (change === 'replaced' && fault !== null)) return shown ? 'shown' : 'changed'
    if (extent === 'whole-lines' && served !== null && (fault === null || rows.isCut)) {
      const isList = fault === null && !rows.isOpen
      const countMissing = async (): Promise<number> =>
        shown ? served.countMissing() : served.count - (await countServed(pages, served))
      const lines = { isCut: rows.isCut, isList, countMissing }
      const failure = await this.#halfWritten.doubtAbout(name, lines, served, begunAt.monotonicMs)
      if (failure !== null) return { ok: false, failure }
    }
    if (fault === null) {
      this.#columns = columns.all
      if (isEveryRowMapped || this.#known === 'nothing') this.#known = isEveryRowMapped ? 'read' : 'unchanged'
    }
    // The columns of JSON are those of its rows, so an empty list lacks none.
    const isTold = format === 'csv' || format === 'xlsx' || rows.count > 0
    const lacking = fault === null && isTold ? columns.lacking(list, name) : (fault?.lacking ?? null)
    if (fault !== null || lacking !== null) {
      const failure =
        lacking === null
          ? failureOf('broken', `${placeOfFault(found, fault)}: ${fault?.problem}`)
          : failureOf('misconfigured', lacking)
      this.#refused = isSettled(found, begunAt) ? { fingerprint, failure } : null
      return { ok: false, failure }
    }
    yield* oneByOne(pages)
    const cut = rows.takeCut()
    if (cut !== null) yield cut
    this.#halfWritten.took(rows.isLeftOut ? extent : 'all', time.now().monotonicMs - begunAt.monotonicMs)
    this.#refused = null
    this.#tell(name, columns.names, rows.blankRows)
    // If the file was replaced meanwhile, the rows are complete, but only as of the beginning of the read.
    const isCurrent = change === 'same'
    const isAll = isCurrent && isSettled(found, begunAt) && !rows.isLeftOut
    const cursor = cursorOf(isAll ? fingerprint : `${fingerprint}${UNSETTLED}`)
    return endOf(cursor, isCurrent ? confirmedAt : begunAt, true)
  }

  /** Reports what is new in a file that was read completely. */
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

  /**
   * Compares an open file with its state before the read. `replaced`: its bytes are unchanged, but its name now belongs
   * to another file.
   */
  async #changeIn(file: OpenFile, { name, fingerprint }: FoundFile): Promise<'same' | 'replaced' | 'changed'> {
    const { directory, list } = this.#settings
    const opened = await file.stat()
    const named = await findFile(directory, list.candidates)
    const isNamed = !('kind' in named) && named.fingerprint === fingerprint
    if (isNamed && fingerprintOf(name, opened) === fingerprint) return 'same'
    // Losing its name changes a file's ctime, so the ctime is left out.
    const isSameInside = withoutChangeTime(fingerprintOf(name, opened)) === withoutChangeTime(fingerprint)
    const isElsewhere = !('kind' in named) && named.fingerprint !== fingerprintOf(name, opened)
    return isSameInside && isElsewhere ? 'replaced' : 'changed'
  }
}

function placeOfFault({ name, format }: FoundFile, fault: SyntaxFault | null): string {
  // Line 0 stands for the whole file.
  if (fault === null || fault.line === 0) return name
  return `${name}, ${format === 'xlsx' ? 'row' : 'line'} ${fault.line}`
}

/** Has every row mapped, though it has not changed. */
function mappingAll(request: ReadRequest): ReadRequest {
  return { ...request, held: { size: request.held.size, version: NO_VERSION } }
}

function identityOf(found: FoundFile | NotFound): string {
  return 'kind' in found ? found.message : found.fingerprint
}

/**
 * The result of one attempt. If the file changed during the read: `changed` if nothing was applied, so the read can
 * start over; `shown` if some pages were.
 */
type Attempt = ReadOutcome | 'changed' | 'shown'

function endOf(cursor: Cursor, asOf: Moment, isRead: boolean): ReadOutcome {
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

/** Whether the file last changed so long ago that any later change will alter its times. */
function isSettled({ updatedAtMs }: FoundFile, begunAt: Moment): boolean {
  return begunAt.wallMs - updatedAtMs >= SETTLING_MS
}

function withoutChangeTime(fingerprint: string): string {
  return fingerprint.slice(0, fingerprint.lastIndexOf(':'))
}
