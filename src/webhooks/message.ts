import { createHash, createHmac } from 'node:crypto'
import { isIP } from 'node:net'
import type { WebhookSettings } from '../config/configuration.ts'
import { isLoopback } from '../domain/host.ts'
import { askOnce } from '../crm/web/ask.ts'
import { type ProxiedHttpClient, isPrivate, retryAfterMs } from '../crm/web/http-client.ts'
import { type Failure, failureOf } from '../sync/port.ts'
import type { Time } from '../time/time.ts'
import { TIMED_OUT, withTimeout } from '../time/waiting.ts'

/** What a webhook is told, with an id that stays the same if it is sent again. */
export interface Message {
  readonly id: string
  readonly body: string
}

/** `reset`: the receiver must read the lists again. `test`: `check` tries the webhook. */
export type MessageType = 'changes' | 'reset' | 'test'

/** Returns a message; `data` is JSON. */
export function messageOf(
  id: string,
  type: MessageType,
  data: string,
  body: WebhookSettings['body'],
  time: Time,
): Message {
  const timestamp = new Date(time.now().wallMs).toISOString()
  return { id, body: body === 'empty' ? '' : `{"type":"${type}","timestamp":"${timestamp}","data":${data}}` }
}

/** Identifies a webhook over restarts without telling its URL. */
export function keyOfWebhook({ url, on }: WebhookSettings): string {
  return shortDigest(`${on.join()} ${url.reveal()}`)
}

/** Returns 12 bytes of SHA-256, as base64 for URLs. */
export function shortDigest(text: string): string {
  return createHash('sha256').update(text).digest().subarray(0, 12).toString('base64url')
}

/**
 * The name of a webhook in logs and pages. Build hooks have a secret in their URL, so at most the first part of the path
 * is shown, and only if it looks like a word.
 * @example `webhooks[0] at https://api.netlify.com/build_hooks/…`
 */
export function nameOfWebhook({ url }: WebhookSettings, index: number): string {
  const { origin, pathname } = new URL(url.reveal())
  const [, first = ''] = /^\/([a-z_-]{1,20})\/./i.exec(pathname) ?? []
  const shown = url.isReferred || first === '' ? origin : `${origin}/${first}/…`
  return `webhooks[${index}] at ${shown}`
}

const TIMEOUT_MS = 10_000
/** An answer is not used; a larger one may never end. */
const MOST_BYTES = 65_536

export interface Sent {
  readonly failure: Failure | null
  /** The receiver wants no more calls. */
  readonly isGone: boolean
}

/** Calls a receiver once. Follows no redirects, and reaches no private address by a public name. */
export async function send(
  web: ProxiedHttpClient,
  settings: Pick<WebhookSettings, 'url' | 'secret'>,
  message: Message,
  time: Time,
  signal: AbortSignal,
): Promise<Sent> {
  const url = settings.url.reveal()
  const { host, hostname } = new URL(url)
  const isInside = isMeant(hostname) ? false : await withTimeout(time, TIMEOUT_MS, isPrivate(new URL(url), web), signal)
  if (isInside === TIMED_OUT)
    return failedToSend('timeout', `${host} could not be resolved within ${TIMEOUT_MS / 1000} s`)
  if (isInside)
    return failedToSend('misconfigured', `${host} leads to a private address, which Marquee calls only by that address`)
  const request = { method: 'POST', url, headers: fieldsOf(settings, message, time), body: message.body } as const
  const limits = { mostBytes: MOST_BYTES, timeoutMs: TIMEOUT_MS, time, signal, ca: 'NODE_EXTRA_CA_CERTS' }
  const answered = await askOnce(web, { ...request, ...limits }, true)
  if (!('reply' in answered)) return { failure: answered, isGone: false }
  const { reply } = answered
  const { status } = reply
  if (status >= 200 && status < 300) return { failure: null, isGone: false }
  if (status >= 300 && status < 400)
    return failedToSend(
      'refused',
      `${host} redirects (${status}), which Marquee does not follow: set the URL that it leads to`,
    )
  const pauseMs = retryAfterMs(reply, time.now().wallMs)
  const kind = status === 429 || status === 503 ? 'throttled' : 'refused'
  return { failure: failureOf(kind, `${host} answered with ${status}`, pauseMs), isGone: status === 410 }
}

function failedToSend(kind: Failure['kind'], message: string): Sent {
  return { failure: failureOf(kind, message), isGone: false }
}

/** Whether the URL itself names an address or this machine: the operator means it, private or not. */
function isMeant(hostname: string): boolean {
  const bare = hostname.replace(/^\[(.*)\]$/, '$1')
  return isIP(bare) !== 0 || isLoopback(bare)
}

/** The header fields of Standard Webhooks: id, time and signature. */
function fieldsOf(
  { secret }: Pick<WebhookSettings, 'secret'>,
  { id, body }: Message,
  time: Time,
): Record<string, string> {
  const timestamp = String(Math.floor(time.now().wallMs / 1000))
  const fields = { 'user-agent': 'Marquee', 'webhook-id': id, 'webhook-timestamp': timestamp }
  const type = body === '' ? {} : { 'content-type': 'application/json' }
  if (secret === null) return { ...fields, ...type }
  const key = Buffer.from(secret.reveal().slice('whsec_'.length), 'base64')
  const signature = createHmac('sha256', key).update(`${id}.${timestamp}.${body}`).digest('base64')
  return { ...fields, ...type, 'webhook-signature': `v1,${signature}` }
}
