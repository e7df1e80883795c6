import type { FilesSettings } from '../../config/crm/files.ts'
import type { WebFile } from '../../config/crm/list-from.ts'
import { type Cursor, type Page, type PageStream, type ReadOutcome, failed, failureOf } from '../../sync/port.ts'
import type { Failure, ReadRequest, Source } from '../../sync/port.ts'
import type { ConnectorContext } from '../kit/crm-limits.ts'
import { Gate } from '../web/gate.ts'
import { type HttpClient, type OpenHttpClient, trustingHttpClient } from '../web/http-client.ts'
import { proxyOf } from '../web/proxy-of.ts'
import { Batch } from './batch.ts'
import { Download, type WebCopy } from './download.ts'
import { tooOld } from './file-age.ts'
import type { OpenFile } from './found-file.ts'
import { HalfWritten } from './half-written.ts'
import { type ColumnsBefore, type ListFile, IgnoredColumns } from './list-file.ts'
import { Pace } from './pace.ts'
import { readListFile } from './read-list-file.ts'
import { SignsOfLife, signOfLife } from './signs-of-life.ts'

export interface WebFilesSettings
  extends Pick<ConnectorContext, 'time' | 'observe' | 'limits'>, Pick<FilesSettings, 'proxy' | 'ca' | 'maxFileAgeMs'> {
  readonly env: Readonly<Record<string, string | undefined>>
  readonly openHttpClient: OpenHttpClient
}

/** The lists that are read from URLs, with the one client that they share. */
export class WebFiles {
  readonly #settings: WebFilesSettings
  readonly #web: HttpClient
  readonly #proxyOf: (url: URL) => string | null
  readonly #gates = new Map<string, Gate>()
  readonly #sources: Pick<WebSource<unknown>, 'warning'>[] = []
  #isClosed = false

  constructor(settings: WebFilesSettings) {
    this.#settings = settings
    const proxies = { configured: settings.proxy?.reveal() ?? null, env: settings.env }
    this.#proxyOf = (url) => proxyOf(url, proxies)
    this.#web = trustingHttpClient(settings.openHttpClient, settings.ca, this.#proxyOf)
  }

  source<Item>(list: ListFile<Item>, from: WebFile): WebSource<Item> {
    const { time, limits } = this.#settings
    const { origin } = new URL(from.url.reveal())
    const gate = this.#gates.get(origin) ?? new Gate(time, 1)
    this.#gates.set(origin, gate)
    const isProxied = (url: URL): boolean => this.#proxyOf(url) !== null
    const download = new Download({ web: this.#web, from, time, limits, gate, isProxied })
    const source = new WebSource({ ...this.#settings, list, download, isClosed: () => this.#isClosed })
    this.#sources.push(source)
    return source
  }

  get warnings(): readonly string[] {
    return this.#sources.map((source) => source.warning).filter((warning) => warning !== null)
  }

  close(): void {
    this.#isClosed = true
    this.#web.close()
  }
}

interface WebSourceSettings<Item> extends WebFilesSettings {
  readonly list: ListFile<Item>
  readonly download: Download
  readonly isClosed: () => boolean
}

/** A list of at most this size is applied once its last row has been parsed, so a fault in it changes nothing. */
const HELD_BACK_BYTES = 64 * 1024 * 1024
const HELD_BACK_ROWS = 50_000
const NO_VERSION = (): number => Number.NaN

/** One list in a file on a web server, read in full whenever the file has changed. */
class WebSource<Item> implements Source<Item> {
  readonly reportsChanges = false
  readonly availabilityEveryMs = null
  readonly repeatedId = 'serves-first'
  readonly #settings: WebSourceSettings<Item>
  readonly #halfWritten: HalfWritten
  #columns: ColumnsBefore | null = null
  readonly #told = new Set<string>()
  /** Whether this process has mapped the rows. */
  #hasRead = false
  #refused: { readonly cursor: Cursor; readonly failure: Failure } | null = null

  constructor(settings: WebSourceSettings<Item>) {
    this.#settings = settings
    this.#halfWritten = new HalfWritten(settings.list.name, settings.limits)
  }

  get idColumn(): string {
    return this.#settings.list.idName
  }

  /** A download may take two time limits, and its last redirect two more short ones. */
  get patienceMs(): number {
    return this.#settings.limits.requestTimeoutMs * 4 + 1000
  }

  /** What `check` says about the server; `null` if there is nothing to say. */
  get warning(): string | null {
    const { list, download, limits } = this.#settings
    if (download.copy === null || download.copy.validators === 'sent') return null
    const why =
      download.copy.validators === 'none'
        ? 'comes without ETag and Last-Modified'
        : 'is sent whole to conditional requests'
    const fact = `${list.name}: ${download.name} ${why}, so it is downloaded in full every 10 s`
    return limits.maxAgeMs > LEAST_MAX_AGE_MS ? fact : `${fact}; freshness.maxAge must be longer than 20s then`
  }

  /** Downloads the file, unless this process has done so. Returns why it cannot be read, or `null`. */
  async examine(): Promise<Failure | null> {
    const { download } = this.#settings
    if (download.copy !== null) return null
    const copy = await download.get(null, AbortSignal.timeout(this.patienceMs))
    return 'cursor' in copy ? null : copy
  }

  #tellWarning(): void {
    const { warning } = this
    if (warning === null || this.#told.has(warning)) return
    this.#told.add(warning)
    this.#settings.observe({ kind: 'crm-noticed', message: warning })
  }

  async *read(request: ReadRequest): PageStream<Item> {
    const { download, time, maxFileAgeMs } = this.#settings
    const copy = await download.get(request.cursor, request.signal)
    if (!('cursor' in copy)) return { ok: false, failure: copy }
    const { name } = download
    const old = this.#ageFault(copy) ?? tooOld(name, copy.writtenAtMs, time.now().wallMs, maxFileAgeMs)
    if (old !== null) return { ok: false, failure: old }
    this.#tellWarning()
    const nowMs = time.now().monotonicMs
    this.#halfWritten.saw({ fingerprint: copy.cursor, inode: name }, nowMs)
    const { bytes } = download
    const isUnchanged = copy.cursor === request.cursor
    // After a start from a snapshot, the rows are mapped once more: what is suspicious in them is not in the snapshot.
    if (isUnchanged && (this.#hasRead || bytes === null)) return endOf(copy, false)
    if (copy.cursor === this.#refused?.cursor) return { ok: false, failure: this.#refused.failure }
    const waiting = this.#halfWritten.stillWaiting(name, request.served ?? null, nowMs)
    if (waiting !== null) return { ok: false, failure: waiting }
    if (bytes === null) throw new Error('the bytes of a new file are gone')
    yield signOfLife(copy.askedAt)
    const { size } = request.held
    return yield* this.#readCopy(
      copy,
      bytes,
      isUnchanged ? { ...request, held: { size, version: NO_VERSION } } : request,
    )
  }

  /** A cursor is the contents' digest, so any process can check it. */
  travels(): boolean {
    return true
  }

  /** Explains that the server does not say how old the file is, although crm.maxFileAge limits that. */
  #ageFault(copy: WebCopy): Failure | null {
    const { maxFileAgeMs, download, list } = this.#settings
    if (maxFileAgeMs === null || !Number.isNaN(copy.writtenAtMs)) return null
    const fact = `${list.name}: ${download.name} comes without Last-Modified, so its age is unknown`
    return failureOf('misconfigured', `${fact}; remove crm.maxFileAge`)
  }

  async *#readCopy(copy: WebCopy, bytes: Buffer, request: ReadRequest): PageStream<Item> {
    const { list, time, isClosed, limits, download } = this.#settings
    const { name } = download
    const { held, signal, served = null } = request
    const begunMs = time.now().monotonicMs
    const extent = this.#halfWritten.extentOf(copy.format, served, begunMs)
    const { format, sizeBytes, writtenAtMs } = copy
    const found = { name, format, sizeBytes, writtenAtMs }
    const rows = new Batch<Item>(found, copy.askedAt, held.size === 0, extent)
    const columns = new IgnoredColumns(list.columns, this.#columns, list.named.keys())
    const isGivenUp = (): boolean => signal.aborted || isClosed()
    const { memoryBytes: limitBytes = 2e9 } = limits
    const file = inMemory(bytes)
    const pace = new Pace(held.size === 0)
    const reading = readListFile({ file, list, rows, columns, held, limitBytes, isGivenUp, pace })
    const pages: Page<Item>[] = []
    let shown = false
    const { askedAt: begunAt } = copy
    const signs = new SignsOfLife<Item>({ time, everyMs: limits.requestTimeoutMs, begunAt, pace, signal })
    let next = yield* signs.during(reading.next())
    for (; next.done !== true; next = yield* signs.during(reading.next())) {
      pages.push(next.value)
      if (rows.textBytes <= HELD_BACK_BYTES && rows.count <= HELD_BACK_ROWS) continue
      shown = true
      yield* pages.splice(0)
    }
    const fault = next.value
    if (isGivenUp()) return failed('unreachable', `the reading of ${name} was given up`)
    if (extent === 'whole-lines' && served !== null && (fault === null || rows.isCut)) {
      const countMissing = async (): Promise<number> => {
        if (shown) return served.countMissing()
        const ids = pages.flatMap(({ changes }) => changes.map(({ id }) => id))
        return served.count - new Set(ids.filter((id) => id !== null && served.has(id))).size
      }
      const lines = { isCut: rows.isCut, isList: fault === null && !rows.isOpen, countMissing }
      const doubt = await this.#halfWritten.doubtAbout(name, lines, served, time.now().monotonicMs)
      if (doubt !== null) return { ok: false, failure: doubt }
    }
    if (fault === null) this.#columns = columns.all
    const isTold = copy.format === 'csv' || copy.format === 'xlsx' || rows.count > 0
    const lacking = fault === null && isTold ? columns.lacking(list, name) : (fault?.lacking ?? null)
    if (fault !== null || lacking !== null) {
      const place =
        fault === null || fault.line === 0 ? name : `${name}, ${copy.format === 'xlsx' ? 'row' : 'line'} ${fault.line}`
      const failure =
        lacking === null ? failureOf('broken', `${place}: ${fault?.problem}`) : failureOf('misconfigured', lacking)
      this.#refused = { cursor: copy.cursor, failure }
      return { ok: false, failure }
    }
    yield* pages
    const cut = rows.takeCut()
    if (cut !== null) yield cut
    this.#halfWritten.took(rows.isLeftOut ? extent : 'all', time.now().monotonicMs - begunMs)
    this.#refused = null
    this.#hasRead = true
    this.#tell(columns.names)
    return endOf(copy, true)
  }

  #tell(names: readonly string[]): void {
    const { list, observe } = this.#settings
    const columns = names.filter((column) => !this.#told.has(column))
    for (const column of columns) this.#told.add(column)
    if (columns.length > 0) observe({ kind: 'columns-ignored', list: list.name, columns })
  }
}

/** A file is downloaded at most every 10 s, and a read of it may take as long. */
const LEAST_MAX_AGE_MS = 20_000

function endOf({ cursor, askedAt }: WebCopy, isRead: boolean): ReadOutcome {
  return { ok: true, cursor, complete: isRead, oneMoment: true, unchanged: !isRead, asOf: askedAt, confirms: true }
}

function inMemory(bytes: Buffer): Pick<OpenFile, 'read'> {
  return {
    async read(buffer, offset, length, position) {
      return { bytesRead: bytes.copy(buffer, offset, position, position + length), buffer }
    },
  }
}
