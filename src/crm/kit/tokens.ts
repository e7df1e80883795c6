import type { ClientAuth } from 'oauth4webapi'

/** How to ask for a token with the client credentials grant (RFC 6749 §4.4). */
interface GrantRequest {
  readonly tokenUrl: string
  readonly clientId: string
  readonly clientSecret: string
  readonly scope?: string | null
  readonly sendAs: 'basic' | 'body'
}

/** What a request for a token needs of the context of a read. */
interface GrantContext {
  readonly signal: AbortSignal
  readonly http: { post(url: string, options: GrantPost): Promise<unknown> }
  fail(kind: 'broken', sentence: string): never
}

interface GrantPost {
  readonly headers: { readonly [name: string]: string }
  readonly body: string
  readonly errorAt: string
  readonly refusedAs: readonly string[]
}

interface GrantedToken {
  readonly text: string
  /** How long the server says that the token lives; `null` if it does not say. */
  readonly lifeMs: number | null
}

/** Sends a request for a token, with a form as its body. */
type SendGrant = (
  url: string,
  request: { readonly headers: Record<string, string>; readonly body: string },
) => Promise<Response>

interface Asking {
  readonly secret: string
  /** Ends the request: the signal of the read that began it. */
  readonly signal: AbortSignal
  readonly token: Promise<string>
}

/** The part of its life for which a token is kept. */
const KEPT = 0.9
/** A token is kept this long if the server does not say how long it lives. */
const USUAL_LIFE_MS = 10 * 60_000
const LONGEST_LIFE_MS = 24 * 3_600_000
const REFUSED = ['invalid_client', 'invalid_client_id', 'invalid_grant', 'unauthorized_client', 'access_denied']
/**
 * Matches an access token (RFC 6749 appendix A.12) that a header field can carry. The syntax of RFC 6750 §2.1 would be
 * too narrow: the tokens of Salesforce contain a `!`.
 */
const TOKEN = /^[\x21-\x7e]+$/
const LONGEST_TOKEN = 12_288

/**
 * The token of a connector, kept until shortly before it expires. Reads that need one at the same time share one
 * request. If it fails, it fails for those reads alone: the next read asks again.
 */
export class Tokens {
  #held: { readonly text: string; readonly secret: string; readonly untilMs: number } | null = null
  #asking: Asking | null = null

  /** Returns the `bearer` of requests: a token that is replaced if the CRM refuses it. */
  bearer(context: GrantContext, request: GrantRequest): (refused: string | null) => Promise<string> {
    return (refused) => {
      // Another read may have replaced it already.
      if (this.#held?.text === refused) this.#held = null
      return this.#current(context, request)
    }
  }

  async #current(context: GrantContext, request: GrantRequest): Promise<string> {
    const { clientSecret: secret } = request
    for (;;) {
      const held = this.#held
      if (held !== null && held.secret === secret && performance.now() < held.untilMs) return held.text
      const asking = this.#asking
      if (asking === null) return await this.#ask(context, request)
      const { signal } = context
      try {
        const text = await untilAborted(asking.token, signal)
        if (asking.secret === secret) return text
      } catch (cause) {
        // Another read's request says nothing about this read if that read was given up, or had an older secret.
        const isAnother = asking.signal.aborted || asking.secret !== secret
        if (signal.aborted || !isAnother) throw cause
      }
    }
  }

  #ask(context: GrantContext, request: GrantRequest): Promise<string> {
    const token = this.#grant(context, request).finally(() => {
      this.#asking = null
    })
    this.#asking = { secret: request.clientSecret, signal: context.signal, token }
    return token
  }

  async #grant(context: GrantContext, request: GrantRequest): Promise<string> {
    let isAnswered = false
    const granted = await requestToken(request, async (url, { headers, body }) => {
      const answer: unknown = await context.http.post(url, { headers, body, errorAt: 'error', refusedAs: REFUSED })
      isAnswered = true
      return Response.json(membersOf(answer))
    }).catch((cause: unknown) => {
      if (!isAnswered) throw cause
      return null
    })
    if (granted === null) return context.fail('broken', 'the token server answered without a bearer token')
    const { text, lifeMs } = granted
    const keptMs = lifeMs === null || lifeMs === 0 ? USUAL_LIFE_MS : lifeMs * KEPT
    const untilMs = performance.now() + Math.min(keptMs, LONGEST_LIFE_MS)
    this.#held = { text, secret: request.clientSecret, untilMs }
    return text
  }
}

/**
 * Requests a token. Throws the library's `ResponseBodyError` if the server refuses, and whatever `send` throws; `null`
 * if the answer holds no bearer token.
 */
async function requestToken(request: GrantRequest, send: SendGrant): Promise<GrantedToken | null> {
  // Imported on demand: most APIs take a key, and grant no tokens.
  const oauth = await import('oauth4webapi')
  const { tokenUrl, clientId, clientSecret, scope, sendAs } = request
  const server = { issuer: new URL(tokenUrl).origin, token_endpoint: tokenUrl }
  const client = { client_id: clientId }
  const proof = sendAs === 'body' ? oauth.ClientSecretPost(clientSecret) : basicOf(clientSecret)
  const response = await oauth.clientCredentialsGrantRequest(server, client, proof, scope ? { scope } : {}, {
    // The configuration already decided which addresses may use plain http.
    [oauth.allowInsecureRequests]: true,
    [oauth.customFetch]: (url, { headers, body }) => send(url, { headers, body: String(body) }),
  })
  const { access_token: text, expires_in: lifeS } = await oauth.processClientCredentialsResponse(
    server,
    client,
    response,
  )
  if (text.length > LONGEST_TOKEN || !TOKEN.test(text)) return null
  return { text, lifeMs: lifeS === undefined ? null : lifeS * 1000 }
}

/** The library would also escape hyphens and dots, and servers that do not decode the text would refuse that. */
function basicOf(clientSecret: string): ClientAuth {
  return (_server, { client_id: clientId }, _body, headers) => {
    const user = [clientId, clientSecret].map((part) => encodeURIComponent(part)).join(':')
    headers.set('authorization', `Basic ${btoa(user)}`)
  }
}

async function untilAborted<Value>(promise: Promise<Value>, signal: AbortSignal): Promise<Value> {
  const { promise: aborted, reject } = Promise.withResolvers<never>()
  const giveUp = (): void => reject(signal.reason)
  signal.addEventListener('abort', giveUp, { once: true })
  if (signal.aborted) giveUp()
  try {
    return await Promise.race([promise, aborted])
  } finally {
    signal.removeEventListener('abort', giveUp)
  }
}

/**
 * Picks the members that matter. Others, such as an `id_token` or a `scope` of null, would be checked too. The type is
 * required (RFC 6749 §5.1), but some servers leave it out.
 */
function membersOf(answer: unknown): object {
  const of = (name: string): unknown =>
    typeof answer === 'object' && answer !== null ? (Reflect.get(answer, name) ?? undefined) : undefined
  return {
    access_token: of('access_token'),
    token_type: of('token_type') ?? 'bearer',
    expires_in: of('expires_in'),
  }
}
