import type { Secret } from '../../domain/secret.ts'
import { type Failed, type Failure, failed, failureOf } from '../../sync/port.ts'
import { type Moment, type Time, elapsedMs } from '../../time/time.ts'
import { requestToken } from '../kit/tokens.ts'
import type { CrmLimits } from '../kit/crm-limits.ts'
import { ResponseBodyError } from 'oauth4webapi'
import { type Answered, type AskOptions, ask } from '../web/ask.ts'
import { type HttpClient, retryAfterMs } from '../web/http-client.ts'

const LONGEST_MARGIN_MS = 300_000
const RENEWAL_PAUSE_MS = 30_000
const REFUSAL_PAUSE_MS = 1000

/**
 * The token shared by all requests: requested once at a time, renewed before it expires, dropped when the CRM refuses
 * it.
 */
export class DirectoryTokens {
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
  const { time, authority, tenant, clientId, scope } = settings
  const tokenUrl = `${authority}/${tenant}/oauth2/v2.0/token`
  const request = { tokenUrl, clientId, clientSecret: secret.reveal(), scope, sendAs: 'body' } as const
  let since = time.now()
  try {
    const granted = await requestToken(request, async (_url, form) => {
      const { reply, begunAt } = await askedOf(settings, { ...form, url: tokenUrl })
      since = begunAt
      // Only what the library needs: a challenge in the headers would hide the reason, which is in the body.
      const headers = { 'content-type': reply.headers['content-type'] ?? '' }
      return new Response(new Uint8Array(reply.body), { status: reply.status, headers })
    })
    if (granted === null) return noToken(authority)
    const lifeMs = Math.max(granted.lifeMs ?? DEFAULT_LIFE_MS, LEAST_LIFE_MS)
    return { ok: true, text: granted.text, since, lifeMs }
  } catch (cause) {
    if (cause instanceof Unanswered) return { ok: false, failure: cause.failure }
    return cause instanceof ResponseBodyError ? refusalOf(cause, settings, secret.from) : noToken(authority)
  }
}

/** A directory that did not answer, is down or throttles. */
class Unanswered extends Error {
  readonly failure: Failure

  constructor(failure: Failure) {
    super(failure.message)
    this.failure = failure
  }
}

async function askedOf(
  { web, time, limits }: TokenSettings,
  request: Pick<AskOptions, 'url' | 'headers' | 'body'>,
): Promise<Answered> {
  const { host } = new URL(request.url)
  const answered = await ask(web, {
    ...request,
    method: 'POST',
    mostBytes: MOST_BYTES,
    signal: new AbortController().signal,
    timeoutMs: limits.requestTimeoutMs,
    time,
  })
  if ('reply' in answered) {
    const { reply } = answered
    const { status } = reply
    if (status !== 429 && status < 500) return answered
    const kind = status === 429 ? 'throttled' : 'unreachable'
    const message = `${host} answered the request for a token with ${status}`
    throw new Unanswered(failureOf(kind, message, retryAfterMs(reply, time.now().wallMs)))
  }
  // The failure kind `too-large` is about pages of the CRM.
  if (answered.kind !== 'too-large') throw new Unanswered(answered)
  const message = `${host} answered the request for a token with more than ${MOST_BYTES / 1024} KB; is crm.authority right?`
  throw new Unanswered(failureOf('broken', message))
}

function noToken(authority: string): NoToken {
  const message = `${new URL(authority).host} answered the request for a token with something that is not a token; is crm.authority right?`
  return failed('broken', message)
}

/** Why the directory refuses a token, and what an admin can do. */
interface Reason {
  /** The directory's error numbers (AADSTS…): its texts come in many languages, the numbers do not. */
  readonly numbers: readonly string[]
  /** Whether another secret might be accepted. */
  readonly isOfSecret?: true
  readonly say: (settings: TokenSettings, secretFrom: string) => string
}

const SECRET_WRONG: Reason = {
  numbers: ['7000215', '7000216', '7000218', '70002'],
  isOfSecret: true,
  say: (_, secretFrom) => `the client secret is wrong: ${secretFrom} must hold the secret's value, not its ID`,
}

const REASONS: readonly Reason[] = [
  SECRET_WRONG,
  {
    numbers: ['7000222'],
    isOfSecret: true,
    say: (_, secretFrom) =>
      `the client secret has expired: add a new one to the app registration and put it into ${secretFrom}`,
  },
  {
    numbers: ['90002', '900023', '90013', '50059'],
    say: ({ tenant }) =>
      `the tenant ${tenant} does not exist: set crm.tenant to the Directory (tenant) ID of the app registration`,
  },
  {
    numbers: ['700016', '70001'],
    say: ({ tenant, clientId }) =>
      `the tenant ${tenant} has no app registration ${clientId}: set crm.clientId to its Application (client) ID, or crm.tenant to its directory`,
  },
  {
    numbers: ['500011', '650057', '65005', '70011'],
    say: ({ scope }) =>
      `the directory knows no environment ${scope.replace(/\/\.default$/, '')}: is crm.url right, and of this tenant?`,
  },
]

function refusalOf(cause: ResponseBodyError, settings: TokenSettings, secretFrom: string): NoToken {
  const number = /AADSTS(\d{1,10})\b/.exec(cause.error_description ?? '')?.[1] ?? null
  const known = number === null ? undefined : REASONS.find(({ numbers }) => numbers.includes(number))
  const reason = known ?? (cause.error === 'invalid_client' ? SECRET_WRONG : null)
  const message = reason?.say(settings, secretFrom) ?? 'the directory refused the app registration'
  // A code in the form of RFC 6749 §5.2: anything else may be text that quotes the request.
  const plainCode = /^[a-z_]{1,40}$/.test(cause.error) ? cause.error : 'no code'
  const failure = failureOf('refused', `${message} (${number === null ? plainCode : `AADSTS${number}`})`)
  return { ok: false, failure, isSecretRefused: reason?.isOfSecret === true }
}
