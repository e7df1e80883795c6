import type { OnPause } from '../../sync/port.ts'
import { type Time, timeText } from '../../time/time.ts'
import { type HttpReply, httpDateMs, retryAfterMs } from '../web/http-client.ts'

/** The first pause if the CRM does not say how long; doubles up to a minute. */
const FIRST_WAIT_MS = 10_000
const LONGEST_WAIT_MS = 60_000
const LONGEST_RESET_MS = 3_600_000
const MOST_ERROR_BYTES = 4096

/** Limits how many requests to one CRM run at once, and holds all of them back while the CRM asks for a pause. */
export class Throttle {
  readonly #time: Time
  readonly #waiting: (() => void)[] = []
  #free: number
  #closedUntilMs = Number.NEGATIVE_INFINITY
  #waitMs = FIRST_WAIT_MS
  /** What the answer that asked for the last pause asks for, with its status. */
  #asked = 'a pause'

  constructor(time: Time, mostAtOnce: number) {
    this.#time = time
    this.#free = mostAtOnce
  }

  /** Holds new requests back for a while. If an earlier pause lasts longer, it stays. */
  #closeFor(ms: number, reply: HttpReply): void {
    if (ms >= this.closedForMs) this.#asked = `${askedIn(reply)} (${reply.status})`
    this.#closedUntilMs = Math.max(this.#closedUntilMs, this.#time.now().monotonicMs + ms)
  }

  /** Milliseconds until the CRM accepts requests again; 0 if it does now. */
  get closedForMs(): number {
    return Math.max(0, this.#closedUntilMs - this.#time.now().monotonicMs)
  }

  /** Who asks for the pause, in words. */
  askedBy(host: string): string {
    return `${host} asks for ${this.#asked}`
  }

  /** As `askedBy`, with the time at which the pause ends: people read the sentence later. */
  askedUntil(host: string, ms: number): string {
    return `${this.askedBy(host)} until ${timeText(this.#time.now().wallMs + ms)}`
  }

  /** Holds requests back because an answer says so. Returns for how long, in ms. */
  pauseAfter(reply: HttpReply): number {
    const askedMs = retryAfterMs(reply, this.#time.now().wallMs)
    const closedMs = this.closedForMs
    // Requests that were sent at once get the same answer: together they cost one pause.
    if (askedMs === null && closedMs > 0) return closedMs
    const pauseMs = askedMs ?? this.#waitMs
    if (askedMs === null) this.#waitMs = Math.min(this.#waitMs * 2, LONGEST_WAIT_MS)
    this.#closeFor(pauseMs, reply)
    return pauseMs
  }

  /** Notes that the CRM answers again: the next pause without a time is short. */
  succeeded(): void {
    this.#waitMs = FIRST_WAIT_MS
  }

  /** Holds requests back if an answer says that none are left. */
  closeBeforeLimit(reply: HttpReply): void {
    const { headers } = reply
    const resetMs = Number(headers['x-ratelimit-reset'] ?? 'none') * 1000
    if (headers['x-ratelimit-remaining'] !== '0' || !(resetMs > 0)) return
    // As for `Retry-After`, the server's own clock counts.
    const leftMs = resetMs - (httpDateMs(headers['date'] ?? '') ?? this.#time.now().wallMs)
    // Some servers send seconds from now, others seconds since 1970: use whichever is nearer. It may be past.
    const waitMs = Math.abs(leftMs) < resetMs ? leftMs : resetMs
    if (waitMs <= LONGEST_RESET_MS) this.#closeFor(waitMs, reply)
  }

  /** Does work in a free place, for which it waits; `null` if the signal aborted first. */
  async run<Result>(signal: AbortSignal, work: () => Promise<Result>): Promise<Result | null> {
    if (signal.aborted) return null
    if (this.#free > 0) this.#free--
    else if (!(await this.#wait(signal))) return null
    try {
      return await work()
    } finally {
      const next = this.#waiting.shift()
      if (next === undefined) this.#free++
      else next()
    }
  }

  #wait(signal: AbortSignal): Promise<boolean> {
    const { promise, resolve } = Promise.withResolvers<boolean>()
    const enter = (): void => {
      signal.removeEventListener('abort', giveUp)
      resolve(true)
    }
    const giveUp = (): void => {
      const index = this.#waiting.indexOf(enter)
      if (index !== -1) this.#waiting.splice(index, 1)
      resolve(false)
    }
    this.#waiting.push(enter)
    signal.addEventListener('abort', giveUp, { once: true })
    return promise
  }
}

/** What the fields of an error say if a limit is reached: Salesforce and Google answer 403 then, Dataverse 429 or 503. */
const LIMIT_CODE =
  /"(?:errorCode|code|status|reason)"\s*:\s*"?(REQUEST_LIMIT_EXCEEDED|RESOURCE_EXHAUSTED|\w*[rR]ateLimitExceeded|0x8007232[126]|-2147015(?:903|902|898))\b/
const EXECUTION_TIME = /0x80072321|-2147015903/
const AT_ONCE = /0x80072326|-2147015898/

function limitCodeIn({ status, body }: HttpReply): string | null {
  const text = status < 400 ? '' : new TextDecoder().decode(body.subarray(0, MOST_ERROR_BYTES))
  return LIMIT_CODE.exec(text)?.[1] ?? null
}

/** Returns true if an answer asks for fewer requests. */
export function isThrottling(reply: HttpReply): boolean {
  const { status, headers } = reply
  if (status === 429 || limitCodeIn(reply) !== null) return true
  return status === 403 && ('retry-after' in headers || headers['x-ratelimit-remaining'] === '0')
}

function askedIn(reply: HttpReply): string {
  const code = limitCodeIn(reply) ?? ''
  if (EXECUTION_TIME.test(code)) return 'less execution time'
  if (AT_ONCE.test(code)) return 'fewer requests at once'
  return isThrottling(reply) ? 'fewer requests' : 'a pause'
}

/** Passes on to both lists that requests to their CRM wait. */
export class Pauses {
  readonly #callbacks: OnPause[] = []

  on(callback: OnPause): void {
    this.#callbacks.push(callback)
  }

  readonly tell: OnPause = (forMs, why) => {
    for (const callback of this.#callbacks) callback(forMs, why)
  }
}
