import type { Context } from './connector/marquee-connector.d.ts'
import type { GrantRequest } from './kit/client-grant.ts'

/** A token is kept this long if the server does not say how long it lives. */
const USUAL_LIFE_MS = 10 * 60_000
const LONGEST_LIFE_MS = 24 * 3_600_000
const REFUSED = ['invalid_client', 'invalid_client_id', 'invalid_grant', 'unauthorized_client', 'access_denied']

/** A token by client credentials, kept until shortly before it expires. */
export class ClientToken {
  #held: { readonly text: string; readonly secret: string; readonly untilMs: number } | null = null

  async current(context: Context, request: GrantRequest): Promise<string> {
    const { clientSecret: secret } = request
    const held = this.#held
    if (held !== null && held.secret === secret && performance.now() < held.untilMs) return held.text
    // Imported on demand: most APIs have keys.
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
    this.#held = { text, secret, untilMs: performance.now() + Math.min(keptMs, LONGEST_LIFE_MS) }
    return text
  }

  /** Forgets a token that may have been refused. */
  drop(): void {
    this.#held = null
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
