import type { ListName } from '../domain/field.ts'
import type { Guid } from '../domain/guid.ts'
import { type Attempt, Poller } from './poller.ts'
import { type ListReaderOptions, ListReader } from './list-reader.ts'
import { ASKED_BEFORE } from './resumed-snapshot.ts'
import { type Failure, SHORT_PAUSE_MS, failureOf } from './port.ts'
import type { RecordList } from '../records/record-list.ts'
import type { Freshness, RefreshSettings, ServedList, Shrunk, SnapshotList } from './served-list.ts'
import type { Moment, Time } from '../time/time.ts'

/** One list in memory, with the pollers that keep it up to date. */
export class ListReplica<Item> implements ServedList<Item> {
  readonly list: RecordList<Item>
  readonly reader: ListReader<Item>
  readonly freshness: Freshness
  readonly drift: ListReader<Item>['reports']['drift']
  readonly refresh: Poller
  readonly audit: Poller
  readonly #options: ListReaderOptions<Item>
  #endHints: (() => void) | undefined
  #isNew = true
  #stoppedAt: Moment | null = null
  /** The last pause in the middle of a read. */
  #pause: { readonly untilMs: number; readonly message: string } | null = null
  /** Wakes each caller that waits for reads. */
  readonly #waiting = new Set<() => void>()
  readonly #time: Time
  readonly #settings: () => RefreshSettings
  /** When the other list went on although this one could not be read; `null` if it never did. */
  #leftBehindAt: Moment | null = null
  /** The snapshot that the list resumed from, until the list is confirmed. */
  #snapshot: SnapshotList | null = null

  constructor(settings: () => RefreshSettings, options: ListReaderOptions<Item>) {
    const { time, source } = options
    const reader = new ListReader(options, settings)
    this.#time = time
    this.#settings = settings
    this.#options = options
    this.list = options.list
    this.reader = reader
    if (options.resumeState?.isLeftBehind === true) this.leaveBehind()
    this.freshness = reader.freshness
    this.drift = reader.reports.drift
    const pollerOf = (everyMs: () => number, attempt: () => Promise<Attempt>): Poller =>
      new Poller({
        time,
        get everyMs() {
          return everyMs()
        },
        // After a repair, the list is served again soon, and within the maximum age.
        get backOffCeilingMs() {
          const { refreshEveryMs, maxAgeMs } = settings()
          return Math.min(5000, Math.max(refreshEveryMs, maxAgeMs))
        },
        attempt,
        hasChanged: source.hasChanged?.bind(source),
      })
    this.refresh = pollerOf(
      () => settings().refreshEveryMs,
      () => this.#refresh(),
    )
    this.audit = pollerOf(
      () => settings().fullReadEveryMs,
      // Some connectors report changes only after a first full read. Without changes, every refresh is a full read.
      async () => (source.reportsChanges ? reader.audit() : { ok: true }),
    )
    source.onPause?.((forMs, why) => this.#pauses(forMs, why))
  }

  /** Notes that requests of a running read wait. Callers are told at once, as after a failure. */
  #pauses(forMs: number, why: string): void {
    if (forMs < SHORT_PAUSE_MS || !this.#confirming.some((poller) => poller.isRunning)) return
    const { monotonicMs, wallMs } = this.#time.now()
    this.reader.wait.pauses(monotonicMs, forMs)
    const untilMs = monotonicMs + forMs
    // Several requests may wait for the same reason, and not until the same millisecond.
    const isNew = this.#pause === null || untilMs > this.#pause.untilMs + SHORT_PAUSE_MS
    if (!isNew) return
    this.#pause = { untilMs, message: `${why}; the read continues after the pause` }
    this.#options.observe({ kind: 'read-paused', list: this.list.kind.name, why, forMs, untilMs: wallMs + forMs })
    this.help()
  }

  /** Milliseconds until the running read continues; 0 if it does not wait. */
  get #pausedMs(): number {
    if (this.#pause === null || !this.#confirming.some((poller) => poller.isRunning)) return 0
    return Math.max(0, this.#pause.untilMs - this.#time.now().monotonicMs)
  }

  /** Starts reading, or goes on after a stop. */
  start(): void {
    const { resumeState, source } = this.#options
    const { failure = null, failures = 0 } = this.#isNew ? (resumeState ?? {}) : this.#ownFailure
    this.#isNew = false
    this.#stoppedAt = null
    const askedMs = failure?.retryAfterMs ?? 0
    this.refresh.start(0, failure, failures)
    // The previous reader's audits count: the next one is due when its own would have been; at once if it did not
    // believe the list.
    const auditedMs = this.freshness.auditedAgeMs(this.#time.now()) ?? 0
    const auditInMs = this.shrunk === null ? this.#settings().fullReadEveryMs - auditedMs : 0
    this.audit.start(Math.max(askedMs, auditInMs))
    this.#endHints = source.onHint?.(() => this.refresh.hint())
  }

  /** The last failure of a read here, with what is left of a pause that the CRM asked for. */
  get #ownFailure(): { readonly failure: Failure | null; readonly failures?: number } {
    const { lastFailure, askedMs } = this.refresh
    return { failure: lastFailure === null ? null : { ...lastFailure, retryAfterMs: askedMs } }
  }

  /** Resumes from a snapshot whose rows are already in the list. */
  resume(snapshot: SnapshotList, writtenAt: Moment): void {
    this.#snapshot = snapshot
    this.reader.resume(snapshot, writtenAt)
    const forMs = this.reader.resumed?.askedMs(this.#time.now()) ?? 0
    if (forMs < SHORT_PAUSE_MS) return
    const untilMs = this.#time.now().wallMs + forMs
    this.#options.observe({ kind: 'read-paused', list: this.list.kind.name, why: ASKED_BEFORE, forMs, untilMs })
  }

  /** The list's part of a snapshot; `null` if it was neither read in full nor loaded from a snapshot itself. */
  get snapshotList(): SnapshotList | null {
    const now = this.#time.now()
    const list = this.reader.snapshotListAt(now)
    const askedMs = Math.max(this.askedMs, this.#pausedMs, this.reader.resumed?.askedMs(now) ?? 0)
    return list === null ? null : { ...list, askedUntilMs: askedMs === 0 ? null : now.wallMs + askedMs }
  }

  async #refresh(): Promise<Attempt> {
    const attempt = await this.reader.refresh()
    if (!attempt.ok) this.reader.bridge(attempt.failure)
    const snapshot = this.#snapshot
    if (snapshot === null || !this.reader.isLoaded || this.reader.isBridging) return attempt
    this.#snapshot = null
    const now = this.#time.now()
    // The confirming read may not have covered all rows: they are read when the previous process would have done so.
    if (this.freshness.auditedAgeMs(now) === null) {
      const dueAtMs = (snapshot.auditedAtMs ?? -Infinity) + this.#settings().fullReadEveryMs
      this.audit.hasten(Math.max(0, dueAtMs - now.wallMs))
    }
    return attempt
  }

  /** Applies changed settings: brings forward reads that are due too late by the new settings. */
  hasten(): void {
    for (const poller of [this.refresh, this.audit]) poller.hasten()
  }

  async stop(): Promise<void> {
    // Unsubscribe first: a hint must not start a read while the pollers stop.
    this.#endHints?.()
    this.#stoppedAt = this.#time.now()
    await Promise.all([this.refresh.stop(), this.audit.stop()])
  }

  /** Accepts a shorter list at the operator's request, and reads it at once. Returns the list's name. */
  acceptShorter(): ListName {
    this.reader.acceptShorter()
    this.refresh.retryNow()
    this.audit.retryNow()
    return this.list.kind.name
  }

  /** The pollers whose reads determine the age of an answer. */
  get #confirming(): readonly Poller[] {
    // While an audit is not believed, reads of changes prove nothing. Only the next audit does.
    return this.shrunk !== null && this.audit.failures > 0 ? [this.refresh, this.audit] : [this.refresh]
  }

  get isBackingOff(): boolean {
    return this.#pausedMs > 0 || this.#confirming.some((poller) => poller.isBackingOff)
  }

  get isFailing(): boolean {
    return (
      this.shrunk !== null ||
      this.#pausedMs > 0 ||
      this.#confirming.some(({ lastFailure, isWaiting }) => lastFailure !== null && !isWaiting)
    )
  }

  /** Why the list is not believed, or else the last failure of a poller that has not succeeded since. */
  get lastFailure(): Failure | null {
    const paused = this.#pausedMs === 0 ? null : this.#pause
    return (
      this.reader.guard.failure ??
      (paused === null ? null : failureOf('throttled', paused.message, this.#pausedMs)) ??
      this.refresh.lastFailure ??
      this.audit.lastFailure
    )
  }

  get shrunk(): Shrunk | null {
    const { shrunk } = this.reader.guard
    return shrunk === null || this.#stoppedAt === null ? shrunk : { ...shrunk, heardAt: this.#stoppedAt }
  }

  get isLoaded(): boolean {
    return this.reader.isLoaded
  }

  get loadedAtMs(): number {
    return this.reader.loadedAtMs
  }

  get nextReadInMs(): number {
    return Math.max(this.refresh.nextTryInMs, this.refresh.isRunning ? this.#pausedMs : 0)
  }

  /** Milliseconds until the CRM accepts reads of the list again; 0 if it does now. */
  get askedMs(): number {
    return Math.max(...this.#confirming.map(({ askedMs }) => askedMs))
  }

  get nextTryInMs(): number {
    const resting = this.#confirming.filter((poller) => poller.isBackingOff)
    return Math.max(
      this.#pausedMs,
      ...(resting.length > 0 ? resting : this.#confirming).map((poller) => poller.nextTryInMs),
    )
  }

  readOnce(): Promise<void> {
    // Waiting callers need a read that confirms the list.
    this.reader.confirmSince(this.#time.now())
    const { promise, resolve } = Promise.withResolvers<void>()
    this.#waiting.add(resolve)
    void Promise.all(this.#confirming.map((poller) => poller.conclude())).finally(() => {
      this.#waiting.delete(resolve)
      resolve()
    })
    return promise
  }

  help(): void {
    for (const resolve of this.#waiting) resolve()
  }

  /** Adds rows to which the other list refers. Resolves with the reason if the list cannot be read, else with `null`. */
  async add(missing: ReadonlySet<Guid>): Promise<Failure | null> {
    const { refresh, reader } = this
    // The CRM has just answered the other list, so one try need not wait for a back-off, unless the CRM asked for it.
    if (refresh.isBackingOff && refresh.askedMs > 0) return refresh.lastFailure
    const attempt = await reader.readAdditions(missing)
    return attempt.ok ? null : attempt.failure
  }

  /** Resolves when a read that begins from now on has ended, including removals, or the list cannot be read now. */
  async untilRead(): Promise<void> {
    const { refresh } = this
    if (refresh.isRunning) await refresh.attempt()
    if (!refresh.isBackingOff) await refresh.attempt()
  }

  /** Like `untilRead`, for a read that reports all changes, which may take long. */
  untilConfirmed(): Promise<void> {
    this.reader.confirmSince(this.#time.now())
    return this.untilRead()
  }

  /**
   * Notes that the other list goes on, although this one, which is past the maximum age, could not be read. It stays
   * past the maximum age until a read that begins now has confirmed it: what the other list refers to may be missing.
   */
  leaveBehind(): void {
    this.#leftBehindAt = this.#time.now()
  }

  get isLeftBehind(): boolean {
    return this.#leftBehindAt !== null && !this.freshness.isConfirmedSince(this.#leftBehindAt)
  }

  ageMs(now: Moment): number | null {
    const ageMs = this.freshness.confirmedAgeMs(now)
    return ageMs !== null && this.isLeftBehind ? Math.max(ageMs, this.#settings().maxAgeMs + 1) : ageMs
  }

  isConfirmedSince(moment: Moment): boolean {
    return !this.isLeftBehind && this.freshness.isConfirmedSince(moment)
  }
}
