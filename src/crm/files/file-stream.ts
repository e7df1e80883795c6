import { parseDateFormat } from '../../domain/date-format.ts'
import type { Guid } from '../../domain/guid.ts'
import { howMany, spanText } from '../../domain/printable.ts'
import { type Cursor, type Failed, type Failure, failed, failureOf } from '../../sync/port.ts'
import type { Moment } from '../../time/time.ts'
import { type Rest, TIMED_OUT, inSlices, withTimeout } from '../../time/waiting.ts'
import type { TextSettings } from '../../config/crm/sources.ts'
import type { MappedReading, RowSource, Rows, RowsEnd, StreamBatch, StreamShape, Way } from '../connector/row-host.ts'
import type { ConnectorContext } from '../kit/crm-limits.ts'
import { FileBatch } from './batch.ts'
import { type FoundFile, type NotFound, type OpenFile, errorCode, unreadable } from './found-file.ts'
import { HalfWritten } from './half-written.ts'
import { type ColumnsBefore, type ListFile, IgnoredColumns } from './list-file.ts'
import { readListFile } from './read-list-file.ts'
import type { BrokenSyntax, FileReading } from './row-parser.ts'

/** Where the file of a list is: in a directory (local-file.ts) or on a web server (web-file.ts). */
export interface FilePlace {
  /** The longest time without progress. */
  readonly patienceMs: number
  /** Returns why the list cannot be read, without reading it; `null` if it most likely can. */
  examine(): Promise<Failure | null>
  /**
   * Finds the present version of the file.
   * @param known the version that is held; `null` if none is
   * @param isConfirmed whether this process has confirmed or read the rows
   */
  find(known: string | null, signal: AbortSignal, isConfirmed: boolean): Promise<FileVersion | NotFound>
  hasChanged?(): Promise<boolean>
}

/** One state of a list's file, as it was found. */
export interface FileVersion {
  readonly id: string
  readonly found: FileBatch<unknown>['found'] & Pick<FoundFile, 'inode' | 'updatedAtMs'>
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

interface FileStreamSettings extends Pick<ConnectorContext, 'time' | 'observe' | 'limits'> {
  readonly list: ListFile
  readonly place: FilePlace
  readonly maxFileAgeMs?: number | null | undefined
  readonly isClosed: () => boolean
}

const MOST_ATTEMPTS = 5
/** The work between two pauses for requests. */
const SLICE_MS = 2
const NO_VERSION = (): number => Number.NaN
/** Ends the version of a file that is read again even if it does not change, since a change might go unnoticed. */
const UNSETTLED = ':unsettled'

/** One list in a file, read in full whenever the file has changed. Keeps the results that later reads need. */
export class FileStream<Item extends { readonly Id: Guid }> implements RowSource<Item> {
  readonly name: ListFile['name']
  readonly known: StreamShape
  readonly budget = null
  readonly requests: ReadonlyMap<Way, number> = new Map()
  readonly mapsRows = true
  readonly #settings: FileStreamSettings
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
  /** The version that was found and is to be read. */
  #found: FileVersion | null = null
  /** The last broken version, which is not read again. */
  #refused: { readonly id: string; readonly failure: Failure } | null = null

  constructor(settings: FileStreamSettings) {
    this.#settings = settings
    this.name = settings.list.name
    this.known = settings.list.shape
    this.#halfWritten = new HalfWritten(settings.list.name, settings.limits())
  }

  async shape(): Promise<StreamShape> {
    return this.known
  }

  /** A version identifies the file by itself, so any process can confirm the list by it. */
  travels(cursor: Cursor): boolean {
    return !cursor.endsWith(UNSETTLED)
  }

  async hasChanged(): Promise<boolean> {
    return (await this.#settings.place.hasChanged?.()) === true
  }

  async *open(
    way: Way,
    _argument: unknown,
    signal: AbortSignal,
    _purpose?: unknown,
    reading?: MappedReading<Item>,
  ): Rows<Item> {
    if (reading === undefined) throw new Error('a file is read by its list')
    if (way === 'version') {
      const looked = await this.#look(reading.version, signal)
      this.#isConfirmed ||= looked.ok && looked.isSame === true
      return looked
    }
    for (let attempts = 1; ; attempts++) {
      const looked = this.#found === null ? await this.#look(reading.version, signal) : null
      if (looked?.ok === false) return looked
      const version = this.#found
      if (version === null) throw new Error('a file was found')
      this.#found = null
      const ended = yield* this.#readVersion(version, reading)
      if (ended === 'changed' && attempts < MOST_ATTEMPTS) continue
      if (ended === 'changed') return changedWhileRead(version.found.name)
      this.#isConfirmed ||= ended.ok
      return ended.ok ? ended : withNote(ended, version)
    }
  }

  /** Finds the file. If the file need not be read, the result has the version of the list that is held. */
  async #look(held: string | null, signal: AbortSignal): Promise<RowsEnd> {
    const { place, time, maxFileAgeMs } = this.#settings
    const version = await this.#inTime(place.find(held, signal, this.#isConfirmed), () => 0, signal)
    if (version === TIMED_OUT) return this.#noResponse()
    const now = time.now()
    if ('message' in version) {
      this.#halfWritten.sawNone(version.inode ?? null)
      return { ok: false, failure: version }
    }
    const { id, found, begunAt, isEnough } = version
    const old = tooOld(found.name, found.writtenAtMs, now.wallMs, maxFileAgeMs)
    if (old !== null) return withNote({ ok: false, failure: old }, version)
    const isSame = id === held && (this.#hasMappedAll || isEnough)
    if (isSame) this.#halfWritten.saw(id, found, now)
    else if (this.#refused?.id === id) return withNote({ ok: false, failure: this.#refused.failure }, version)
    this.#found = isSame ? null : version
    return { ok: true, cursor: id, isSame, asOf: begunAt }
  }

  async *#readVersion(
    version: FileVersion,
    reading: MappedReading<Item>,
  ): AsyncGenerator<StreamBatch<Item>, RowsEnd | 'changed', void> {
    const { signal } = reading.request
    let steps = 0
    const opening = version.open(() => void steps++)
    /** What has not answered: the file is closed once it does. */
    let pending: Promise<unknown> = opening
    try {
      const opened = await this.#inTime(opening, () => steps, signal)
      if (opened === TIMED_OUT) return this.#noResponse()
      if (opened === 'changed') return opened
      return yield* this.#readOpen(opened, reading, (next) => {
        pending = next
      })
    } catch (cause) {
      return errorCode(cause) === 'ENOENT' ? 'changed' : { ok: false, failure: unreadable(version.found.name, cause) }
    } finally {
      const close = async (): Promise<void> => {
        const opened = await opening
        if (opened !== 'changed') opened.close()
      }
      void pending.then(close, close).catch(() => {})
    }
  }

  /** Reads a version in full. If the list was read from it before, every row is mapped again. */
  async *#readOpen(
    opened: OpenVersion,
    reading: MappedReading<Item>,
    onPending: (next: Promise<unknown>) => void,
  ): Rows<Item> {
    const { list, time, isClosed, limits } = this.#settings
    const { id, found, file } = opened
    const { name, format } = found
    const { signal, served = null } = reading.request
    const readAt = time.now()
    this.#halfWritten.saw(id, found, readAt)
    // What is served was read from this very version, so it is believed.
    const isKnown = id === reading.version
    const doubt = served === null || isKnown ? null : this.#halfWritten.doubt(name, format, readAt.monotonicMs)
    const { size } = reading.request.held
    const isMapped = isKnown || list.shape.isWithinEvents === true || size === 0
    const held = isMapped ? { size, version: NO_VERSION } : reading.request.held
    const { ifLacking = null } = doubt ?? {}
    const rows = new FileBatch<Item>(found, ifLacking)
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
    const { texts } = list
    const mapping: Pick<FileReading<Item>, 'begin' | 'lines'> = {
      begin(from, days) {
        const own = texts !== null && from === 'sheet' ? withDays(texts) : texts
        reading.list.begin({ lists: from === 'native' ? from : 'text', texts: own, days })
        return (row, where, version) => reading.list.map(row, where, version)
      },
      lines: () => reading.list.lines,
    }
    const work = readListFile({ file, list, rows, columns, held, limitBytes, isGivenUp, rest, ...mapping })
    // Said even if the file has no rows.
    if (ifLacking !== null) yield rows.take()
    let fault: BrokenSyntax | null
    for (;;) {
      const pending = work.next()
      onPending(pending)
      const next = await this.#inTime(pending, () => slices, signal)
      if (next === TIMED_OUT) return this.#noResponse()
      if (next.done === true) {
        fault = next.value
        break
      }
      yield next.value
    }
    if (isGivenUp()) return failed('unreachable', `the read of ${name} was stopped`)
    const there = await opened.stillThere(fault)
    if (there === null) return changedWhileRead(name)
    if (doubt !== null && rows.isCut) return failed('waiting', doubt.ifCut, doubt.leftMs)
    if (fault === null) this.#columns = columns.all
    const failure = failureIn(list, rows, columns, fault)
    this.#refused = failure !== null && there.isSettled ? { id, failure } : null
    if (failure !== null) return { ok: false, failure }
    for (const change of reading.list.rest()) rows.add(change, 0)
    yield rows.take()
    this.#hasMappedAll ||= isMapped
    this.#tell(name, columns, rows)
    return { ok: true, cursor: null, version: there.isSettled ? id : `${id}${UNSETTLED}`, asOf: there.asOf }
  }

  /** Waits for as long as there is progress: a slow share or a busy processor is no file that does not answer. */
  async #inTime<Value>(
    pending: Promise<Value>,
    steps: () => number,
    signal: AbortSignal,
  ): Promise<Value | typeof TIMED_OUT> {
    const { time, limits, place } = this.#settings
    const { requestTimeoutMs } = limits()
    for (let idleMs = 0; idleMs + requestTimeoutMs <= place.patienceMs;) {
      const before = steps()
      const value = await withTimeout(time, requestTimeoutMs, pending, signal)
      if (value !== TIMED_OUT) return value
      if (signal.aborted) return pending
      idleMs = steps() > before ? 0 : idleMs + requestTimeoutMs
    }
    return TIMED_OUT
  }

  #noResponse(): Failed {
    return failed('timeout', `no response within ${this.#settings.place.patienceMs / 1000} s`)
  }

  #tell(name: string, columns: IgnoredColumns, { blankRows, headings, count }: FileBatch<Item>): void {
    const { list, observe } = this.#settings
    const unused = columns.names.filter((column) => !this.#told.has(column))
    for (const column of unused) this.#told.add(column)
    if (unused.length > 0) observe({ kind: 'columns-ignored', list: list.name, columns: unused })
    const skipped = [howMany(blankRows, 'blank row'), howMany(headings, 'heading')].filter(
      (rows) => !rows.startsWith('0 '),
    )
    const said = `${skipped.join(' and ')} ${blankRows + headings === 1 ? 'is' : 'are'} skipped`
    if (skipped.length > 0 && said !== this.#saidOfRows) observe({ kind: 'crm-noticed', message: `${name}: ${said}` })
    this.#saidOfRows = said
    // JSON names its columns in each row, and may leave out what is blank.
    const lacking = count > 0 ? columns.lacking(list, name) : null
    if (lacking !== null && lacking !== this.#lacked)
      observe({ kind: 'crm-noticed', message: `${lacking}; what is missing is blank` })
    this.#lacked = lacking
  }
}

/** Returns why a file, read to its end or to a fault, is not a list; `null` if it is one. */
function failureIn(
  list: ListFile,
  { found: { name, format } }: FileBatch<unknown>,
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

function changedWhileRead(name: string): Failed {
  return failed('broken', `${name} changed while it was read`)
}

function withNote({ failure }: Failed, { note = '' }: FileVersion): Failed {
  return { ok: false, failure: { ...failure, message: `${failure.message}${note}` } }
}

/** Adds the ISO date to formats that include a date without time, because workbooks give every date in ISO form. */
function withDays(texts: TextSettings): TextSettings {
  const hasDays = texts.dates.some(({ hasTime }) => !hasTime)
  return hasDays && typeof DAY !== 'string' ? { ...texts, dates: [...texts.dates, DAY] } : texts
}

const DAY = parseDateFormat('YYYY-MM-DD')

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
