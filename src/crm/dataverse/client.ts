import type { CrmLimits } from '../kit/crm-limits.ts'
import type { FailureKind, Outcome } from '../../observe/observation.ts'
import { type Failure, failureOf } from '../../sync/port.ts'
import type { Moment, Time } from '../../time/time.ts'
import { Throttle } from '../kit/throttle.ts'
import { type Answered, ask } from '../web/ask.ts'
import { type HttpClient, codingNote, retryAfterMs, utf8TextOf } from '../web/http-client.ts'
import type { DirectoryTokens } from './directory-tokens.ts'
import { isObject } from '../cells/cell.ts'
import { parseShallow } from '../cells/parse-cell.ts'
import { type PageBody, parsePageBody } from './page-body.ts'

interface ClientSettings {
  readonly web: HttpClient
  readonly tokens: DirectoryTokens
  readonly time: Time
  readonly limits: Pick<CrmLimits, 'requestTimeoutMs'>
  /** The environment's origin, `https://example.crm11.dynamics.com`. The token is never sent anywhere else. */
  readonly origin: string
  readonly clientId: string
  /** Called after each exchange with the CRM, for the metrics. */
  readonly onRequest: (outcome: Outcome) => void
}

type Got =
  | {
      readonly kind: 'text'
      readonly text: string
      readonly begunAt: Moment
      /** The end of a sentence if the text cannot be read. */
      readonly note: string
    }
  | Refused

export type PageAnswer = { readonly kind: 'page'; readonly page: PageBody; readonly begunAt: Moment } | Refused

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
  readonly #throttle: Throttle

  constructor(settings: ClientSettings) {
    this.#settings = settings
    this.#throttle = new Throttle(settings.time, MOST_AT_ONCE)
  }

  urlOf(path: string): string {
    return `${this.#settings.origin}${API}${path}`
  }

  /**
   * Explains why a link of an answer cannot be followed, as the rest of a sentence; `null` if it can, or if there is
   * none. The token is sent to no other origin.
   */
  linkFault(link: string | null): string | null {
    if (link === null) return null
    // A link is sent unchanged, so it must fit into a request line (RFC 9112 §3); node:http throws at other characters.
    if (link.length > LONGEST_LINK || !/^[!-~]+$/.test(link)) return 'contains an invalid link'
    const url = URL.parse(link)
    const isOwn = url?.origin === this.#settings.origin && url.username === '' && link.startsWith(url.protocol)
    return isOwn ? null : 'contains a link to another host, which must not get the token'
  }

  /** Requests a page of rows, and checks that its link to the next one can be followed. @param of names the rows */
  async page(of: string, url: string, prefer: readonly string[], signal: AbortSignal): Promise<PageAnswer> {
    const got = await this.get(url, prefer, signal)
    if (got.kind === 'error') return got
    const page = await parsePageBody(got.text)
    const fault = typeof page === 'string' ? page : this.linkFault(page.nextLink)
    if (fault !== null || typeof page === 'string')
      return unanswered(failureOf('broken', `${of}: the answer ${fault}${got.note}`))
    return { kind: 'page', page, begunAt: got.begunAt }
  }

  async get(url: string, prefer: readonly string[], signal: AbortSignal): Promise<Got> {
    const got = await this.#throttle.run(signal, () => this.#getWithToken(url, prefer, signal))
    if (got === null) return unanswered(failureOf('internal', 'the read was given up'))
    this.#settings.onRequest(got.kind === 'error' ? got.failure.kind : 'ok')
    return got
  }

  async #getWithToken(url: string, prefer: readonly string[], signal: AbortSignal): Promise<Got> {
    for (let isLast = false; ; isLast = true) {
      const token = await this.#settings.tokens.current()
      if (!token.ok) return unanswered(token.failure)
      const paused = this.#paused
      if (paused !== null) return unanswered(paused)
      const answered = await this.#send(url, prefer, token.text, signal)
      if (!('reply' in answered)) return unanswered(answered)
      // Retried once: a token can expire or be revoked while a list is being read.
      if (answered.reply.status !== 401 || isLast) return this.#gotOf(answered)
      this.#settings.tokens.refused(token.text)
    }
  }

  /** Why no request may be sent now; `null` if Dataverse asks for no pause. */
  get #paused(): Failure | null {
    const forMs = this.#throttle.closedForMs
    if (forMs === 0) return null
    return failureOf('throttled', 'Dataverse asked for a pause; Marquee sends no requests until it is over', forMs)
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
    return ask(web, {
      method: 'GET',
      url,
      headers,
      body: null,
      mostBytes: MOST_BYTES,
      signal,
      timeoutMs: limits.requestTimeoutMs,
      time,
      beforeRetry: async () => this.#paused,
    })
  }

  #gotOf({ reply, begunAt }: Answered): Got {
    const { status, body } = reply
    const text = utf8TextOf(body)
    const note = codingNote(reply)
    if (status === 204) return { kind: 'text', text: '{}', begunAt, note }
    if (status === 200 && text !== null) return { kind: 'text', text, begunAt, note }
    if (text === null) return unanswered(failureOf('broken', `the answer (${status}) is not UTF-8${note}`))
    const parsed = parseErrorBody(text)
    const error = errorKind(status, parsed)
    const mayAsk = error === 'throttled' || error === 'outage'
    const askedMs = mayAsk ? retryAfterMs(reply, this.#settings.time.now().wallMs) : null
    const waitMs = error === 'throttled' ? (askedMs ?? DEFAULT_WAIT_MS) : askedMs
    if (waitMs !== null) this.#throttle.closeFor(waitMs)
    return {
      kind: 'error',
      error,
      status,
      body: parsed,
      failure: answerFailure(error, { status, body: parsed, ...this.#settings }, waitMs),
    }
  }
}

export function unanswered(failure: Failure): Refused {
  return { kind: 'error', error: 'no-answer', status: 0, body: NONE, failure }
}

/** An error body: its code, in lower-case hexadecimal if it is a number, and its message. */
interface ErrorBody {
  readonly code: string
  readonly message: string
}

const NONE: ErrorBody = { code: '', message: '' }

/** The longest error body that is parsed; Dataverse's are shorter. */
const LONGEST_ERROR = 262_144

export function parseErrorBody(text: string): ErrorBody {
  if (text.length > LONGEST_ERROR) return NONE
  const parsed = parseShallow(text)
  const error = parsed.ok && isObject(parsed.cell) ? parsed.cell['error'] : undefined
  if (error === undefined || !isObject(error)) return NONE
  const { code, message } = error
  return {
    code: typeof code === 'string' || typeof code === 'number' ? hexadecimal(String(code)) : '',
    message: typeof message === 'string' ? message : '',
  }
}

/** Normalizes a code: `-2147204270` and `0x80044352` are the same. */
function hexadecimal(code: string): string {
  const text = code.trim().toLowerCase()
  return /^-?\d+$/.test(text) && text !== '0' ? `0x${(Number(text) >>> 0).toString(16)}` : text
}

const EXPIRED_VERSION_STAMP = '0x80044352'
const NOT_TRACKED = '0x80072491'
const UNKNOWN_COLUMN = '0x80060888'
const UNKNOWN_TABLE = '0x8006088a'
const NOT_A_MEMBER = '0x80072560'
/**
 * Statuses that redirect. Other ones below 400 do not; 304, for example, answers a condition that Marquee does not
 * send.
 */
const REDIRECTS: ReadonlySet<number> = new Set([301, 302, 303, 307, 308])
/** What Dataverse limits, by the code of an answer that says so. */
const LIMITS: ReadonlyMap<string, string> = new Map([
  ['0x80072321', 'execution time'],
  ['0x80072322', 'requests'],
  ['0x80072326', 'concurrent requests'],
])

/**
 * Classifies an unsuccessful answer by status, code and message together: codes are "frequently empty" and change
 * between versions.
 */
function errorKind(status: number, { code, message }: ErrorBody): ErrorKind {
  if (status === 429 || LIMITS.has(code)) return 'throttled'
  if (
    code === EXPIRED_VERSION_STAMP ||
    status === 410 ||
    /version stamp associated with the client has expired/i.test(message)
  ) {
    return 'expired-token'
  }
  if (code === NOT_TRACKED || /isn't enabled for change tracking|not enabled for change tracking/i.test(message)) {
    return 'not-tracked'
  }
  if (code === NOT_A_MEMBER || /not a member of the organization/i.test(message)) return 'no-application-user'
  if (status === 400 && (code === UNKNOWN_COLUMN || unknownColumn(message) !== null)) return 'unknown-column'
  if (status === 404 && (code === UNKNOWN_TABLE || /segment '[^']+'/.test(message))) return 'unknown-table'
  if (status === 403 || /\bprv[A-Z]|privilege/.test(message)) return 'missing-privilege'
  if (status === 401) return 'refused'
  if (REDIRECTS.has(status)) return 'redirect'
  if (status < 400) return 'unasked'
  return status >= 500 || status === 408 ? 'outage' : 'other'
}

export function unknownColumn(message: string): string | null {
  return /property named '([^']+)'/.exec(message)?.[1] ?? null
}

/**
 * Returns the missing privilege that the message names, for example `prvReadmsevtmgt_Event`. Omits names over 100
 * characters.
 */
function missingPrivilege(message: string): string {
  const privilege = /\bprv[A-Z]\w{1,96}\b/.exec(message)?.[0]
  return privilege === undefined ? 'a privilege' : `the privilege ${privilege}`
}

interface ErrorAnswer {
  readonly status: number
  readonly body: ErrorBody
  readonly origin: string
  readonly clientId: string
}

/** The failure kind of each error, and its description for an admin. */
const MEANINGS = {
  throttled: [
    'throttled',
    ({ body }) => `the limit of ${LIMITS.get(body.code) ?? 'requests'} is reached, and Dataverse asks to wait`,
  ],
  'expired-token': ['cursor-refused', () => 'Dataverse no longer knows what changed since the last read'],
  'not-tracked': ['cursor-refused', () => 'the table has no change tracking'],
  'unknown-column': ['misconfigured', () => 'a column does not exist'],
  'unknown-table': ['misconfigured', () => 'the table does not exist'],
  'no-application-user': [
    'refused',
    ({ clientId, origin }) =>
      `the app registration ${clientId} has no application user in ${origin}: add one in the Power Platform admin center and give it a security role`,
  ],
  'missing-privilege': [
    'refused',
    ({ body }) =>
      `the application user lacks ${missingPrivilege(body.message)}: give its security role Read at organization level`,
  ],
  refused: [
    'refused',
    ({ clientId, origin }) =>
      `${origin} refuses the token: does the app registration ${clientId} have an application user there, and is crm.url right?`,
  ],
  redirect: ['broken', ({ origin }) => `${origin} answered with a redirect, which is not followed: is crm.url right?`],
  unasked: [
    'broken',
    ({ origin }) =>
      `${origin} answered with a status that Dataverse does not send here: does a proxy answer in its place?`,
  ],
  outage: ['unreachable', ({ origin }) => `${origin} answered with a server error`],
  other: ['broken', ({ origin }) => `${origin} refused the request`],
} as const satisfies Readonly<Record<string, readonly [FailureKind, (answer: ErrorAnswer) => string]>>

type ErrorKind = keyof typeof MEANINGS

/** Describes an unsuccessful answer to an admin. Quotes only names from its text. */
function answerFailure(error: ErrorKind, answer: ErrorAnswer, waitMs: number | null): Failure {
  const { status, body } = answer
  // Anything but a code may be text that quotes the request.
  const code = /^0x[0-9a-f]{1,8}$/.test(body.code) ? `${status}, ${body.code}` : String(status)
  const [kind, messageOf] = MEANINGS[error]
  return failureOf(kind, `${messageOf(answer)} (${code})`, waitMs)
}
