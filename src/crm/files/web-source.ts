import type { CrmSettings } from '../../config/configuration.ts'
import type { WebFile } from '../../config/crm/sources.ts'
import { type Failure, type PageStream, type ReadOutcome, type ReadRequest, heartbeat } from '../../sync/port.ts'
import type { ConnectorContext } from '../kit/crm-limits.ts'
import { Throttle } from '../kit/throttle.ts'
import { type OpenHttpClient, type ProxiedHttpClient, trustingHttpClient } from '../web/http-client.ts'
import { type WebCopy, Download } from './download.ts'
import { type StillThere, type VersionedFileSettings, VersionedFile } from './versioned-file.ts'
import type { OpenFile } from './found-file.ts'
import type { ListFile } from './list-file.ts'

export interface WebFilesSettings
  extends
    Pick<ConnectorContext, 'time' | 'observe' | 'limits'>,
    Pick<CrmSettings<'files'>, 'proxy' | 'ca' | 'maxFileAgeMs'> {
  readonly env: Readonly<Record<string, string | undefined>>
  readonly openHttpClient: OpenHttpClient
}

/** The lists that are read from URLs. They share one HTTP client. */
export class WebFiles {
  readonly #settings: WebFilesSettings
  readonly #web: ProxiedHttpClient
  readonly #throttles = new Map<string, Throttle>()
  #isClosed = false

  constructor(settings: WebFilesSettings) {
    this.#settings = settings
    const proxies = { configured: settings.proxy?.reveal() ?? null, env: settings.env }
    this.#web = trustingHttpClient(settings.openHttpClient, settings.ca, proxies)
  }

  source<Item>(list: ListFile<Item>, from: WebFile): WebSource<Item> {
    const { time, limits } = this.#settings
    const { origin } = new URL(from.url.reveal())
    const throttle = this.#throttles.get(origin) ?? new Throttle(time, 1)
    this.#throttles.set(origin, throttle)
    const download = new Download({ web: this.#web, from, time, limits, throttle })
    return new WebSource({ ...this.#settings, list, download, isClosed: () => this.#isClosed })
  }

  close(): void {
    this.#isClosed = true
    this.#web.close()
  }
}

interface WebSourceSettings<Item> extends VersionedFileSettings<Item> {
  readonly download: Download
}

/** One list in a file on a web server. A cursor is the digest of its contents. */
class WebSource<Item> extends VersionedFile<Item> {
  readonly #settings: WebSourceSettings<Item>

  constructor(settings: WebSourceSettings<Item>) {
    super(settings)
    this.#settings = settings
  }

  /** A download may take two time limits, and its last redirect two more short ones. */
  get patienceMs(): number {
    return this.#settings.limits.requestTimeoutMs * 4 + 1000
  }

  /** Downloads the file, unless this process has done so. */
  async examine(): Promise<Failure | null> {
    const { download } = this.#settings
    if (download.copy !== null) return null
    const copy = await download.get(null, AbortSignal.timeout(this.patienceMs))
    return 'cursor' in copy ? null : copy
  }

  async *read(request: ReadRequest): PageStream<Item> {
    const { download } = this.#settings
    const copy = await download.get(request.cursor, request.signal)
    if (!('cursor' in copy)) return { ok: false, failure: copy }
    const { name } = download
    const { cursor: id, format, sizeBytes, bytes, askedAt: begunAt, writtenAtMs } = copy
    const version = { id, found: { name, format, inode: name, sizeBytes, writtenAtMs }, begunAt }
    // After a start from a snapshot, map the rows once more: a snapshot does not contain suspicions.
    const known = this.knownOutcome(version, request, bytes === null)
    if (known !== null) return noted(known, copy)
    if (bytes === null) throw new Error('the bytes of a new file are gone')
    yield heartbeat(begunAt)
    const file: Pick<OpenFile, 'read'> = {
      read: async (buffer, at, length, from) => ({ bytesRead: bytes.copy(buffer, at, from, from + length), buffer }),
    }
    const isThere = (): Promise<StillThere> => Promise.resolve({ asOf: begunAt, isSettled: true })
    const read = yield* this.readVersion({ ...version, file, isSmall: true }, request, isThere)
    if (typeof read === 'string') throw new Error('a downloaded file does not change')
    return noted(read, copy)
  }
}

function noted(outcome: ReadOutcome, { codingNote }: WebCopy): ReadOutcome {
  if (outcome.ok || codingNote === '') return outcome
  const { failure } = outcome
  return { ok: false, failure: { ...failure, message: `${failure.message}${codingNote}` } }
}
