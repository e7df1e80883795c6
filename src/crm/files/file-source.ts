import { constants } from 'node:fs'
import { setImmediate } from 'node:timers/promises'
import type { CrmFailure, Cursor, Page, PageStream, ReadOutcome, ReadRequest, Source } from '../../replica/port.ts'
import { cursorOf, failed, failureOf, PAGE_ROWS } from '../../replica/port.ts'
import type { Moment, Time } from '../../replica/time.ts'
import type { CrmLimits } from '../crm-limits.ts'
import { patienceOf } from '../crm-limits.ts'
import type { Descriptors } from '../descriptors.ts'
import { formatIn } from './content.ts'
import { placeOf } from './file-format.ts'
import { openParser } from './open-parser.ts'
import type { FoundFile, OpenFile } from './found-file.ts'
import { errorCode, findFile, fingerprintOf, foundAs, openFile, reasonOf } from './found-file.ts'
import type { ColumnsBefore, ListFile } from './list-file.ts'
import { IgnoredColumns } from './list-file.ts'
import { Pace } from './pace.ts'
import type { Batch } from './read-batches.ts'
import { Gathering, readBatches } from './read-batches.ts'
import type { SyntaxFault } from './row-parser.ts'

export interface FileSourceSettings<Item> {
  readonly directory: string
  readonly list: ListFile<Item>
  readonly time: Time
  readonly limits: Pick<CrmLimits, 'requestTimeoutMs' | 'memoryBytes'>
  readonly descriptors: Descriptors
  /** The whole CRM was let go of. */
  readonly isClosed: () => boolean
  readonly onColumns: (ignored: readonly string[]) => void
  /** Is told how many rows of blank cells were skipped, where that is news. */
  readonly onBlankRows: (file: string, count: number) => void
}

const MOST_ATTEMPTS = 5
// A clock that stamps files may tick as slowly as this, so a change soon after another may leave no trace.
const SETTLING_MS = 2000
/** Ends a cursor that is no file's fingerprint: the file is read again. */
const UNSETTLED = ':unsettled'
/** Files up to this size are shown only once they were read to their end and had not changed meanwhile. */
const HELD_BACK_BYTES = 8 * 1024 * 1024
const HELD_BACK_ROWS = 50_000
/** What a workbook unpacks to, for each of its bytes. */
const PACKED = 8

/** One list in a file: read in full whenever the file is not what it was, and compared. */
export class FileSource<Item> implements Source<Item> {
  readonly reportsChanges = false
  readonly availabilityEveryMs = null
  readonly repeatedId = 'serves-first'
  readonly #settings: FileSourceSettings<Item>
  /** The columns of the last read that came to the end of its file. */
  #columns: ColumnsBefore | null = null
  #blankRows = 0
  /** What was found when it was looked for last: the file, else why there is none. */
  #lookedAt: string | null = null
  /** A broken file is not read again while it stays what it is. */
  #refused: { readonly fingerprint: string; readonly failure: CrmFailure } | null = null

  constructor(settings: FileSourceSettings<Item>) {
    this.#settings = settings
  }

  get patienceMs(): number {
    return patienceOf(this.#settings.limits)
  }

  async *read(request: ReadRequest): PageStream<Item> {
    const { directory, list, time } = this.#settings
    for (let attempts = 1; ; attempts++) {
      const begunAt = time.now()
      const found = await findFile(directory, list.candidates)
      this.#lookedAt = identityOf(found)
      if ('kind' in found) return { ok: false, failure: found }
      if (found.fingerprint === request.cursor) return unchanged(request.cursor, begunAt)
      if (found.fingerprint === this.#refused?.fingerprint) return { ok: false, failure: this.#refused.failure }
      const outcome = yield* this.#readFile(found, begunAt, request)
      if (outcome.kind === 'ended') return outcome.outcome
      if (outcome.kind === 'shown' || attempts === MOST_ATTEMPTS) {
        return failed('broken', `${found.name} changed while it was read`)
      }
    }
  }

  async hasChanged(): Promise<boolean> {
    const { directory, list } = this.#settings
    return identityOf(await findFile(directory, list.candidates)) !== this.#lookedAt
  }

  /** The file itself says whether it is still what it was. */
  travels(cursor: Cursor): boolean {
    return !cursor.endsWith(UNSETTLED)
  }

  async *#readFile(found: FoundFile, begunAt: Moment, request: ReadRequest): PageStream<Item, Attempt> {
    const { name, path } = found
    let file: OpenFile | null = null
    try {
      // Should a pipe have taken the file's place meanwhile, opening it must not wait for a writer.
      file = openFile(path, constants.O_RDONLY | (constants.O_NONBLOCK ?? 0), this.#settings.descriptors)
      const stats = await file.stat()
      if (!stats.isFile() || stats.size === 0n) return { kind: 'changed' }
      // It may have taken the place of the one that was found.
      const format = this.#settings.list.isMapped ? await formatIn(file, found.format) : found.format
      const opened = foundAs({ ...found, format }, stats)
      this.#lookedAt = opened.fingerprint
      return yield* this.#readOpen(file, opened, begunAt, request)
    } catch (cause) {
      const code = errorCode(cause)
      if (code === null) throw new Error(`${name} cannot be read`, { cause })
      if (code === 'ENOENT') return { kind: 'changed' }
      return ended(failed('unreachable', `${name} cannot be read: ${reasonOf(code)}`))
    } finally {
      file?.close()
    }
  }

  async *#readOpen(
    file: OpenFile,
    found: FoundFile,
    begunAt: Moment,
    { held, signal }: ReadRequest,
  ): PageStream<Item, Attempt> {
    const { list, time, isClosed, onColumns, onBlankRows, limits } = this.#settings
    const { name, format, fingerprint } = found
    const whereIs = (index: number, line: number): string => placeOf(format, name, index, line)
    const rows = new Gathering<Item>()
    const columns = new IgnoredColumns(list.columns, this.#columns, list.named.keys())
    const isFirst = held.size === 0
    const pageOf = (batch: Batch<Item>): Page<Item> => {
      const page = toPage(batch, found, begunAt, whereIs)
      const isTold = isFirst && batch.before < PAGE_ROWS && rows.count >= PAGE_ROWS && rows.readBytes > 0
      return isTold ? { ...page, rowsInAll: rowsIn(found, rows) } : page
    }
    const holdsBack = found.sizeBytes * (format === 'xlsx' ? PACKED : 1) <= HELD_BACK_BYTES
    const pages: Page<Item>[] = []
    let shown = false
    const isGivenUp = (): boolean => signal.aborted || isClosed()
    const sink = { rows, file: name, whereIs }
    const pace = new Pace(isFirst)
    let batches: AsyncGenerator<Batch<Item>, SyntaxFault | null, void>
    if (format === 'xlsx') {
      // Loaded for whoever has a workbook.
      const [{ readSheet }, { csvRows }] = await Promise.all([import('./workbook.ts'), import('./csv-parser.ts')])
      const onHeader = csvRows(list, sink, columns, 'sheet')
      const { sizeBytes } = found
      const { memoryBytes: limitBytes = 2e9 } = limits
      const { sheet, texts } = list
      const headerRow = texts?.headerRow ?? null
      const reading = { name, file, sizeBytes, limitBytes, sheet, headerRow, rows, onHeader, isGivenUp, pace }
      batches = readSheet(reading)
    } else if (list.sheet !== null) {
      return ended(failed('misconfigured', `${name} is not a workbook, and has no sheet ${JSON.stringify(list.sheet)}`))
    } else {
      const parser = await openParser(format, list, sink, columns, held)
      batches = readBatches(file, parser, rows, isGivenUp, pace, list.texts?.encoding)
    }
    let fault: SyntaxFault | null = null
    for (;;) {
      const next = await batches.next()
      if (next.done === true) {
        fault = next.value
        break
      }
      pages.push(pageOf(next.value))
      if (holdsBack && rows.count <= HELD_BACK_ROWS) continue
      shown = true
      for (const page of pages.splice(0)) {
        yield page
        await setImmediate()
      }
    }
    if (isGivenUp()) return ended(failed('unreachable', `the reading of ${name} was given up`))
    const confirmedAt = time.now()
    const standing = await this.#standing(file, found)
    if (standing === 'changed' || (standing === 'replaced' && fault !== null)) {
      return { kind: shown ? 'shown' : 'changed' }
    }
    if (fault === null) this.#columns = columns.all
    // In JSON columns are those of the rows; an empty list has none to lack.
    const isTold = format === 'csv' || format === 'xlsx' || rows.count > 0
    const lacking = fault === null && isTold ? columns.lacking(list, name) : (fault?.lacking ?? null)
    if (fault !== null || lacking !== null) {
      const failure =
        lacking === null
          ? failureOf('broken', `${placeOfFault(found, fault)}: ${fault?.problem}`)
          : failureOf('misconfigured', lacking)
      this.#refused = isSettled(found, begunAt) ? { fingerprint, failure } : null
      return ended({ ok: false, failure })
    }
    for (const page of pages) {
      yield page
      await setImmediate()
    }
    this.#refused = null
    onColumns(columns.names)
    const { blankRows } = rows
    if (blankRows !== this.#blankRows) onBlankRows(name, blankRows)
    this.#blankRows = blankRows
    // What was read of a file that was replaced meanwhile is whole, but only as of the beginning.
    const isCurrent = standing === 'same'
    const cursor = cursorOf(isCurrent && isSettled(found, begunAt) ? fingerprint : `${fingerprint}${UNSETTLED}`)
    const asOf = isCurrent ? confirmedAt : begunAt
    return ended({ ok: true, cursor, complete: true, oneMoment: true, unchanged: false, asOf, confirms: true })
  }

  /** What became of the file while it was read; `replaced` is one whose bytes stayed and whose name is another's now. */
  async #standing(file: OpenFile, { name, fingerprint }: FoundFile): Promise<'same' | 'replaced' | 'changed'> {
    const { directory, list } = this.#settings
    const opened = await file.stat()
    const named = await findFile(directory, list.candidates)
    const isNamed = !('kind' in named) && named.fingerprint === fingerprint
    if (isNamed && fingerprintOf(name, opened) === fingerprint) return 'same'
    // Losing its name changes a file's ctime, so it cannot be compared here.
    const isSameInside = withoutChangeTime(fingerprintOf(name, opened)) === withoutChangeTime(fingerprint)
    const isElsewhere = !('kind' in named) && named.fingerprint !== fingerprintOf(name, opened)
    return isSameInside && isElsewhere ? 'replaced' : 'changed'
  }
}

function placeOfFault({ name, format }: FoundFile, fault: SyntaxFault | null): string {
  // Line 0 is the file as a whole.
  if (fault === null || fault.line === 0) return name
  return `${name}, ${format === 'xlsx' ? 'row' : 'line'} ${fault.line}`
}

function identityOf(found: FoundFile | CrmFailure): string {
  return 'kind' in found ? found.message : found.fingerprint
}

type Attempt =
  | { readonly kind: 'ended'; readonly outcome: ReadOutcome }
  /** The file changed while it was read, and nothing of it was shown. */
  | { readonly kind: 'changed' }
  /** It changed, and some of it was shown: what was seen once cannot be read again within one read. */
  | { readonly kind: 'shown' }

function ended(outcome: ReadOutcome): Attempt {
  return { kind: 'ended', outcome }
}

function unchanged(cursor: Cursor, asOf: Moment): ReadOutcome {
  return { ok: true, cursor, complete: false, oneMoment: true, unchanged: true, asOf, confirms: true }
}

/** Tells whether any later change will show in the file's times. */
/** What a row takes at the least: where the first ones are the smallest by far, room must not be made for more than there can be. */
const ROW_BYTES = 400

function rowsIn({ sizeBytes }: FoundFile, { count, readBytes }: Gathering<unknown>): number {
  return Math.ceil(sizeBytes / Math.max(ROW_BYTES, readBytes / count))
}

function isSettled({ changedAtMs }: FoundFile, begunAt: Moment): boolean {
  return begunAt.wallMs - changedAtMs >= SETTLING_MS
}

function withoutChangeTime(fingerprint: string): string {
  return fingerprint.slice(0, fingerprint.lastIndexOf(':'))
}

function toPage<Item>(
  { before, changes, lines }: Batch<Item>,
  { writtenAtMs }: FoundFile,
  begunAt: Moment,
  whereIs: (index: number, line: number) => string,
): Page<Item> {
  return {
    begunAt,
    sourceLagMs: 0,
    changes,
    whereIs: (index) => whereIs(before + index, lines[index] ?? 0),
    changedAtMs: () => writtenAtMs,
  }
}
