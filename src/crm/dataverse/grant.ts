import {
  allowInsecureRequests,
  clientCredentialsGrantRequest,
  ClientSecretPost,
  customFetch,
  processClientCredentialsResponse,
  ResponseBodyError,
} from 'oauth4webapi'
import type { Secret } from '../../config/secret.ts'
import type { CrmFailure } from '../../replica/port.ts'
import type { Moment } from '../../replica/time.ts'
import { ask } from '../web/ask.ts'
import { retryAfterMs } from '../web/retry-after.ts'
import type { WebReply } from '../web/web.ts'
import { grantRefusal, isSecretRefused } from './grant-refusal.ts'
import type { TokenSettings } from './tokens.ts'

export type Granted =
  | { readonly kind: 'token'; readonly text: string; readonly since: Moment; readonly lifeMs: number }
  | { readonly kind: 'secret-refused'; readonly failure: CrmFailure }
  | { readonly kind: 'failed'; readonly failure: CrmFailure }

const MOST_BYTES = 256 * 1024
/** What a token is taken to live where nobody says: far less than any does. */
const DEFAULT_LIFE_S = 300
/** One that is said to have ended already is still not asked for with every request. */
const LEAST_LIFE_S = 1
/** RFC 6750 §2.1; the largest that a header can carry. */
const TOKEN = /^[\w.~+/-]+=*$/
const LONGEST_TOKEN = 12_288

/** Asks the directory for a token by the client credentials grant (RFC 6749 §4.4). */
export async function grantToken(settings: TokenSettings, secret: Secret): Promise<Granted> {
  const { web, time, timeoutMs, authority, tenant, clientId, scope } = settings
  const server = { issuer: authority, token_endpoint: `${authority}/${tenant}/oauth2/v2.0/token` }
  const client = { client_id: clientId }
  const exchange: { failure: CrmFailure | null; begunAt: Moment } = { failure: null, begunAt: time.now() }
  try {
    const response = await clientCredentialsGrantRequest(
      server,
      client,
      ClientSecretPost(secret.reveal()),
      { scope },
      {
        // Which addresses may be plain http was decided with the configuration.
        [allowInsecureRequests]: true,
        [customFetch]: async (url, { headers, body }) => {
          const answered = await ask(web, {
            method: 'POST',
            url,
            headers,
            body: String(body),
            mostBytes: MOST_BYTES,
            signal: new AbortController().signal,
            timeoutMs,
            time,
          })
          if (!('reply' in answered)) {
            exchange.failure = answered
            return new Response(null, { status: 503 })
          }
          exchange.begunAt = answered.begunAt
          exchange.failure = outage(answered.reply, time.now().wallMs, new URL(url).host)
          return responseOf(answered.reply)
        },
      },
    )
    if (exchange.failure !== null) return { kind: 'failed', failure: exchange.failure }
    const { access_token: text, expires_in: lifeS } = await processClientCredentialsResponse(server, client, response)
    if (text.length > LONGEST_TOKEN || !TOKEN.test(text)) return noToken(authority)
    const lifeMs = Math.max(lifeS ?? DEFAULT_LIFE_S, LEAST_LIFE_S) * 1000
    return { kind: 'token', text, since: exchange.begunAt, lifeMs }
  } catch (cause) {
    if (!(cause instanceof ResponseBodyError)) return noToken(authority)
    const refusal = { error: cause.error, description: cause.error_description ?? '' }
    const failure = grantRefusal(refusal, settings, secret.from)
    return { kind: isSecretRefused(refusal) ? 'secret-refused' : 'failed', failure }
  }
}

function noToken(authority: string): Granted {
  const message = `${new URL(authority).host} answered the request for a token with something else; is crm.authority right?`
  return { kind: 'failed', failure: { kind: 'broken', message, retryAfterMs: null } }
}

/** What is no answer to the question at all. */
function outage(reply: WebReply, nowWallMs: number, host: string): CrmFailure | null {
  const { status } = reply
  if (status !== 429 && status < 500) return null
  const kind = status === 429 ? 'throttled' : 'unreachable'
  const message = `${host} answered the request for a token with ${status}`
  return { kind, message, retryAfterMs: retryAfterMs(reply, nowWallMs) }
}

/** Only what the library needs: a challenge in the headers would hide the reason, which is in the body. */
function responseOf({ status, headers, body }: WebReply): Response {
  const hasBody = status !== 204 && status !== 304 && status >= 200
  return new Response(hasBody ? new Uint8Array(body) : null, {
    status: hasBody ? status : 204,
    headers: { 'content-type': headers['content-type'] ?? '' },
  })
}
