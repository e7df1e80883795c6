import { isPlain } from '../../domain/host.ts'
import { IN_THE_FILE, Secret } from '../../domain/secret.ts'
import { type Failure, failureOf } from '../../sync/port.ts'
import { systemTime } from '../../time/time.ts'
import { Gate } from '../web/gate.ts'
import { type OpenHttpClient, proxyOf, trustingHttpClient } from '../web/http-client.ts'
import { Download } from './download.ts'
import type { FileFormat } from './file-format.ts'

const TIMEOUT_MS = 30_000

interface Fetched {
  readonly name: string
  readonly format: FileFormat
  readonly bytes: Buffer
}

/** Downloads a file once, as the files CRM would. */
export async function fetchWebFile(
  url: string,
  env: Readonly<Record<string, string | undefined>>,
  openHttpClient: OpenHttpClient,
): Promise<Fetched | Failure> {
  const parsed = URL.parse(url)
  if (parsed === null) return failureOf('misconfigured', 'this is not a URL')
  if (parsed.username !== '' || parsed.password !== '' || isPlain(parsed.origin)) {
    return failureOf('misconfigured', `the URL of ${parsed.host} must begin with https:, without a user`)
  }
  const proxies = { configured: null, env }
  const web = trustingHttpClient(openHttpClient, null, proxies)
  try {
    const download = new Download({
      web,
      from: { url: new Secret(parsed.href, IN_THE_FILE), sheet: null, headers: {} },
      time: systemTime,
      limits: { requestTimeoutMs: TIMEOUT_MS, maxAgeMs: TIMEOUT_MS },
      gate: new Gate(systemTime, 1),
      isProxied: (to) => proxyOf(to, proxies) !== null,
    })
    const copy = await download.get(null, new AbortController().signal)
    if (!('cursor' in copy)) return copy
    const { bytes, name } = download
    if (bytes === null) throw new Error('a new file has bytes')
    return { name, format: copy.format, bytes }
  } finally {
    web.close()
  }
}
