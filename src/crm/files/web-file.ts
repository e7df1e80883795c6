import type { CrmSettings } from '../../config/configuration.ts'
import type { WebFile } from '../../config/crm/sources.ts'
import type { Failure } from '../../sync/port.ts'
import type { ConnectorContext } from '../kit/crm-limits.ts'
import { Throttle } from '../kit/throttle.ts'
import { type OpenHttpClient, type ProxiedHttpClient, trustingHttpClient } from '../web/http-client.ts'
import { Download } from './download.ts'
import type { FilePlace, FileVersion } from './file-stream.ts'
import { inMemory } from './local-file.ts'

export interface WebFilesSettings
  extends Pick<ConnectorContext, 'time' | 'limits'>, Pick<CrmSettings<'files'>, 'proxy' | 'ca'> {
  readonly env: Readonly<Record<string, string | undefined>>
  readonly openHttpClient: OpenHttpClient
}

/** The files that are read from URLs. They share one HTTP client. */
export class WebFiles {
  readonly #settings: WebFilesSettings
  readonly #web: ProxiedHttpClient
  readonly #throttles = new Map<string, Throttle>()

  constructor(settings: WebFilesSettings) {
    this.#settings = settings
    const proxies = { configured: settings.proxy?.reveal() ?? null, env: settings.env }
    this.#web = trustingHttpClient(settings.openHttpClient, settings.ca, proxies)
  }

  place(from: WebFile): FilePlace {
    const { time, limits } = this.#settings
    const { origin } = new URL(from.url.reveal())
    const throttle = this.#throttles.get(origin) ?? new Throttle(time, 1)
    this.#throttles.set(origin, throttle)
    return new WebPlace(new Download({ web: this.#web, from, time, limits, throttle }), limits)
  }

  close(): void {
    this.#web.close()
  }
}

/** A list's file on a web server. Its version is the digest of its contents. */
class WebPlace implements FilePlace {
  readonly #download: Download
  readonly #limits: ConnectorContext['limits']

  constructor(download: Download, limits: ConnectorContext['limits']) {
    this.#download = download
    this.#limits = limits
  }

  /** A download may take two time limits, and its last redirect two more short ones. */
  get patienceMs(): number {
    return this.#limits().requestTimeoutMs * 4 + 1000
  }

  /** Downloads the file, unless this process has done so. */
  async examine(): Promise<Failure | null> {
    if (this.#download.copy !== null) return null
    const copy = await this.#download.get(null, AbortSignal.timeout(this.patienceMs))
    return 'version' in copy ? null : copy
  }

  async find(held: string | null, signal: AbortSignal): Promise<FileVersion | Failure> {
    const copy = await this.#download.get(held, signal)
    if (!('version' in copy)) return copy
    const { name } = this.#download
    const { version: id, format, sizeBytes, bytes, askedAt: begunAt, writtenAtMs, codingNote: note } = copy
    const found = { name, format, inode: name, sizeBytes, writtenAtMs, updatedAtMs: writtenAtMs }
    // After a start from a snapshot, map the rows once more: a snapshot does not contain suspicions.
    return { id, found, begunAt, isEnough: bytes === null, note, open: opened }

    async function opened(): ReturnType<FileVersion['open']> {
      if (bytes === null) throw new Error('the bytes of a new file are gone')
      const there = { asOf: begunAt, isSettled: true }
      return { id, found, file: inMemory(bytes), stillThere: () => Promise.resolve(there), close: () => {} }
    }
  }
}
