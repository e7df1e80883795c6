import type { WebFile } from '../../config/crm/sources.ts'
import { isPlain } from '../../domain/host.ts'
import type { Secret } from '../../domain/secret.ts'
import { type Failure, failureOf } from '../../sync/port.ts'
import { type Moment, type Time, elapsedMs } from '../../time/time.ts'
import type { CrmLimits } from '../kit/crm-limits.ts'
import type { Throttle } from '../kit/throttle.ts'
import { type Answered, ask } from '../web/ask.ts'
import { type HttpReply, type ProxiedHttpClient, codingNote, httpDateMs, isPrivate } from '../web/http-client.ts'
import { type FileFormat, EMPTY_LISTS, contentOf, disguiseOf, formatOf } from './content.ts'
import { createHash } from 'node:crypto'
import { inSlices } from '../../time/waiting.ts'

interface DownloadSettings {
  readonly web: ProxiedHttpClient
  readonly from: WebFile
  readonly time: Time
  readonly limits: () => CrmLimits
  /** Holds requests back while the server asks for a pause. */
  readonly throttle: Throttle
}

/** The last downloaded version of the file. */
export interface WebCopy {
  readonly version: string
  readonly format: FileFormat
  readonly sizeBytes: number
  /** Its contents; `null` once the list has been read from them. */
  readonly bytes: Buffer | null
  /** When the last request began that the server answered with these contents or a 304. */
  readonly askedAt: Moment
  /** When the file was last written, by this machine's clock; `NaN` if the server does not say. */
  readonly writtenAtMs: number
  /** The end of a sentence if the contents cannot be read: how the server says that they are packed. */
  readonly codingNote: string
}

/** The shortest interval between two downloads from a server that does not answer with 304. */
const LEAST_INTERVAL_MS = 10_000
/** The shortest interval between two requests if the server answers with something other than the file. */
const FAILED_INTERVAL_MS = 5000
const SETTLING_MS = 2000
const MOST_BYTES = 256 * 1024 * 1024
const MOST_REDIRECTS = 5
const REDIRECTS: ReadonlySet<number> = new Set([301, 302, 303, 307, 308])

/** Asks a web server for one file, and keeps the bytes until the list has been read from them. */
export class Download {
  readonly #settings: DownloadSettings
  /** The URL and the headers, read again from their sources when the server refuses them. */
  #url: Secret
  #headers: WebFile['headers']
  #copy: WebCopy | null = null
  #validators: Readonly<Record<string, string>> = {}
  #etag: string | undefined
  /** Whether the server sends no ETag and Last-Modified, ignores conditional requests, or sends the current time. */
  #comesInFull = false
  /** The last answer, reused until the shortest interval has passed; `null` after a 304, or if there is none. */
  #answered: { readonly at: Moment; readonly failure: Failure | null; readonly forMs: number } | null = null

  constructor(settings: DownloadSettings) {
    this.#settings = settings
    this.#url = settings.from.url
    this.#headers = settings.from.headers
  }

  get name(): string {
    return shownUrl(new URL(this.#url.reveal()), this.#url.isReferred)
  }

  get copy(): WebCopy | null {
    return this.#copy
  }

  /**
   * Returns the current version of the file, or why it could not be downloaded.
   * @param held the version that the list was read from
   */
  async get(held: string | null, signal: AbortSignal): Promise<WebCopy | Failure> {
    const { time, throttle } = this.#settings
    const now = time.now()
    if (this.#copy !== null && this.#copy.version === held) this.#copy = { ...this.#copy, bytes: null }
    const known = this.#copy?.version === held || (this.#copy?.bytes ?? null) !== null ? this.#copy : null
    const leftMs = this.#answered === null ? 0 : this.#answered.forMs - elapsedMs(this.#answered.at, now)
    if (leftMs > 0 && this.#answered?.failure)
      return { ...this.#answered.failure, retryAfterMs: Math.max(leftMs, throttle.closedForMs) }
    if (leftMs > 0 && known !== null) return known
    const pauseMs = throttle.closedForMs
    if (pauseMs > 0) return this.#throttled(pauseMs)
    const validators = known === null ? {} : this.#validators
    let got = await this.#follow(validators, signal)
    if ('reply' in got && isRefusal(got.reply.status) && (await this.#refreshSecrets())) {
      got = await this.#follow(validators, signal)
    }
    // A server that did not answer is asked again whenever the next read begins.
    if ('reply' in got && got.reply.status < 400) throttle.succeeded()
    if (!('reply' in got)) return got.kind === 'broken' || got.kind === 'too-large' ? this.#keepFailure(got, now) : got
    if (got.reply.status === 304 && known !== null) {
      this.#answered = null
      return (this.#copy = { ...known, askedAt: got.begunAt, writtenAtMs: this.#writtenAtMs(got.reply, known) })
    }
    const taken = await this.#take(got, known)
    if (!('version' in taken)) return this.#keepFailure(taken, got.begunAt)
    this.#answered = { at: got.begunAt, failure: null, forMs: this.#intervalMs }
    return taken
  }

  /** Keeps a failure for a while instead of asking the server again, and lets it say for how long. */
  #keepFailure(failure: Failure, at: Moment): Failure {
    this.#answered = { at, failure, forMs: FAILED_INTERVAL_MS }
    return { ...failure, retryAfterMs: failure.retryAfterMs ?? FAILED_INTERVAL_MS }
  }

  /** How long a version is not downloaded again. A server that answers with 304 may be asked at each refresh. */
  get #intervalMs(): number {
    if (this.#comesInFull) return LEAST_INTERVAL_MS
    // Without validators, the version is too new for them.
    return Object.keys(this.#validators).length > 0 ? 0 : SETTLING_MS
  }

  get #host(): string {
    return new URL(this.#url.reveal()).host
  }

  /** @param known the version whose `ETag` and time were sent; `null` if the request was not conditional */
  async #take({ reply, begunAt, url }: Followed, known: WebCopy | null): Promise<WebCopy | Failure> {
    if (reply.status !== 200) return this.#failureOf(reply)
    const bytes = Buffer.from(reply.body.buffer, reply.body.byteOffset, reply.body.byteLength)
    const format = formatOfWeb(bytes, reply.headers['content-type'] ?? '', url.pathname, this.name)
    if (typeof format !== 'string') return { ...format, message: `${format.message}${codingNote(reply)}` }
    const version = `${format}:${bytes.length}:${await digestOfWeb(bytes)}`
    const { etag, 'last-modified': lastModified } = reply.headers
    const isSame = known?.version === version
    const writtenAtMs = this.#writtenAtMs(reply, null)
    // Servers derive both from a time in whole seconds, so they may stay the same if the file changes twice within a
    // second. Scripts send the current time as Last-Modified; an ETag that an earlier download had too is safe then.
    const isSettled = !(this.#settings.time.now().wallMs - writtenAtMs < SETTLING_MS)
    const isEtagSettled = isSettled || (isSame && etag === this.#etag)
    const wasConditional = Object.keys(this.#validators).length > 0
    this.#validators = {
      ...(etag === undefined || !isEtagSettled ? {} : { 'if-none-match': etag }),
      ...(lastModified === undefined || !isSettled ? {} : { 'if-modified-since': lastModified }),
    }
    this.#etag = etag
    const isUseless = isSame && (wasConditional || Object.keys(this.#validators).length === 0)
    this.#comesInFull = isUseless || (etag === undefined && lastModified === undefined)
    // The bytes of an unchanged file are not needed, unless they have not been read yet.
    const kept = known?.version === version && known.bytes === null ? null : bytes
    const { length: sizeBytes } = bytes
    const about = { writtenAtMs, codingNote: codingNote(reply) }
    return (this.#copy = { version, format, sizeBytes, bytes: kept, askedAt: begunAt, ...about })
  }

  /** Returns the time of Last-Modified by our clock, using the same server's Date: its clock may be hours off. */
  #writtenAtMs({ headers }: HttpReply, known: WebCopy | null): number {
    const writtenAtMs = httpDateMs(headers['last-modified'] ?? '')
    if (writtenAtMs === null) return known?.writtenAtMs ?? Number.NaN
    const { wallMs } = this.#settings.time.now()
    return wallMs - ((httpDateMs(headers['date'] ?? '') ?? wallMs) - writtenAtMs)
  }

  #failureOf(reply: HttpReply): Failure {
    const { status } = reply
    const host = this.#host
    if (isRefusal(status)) {
      const keys = this.#keys
      if (keys === null) return failureOf('refused', `${host} refuses the request (${status}): ${PUBLISH}`)
      return failureOf('refused', `${host} refuses the key in headers (${status}): correct ${keys}`)
    }
    if (status === 404 || status === 410) {
      return failureOf('unreachable', `${host} has no such file (${status}): is the URL of ${this.name} right?`)
    }
    if (status === 429 || status === 503 || 'retry-after' in reply.headers)
      return this.#throttled(this.#settings.throttle.pauseAfter(reply))
    if (status >= 500) return failureOf('unreachable', `${host} answered with a server error (${status})`)
    return failureOf('broken', `${host} answered with ${status} instead of a file`)
  }

  /** Names the headers that may be a key, with their sources; `null` if none are configured. */
  get #keys(): string | null {
    const all = Object.entries(this.#headers)
    const secret = all.filter(([, { isReferred }]) => isReferred)
    const named = (secret.length > 0 ? secret : all).map(([name, { from }]) => `${name}, from ${from}`)
    return named.length === 0 ? null : named.join('; ')
  }

  #throttled(waitMs: number): Failure {
    return failureOf('throttled', this.#settings.throttle.askedUntil(this.#host, waitMs), waitMs)
  }

  /** Reads the URL and the headers from their sources again. Returns true if any has changed. */
  async #refreshSecrets(): Promise<boolean> {
    const [url, headers] = [this.#url, this.#headers]
    const fresh = await url.refresh()
    if (fresh.ok && URL.canParse(fresh.secret.reveal().trim())) this.#url = fresh.secret
    const next: Record<string, Secret> = {}
    for (const [name, secret] of Object.entries(headers)) {
      const refreshed = await secret.refresh()
      next[name] = refreshed.ok ? refreshed.secret : secret
    }
    this.#headers = next
    return this.#url !== url || Object.entries(headers).some(([name, secret]) => next[name] !== secret)
  }

  /** Sends the request and follows redirects. Configured headers are only sent to the URL's own origin. */
  async #follow(validators: Readonly<Record<string, string>>, signal: AbortSignal): Promise<Followed | Failure> {
    const { web, time } = this.#settings
    const { requestTimeoutMs, memoryBytes = MOST_BYTES } = this.#settings.limits()
    const first = new URL(this.#url.reveal().trim())
    const begun = time.now()
    const mostBytes = Math.min(MOST_BYTES, memoryBytes)
    const cached = Object.keys(validators).length === 0 ? 'no-cache' : 'max-age=0'
    let url = first
    for (let redirects = 0; ; redirects++) {
      const own = url.origin === first.origin ? this.#headers : {}
      const headers: Record<string, string> = { accept: '*/*', 'user-agent': 'Marquee', 'cache-control': cached }
      for (const [name, secret] of Object.entries(own)) headers[name] = secret.reveal()
      Object.assign(headers, validators)
      const leftMs = 2 * requestTimeoutMs - elapsedMs(begun, time.now())
      const timeoutMs = Math.max(1, Math.min(requestTimeoutMs, leftMs))
      const request = { method: 'GET', url: url.href, headers, body: null, mostBytes, signal, timeoutMs, time } as const
      const answered = await ask(web, request)
      if (!('reply' in answered)) return answered
      const { status, headers: given } = answered.reply
      if (!REDIRECTS.has(status)) return { ...answered, begunAt: redirects === 0 ? answered.begunAt : begun, url }
      const { location } = given
      const next = location === undefined ? null : URL.parse(location, url.href)
      if (next === null) return failureOf('broken', `${url.host} redirects (${status}) without a usable address`)
      const fault = redirects === MOST_REDIRECTS ? TOO_MANY : await this.#redirectFault(first, next)
      if (fault !== null)
        return failureOf('broken', `${first.host} redirects to ${next.host || next.protocol}, ${fault}`)
      next.hash = ''
      url = next
    }
  }

  async #redirectFault(first: URL, next: URL): Promise<string | null> {
    if (next.username !== '' || next.password !== '')
      return 'an address with a user name, which Marquee does not follow'
    if (!/^https?:$/.test(next.protocol) || isPlain(next.origin)) return 'an address without https'
    if (next.origin === first.origin) return null
    const { web } = this.#settings
    return !(await isPrivate(next, web)) || (await isPrivate(first, web))
      ? null
      : 'a private address, which Marquee does not follow from a public one'
  }
}

interface Followed extends Answered {
  /** The URL after all redirects. */
  readonly url: URL
}

const TOO_MANY = `after ${MOST_REDIRECTS} other redirects`

function isRefusal(status: number): boolean {
  return status === 401 || status === 403 || status === 407
}

const LONGEST_NAME = 60

/**
 * A URL's name in messages: its host and the last part of its path, never its query.
 * @example `docs.google.com/…/pub`
 */
function shownUrl({ host, pathname }: URL, isReferred: boolean): string {
  const parts = pathname.split('/').filter((part) => part !== '')
  const last = parts.at(-1)
  if (isReferred || last === undefined) return host
  const name = last.length > LONGEST_NAME ? `${last.slice(0, LONGEST_NAME)}…` : last
  return parts.length === 1 ? `${host}/${name}` : `${host}/…/${name}`
}

/** What to do about a page that is not the file, or a refusal. */
const PUBLISH = 'publish the sheet (File, Share, Publish to web), or send a key in headers'

/** The formats of content types. `application/vnd.ms-excel` says nothing: many servers send CSV under that name. */
const FORMATS: readonly (readonly [type: RegExp, format: FileFormat])[] = [
  [/\/(?:csv|tab-separated-values)$/, 'csv'],
  [/\/(?:x-)?(?:ndjson|jsonl|jsonlines)$/, 'ndjson'],
  [/[/+]json$/, 'json'],
]

/**
 * Returns the format of a downloaded file: by its first bytes, then by its content type, then by the name in the URL;
 * otherwise it is CSV. Returns a failure if it is no list.
 */
function formatOfWeb(bytes: Buffer, contentType: string, pathname: string, name: string): FileFormat | Failure {
  const byName = formatOf(pathname)
  const type = (contentType.split(';', 1)[0] ?? '').trim().toLowerCase()
  const byType = FORMATS.find(([pattern]) => pattern.test(type))?.[1]
  const format = byType ?? (byName === 'xlsx' ? null : byName) ?? 'csv'
  if (bytes.length === 0) return failureOf('broken', `${name} has zero bytes; an empty list is ${EMPTY_LISTS[format]}`)
  const content = contentOf(bytes)
  if (content === 'zip') return 'xlsx'
  if (content === 'page') return failureOf('refused', `${name} is a web page (HTML), not a file: ${PUBLISH}`)
  const disguise = disguiseOf(bytes)
  return disguise === null ? format : failureOf('broken', `${name}: ${disguise}`)
}

const SLICE_BYTES = 1024 * 1024

async function digestOfWeb(bytes: Buffer): Promise<string> {
  const hash = createHash('sha256')
  const rest = inSlices()
  for (let from = 0; from < bytes.length; from += SLICE_BYTES) {
    hash.update(bytes.subarray(from, from + SLICE_BYTES))
    await rest()
  }
  return hash.digest('hex')
}
