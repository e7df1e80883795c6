import type { CrmLimits } from '../kit/crm-limits.ts'
import type { Outcome } from '../../observe/observation.ts'
import { type Failure, failureOf } from '../../sync/port.ts'
import type { Moment, Time } from '../../time/time.ts'
import { type Answered, ask, Gate } from '../web/ask.ts'
import { type HttpClient, type HttpReply, retryAfterMs, utf8TextOf } from '../web/http-client.ts'
import { type ErrorBody, type ErrorKind, answerFailure, errorKind, parseErrorBody } from './errors.ts'
import type { Tokens } from './tokens.ts'

export interface ClientSettings {
  readonly web: HttpClient
  readonly tokens: Tokens
  readonly time: Time
  readonly limits: Pick<CrmLimits, 'requestTimeoutMs'>
  /** The environment's origin, `https://example.crm11.dynamics.com`. The token is never sent anywhere else. */
  readonly origin: string
  readonly clientId: string
  /** Called after each exchange with the CRM, for the metrics. */
  readonly onRequest: (outcome: Outcome) => void
}

export type Got =
  | { readonly kind: 'text'; readonly text: string; readonly begunAt: Moment }
  | { readonly kind: 'nothing'; readonly begunAt: Moment }
  | Refused

export interface Refused {
  readonly kind: 'error'
  readonly error: ErrorKind | 'no-answer'
  /** 0 if there was no response. */
  readonly status: number
  readonly body: ErrorBody
  readonly failure: Failure
}

const API = '/api/data/v9.2/'
const MOST_AT_ONCE = 3
/** The largest page; parsing it takes about 50 ms. */
const MOST_BYTES = 16 * 1024 * 1024
/** The longest link accepted. Servers accept less as a request line: IIS 16 KB. */
const LONGEST_LINK = 65_536
/** The pause if a server asks for one without saying how long. */
const DEFAULT_WAIT_MS = 10_000

/** Sends all requests to one environment, with its token. Sends few at once, and none during a requested pause. */
export class DataverseClient {
  readonly #settings: ClientSettings
  readonly #gate: Gate

  constructor(settings: ClientSettings) {
    this.#settings = settings
    this.#gate = new Gate(settings.time, MOST_AT_ONCE)
  }

  urlOf(path: string): string {
    return `${this.#settings.origin}${API}${path}`
  }

  /**
   * Explains why a link of an answer cannot be followed, as the rest of a sentence; `null` if it can. The token is sent
   * to no other origin.
   */
  linkFault(link: string): string | null {
    // A link is sent unchanged, so it must fit into a request line (RFC 9112 §3); node:http throws at other characters.
    if (link.length > LONGEST_LINK || !/^[!-~]+$/.test(link)) return 'contains an invalid link'
    const url = URL.parse(link)
    const isOwn = url?.origin === this.#settings.origin && url.username === '' && link.startsWith(url.protocol)
    return isOwn ? null : 'contains a link to another host, which must not get the token'
  }

  /** Requests a URL of this environment with the given preferences. */
  async get(url: string, prefer: readonly string[], signal: AbortSignal): Promise<Got> {
    const leave = await this.#gate.enter(signal)
    if (leave === null) return unanswered(failureOf('internal', 'the read was given up'))
    try {
      const got = await this.#getWithToken(url, prefer, signal)
      this.#settings.onRequest(got.kind === 'error' ? got.failure.kind : 'ok')
      return got
    } finally {
      leave()
    }
  }

  async #getWithToken(url: string, prefer: readonly string[], signal: AbortSignal): Promise<Got> {
    for (let isLast = false; ; isLast = true) {
      const token = await this.#settings.tokens.current()
      if (!token.ok) return unanswered(token.failure)
      const closedForMs = this.#gate.closedForMs
      if (closedForMs > 0) {
        const message = 'Dataverse asked for a pause; Marquee sends no requests until it is over'
        return unanswered(failureOf('throttled', message, closedForMs))
      }
      const answered = await this.#send(url, prefer, token.text, signal)
      if (!('reply' in answered)) return unanswered(answered)
      // Retried once: a token can expire or be revoked while a list is being read.
      if (answered.reply.status !== 401 || isLast) return this.#gotOf(answered)
      this.#settings.tokens.refused(token.text)
    }
  }

  #send(url: string, prefer: readonly string[], token: string, signal: AbortSignal): Promise<Answered | Failure> {
    const { web, limits, time } = this.#settings
    if (this.linkFault(url) !== null) throw new Error('a token must not leave its environment')
    const headers: Record<string, string> = {
      accept: 'application/json',
      'odata-maxversion': '4.0',
      'odata-version': '4.0',
      'if-none-match': 'null',
      authorization: `Bearer ${token}`,
    }
    if (prefer.length > 0) headers['prefer'] = prefer.join(',')
    const timeoutMs = limits.requestTimeoutMs
    return ask(web, { method: 'GET', url, headers, body: null, mostBytes: MOST_BYTES, signal, timeoutMs, time })
  }

  #gotOf({ reply, begunAt }: Answered): Got {
    const { status, body } = reply
    const text = utf8TextOf(body)
    if (status === 204) return { kind: 'nothing', begunAt }
    if (status === 200 && text !== null) return { kind: 'text', text, begunAt }
    if (text === null) return unanswered(failureOf('broken', `the answer (${status}) is not UTF-8`))
    const parsed = parseErrorBody(text)
    const error = errorKind(status, parsed)
    const waitMs = this.#waitMs(error, reply)
    if (error === 'throttled' || waitMs !== null) this.#gate.closeFor(waitMs ?? DEFAULT_WAIT_MS)
    const retryMs = error === 'throttled' ? (waitMs ?? DEFAULT_WAIT_MS) : waitMs
    return {
      kind: 'error',
      error,
      status,
      body: parsed,
      failure: answerFailure(error, { status, body: parsed, ...this.#settings }, retryMs),
    }
  }

  #waitMs(error: ErrorKind, reply: HttpReply): number | null {
    if (error !== 'throttled' && error !== 'outage') return null
    return retryAfterMs(reply, this.#settings.time.now().wallMs)
  }
}

export function unanswered(failure: Failure): Refused {
  return { kind: 'error', error: 'no-answer', status: 0, body: { code: '', message: '' }, failure }
}
