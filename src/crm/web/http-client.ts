// HTTP requests to a CRM. In: requests. Out: replies within the limits, or failures with a reason.

import { lookup } from 'node:dns/promises'
import { isIP } from 'node:net'
import { isPrivateAddress } from '../../domain/host.ts'
import { printable } from '../../domain/printable.ts'
import { readSmallFile, readText } from '../../time/read-text.ts'

/** The runtime's HTTP client, which is passed in to connectors. */
export interface HttpClient {
  /**
   * Sends one request and reads its whole reply; does not follow redirects. Rejects with an error whose `code` gives
   * the reason.
   */
  send(request: HttpRequest): Promise<HttpReply>
  close(): void
}

export interface HttpRequest {
  readonly method: 'GET' | 'HEAD' | 'POST'
  /** The URL, sent unchanged: path and query must already be encoded. */
  readonly url: string
  readonly headers: Readonly<Record<string, string>>
  readonly body: string | null
  readonly signal: AbortSignal
  /** Whether to open a new connection instead of reusing one. */
  readonly fresh: boolean
  readonly mostBytes: number
}

export interface HttpReply {
  readonly status: number
  /** Keys are lower-case names. */
  readonly headers: Readonly<Record<string, string>>
  readonly body: Uint8Array
}

export interface HttpClientOptions {
  /** Certificates in PEM to trust in addition to the runtime's own. */
  readonly ca: readonly string[]
  /** Returns the proxy for a URL, or `null` for a direct connection. */
  readonly proxyOf: (url: URL) => string | null
}

export type OpenHttpClient = (options: HttpClientOptions) => HttpClient

/** An HTTP client that knows which of its requests go through a proxy. */
export interface ProxiedHttpClient extends HttpClient {
  /** Returns true if requests to a URL go through a proxy, which then resolves its name. */
  isProxied(url: URL): boolean
}

/** An HTTP client that opens at its first request, after reading the certificates from their file. */
export function trustingHttpClient(
  openHttpClient: OpenHttpClient,
  caPath: string | null,
  proxies: ProxySettings,
): ProxiedHttpClient {
  let opening: Promise<HttpClient> | null = null
  let isClosed = false

  return {
    async send(request) {
      if (isClosed) throw Object.assign(new Error('closed'), { code: 'ERR_CLOSED' })
      opening ??= certificatesIn(caPath)
        .then((ca) => openHttpClient({ ca, proxyOf: (url) => proxyOf(url, proxies) }))
        .catch((cause: unknown) => {
          // Read the file again at the next request: it may exist by then.
          opening = null
          throw cause
        })
      return (await opening).send(request)
    },
    isProxied: (url) => proxyOf(url, proxies) !== null,
    close() {
      isClosed = true
      void opening?.then(
        (web) => web.close(),
        () => {},
      )
    },
  }
}

/**
 * Returns true if a URL leads to a private address. A name that cannot be resolved leads nowhere. If a proxy is used, it
 * resolves names, so only literal addresses are checked.
 */
export async function isPrivate(url: URL, web: Pick<ProxiedHttpClient, 'isProxied'>): Promise<boolean> {
  const host = url.hostname.replace(/^\[(.*)\]$/, '$1')
  if (/^(?:.*\.)?localhost$/.test(host)) return true
  if (isIP(host) !== 0) return isPrivateAddress(host)
  const addresses = web.isProxied(url) ? [] : await lookup(host, { all: true }).catch(() => [])
  return addresses.some(({ address }) => isPrivateAddress(address))
}

async function certificatesIn(path: string | null): Promise<readonly string[]> {
  if (path === null) return []
  const read = await readText(path, readSmallFile)
  if (!read.ok) throw Object.assign(new Error('crm.ca'), { code: 'ERR_CA_UNREADABLE' })
  if (!read.text.includes('-----BEGIN CERTIFICATE-----'))
    throw Object.assign(new Error('crm.ca'), { code: 'ERR_CA_EMPTY' })
  return [read.text]
}

/** The text of a reply's body; `null` if it is not UTF-8. */
export function utf8TextOf(body: Uint8Array): string | null {
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(body)
  } catch {
    return null
  }
}

const LONGEST_MS = 3_600_000

/**
 * The pause that the reply's Retry-After asks for, in ms, at most an hour (RFC 9110 §10.2.3); `null` if it asks for
 * none.
 */
export function retryAfterMs({ headers }: HttpReply, nowWallMs: number): number | null {
  const text = headers['retry-after']?.trim() ?? ''
  const ms = /^\d+(?:\.\d+)?$/.test(text) ? Number(text) * 1000 : untilMs(text, headers['date'], nowWallMs)
  return ms === null ? null : Math.min(Math.max(ms, 0), LONGEST_MS)
}

/** Measures a date against the same server's Date header: its clock may be hours away from ours. */
function untilMs(text: string, date: string | undefined, nowWallMs: number): number | null {
  const until = httpDateMs(text)
  return until === null ? null : until - (httpDateMs(date ?? '') ?? nowWallMs)
}

/**
 * Parses a date in any of the three forms of RFC 9110 §5.6.7; `null` if the text has none of them. All forms begin with
 * a weekday and are in GMT, although one does not name it.
 */
export function httpDateMs(text: string): number | null {
  if (!/^(?:Mon|Tue|Wed|Thu|Fri|Sat|Sun)/.test(text)) return null
  const ms = Date.parse(text.endsWith('GMT') ? text : `${text} GMT`)
  return Number.isNaN(ms) ? null : ms
}

interface ProxySettings {
  /** The configured proxy, used for every URL; `null` if none is configured. */
  readonly configured: string | null
  /**
   * Environment variables, used if no proxy is configured: HTTPS_PROXY, HTTP_PROXY and NO_PROXY, in upper or lower
   * case.
   */
  readonly env: Readonly<Record<string, string | undefined>>
}

/**
 * Returns the proxy for a URL, or `null` for a direct connection. A configured proxy overrides the environment,
 * NO_PROXY included.
 */
export function proxyOf(url: URL, { configured, env }: ProxySettings): string | null {
  if (configured !== null) return configured
  const name = url.protocol === 'https:' ? 'HTTPS_PROXY' : 'HTTP_PROXY'
  const proxy = fromEnv(env, name)
  if (proxy === '' || isExempt(url, fromEnv(env, 'NO_PROXY'))) return null
  return proxy.includes('://') ? proxy : `http://${proxy}`
}

function fromEnv(env: ProxySettings['env'], name: string): string {
  return (env[name.toLowerCase()] ?? env[name] ?? '').trim()
}

/**
 * Reads NO_PROXY as curl does: hosts separated by commas or blanks, each including its subdomains, with or without a
 * port; `*` matches all.
 */
function isExempt(url: URL, list: string): boolean {
  const host = url.hostname.replace(/^\[(.*)\]$/, '$1')
  const port = url.port === '' ? (url.protocol === 'https:' ? '443' : '80') : url.port
  return list
    .toLowerCase()
    .split(/[\s,]+/)
    .some((entry) => {
      if (entry === '*') return true
      const parts = /^(?:\[(.*)\]|([^:]*))(?::(\d+))?$/.exec(entry.replace(/^\*?\./, ''))
      const [, bracketed, plain, wanted = port] = parts ?? []
      // What has several colons and no brackets is an IPv6 address without a port.
      const name = bracketed ?? plain ?? entry
      return name !== '' && wanted === port && (host === name || host.endsWith(`.${name}`))
    })
}

/** The encodings that an answer names, without those that change nothing. */
function codingsOf({ headers }: Pick<HttpReply, 'headers'>): readonly string[] {
  const named = (headers['content-encoding'] ?? '').toLowerCase().split(',')
  return named.map((coding) => coding.trim()).filter((coding) => coding !== '' && coding !== 'identity')
}

const UNPACKED = new Set(['gzip', 'x-gzip'])

export function isGzipped(reply: Pick<HttpReply, 'headers'>): boolean {
  return codingsOf(reply).some((coding) => UNPACKED.has(coding))
}

/**
 * Returns the end of a sentence about an answer that cannot be read: the encodings that Marquee did not unpack. Servers
 * name some that change no byte, such as UTF-8 or aws-chunked, so these alone are no fault.
 */
export function codingNote(reply: Pick<HttpReply, 'headers'>): string {
  const unknown = codingsOf(reply).filter((coding) => !UNPACKED.has(coding))
  if (unknown.length === 0) return ''
  return ` (its Content-Encoding is ${printable(unknown.join(', '), 40)}, which was not asked for; Marquee unpacks only gzip)`
}
