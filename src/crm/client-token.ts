import type { Context } from './connector/marquee-connector.d.ts'
import type { GrantRequest } from './kit/client-grant.ts'

/** A token is kept this long if the server does not say how long it lives. */
const USUAL_LIFE_MS = 10 * 60_000
const LONGEST_LIFE_MS = 24 * 3_600_000
const REFUSED = ['invalid_client', 'invalid_client_id', 'invalid_grant', 'unauthorized_client', 'access_denied']

interface Asking {
  readonly secret: string
  /** Ends the request: the signal of the read that began it. */
  readonly signal: AbortSignal
  readonly token: Promise<string>
}

/**
 * A token by client credentials, kept until shortly before it expires. Reads that need one at the same time share one
 * request. If it fails, it fails for those reads alone: the next read asks again.
 */
export class ClientToken {
  #held: { readonly text: string; readonly secret: string; readonly untilMs: number } | null = null
  #asking: Asking | null = null

  /** Returns the `bearer` of requests: a token that is replaced if the CRM refuses it. */
  bearer(context: Context, request: GrantRequest): (refused: string | null) => Promise<string> {
    return (refused) => {
      // Another read may have replaced it already.
      if (this.#held?.text === refused) this.#held = null
      return this.#current(context, request)
    }
  }

  async #current(context: Context, request: GrantRequest): Promise<string> {
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

  #ask(context: Context, request: GrantRequest): Promise<string> {
    const token = this.#grant(context, request).finally(() => {
      this.#asking = null
    })
    this.#asking = { secret: request.clientSecret, signal: context.signal, token }
    return token
  }

  async #grant(context: Context, request: GrantRequest): Promise<string> {
    // Imported on demand: most APIs take a key, and grant no tokens.
    const { requestToken } = await import('./kit/client-grant.ts')
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
    const keptMs = lifeMs === null || lifeMs === 0 ? USUAL_LIFE_MS : lifeMs * 0.9
    const untilMs = performance.now() + Math.min(keptMs, LONGEST_LIFE_MS)
    this.#held = { text, secret: request.clientSecret, untilMs }
    return text
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
