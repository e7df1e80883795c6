import type { Secret } from '../../domain/secret.ts'
import type { Failure } from '../../sync/port.ts'
import { type Moment, elapsedMs } from '../../time/time.ts'
import { type NoToken, type Token, type TokenSettings, grantToken } from './grant.ts'

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

  /** Drops a token that the CRM refused. */
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
