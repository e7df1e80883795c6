import { type Failure, type Failed, failedInternally } from './port.ts'
import { type Time, elapsedMs } from '../time/time.ts'

export type Attempt = { readonly ok: true } | Failed

/** A reload may change the two durations, so each attempt reads them again. */
export interface PollerSettings {
  readonly time: Time
  readonly everyMs: number
  /** The longest back-off, except after `Retry-After` or refused credentials. */
  readonly backOffCeilingMs: number
  readonly attempt: () => Promise<Attempt>
  /**
   * Returns true if the CRM's data has changed since the failed read, which ends a back-off. Called every `everyMs`.
   */
  readonly hasChanged?: (() => Promise<boolean>) | undefined
}

const FIRST_BACK_OFF_MS = 1000
const REFUSED_CEILING_MS = 60_000
const THROTTLED_PAUSE_MS = 10_000
const THROTTLED_CEILING_MS = 60_000
/** The longest pause that a CRM may ask for. */
export const RETRY_AFTER_CEILING_MS = 3_600_000

/** Repeats one kind of read: one at a time, shared by all callers, with a random back-off after failures. */
export class Poller {
  /** The number of failures since the last success of this poller. */
  failures = 0
  /** The number of failures that a previous leader or process already had; it lengthens the back-off. */
  #failuresElsewhere = 0
  /** The last attempt's failure, by this poller or a previous reader; `null` after a success. */
  lastFailure: Failure | null = null
  readonly #settings: PollerSettings
  #running: Promise<Attempt> | null = null
  #cancelTimer: (() => void) | null = null
  #cancelLook: (() => void) | null = null
  /** When the timer fires, monotonic ms: setting the wall clock does not change that. */
  #dueAtMs = 0
  /** The time until which the CRM asked for no requests, monotonic ms. */
  #askedUntilMs = 0
  /** Resolves when the next attempt ends. */
  #ended = Promise.withResolvers<void>()
  #hinted = false
  #retries = false
  #stopped = true

  constructor(settings: PollerSettings) {
    this.#settings = settings
  }

  /**
   * Starts polling.
   *
   * @param before The last failure of a previous reader. The CRM's own `Retry-After` is obeyed; the previous reader's
   * back-off is not, because the CRM may be reachable from here.
   * @param failures The number of that reader's failures in a row. If the first attempt fails, the back-off continues
   * from there.
   */
  start(firstAfterMs: number, before: Failure | null = null, failures = 0): void {
    this.#stopped = false
    this.lastFailure = before
    this.#failuresElsewhere = failures
    const askedMs = before?.retryAfterMs ?? 0
    this.#schedule(Math.max(firstAfterMs, askedMs), askedMs)
    if (before !== null) this.#lookLater()
  }

  /** Stops polling. Resolves when the running attempt has ended. */
  async stop(): Promise<void> {
    this.#stopped = true
    this.#cancelTimer?.()
    this.#cancelLook?.()
    this.#ended.resolve()
    await this.#running
  }

  /** Brings the next attempt forward to within `withinMs`. Used if `everyMs` has become shorter. A back-off stays. */
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

  /** The poller waits for the next try after a failure: an attempt now would ignore the back-off. */
  get isBackingOff(): boolean {
    return this.#running === null && (this.failures > 0 || this.askedMs > 0)
  }

  /** Milliseconds until the CRM accepts requests again; 0 if it does now. */
  get askedMs(): number {
    return Math.max(0, this.#askedUntilMs - this.#settings.time.now().monotonicMs)
  }

  /** The last attempt found data that may be incomplete, and waits for the rest. */
  get isWaiting(): boolean {
    return this.lastFailure?.kind === 'waiting'
  }

  /** Milliseconds until the next attempt; 0 while one is running. */
  get nextTryInMs(): number {
    return this.#running === null ? Math.max(0, this.#dueAtMs - this.#settings.time.now().monotonicMs) : 0
  }

  /** Resolves with the running attempt, or with one begun now. */
  attempt(): Promise<Attempt> {
    this.#running ??= this.#run()
    return this.#running
  }

  /** Resolves after an attempt that is not `waiting`: the running one, one begun now, or a later one. */
  async conclude(): Promise<void> {
    await this.attempt()
    while (this.isWaiting && !this.#stopped) await this.#ended.promise
  }

  /** Handles a hint of a change: reads soon, but one read at a time and never during a back-off. */
  hint(): void {
    if (this.#stopped) return
    if (this.#running !== null) this.#hinted = true
    else if (!this.isBackingOff) void this.attempt()
  }

  /** Tries at once despite a back-off: the operator says that the cause is fixed. */
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
    // A CRM that asks for fewer requests, and does not say how long, gets few.
    if (kind === 'throttled' && retryAfterMs === null) {
      const pauseMs = Math.min(2 ** Math.min(failuresBefore, 20) * THROTTLED_PAUSE_MS, THROTTLED_CEILING_MS)
      return { ownMs: 0, askedMs: pauseMs }
    }
    const ceilingMs = isRefused ? REFUSED_CEILING_MS : this.#settings.backOffCeilingMs
    const grownMs = Math.min(2 ** Math.min(failuresBefore, 20) * FIRST_BACK_OFF_MS, ceilingMs)
    // Refused credentials are retried at regular intervals, because some directories lock accounts after a burst of
    // failures.
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
