import { type Failure, type Failed, failedInternally } from './port.ts'
import { type Time, elapsedMs } from '../time/time.ts'

export type Attempt = { readonly ok: true } | Failed

/** The two numbers are looked up for each attempt: a reload changes them. */
export interface PollerSettings {
  readonly time: Time
  readonly everyMs: number
  /** No back-off is longer, but where the CRM said `Retry-After` or refused the credentials. */
  readonly backOffCeilingMs: number
  readonly attempt: () => Promise<Attempt>
  /** Whether there is something else to read than what failed: that ends a back-off. Asked every `everyMs`. */
  readonly hasChanged?: () => Promise<boolean>
}

const FIRST_BACK_OFF_MS = 1000
const REFUSED_CEILING_MS = 60_000
const RETRY_AFTER_CEILING_MS = 3_600_000

/** One kind of read, again and again: one at a time, shared by all who wait, with a random back-off after a failure. */
export class Poller {
  /** Failures since the last success, here; and those before them elsewhere, by which the back-off goes on. */
  failures = 0
  #failuresElsewhere = 0
  /** How the last attempt failed, here or elsewhere. */
  lastFailure: Failure | null = null
  readonly #settings: PollerSettings
  #running: Promise<Attempt> | null = null
  #cancelTimer: (() => void) | null = null
  #cancelLook: (() => void) | null = null
  /** When the timer fires, by the monotonic clock as timers do: setting the wall clock brings it no nearer. */
  #dueAtMs = 0
  /** Until when the CRM asked that nobody tries, by the same clock. */
  #askedUntilMs = 0
  /** Resolves with the next attempt that ends. */
  #ended = Promise.withResolvers<void>()
  #hinted = false
  #retries = false
  #stopped = true

  constructor(settings: PollerSettings) {
    this.#settings = settings
  }

  /**
   * `before`: how the last attempt elsewhere failed, which was the so many-th. What the CRM asked for then is obeyed here, and
   * another's own back-off is not: from here it may be reached. Where it is not, the back-off goes on as if one had tried all along.
   */
  start(firstAfterMs: number, before: Failure | null = null, failures = 0): void {
    this.#stopped = false
    this.lastFailure = before
    this.#failuresElsewhere = failures
    const askedMs = before?.retryAfterMs ?? 0
    this.#schedule(Math.max(firstAfterMs, askedMs), askedMs)
    if (before !== null) this.#lookLater()
  }

  /** No further attempt begins; resolves when the one under way has ended. */
  async stop(): Promise<void> {
    this.#stopped = true
    this.#cancelTimer?.()
    this.#cancelLook?.()
    this.#ended.resolve()
    await this.#running
  }

  /** What is due later comes then: where `everyMs` has changed, as soon as it says. A back-off stays. */
  hasten(withinMs: number = this.#settings.everyMs): void {
    const isDueLater = this.#dueAtMs - this.#settings.time.now().monotonicMs > withinMs
    if (!this.#stopped && this.#running === null && !this.isBackingOff && isDueLater) this.#schedule(withinMs)
  }

  get failuresInAll(): number {
    return this.#failuresElsewhere + this.failures
  }

  get isRunning(): boolean {
    return this.#running !== null
  }

  /** Waiting for the next try after a failure: an attempt now would break the back-off. */
  get isBackingOff(): boolean {
    return this.#running === null && (this.failures > 0 || this.askedMs > 0)
  }

  /** How much longer the CRM asked that nobody tries; 0 where it did not. */
  get askedMs(): number {
    return Math.max(0, this.#askedUntilMs - this.#settings.time.now().monotonicMs)
  }

  /** The last attempt found what may be unfinished. */
  get isWaiting(): boolean {
    return this.lastFailure?.kind === 'waiting'
  }

  /** Milliseconds until the next attempt; 0 while one runs. */
  get nextTryInMs(): number {
    return this.#running === null ? Math.max(0, this.#dueAtMs - this.#settings.time.now().monotonicMs) : 0
  }

  /** Ends with the attempt that is under way, or with one begun now. */
  attempt(): Promise<Attempt> {
    this.#running ??= this.#run()
    return this.#running
  }

  /** Ends with an attempt that waits for nothing: the one that is under way, one begun now, or one that the timer begins. */
  async conclude(): Promise<void> {
    await this.attempt()
    while (this.isWaiting && !this.#stopped) await this.#ended.promise
  }

  /** Something may have changed: read soon, but one at a time and never against the back-off. */
  hint(): void {
    if (this.#stopped) return
    if (this.#running !== null) this.#hinted = true
    else if (!this.isBackingOff) void this.attempt()
  }

  /** Tries at once, back-off or not: the operator says that things have changed. */
  retryNow(): void {
    if (this.#stopped) return
    if (this.#running === null) void this.attempt()
    else this.#retries = true
  }

  async #run(): Promise<Attempt> {
    this.#cancelTimer?.()
    this.#cancelLook?.()
    const begun = this.#settings.time.now()
    this.#hinted = this.#retries = false
    const attempt = await this.#settings.attempt().catch(failedInternally)
    this.#running = null
    const failure = attempt.ok ? null : attempt.failure
    this.lastFailure = failure
    if (failure === null || failure.kind === 'waiting') {
      this.failures = this.#failuresElsewhere = 0
      const sinceMs = elapsedMs(begun, this.#settings.time.now())
      const nextMs = Math.min(this.#settings.everyMs - sinceMs, failure?.retryAfterMs ?? Infinity)
      this.#schedule(this.#hinted || this.#retries ? 0 : Math.max(0, nextMs))
    } else {
      const { ownMs, askedMs } = this.#backOff(failure, this.failuresInAll)
      this.failures++
      if (this.#retries) this.#schedule(0)
      else this.#schedule(Math.max(ownMs, askedMs), askedMs)
      this.#lookLater()
    }
    this.#ended.resolve()
    this.#ended = Promise.withResolvers()
    return attempt
  }

  #lookLater(): void {
    const { hasChanged, time, everyMs } = this.#settings
    if (hasChanged === undefined || this.#stopped) return
    this.#cancelLook = time.after(everyMs, () => void this.#look(hasChanged))
  }

  async #look(hasChanged: () => Promise<boolean>): Promise<void> {
    const { failures } = this
    const changed = await hasChanged().catch(() => false)
    // Another attempt may have begun or ended meanwhile.
    if (this.#stopped || !this.isBackingOff || this.failures !== failures) return
    if (changed) void this.attempt()
    else this.#lookLater()
  }

  #backOff({ kind, retryAfterMs }: Failure, failuresBefore: number): Record<'ownMs' | 'askedMs', number> {
    const isRefused = kind === 'refused'
    const ceilingMs = isRefused ? REFUSED_CEILING_MS : this.#settings.backOffCeilingMs
    const grownMs = Math.min(2 ** Math.min(failuresBefore, 20) * FIRST_BACK_OFF_MS, ceilingMs)
    // Credentials that were refused are not tried again at random: some directories lock an account that does.
    const ownMs = (isRefused ? 1 : this.#settings.time.random()) * grownMs
    const askedMs = Math.min(retryAfterMs ?? 0, RETRY_AFTER_CEILING_MS)
    return { ownMs, askedMs: isRefused ? Math.max(ownMs, askedMs) : askedMs }
  }

  #schedule(delayMs: number, askedMs = 0): void {
    this.#cancelTimer?.()
    if (this.#stopped) return
    const { monotonicMs } = this.#settings.time.now()
    this.#dueAtMs = monotonicMs + delayMs
    this.#askedUntilMs = monotonicMs + askedMs
    this.#cancelTimer = this.#settings.time.after(delayMs, () => void this.attempt())
  }
}
