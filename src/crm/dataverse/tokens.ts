import type { Secret } from '../../config/secret.ts'
import type { CrmFailure, Failed } from '../../replica/port.ts'
import { type Moment, elapsedMs } from '../../replica/time.ts'
import { type Granted, type TokenSettings, grantToken } from './grant.ts'

export type TokenText = { readonly ok: true; readonly text: string } | Failed

const LONGEST_MARGIN_MS = 300_000
const RENEWAL_PAUSE_MS = 30_000
const REFUSAL_PAUSE_MS = 1000

/** The token all requests share: asked for once at a time, renewed before it ends, given up when it is refused. */
export class Tokens {
  readonly #settings: TokenSettings
  #secret: Secret
  #held: Extract<Granted, { readonly kind: 'token' }> | null = null
  #asking: Promise<TokenText> | null = null
  /** An early renewal, or credentials that were refused, are not tried again at once; a directory that asked to wait, not before. */
  #failed: { readonly at: Moment; readonly failure: CrmFailure } | null = null

  constructor(settings: TokenSettings) {
    this.#settings = settings
    this.#secret = settings.clientSecret
  }

  async current(): Promise<TokenText> {
    const ageMs = this.#held === null ? 0 : elapsedMs(this.#held.since, this.#settings.time.now())
    const held = this.#held !== null && ageMs < this.#held.lifeMs ? this.#held : null
    const isEarly = held !== null
    if (held !== null && ageMs < held.lifeMs - Math.min(LONGEST_MARGIN_MS, held.lifeMs / 5))
      return { ok: true, text: held.text }
    const failed = this.#recentFailure(isEarly)
    const asked = failed ?? (await this.#ask())
    return asked.ok || held === null ? asked : { ok: true, text: held.text }
  }

  /** The CRM refused this token: the next request needs another. */
  refused(text: string): void {
    if (this.#held?.text === text) this.#held = null
  }

  #recentFailure(isEarly: boolean): TokenText | null {
    if (this.#failed === null) return null
    const { at, failure } = this.#failed
    const pauseMs = isEarly ? RENEWAL_PAUSE_MS : failure.kind === 'refused' ? REFUSAL_PAUSE_MS : 0
    const leftMs = Math.max(pauseMs, failure.retryAfterMs ?? 0) - elapsedMs(at, this.#settings.time.now())
    if (leftMs <= 0) return null
    return { ok: false, failure: { ...failure, retryAfterMs: failure.retryAfterMs === null ? null : leftMs } }
  }

  #ask(): Promise<TokenText> {
    this.#asking ??= this.#askDirectory().finally(() => {
      this.#asking = null
    })
    return this.#asking
  }

  async #askDirectory(): Promise<TokenText> {
    let granted = await grantToken(this.#settings, this.#secret)
    if (granted.kind === 'secret-refused') {
      // Rotation without a restart: the file may hold another one by now.
      const fresh = await this.#secret.refresh()
      if (fresh.ok && fresh.secret !== this.#secret) {
        this.#secret = fresh.secret
        granted = await grantToken(this.#settings, this.#secret)
      }
    }
    return this.#take(granted)
  }

  #take(granted: Granted): TokenText {
    const { time } = this.#settings
    if (granted.kind !== 'token') {
      this.#failed = { at: time.now(), failure: granted.failure }
      return { ok: false, failure: granted.failure }
    }
    this.#failed = null
    this.#held = granted
    return { ok: true, text: granted.text }
  }
}
