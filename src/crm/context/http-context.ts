import { isPlain } from '../../domain/host.ts'
import { isJsonList } from '../../domain/json-value.ts'
import type { Time } from '../../time/time.ts'
import { sleep } from '../../time/waiting.ts'
import type { Http, RequestOptions, Value } from '../connector/marquee-connector.d.ts'
import type { CrmLimits } from '../kit/crm-limits.ts'
import { Throttle, isThrottling } from '../kit/throttle.ts'
import { ask } from '../web/ask.ts'
import type { HttpClient, HttpReply } from '../web/http-client.ts'
import { type JsonAnswer, type JsonRequest, FetchFault, answerOf, misconfigured } from './json-answer.ts'
import { SHORT_PAUSE_MS } from '../../sync/port.ts'
import { readPages } from './http-pages.ts'

export interface HttpSettings {
  readonly web: HttpClient
  readonly time: Time
  readonly limits: () => Pick<CrmLimits, 'requestTimeoutMs' | 'longestPauseMs'>
  readonly origins: ReadonlySet<string>
  readonly allowInsecure: boolean
  readonly atOnce: number
  readonly budget: RequestBudget
  /** Called when requests have to wait because the CRM or its budget says so. */
  readonly onWait: (forMs: number, why: string) => void
}

type Authorized = Omit<JsonRequest, 'bearer'> & { readonly bearer: string | undefined }

/** One call of a connector's method. */
interface Reading {
  readonly signal: AbortSignal
  /** Whether the CRM has answered a request for rows. */
  isAnswered: boolean
}

const MOST_BYTES = 64 * 1024 * 1024
/** How many times to send a request while the CRM asks to send it later. */
const MOST_TRIES = 4
/** Matches what a request line can carry (RFC 9112 §3), without a fragment. */
const SENDABLE = /^[!"$-~]+$/

/** Sends all requests of one connector: to its own origins, few at once, within its budget, and none during a pause. */
export class HttpRequests {
  readonly #settings: HttpSettings
  readonly #throttle: Throttle
  readonly #budget: Budget

  constructor(settings: HttpSettings) {
    this.#settings = settings
    this.#throttle = new Throttle(settings.time, settings.atOnce)
    this.#budget = new Budget(settings.budget)
  }

  /**
   * Returns `http` for a context. Its requests end with the read.
   * @param onRequest called for each request for rows
   */
  bind(signal: AbortSignal, onRequest = (): void => {}): Http {
    const reading: Reading = { signal, isAnswered: false }
    const request = async (url: string, options: JsonRequest): Promise<JsonAnswer> => {
      // A form asks for a token, which later reads use as well.
      const isForm = typeof options.body === 'string'
      if (!isForm) onRequest()
      const answer = await this.#request(url, options, reading)
      reading.isAnswered ||= !isForm
      return answer
    }
    return {
      get: async (url, options = {}) => (await request(url, options)).value,
      post: async (url, options) => (await request(url, options)).value,
      pages: (url, options) => readPages(url, options, request),
    }
  }

  async #request(target: string, options: JsonRequest, reading: Reading): Promise<JsonAnswer> {
    const { bearer } = options
    if (typeof bearer !== 'function') return this.#requestWith({ ...options, bearer }, target, reading)
    const token = await bearer(null)
    try {
      return await this.#requestWith({ ...options, bearer: token }, target, reading)
    } catch (cause) {
      // A token can expire or be revoked at any time, also while a list is being read.
      if (!(cause instanceof FetchFault) || cause.kind !== 'refused' || cause.status === 403) throw cause
      return this.#requestWith({ ...options, bearer: await bearer(token) }, target, reading)
    }
  }

  async #requestWith(options: Authorized, target: string, reading: Reading): Promise<JsonAnswer> {
    const url = this.#urlOf(target, options.query)
    // A link from an answer is sent unchanged: `URL` encodes some characters differently.
    const isAsWritten = target.startsWith(`${url.origin}/`) && SENDABLE.test(target)
    const isLink = isAsWritten && Object.keys(options.query ?? {}).length === 0
    for (let tries = 1; ; tries++) {
      const reply = await this.#send(url, isLink ? target : url.href, options, reading)
      const isAsked = isThrottling(reply) || (reply.status === 503 && 'retry-after' in reply.headers)
      // A server that is down at the beginning of a read is an outage like any other.
      if (!isAsked && (reply.status !== 503 || !reading.isAnswered)) {
        if (reply.status !== 503) this.#throttle.succeeded()
        return answerOf(url, reply, options)
      }
      const pauseMs = this.#throttle.pauseAfter(reply)
      const isTooLong = pauseMs > this.#longestPauseMs(reading)
      if (isAsked && isTooLong) throw this.#pauseFault(url, pauseMs, reply.status)
      if (isAsked && tries === MOST_TRIES) {
        const sentence = `${this.#throttle.askedBy(url.host)} again and again`
        throw new FetchFault('throttled', sentence, reply.status, pauseMs > 0 ? pauseMs : null)
      }
      if (isTooLong || tries === MOST_TRIES) return answerOf(url, reply, options)
    }
  }

  /**
   * How long a read waits for one pause, in ms. Nothing is lost if a read that has no answer yet fails, and the next one
   * begins after the pause. In the middle of a list, a read has to wait: it might never come to its end.
   */
  #longestPauseMs({ isAnswered }: Reading): number {
    return this.#settings.limits().longestPauseMs ?? (isAnswered ? Infinity : SHORT_PAUSE_MS)
  }

  #pauseFault({ host }: URL, pauseMs: number, status = 0): FetchFault {
    return new FetchFault('throttled', this.#throttle.askedUntil(host, pauseMs), status, pauseMs)
  }

  #urlOf(target: string, query: RequestOptions['query']): URL {
    const { origins, allowInsecure } = this.#settings
    const url = URL.parse(target)
    if (url === null) throw misconfigured('http was called with something that is not a URL')
    if (url.username !== '' || !origins.has(url.origin)) {
      const known = origins.size === 0 ? 'there is none' : [...origins].join(', ')
      throw misconfigured(`${url.origin} gets no requests: it is not the origin of a url setting (${known})`)
    }
    if (isPlain(url.origin) && !allowInsecure) {
      throw misconfigured(`${url.origin} is not https:; crm.allowInsecure: true allows it`)
    }
    for (const [name, value] of Object.entries(query ?? {})) {
      // Connectors in JavaScript may leave a value undefined.
      if ((value ?? null) === null) continue
      const texts = textsOf(value)
      url.searchParams.delete(name)
      // An empty list is sent as an empty text: without it, some APIs would answer all rows.
      for (const text of name.endsWith('[]') ? texts : [texts.join(',')]) url.searchParams.append(name, text)
    }
    return url
  }

  async #send(url: URL, text: string, options: Authorized, reading: Reading): Promise<HttpReply> {
    const reply = await this.#throttle.run(reading.signal, () => this.#exchange(url, text, options, reading))
    if (reply === null) throw givenUp()
    return reply
  }

  async #exchange(url: URL, text: string, options: Authorized, reading: Reading): Promise<HttpReply> {
    const { web, time, limits } = this.#settings
    const { signal } = reading
    await this.#untilAllowed(url, reading)
    const body = options.body === undefined ? null : bodyOf(options.body, options.headers)
    const answered = await ask(web, {
      method: body === null ? 'GET' : 'POST',
      url: text,
      headers: headersOf(options, body !== null),
      body,
      mostBytes: MOST_BYTES,
      signal,
      timeoutMs: limits().requestTimeoutMs,
      time,
      beforeRetry: () => this.#untilAllowed(url, reading).then(() => null),
    })
    if (!('reply' in answered)) throw new FetchFault(answered.kind, answered.message)
    this.#throttle.closeBeforeLimit(answered.reply)
    return answered.reply
  }

  async #untilAllowed(url: URL, reading: Reading): Promise<void> {
    const { time, onWait } = this.#settings
    const { signal } = reading
    for (;;) {
      const closedMs = this.#throttle.closedForMs
      const ms = closedMs > 0 ? closedMs : this.#budget.take(time.now().monotonicMs)
      if (ms <= 0) return
      if (closedMs > this.#longestPauseMs(reading)) throw this.#pauseFault(url, closedMs)
      onWait(ms, closedMs > 0 ? this.#throttle.askedBy(url.host) : 'the budget of requests is used up')
      await sleep(ms, time, signal)
      if (signal.aborted) throw givenUp()
    }
  }
}

function givenUp(): FetchFault {
  return new FetchFault('internal', 'the read was given up')
}

/** The texts of a value in a query. Null has none, and so has undefined. */
function textsOf(value: Value | undefined): readonly string[] {
  if (isJsonList(value)) return value.flatMap((item) => textsOf(item))
  if (value === undefined || value === null) return []
  return [typeof value === 'object' ? JSON.stringify(value) : String(value)]
}

/** Encodes the body as JSON, but sends a text with its own content type unchanged, for example a form. */
function bodyOf(body: Value, headers: JsonRequest['headers'] = {}): string {
  const hasType = Object.keys(headers).some((name) => name.toLowerCase() === 'content-type')
  return typeof body === 'string' && hasType ? body : JSON.stringify(body)
}

function headersOf({ bearer, headers = {} }: Authorized, hasBody: boolean): Record<string, string> {
  const sent: Record<string, string> = { accept: 'application/json', 'cache-control': 'no-cache' }
  if (hasBody) sent['content-type'] = 'application/json'
  for (const [name, value] of Object.entries(headers)) sent[name.toLowerCase()] = value
  if (bearer !== undefined) sent['authorization'] = `Bearer ${bearer}`
  return sent
}

interface RequestBudget {
  readonly most: number
  readonly perMs: number
}

class Budget {
  readonly #budget: RequestBudget
  /** The times of the last requests, oldest first. */
  readonly #sent: number[] = []

  constructor(budget: RequestBudget) {
    this.#budget = budget
  }

  /** Returns how long the next request must wait, in ms. If the result is 0, counts the request. */
  take(nowMs: number): number {
    const { most, perMs } = this.#budget
    while (this.#sent.length > 0 && (this.#sent[0] ?? 0) <= nowMs - perMs) this.#sent.shift()
    if (this.#sent.length >= most) return (this.#sent[0] ?? nowMs) + perMs - nowMs
    this.#sent.push(nowMs)
    return 0
  }
}
