import { type HttpClient, retryAfterMs } from '../crm/web/http-client.ts'
import { askOnce } from '../crm/web/ask.ts'
import type { Time } from '../time/time.ts'
import { Pace } from './pace.ts'
import type { Question } from './questions.ts'

/** One answer of either service. Keys of `headers` are lower-case names. */
export interface Reply {
  /** 0 if there was no answer; `problem` says why. */
  readonly status: number
  readonly problem: string | null
  readonly headers: Readonly<Record<string, string>>
  readonly body: Uint8Array
}

/** Asks one of the two services. */
export type AskService = (question: Question, signal: AbortSignal) => Promise<Reply>

interface RemoteOptions {
  readonly web: HttpClient
  /** Without a slash at the end. */
  readonly address: string
  /** Sent to this address only: redirects are not followed. */
  readonly headers: Readonly<Record<string, string>>
  readonly time: Time
  /** The most requests a second; any number if absent. */
  readonly perSecond?: number
  readonly onPause?: (status: number, ms: number) => void
}

const TIMEOUT_MS = 30_000
const LARGEST_BODY_BYTES = 4 * 1024 * 1024
const MOST_TRIES = 3
const FIRST_PAUSE_MS = 5000
const BUSY: ReadonlySet<number> = new Set([429, 503])

/** Returns a function that asks a service over HTTP, at its pace. If the service is busy, it is asked again later. */
export function askRemote({ web, address, headers, time, perSecond, onPause = () => {} }: RemoteOptions): AskService {
  const pace = perSecond === undefined ? null : new Pace(time, perSecond)
  return async ({ method, path, accept }, signal) => {
    const url = `${address}${path}`
    const request = { method, url, headers: { ...headers, accept }, body: null, mostBytes: LARGEST_BODY_BYTES }
    for (let tries = 1; ; tries++) {
      await pace?.turn(signal)
      let answered = await askOnce(web, { ...request, signal, timeoutMs: TIMEOUT_MS, time, ca: CA }, false)
      // The server may have closed a connection that was idle.
      if (!('reply' in answered) && answered.kind === 'unreachable' && !answered.isCertain && !signal.aborted) {
        await pace?.turn(signal)
        answered = await askOnce(web, { ...request, signal, timeoutMs: TIMEOUT_MS, time, ca: CA }, true)
      }
      if (!('reply' in answered)) return { status: 0, problem: answered.message, headers: {}, body: new Uint8Array() }
      // A copy, because the client's buffer is larger than most bodies.
      const reply = { ...answered.reply, body: answered.reply.body.slice() }
      if (pace === null || !BUSY.has(reply.status) || signal.aborted) return { ...reply, problem: null }
      const pauseMs = retryAfterMs(reply, time.now().wallMs) ?? FIRST_PAUSE_MS * 2 ** (tries - 1)
      pace.pauseFor(pauseMs)
      if (tries === MOST_TRIES) return { ...reply, problem: null }
      onPause(reply.status, pauseMs)
    }
  }
}

/** What names further certificates to trust, in sentences. */
const CA = 'NODE_EXTRA_CA_CERTS'

/** Returns true if an answer tells something about a record. Others may mean that the service is down, or asks who we are. */
export function isUsable({ status, headers }: Reply): boolean {
  if (status === 200) return /json|xml/.test(headers['content-type'] ?? '')
  return status >= 400 && status < 500 && ![401, 403, 407, 408, 429].includes(status)
}

/** Parses `5/s` or `30/min` into requests a second; `null` for any other text. */
export function rateOf(text: string): number | null {
  const [, count = '', unit = ''] = /^(\d{1,4}(?:\.\d{1,2})?)\/(s|min)$/.exec(text.trim()) ?? []
  const perSecond = Number(count) / (unit === 'min' ? 60 : 1)
  return perSecond > 0 ? perSecond : null
}
