import type { Context } from './connector/marquee-connector.d.ts'

export interface TokenRequest {
  readonly tokenUrl: string
  readonly clientId: string
  readonly clientSecret: string
  readonly scope?: string | null
  readonly sendAs: 'basic' | 'body'
}

/** A token is kept this long if the server does not say how long it lives. */
const USUAL_LIFE_MS = 10 * 60_000
const REFUSED = ['invalid_client', 'invalid_client_id', 'invalid_grant', 'unauthorized_client', 'access_denied']

/** A token by OAuth 2 client credentials (RFC 6749 §4.4), kept until shortly before it expires. */
export class ClientToken {
  #held: { readonly text: string; readonly secret: string; readonly untilMs: number } | null = null

  async current(context: Context, { tokenUrl, clientId, clientSecret, scope, sendAs }: TokenRequest): Promise<string> {
    const held = this.#held
    if (held !== null && held.secret === clientSecret && performance.now() < held.untilMs) return held.text
    const client = { client_id: clientId, client_secret: clientSecret }
    const form = { grant_type: 'client_credentials', ...(scope ? { scope } : {}), ...(sendAs === 'body' ? client : {}) }
    const user = [clientId, clientSecret].map((part) => encodeURIComponent(part)).join(':')
    const answer: unknown = await context.http.post(tokenUrl, {
      headers: {
        'content-type': 'application/x-www-form-urlencoded',
        ...(sendAs === 'basic' ? { authorization: `Basic ${Buffer.from(user).toString('base64')}` } : {}),
      },
      body: new URLSearchParams(form).toString(),
      errorAt: 'error',
      refusedAs: REFUSED,
    })
    const of = (name: string): unknown =>
      typeof answer === 'object' && answer !== null ? Reflect.get(answer, name) : undefined
    const token = of('access_token')
    const text = typeof token === 'string' ? token : context.fail('broken', 'the token server answered without a token')
    const seconds = Number(of('expires_in'))
    const lifeMs = seconds > 0 ? seconds * 900 : USUAL_LIFE_MS
    this.#held = { text, secret: clientSecret, untilMs: performance.now() + Math.min(lifeMs, 24 * 3_600_000) }
    return text
  }

  /** Forgets a token that may have been refused. */
  drop(): void {
    this.#held = null
  }
}
