// How a connector sends HTTP requests: few at once, with a time limit and a second attempt. The runtime's own client is
// passed in as an `HttpClient` (http-client.ts).

import type { FailureKind } from '../../observe/observation.ts'
import { codeOf, whyNotAccepted, whyNotReached } from '../../domain/system-error.ts'
import { type Failure, failureOf } from '../../sync/port.ts'
import type { Moment, Time } from '../../time/time.ts'
import { TIMED_OUT, withTimeout } from '../../time/waiting.ts'
import type { HttpClient, HttpReply, HttpRequest } from './http-client.ts'

export interface Answered {
  readonly reply: HttpReply
  /** When the answered attempt began. */
  readonly begunAt: Moment
}

export type AskOptions = Pick<HttpRequest, 'method' | 'url' | 'headers' | 'body' | 'mostBytes'> & {
  readonly signal: AbortSignal
  /** The time limit of each of the two attempts, including the body. */
  readonly timeoutMs: number
  readonly time: Time
  /** Waits until the second attempt may begin, or returns why there is none; absent if it may begin at once. */
  readonly beforeRetry?: () => Promise<Failure | null>
  /** What names further certificates to trust, in sentences; `crm.ca` if absent. */
  readonly ca?: string
}

/**
 * Sends a request, and sends it again on a fresh connection if no answer came: a connection that the server dropped
 * silently must not cause an outage. The request must be safe to repeat.
 */
export async function ask(web: HttpClient, options: AskOptions): Promise<Answered | Failure> {
  const first = await askOnce(web, options, false)
  if ('reply' in first || first.isCertain || options.signal.aborted) return first
  const refusal = (await options.beforeRetry?.()) ?? null
  return refusal ?? askOnce(web, options, true)
}

/** Sends a request once. @param fresh whether on a new connection */
export async function askOnce(
  web: HttpClient,
  { timeoutMs, time, signal, ca = 'crm.ca', ...request }: AskOptions,
  fresh: boolean,
): Promise<Answered | NoAnswer> {
  const begunAt = time.now()
  const { host } = new URL(request.url)
  if (signal.aborted) return whyNoAnswer(null, host, ca)
  const controller = new AbortController()
  try {
    // The limit holds even if the runtime ignores the signal: an exchange that never settles would block all others.
    const sent = web.send({ ...request, fresh, signal: controller.signal })
    const reply = await withTimeout(time, timeoutMs, sent, signal)
    if (reply !== TIMED_OUT) return { reply, begunAt }
    controller.abort()
    if (signal.aborted) return whyNoAnswer(null, host, ca)
    return noAnswer('timeout', `${host} did not answer in full within ${timeoutMs / 1000} s`, false)
  } catch (cause) {
    return whyNoAnswer(cause, host, ca)
  }
}

interface NoAnswer extends Failure {
  /** Whether a second attempt would fail the same way. */
  readonly isCertain: boolean
}

/** Explains why no answer came, from the error's code alone: its message may contain a proxy URL with its password. */
function whyNoAnswer(cause: unknown, host: string, ca: string): NoAnswer {
  const code = codeOf(cause) ?? 'unknown reason'
  if (code.startsWith('ERR_CA_') || code.startsWith('ERR_OSSL') || code === 'ERR_BORINGSSL') {
    const why = code === 'ERR_CA_UNREADABLE' ? 'cannot be read' : 'contains no certificates in PEM'
    return noAnswer('misconfigured', `the file of crm.ca ${why}`, true)
  }
  if (code === 'ERR_BODY_TOO_LARGE') {
    return noAnswer('too-large', `the answer of ${host} is too large`, true)
  }
  if (code === 'ERR_PROXY_UNKNOWN') {
    const message = `${host} was not asked: its proxy (crm.proxy, or HTTPS_PROXY) needs Node 24.5 or later, or Bun`
    return noAnswer('misconfigured', message, true)
  }
  if (code.startsWith('Z_')) return noAnswer('broken', `the answer of ${host} cannot be unpacked`, true)
  if (code.startsWith('HPE_')) {
    return noAnswer('broken', `${host} answered with invalid HTTP (${code})`, false)
  }
  const fault = whyNotAccepted(code, ca)
  if (fault !== null) return noAnswer('unreachable', `${host} has a certificate that ${fault} (${code})`, true)
  if (code === 'ERR_PROXY_INVALID_CONFIG') {
    return noAnswer('unreachable', `${host} was not reached: the proxy URL is invalid (${code})`, true)
  }
  const why = code === 'ERR_PROXY_TUNNEL' ? 'was not reached: the proxy refused' : whyNotReached(code)
  return noAnswer('unreachable', `${host} ${why ?? 'could not be asked'} (${code})`, false)
}

function noAnswer(kind: FailureKind, message: string, isCertain: boolean): NoAnswer {
  return { ...failureOf(kind, message), isCertain }
}
