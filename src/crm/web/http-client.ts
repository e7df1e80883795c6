// How a CRM is asked over HTTP. In: requests. Out: replies with limits kept, or failures that say why.

import { readSmallFile, readText } from '../../config/read-text.ts'

/** What a connector needs of the runtime to speak HTTP; it is passed in. */
export interface HttpClient {
  /** One exchange, its body included; redirects are not followed. Rejects with an error whose `code` says why. */
  send(request: HttpRequest): Promise<HttpReply>
  /** Lets go of idle connections. */
  close(): void
}

export interface HttpRequest {
  readonly method: 'GET' | 'POST'
  /** Sent as it is: nothing of its path or query is encoded again. */
  readonly url: string
  readonly headers: Readonly<Record<string, string>>
  readonly body: string | null
  readonly signal: AbortSignal
  /** On a new connection rather than one that was used before. */
  readonly fresh: boolean
  readonly mostBytes: number
}

export interface HttpReply {
  readonly status: number
  /** By lower-case name. */
  readonly headers: Readonly<Record<string, string>>
  readonly body: Uint8Array
}

/** How a CRM on the web is reached. */
export interface HttpClientOptions {
  /** Certificates in PEM to trust besides the usual ones. */
  readonly ca: readonly string[]
  /** The proxy that a URL is reached by, null for none. */
  readonly proxyOf: (url: URL) => string | null
}

export type OpenHttpClient = (options: HttpClientOptions) => HttpClient

/** A web that is opened with the first request, once the certificates it is to trust were read from their file. */
export function trustingHttpClient(
  openHttpClient: OpenHttpClient,
  caPath: string | null,
  proxyOf: (url: URL) => string | null,
): HttpClient {
  let opening: Promise<HttpClient> | null = null
  let isClosed = false

  return {
    async send(request) {
      if (isClosed) throw Object.assign(new Error('closed'), { code: 'ERR_CLOSED' })
      opening ??= certificatesIn(caPath)
        .then((ca) => openHttpClient({ ca, proxyOf }))
        .catch((cause: unknown) => {
          // The file may be there the next time.
          opening = null
          throw cause
        })
      return (await opening).send(request)
    },
    close() {
      isClosed = true
      void opening?.then(
        (web) => web.close(),
        () => {},
      )
    },
  }
}

async function certificatesIn(path: string | null): Promise<readonly string[]> {
  if (path === null) return []
  const read = await readText(path, readSmallFile)
  if (!read.ok) throw Object.assign(new Error('crm.ca'), { code: 'ERR_CA_UNREADABLE' })
  if (!read.text.includes('-----BEGIN CERTIFICATE-----'))
    throw Object.assign(new Error('crm.ca'), { code: 'ERR_CA_EMPTY' })
  return [read.text]
}

const LONGEST_MS = 3_600_000

/** The wait that an answer asks for, in seconds or until a date (RFC 9110 §10.2.3), an hour at most; null where it asks for none. */
export function retryAfterMs({ headers }: HttpReply, nowWallMs: number): number | null {
  const text = headers['retry-after']?.trim() ?? ''
  const ms = /^\d+(?:\.\d+)?$/.test(text) ? Number(text) * 1000 : untilMs(text, headers['date'], nowWallMs)
  return ms === null ? null : Math.min(Math.max(ms, 0), LONGEST_MS)
}

/** Its server's date is measured against the same server's clock, which may be hours from ours. */
function untilMs(text: string, date: string | undefined, nowWallMs: number): number | null {
  const until = parseHttpDate(text)
  return until === null ? null : until - (parseHttpDate(date ?? '') ?? nowWallMs)
}

/** A date in any form of RFC 9110 §5.6.7, all of which begin with a weekday and are in GMT, which one of them leaves out. */
function parseHttpDate(text: string): number | null {
  if (!/^(?:Mon|Tue|Wed|Thu|Fri|Sat|Sun)/.test(text)) return null
  const ms = Date.parse(text.endsWith('GMT') ? text : `${text} GMT`)
  return Number.isNaN(ms) ? null : ms
}
