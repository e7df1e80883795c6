import type { Secret } from '../../domain/secret.ts'
import { type Failed, type Failure, failed, failureOf } from '../../sync/port.ts'
import { type Moment, type Time, elapsedMs } from '../../time/time.ts'
import { requestToken } from '../kit/client-grant.ts'
import type { CrmLimits } from '../kit/crm-limits.ts'
import { ResponseBodyError } from 'oauth4webapi'
import { ask } from '../web/ask.ts'
import { type HttpClient, type HttpReply, retryAfterMs } from '../web/http-client.ts'

const LONGEST_MARGIN_MS = 300_000
const RENEWAL_PAUSE_MS = 30_000
const REFUSAL_PAUSE_MS = 1000

/**
 * The token shared by all requests: requested once at a time, renewed before it expires, dropped when the CRM refuses
 * it.
 */
export class Tokens {
  readonly #settings: TokenSettings
  #secret: Secret
  #held: Token | null = null
  #asking: Promise<Token | NoToken> | null = null
  /**
   * The last failed request for a token. It delays the next: early renewals and refused credentials for a while, others
   * only if the directory asked for a pause.
   */
  #failed: { readonly at: Moment; readonly failure: Failure } | null = null

  constructor(settings: TokenSettings) {
    this.#settings = settings
    this.#secret = settings.clientSecret
  }

  async current(): Promise<Token | NoToken> {
    const ageMs = this.#held === null ? 0 : elapsedMs(this.#held.since, this.#settings.time.now())
    const held = this.#held !== null && ageMs < this.#held.lifeMs ? this.#held : null
    if (held !== null && ageMs < held.lifeMs - Math.min(LONGEST_MARGIN_MS, held.lifeMs / 5)) return held
    const asked = this.#recentFailure(held !== null) ?? (await this.#ask())
    return asked.ok ? asked : (held ?? asked)
  }

  refused(text: string): void {
    if (this.#held?.text === text) this.#held = null
  }

  #recentFailure(isEarly: boolean): NoToken | null {
    if (this.#failed === null) return null
    const { at, failure } = this.#failed
    const pauseMs = isEarly ? RENEWAL_PAUSE_MS : failure.kind === 'refused' ? REFUSAL_PAUSE_MS : 0
    const leftMs = Math.max(pauseMs, failure.retryAfterMs ?? 0) - elapsedMs(at, this.#settings.time.now())
    if (leftMs <= 0) return null
    return { ok: false, failure: { ...failure, retryAfterMs: failure.retryAfterMs === null ? null : leftMs } }
  }

  #ask(): Promise<Token | NoToken> {
    this.#asking ??= this.#askDirectory().finally(() => {
      this.#asking = null
    })
    return this.#asking
  }

  async #askDirectory(): Promise<Token | NoToken> {
    let granted = await grantToken(this.#settings, this.#secret)
    if (!granted.ok && granted.isSecretRefused === true) {
      // Secrets can be rotated without a restart: read the file again.
      const fresh = await this.#secret.refresh()
      if (fresh.ok && fresh.secret !== this.#secret) {
        this.#secret = fresh.secret
        granted = await grantToken(this.#settings, this.#secret)
      }
    }
    if (granted.ok) this.#held = granted
    this.#failed = granted.ok ? null : { at: this.#settings.time.now(), failure: granted.failure }
    return granted
  }
}

interface TokenSettings {
  readonly web: HttpClient
  readonly time: Time
  readonly limits: Pick<CrmLimits, 'requestTimeoutMs'>
  readonly authority: string
  readonly tenant: string
  readonly clientId: string
  readonly clientSecret: Secret
  readonly scope: string
}

interface Token {
  readonly ok: true
  readonly text: string
  readonly since: Moment
  readonly lifeMs: number
}

interface NoToken extends Failed {
  /** Whether another secret might be accepted. */
  readonly isSecretRefused?: boolean
}

const MOST_BYTES = 256 * 1024
/** The assumed lifetime of a token that states none; actual ones are much longer. */
const DEFAULT_LIFE_MS = 300_000
/** The shortest lifetime assumed, so an expired token is not requested again with every request. */
const LEAST_LIFE_MS = 1000

/** Requests a token from the directory with the client credentials grant (RFC 6749 §4.4). */
async function grantToken(settings: TokenSettings, secret: Secret): Promise<Token | NoToken> {
  const { web, time, limits, authority, tenant, clientId, scope } = settings
  const exchange: { failure: Failure | null; begunAt: Moment } = { failure: null, begunAt: time.now() }
  try {
    const granted = await requestToken(
      {
        tokenUrl: `${authority}/${tenant}/oauth2/v2.0/token`,
        clientId,
        clientSecret: secret.reveal(),
        scope,
        sendAs: 'body',
      },
      async (url, { headers, body }) => {
        const answered = await ask(web, {
          method: 'POST',
          url,
          headers,
          body,
          mostBytes: MOST_BYTES,
          signal: new AbortController().signal,
          timeoutMs: limits.requestTimeoutMs,
          time,
        })
        if (!('reply' in answered)) {
          exchange.failure = answered.kind === 'too-large' ? tooLarge(url) : answered
          return new Response(null, { status: 503 })
        }
        exchange.begunAt = answered.begunAt
        exchange.failure = outage(answered.reply, time.now().wallMs, new URL(url).host)
        return responseOf(answered.reply)
      },
    )
    if (exchange.failure !== null) return { ok: false, failure: exchange.failure }
    if (granted === null) return noToken(authority)
    const lifeMs = Math.max(granted.lifeMs ?? DEFAULT_LIFE_MS, LEAST_LIFE_MS)
    return { ok: true, text: granted.text, since: exchange.begunAt, lifeMs }
  } catch (cause) {
    if (exchange.failure !== null) return { ok: false, failure: exchange.failure }
    if (!(cause instanceof ResponseBodyError)) return noToken(authority)
    const refusal = { error: cause.error, description: cause.error_description ?? '' }
    const failure = grantRefusal(refusal, settings, secret.from)
    return { ok: false, failure, isSecretRefused: isSecretRefused(refusal) }
  }
}

/** The failure kind is not `too-large`, which is about pages of the CRM. */
function tooLarge(url: string): Failure {
  const message = `${new URL(url).host} answered the request for a token with more than ${MOST_BYTES / 1024} KB; is crm.authority right?`
  return failureOf('broken', message)
}

function noToken(authority: string): NoToken {
  const message = `${new URL(authority).host} answered the request for a token with something that is not a token; is crm.authority right?`
  return failed('broken', message)
}

/** Returns a failure if the directory is down or throttling; `null` if it answered. */
function outage(reply: HttpReply, nowWallMs: number, host: string): Failure | null {
  const { status } = reply
  if (status !== 429 && status < 500) return null
  const kind = status === 429 ? 'throttled' : 'unreachable'
  const message = `${host} answered the request for a token with ${status}`
  return failureOf(kind, message, retryAfterMs(reply, nowWallMs))
}

/** Passes on only what the library needs: a challenge in the headers would hide the reason, which is in the body. */
function responseOf({ status, headers, body }: HttpReply): Response {
  const hasBody = status !== 204 && status !== 304 && status >= 200
  return new Response(hasBody ? new Uint8Array(body) : null, {
    status: hasBody ? status : 204,
    headers: { 'content-type': headers['content-type'] ?? '' },
  })
}

interface Refusal {
  readonly error: string
  readonly description: string
}

// The directory's error numbers (AADSTS…); its texts come in many languages, the numbers do not.
const NO_TENANT: ReadonlySet<string> = new Set(['90002', '900023', '90013', '50059'])
const NO_APPLICATION: ReadonlySet<string> = new Set(['700016', '70001'])
const SECRET_EXPIRED = '7000222'
const SECRET_WRONG: ReadonlySet<string> = new Set(['7000215', '7000216', '7000218', '70002'])
const NO_RESOURCE: ReadonlySet<string> = new Set(['500011', '650057', '65005', '70011'])

function isSecretRefused({ error, description }: Refusal): boolean {
  const number = numberOf(description)
  if (NO_APPLICATION.has(number ?? '') || NO_TENANT.has(number ?? '')) return false
  return error === 'invalid_client' || number === SECRET_EXPIRED || SECRET_WRONG.has(number ?? '')
}

/** Explains to an admin why the directory refused a token, and what to do. */
function grantRefusal(refusal: Refusal, { tenant, clientId, scope }: TokenSettings, secretFrom: string): Failure {
  const number = numberOf(refusal.description)
  const code = number === null ? plainCode(refusal.error) : `AADSTS${number}`
  const refused = (message: string): Failure => failureOf('refused', `${message} (${code})`)
  if (number !== null && NO_TENANT.has(number)) {
    return refused(
      `the tenant ${tenant} does not exist: set crm.tenant to the Directory (tenant) ID of the app registration`,
    )
  }
  if (number !== null && NO_APPLICATION.has(number)) {
    return refused(
      `the tenant ${tenant} has no app registration ${clientId}: set crm.clientId to its Application (client) ID, or crm.tenant to its directory`,
    )
  }
  if (number === SECRET_EXPIRED) {
    return refused(`the client secret has expired: add a new one to the app registration and put it into ${secretFrom}`)
  }
  if (number !== null && NO_RESOURCE.has(number)) {
    return refused(
      `the directory knows no environment ${scope.replace(/\/\.default$/, '')}: is crm.url right, and of this tenant?`,
    )
  }
  if (isSecretRefused(refusal)) {
    return refused(`the client secret is wrong: ${secretFrom} must hold the secret's value, not its ID`)
  }
  return refused('the directory refused the app registration')
}

/** Returns a code in the form of RFC 6749 §5.2. Anything else may be text that quotes the request. */
function plainCode(error: string): string {
  return /^[a-z_]{1,40}$/.test(error) ? error : 'no code'
}

function numberOf(description: string): string | null {
  return /AADSTS(\d{1,10})\b/.exec(description)?.[1] ?? null
}
