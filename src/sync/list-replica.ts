import type { ListName } from '../domain/field.ts'
import type { SnapshotList } from './snapshot-list.ts'
import { type Attempt, Poller } from './poller.ts'
import { type ListReaderOptions, ListReader } from './list-reader.ts'
import type { Drift } from './drift.ts'
import type { AnswerBounds } from './admission.ts'
import type { Freshness } from './freshness.ts'
import type { ServedList, ToldList } from './held-lists.ts'
import type { Failure } from './port.ts'
import type { RecordList } from '../records/record-list.ts'
import type { Shrunk } from './shrink-guard.ts'
import type { Moment, Time } from '../time/time.ts'

export interface RefreshSettings extends AnswerBounds {
  readonly refreshEveryMs: number
  readonly fullReadEveryMs: number
}

/** One list as it is held here, and the cycles of reads that keep it up to date. */
export class ListReplica<Item> implements ToldList<Item>, ServedList<Item> {
  readonly list: RecordList<Item>
  readonly reader: ListReader<Item>
  readonly refresh: Poller
  readonly audit: Poller
  readonly availability: Poller
  readonly #start: () => void
  #endHints: (() => void) | undefined
  #stoppedAt: Moment | null = null
  /** What wakes each of those who wait for reads. */
  readonly #waiting = new Set<() => void>()
  readonly #time: Time
  readonly #settings: RefreshSettings
  /** What the list was taken over from, until it is confirmed. */
  #snapshot: SnapshotList | null = null
  /** TicketsAvailable and TicketCapacity are read on their own. */
  readonly hasOwnAvailability: boolean

  constructor(settings: RefreshSettings, options: ListReaderOptions<Item>) {
    const { time, source } = options
    const reader = new ListReader(options, settings)
    this.#time = time
    this.#settings = settings
    this.list = options.list
    this.reader = reader
    const hasChanged =
      source.hasChanged === undefined ? {} : { hasChanged: async () => (await source.hasChanged?.()) ?? false }
    const cycle = (everyMs: () => number, attempt: () => Promise<Attempt>): Poller =>
      new Poller({
        time,
        get everyMs() {
          return everyMs()
        },
        // What is repaired is served again within the maximum age.
        get backOffCeilingMs() {
          return Math.max(settings.refreshEveryMs, Math.min(settings.maxAgeMs, 30_000))
        },
        attempt,
        ...hasChanged,
      })
    const refreshEveryMs = (): number => settings.refreshEveryMs
    this.refresh = cycle(refreshEveryMs, () => this.#refresh())
    this.audit = cycle(
      () => settings.fullReadEveryMs,
      () => reader.audit(),
    )
    this.availability = cycle(
      () => source.availabilityEveryMs ?? refreshEveryMs(),
      () => reader.readAvailability(),
    )
    this.hasOwnAvailability = source.availabilityEveryMs !== null
    this.#start = () => {
      const { failure = null, failures, shrunk = null } = options.carried ?? {}
      const askedMs = failure?.retryAfterMs ?? 0
      this.refresh.start(0, failure, failures)
      // Where another went on auditing, the next one is due when its own would have been; at once if its list was not believed.
      const auditedMs = reader.freshness.auditedAgeMs(time.now()) ?? 0
      const auditInMs = shrunk === null ? settings.fullReadEveryMs - auditedMs : 0
      if (source.reportsChanges) this.audit.start(Math.max(askedMs, auditInMs))
      if (source.availabilityEveryMs !== null) this.availability.start(Math.max(askedMs, source.availabilityEveryMs))
      this.#endHints = source.onHint?.(() => {
        this.refresh.hint()
        reader.hint()
      })
    }
  }

  start(): void {
    this.#start()
  }

  /** Goes on from a snapshot whose rows are in the list. */
  adopt(snapshot: SnapshotList): void {
    this.#snapshot = snapshot
    this.reader.adopt(snapshot)
  }

  async #refresh(): Promise<Attempt> {
    const attempt = await this.reader.refresh()
    const snapshot = this.#snapshot
    if (snapshot === null || !this.reader.isLoaded) return attempt
    this.#snapshot = null
    const now = this.#time.now()
    // What the read that confirmed the list has not read: the availability at once, all rows when the process before would have.
    if (this.ageMs(now) === null) this.availability.hasten(0)
    if (this.reader.freshness.auditedAgeMs(now) === null) {
      const dueAtMs = (snapshot.auditedAtMs ?? -Infinity) + this.#settings.fullReadEveryMs
      this.audit.hasten(Math.max(0, dueAtMs - now.wallMs))
    }
    return attempt
  }

  /** The settings have changed: reads that are due too late for them come sooner. */
  hasten(): void {
    for (const cycle of [this.refresh, this.audit, this.availability]) cycle.hasten()
  }

  async stop(): Promise<void> {
    // Where others read in turn, nobody holds what this one held.
    this.#endHints?.()
    this.#stoppedAt = this.#time.now()
    await Promise.all([this.refresh.stop(), this.audit.stop(), this.availability.stop()])
  }

  /** The operator says that the shorter list is right: it is read at once. Returns the list's name. */
  acceptShorter(): ListName {
    this.reader.acceptShorter()
    this.refresh.retryNow()
    this.audit.retryNow()
    return this.list.kind.name
  }

  /** The cycles whose reads an answer's age depends on. */
  get #confirming(): readonly Poller[] {
    const cycles = this.hasOwnAvailability ? [this.refresh, this.availability] : [this.refresh]
    // While an audit is not believed, the reads of changes prove nothing: the next audit does.
    return this.shrunk !== null && this.audit.failures > 0 ? [...cycles, this.audit] : cycles
  }

  get isBackingOff(): boolean {
    return this.#confirming.some((cycle) => cycle.isBackingOff)
  }

  get isFailing(): boolean {
    return (
      this.shrunk !== null || this.#confirming.some(({ lastFailure, isWaiting }) => lastFailure !== null && !isWaiting)
    )
  }

  /** Why the list is not believed, else the last failure of a cycle that has not succeeded since. */
  get lastFailure(): Failure | null {
    return (
      this.reader.guard.failure ?? this.refresh.lastFailure ?? this.audit.lastFailure ?? this.availability.lastFailure
    )
  }

  get freshness(): Freshness {
    return this.reader.freshness
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

  get unidentifiedCounts(): readonly number[] {
    return this.list.unidentified.counts
  }

  get drift(): Drift {
    return this.reader.drift
  }

  get nextReadInMs(): number {
    return this.refresh.nextTryInMs
  }

  /** How much longer the CRM asked that nobody reads the list; 0 where it did not. */
  get askedMs(): number {
    return Math.max(...this.#confirming.map(({ askedMs }) => askedMs))
  }

  get nextTryInMs(): number {
    const resting = this.#confirming.filter((cycle) => cycle.isBackingOff)
    return Math.max(...(resting.length > 0 ? resting : this.#confirming).map((cycle) => cycle.nextTryInMs))
  }

  readOnce(): Promise<void> {
    // A read that confirms nothing would help nobody who waits.
    this.reader.confirmSince(this.#time.now())
    const { promise, resolve } = Promise.withResolvers<void>()
    this.#waiting.add(resolve)
    void Promise.all(this.#confirming.map((cycle) => cycle.conclude())).finally(() => {
      this.#waiting.delete(resolve)
      resolve()
    })
    return promise
  }

  help(): void {
    for (const resolve of this.#waiting) resolve()
  }

  /** Resolves when a read that begins from now on has applied its pages, or the list cannot be read: why. */
  async untilAdded(): Promise<Failure | null> {
    const { reader, refresh } = this
    const { barrier } = reader
    const { begun } = barrier
    reader.confirmSince(this.#time.now())
    while (barrier.applied <= begun && !refresh.isBackingOff) {
      // It may wait for who waits here: its attempt must not be waited for.
      if (barrier.isWaiting) {
        const added = await reader.readAdditions()
        return added.ok ? null : added.failure
      }
      await Promise.race([barrier.next, refresh.attempt()])
      if (refresh.isWaiting) break
    }
    return barrier.applied > begun ? null : refresh.lastFailure
  }

  /** Resolves when a read that begins from now on has ended, removals and all, or the list cannot be read now. */
  async untilRead(): Promise<void> {
    const { refresh } = this
    if (refresh.isRunning) await refresh.attempt()
    if (!refresh.isBackingOff) await refresh.attempt()
  }

  /** The same for a read that tells all changes, be it a long one. */
  untilConfirmed(): Promise<void> {
    this.reader.confirmSince(this.#time.now())
    return this.untilRead()
  }

  ageMs(now: Moment): number | null {
    return this.reader.freshness.confirmedAgeMs(now)
  }

  isConfirmedSince(moment: Moment): boolean {
    return this.reader.freshness.isConfirmedSince(moment)
  }
}
