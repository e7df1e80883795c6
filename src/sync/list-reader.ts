import type { Guid } from '../domain/guid.ts'
import type { Observe } from '../observe/observation.ts'
import { absentIds, forgetVersions, hasOlderAvailability, notePrice, removeAbsent, servedRows } from './absence.ts'
import { Barrier } from './barrier.ts'
import type { Attempt } from './poller.ts'
import { Drift } from './drift.ts'
import { HeldCursor } from './held-cursor.ts'
import { Pages } from './pages.ts'
import type { Failure, ListSource, Page, ReadEnd, ReadKind, ReadPurpose, ServedRows } from './port.ts'
import { failed } from './port.ts'
import { ASKED_BEFORE, ResumedSnapshot } from './resumed-snapshot.ts'
import { type MemoryUse, ReadMemory } from './read-memory.ts'
import { ReadReports } from './read-reports.ts'
import { PageApplier } from './page-applier.ts'
import type { RecordList } from '../records/record-list.ts'
import { Freshness, type ListState, type ResumeState, type RefreshSettings, type SnapshotList } from './served-list.ts'
import { ShrinkGuard } from './shrink-guard.ts'
import { type Moment, type Time, delaysOf, secondOf } from '../time/time.ts'
import { Tombstones } from './tombstones.ts'
import { Mutex } from '../time/waiting.ts'

export interface ListReaderOptions<Item> {
  readonly resumeState?: ResumeState
  readonly list: RecordList<Item>
  readonly source: ListSource<Item>
  readonly time: Time
  readonly observe: Observe
  /** Lets requests run between two slices of work. */
  readonly pause: () => Promise<void>
  readonly memory: () => MemoryUse
  /** Returns the venues to which events of the page refer and that are not served, perhaps because they are new too. */
  readonly missingFor?: (page: Page<Item>) => readonly Guid[]
  /** Adds missing venues before a page of their events is applied. Returns why the page must not be applied, or `null`. */
  readonly beforePointing?: (missing: ReadonlySet<Guid>) => Promise<Failure | null>
  /** Runs before served rows are removed: venues are removed after their events. Returns why they must stay, or `null`. */
  readonly beforeRemoval?: (leaving: ReadonlySet<Guid>) => Promise<Failure | null>
}

/** One read and its progress. An addition only adds rows: it removes and confirms nothing, and keeps no cursor. */
interface Read<Item> {
  readonly kind: ReadKind
  readonly purpose: ReadPurpose
  readonly begun: Moment
  /** The number of pages that refreshes had applied when the read began. */
  readonly pagesBefore: number
  readonly applier: PageApplier<Item>
}

/** Reads one list of the CRM into memory: in full, by changes, or only its availability. */
export class ListReader<Item> {
  readonly freshness: Freshness
  readonly drift: Drift = new Drift()
  readonly barrier: Barrier = new Barrier()
  readonly guard: ShrinkGuard = new ShrinkGuard()
  /** The list was read in full once, or its snapshot was confirmed. Nothing is answered from it before. */
  isLoaded = false
  /** When the list was first loaded, monotonic ms. */
  loadedAtMs: number = Number.POSITIVE_INFINITY
  /** The snapshot of the rows; `null` if there was none. */
  resumed: ResumedSnapshot | null = null
  /** The CRM has failed since the start, and the rows of the snapshot are served. */
  isBridging = false
  readonly #options: ListReaderOptions<Item>
  readonly #settings: RefreshSettings
  readonly #tombstones = new Tombstones()
  readonly #mutex = new Mutex()
  readonly #cursor = new HeldCursor()
  readonly #reports: ReadReports<Item>
  #reads = 0
  /** The number of pages of details that refreshes have applied. */
  #pages = 0
  /** Until the list is known as of this moment, reads must confirm it. */
  #confirmSince: Moment | null = null

  constructor(options: ListReaderOptions<Item>, settings: RefreshSettings) {
    this.#options = options
    this.#settings = settings
    this.#reports = new ReadReports(options.list, options.observe)
    const { resumeState } = options
    this.freshness = resumeState?.freshness ?? new Freshness()
    if (resumeState?.isLoaded !== true) return
    this.#load()
    this.#resume(resumeState, resumeState.asOf)
    if (resumeState.accepting) this.acceptShorter()
  }

  /** Lets the next read of all rows remove any number of rows that it does not mention. */
  acceptShorter(): void {
    this.guard.acceptShorter(this.#options.time.now().monotonicMs)
  }

  /** Makes reads confirm the list until all changes up to `moment` are known. */
  confirmSince(moment: Moment): void {
    this.#confirmSince = moment
  }

  /** Delays refreshes until the returned function is called. */
  hold(): Promise<() => void> {
    return this.#mutex.lock()
  }

  /** What is known of the list besides its rows. */
  stateAt(now: Moment): ListState {
    const { list, source } = this.#options
    return {
      cursor: this.#cursor.travelling(source),
      served: list.served,
      withheld: list.withheld,
      unidentified: [...list.unidentified.counts],
      shrunk: this.guard.toldAt(now),
      lost: list.lostCount,
      readsPrice: list.readsPrice,
    }
  }

  /** The list's part of a snapshot; `null` if it was neither read in full nor loaded from a snapshot itself. */
  snapshotListAt(now: Moment): Omit<SnapshotList, 'askedUntilMs'> | null {
    if (!this.isLoaded && this.resumed === null) return null
    return { ...this.stateAt(now), ...this.freshness.timesAt(now, this.resumed?.list ?? null) }
  }

  /** Resumes from a snapshot whose rows are in the list. The next read that reports all changes confirms them. */
  resume(snapshot: SnapshotList, writtenAt: Moment): void {
    this.resumed = new ResumedSnapshot(snapshot, this.#options.time.now())
    this.#resume(snapshot, writtenAt)
  }

  /** Continues from what another process knew of the rows in the list, which reads must confirm. */
  #resume(state: ListState, asOf: Moment): void {
    const { list, time } = this.#options
    list.adopt(state)
    this.confirmSince(time.now())
    if (state.shrunk !== null) this.guard.resume(list, state.shrunk, asOf)
    // Changes prove nothing about a list that is not believed, so it is read in full until it is loaded.
    this.#cursor.take(this.isLoaded || state.shrunk === null ? state.cursor : null)
  }

  /** Serves the rows of the snapshot after a failed read, if `staleIfError` allows their age. */
  bridge(): void {
    const mayBridge = this.resumed?.mayBridge(this.#settings, this.#options.time.now()) === true
    if (!this.isLoaded && mayBridge) this.isBridging = this.#serveOld() !== null
  }

  #load(): void {
    this.isLoaded = true
    this.loadedAtMs = this.#options.time.now().monotonicMs
  }

  /** Brings the list up to date by the cheapest kind of read. */
  refresh(): Promise<Attempt> {
    return this.#mutex.run(() => this.#readCheaply('refresh'))
  }

  /** Applies changes to the list while a refresh, which holds the mutex, waits for the other list. */
  readAdditions(): Promise<Attempt> {
    return this.barrier.readAdditions(() => this.#readCheaply('addition'))
  }

  /** Handles a hint of a change: reads additions if a refresh is waiting for the other list. */
  hint(): void {
    this.barrier.hint(() => this.#readCheaply('addition'))
  }

  /** Reads the list in full beside the refreshes. Does nothing before the first full read. */
  async audit(): Promise<Attempt> {
    if (!this.isLoaded || this.#cursor.text === null) return { ok: true }
    this.#tombstones.duringAudit(true)
    try {
      return await this.#readAll('audit')
    } finally {
      this.#tombstones.duringAudit(false)
    }
  }

  async #readCheaply(purpose: 'refresh' | 'addition'): Promise<Attempt> {
    if (this.#cursor.text === null || !this.#options.source.reportsChanges) return this.#readAll(purpose)
    const attempt = await this.#read('changes', purpose)
    if (attempt.ok) this.#cursor.followed()
    return attempt.ok || !this.#cursor.isGivenUp(attempt.failure) ? attempt : this.#readAll(purpose)
  }

  /** Reads in full, and once more if so many rows are missing that a second read must agree. */
  async #readAll(purpose: ReadPurpose): Promise<Attempt> {
    const attempt = await this.#read('full', purpose)
    return attempt.ok || attempt.failure.kind !== 'unconfirmed' ? attempt : this.#read('full', purpose)
  }

  /** Reads the availability. Never runs beside a refresh, because overlapping pages would make the results older. */
  async readAvailability(): Promise<Attempt> {
    return this.isLoaded ? this.#mutex.run(() => this.#read('availability', 'refresh')) : { ok: true }
  }

  async #read(kind: ReadKind, purpose: ReadPurpose): Promise<Attempt> {
    const { list, time, source, beforeRemoval } = this.#options
    const askedMs = this.resumed?.askedMs(time.now()) ?? 0
    if (askedMs > 0) return failed('throttled', ASKED_BEFORE, askedMs)
    const audit = purpose === 'audit'
    // An audit begins between two refreshes, so each earlier change is found by a refresh or by the audit.
    const begun = audit ? await this.#mutex.run(async () => time.now()) : time.now()
    const applier = new PageApplier<Item>({
      list,
      tombstones: this.#tombstones,
      drift: this.drift,
      kind,
      nextNumber: () => ++this.#reads,
      begunAt: begun.monotonicMs,
      repeatedId: source.repeatedId,
      idColumn: source.idColumn ?? 'Id',
      audit,
      timesChanges: this.isLoaded && !audit,
      // If a removed row shows only by its absence, a read that fails half-way must not have removed any.
      postponeRemovals: beforeRemoval !== undefined || !source.reportsChanges,
      now: () => time.now().monotonicMs,
      wallS: () => secondOf(time.now()),
      // Before the list is first served, there are no old records to keep.
      keepsFaults: this.isLoaded || this.resumed !== null,
      newlyWithheld: this.#reports.newlyWithheld,
    })
    const attempt = await this.#consume({ kind, purpose, begun, pagesBefore: this.#pages, applier })
    const tookMs = time.now().monotonicMs - begun.monotonicMs
    this.#reports.tell({ kind, purpose, applier }, attempt, this.isLoaded, tookMs)
    return attempt
  }

  async #consume(read: Read<Item>): Promise<Attempt> {
    const { list, source, time } = this.#options
    const { kind, purpose, applier } = read
    const cursor = kind === 'full' && source.reportsChanges ? null : this.#cursor.text
    const mustConfirm = this.#confirmSince !== null && !this.freshness.areDetailsConfirmedSince(this.#confirmSince)
    const request = { kind, purpose, cursor, held: list, mustConfirm, served: this.#servedRows(applier) }
    const { fullReadEveryMs: longestMs } = this.#settings
    const { patienceMs } = source
    const pages = new Pages<Item>((signal) => source.read({ ...request, signal }), { patienceMs, longestMs }, time)
    let attempt: Attempt
    try {
      attempt = await this.#applyPages(pages, read)
    } catch (cause) {
      // A bug. Its message may contain a row.
      attempt = failed('internal', `a page could not be applied (${cause instanceof Error ? cause.name : 'an error'})`)
    }
    if (attempt.ok) return attempt
    pages.abandon()
    // The cursor no longer describes a list to which only some pages were applied.
    if (!source.reportsChanges && applier.rows > 0) this.#cursor.take(null)
    return attempt
  }

  /** Returns the served rows, or those of a snapshot that is not confirmed yet; `null` if there are none. */
  #servedRows({ sighting }: PageApplier<Item>): ServedRows | null {
    return this.resumed === null && this.loadedAtMs === Infinity ? null : servedRows(this.#options.list, sighting)
  }

  async #applyPages(pages: Pages<Item>, read: Read<Item>): Promise<Attempt> {
    const { list, missingFor, beforePointing, beforeRemoval, pause } = this.#options
    const { kind, purpose, applier } = read
    const memory = new ReadMemory(list, this.#options.memory, kind === 'full')
    const { isLoaded, barrier } = this
    const mayBeServed = isLoaded || this.resumed?.mayBridge(this.#settings, this.#options.time.now()) === true
    const number = purpose === 'refresh' && kind !== 'availability' ? ++barrier.begun : null
    const missing = new Set<Guid>()
    for (;;) {
      const next = await pages.next()
      if (next.kind === 'end') {
        if (!next.outcome.ok) return next.outcome
        // Callers get nothing from a list before this read ends, so one wait here is enough.
        const failure = missing.size > 0 && !mayBeServed ? await beforePointing?.(missing) : null
        if (failure) return { ok: false, failure }
        if (number !== null) barrier.tell(number)
        return purpose === 'addition' ? { ok: true } : this.#finish(read, next.outcome)
      }
      if (mayBeServed) missing.clear()
      for (const id of missingFor?.(next.page) ?? []) missing.add(id)
      const failure = missing.size > 0 && mayBeServed ? await beforePointing?.(missing) : null
      if (failure) return { ok: false, failure }
      if (purpose !== 'audit' && kind !== 'availability') this.#pages++
      await this.#inTurn(purpose, async () => applier.apply(next.page))
      this.#tellDelays(applier)
      const excess = memory.excess(next.page, applier)
      if (excess !== null) {
        // Served events may refer to venues by now.
        if (beforeRemoval === undefined || !isLoaded) await this.#inTurn(purpose, () => applier.takeBack(pause))
        return failed('too-large', `${excess}${isLoaded ? '; the previous list is kept' : ''}`)
      }
    }
  }

  /** Runs a step of a read. A step of an audit runs between two refreshes. */
  #inTurn<Value>(purpose: ReadPurpose, step: () => Promise<Value>): Promise<Value> {
    return purpose === 'audit' ? this.#mutex.run(step) : step()
  }

  async #finish(read: Read<Item>, outcome: ReadEnd): Promise<Attempt> {
    const { list, beforeRemoval } = this.#options
    const { purpose, begun, applier } = read
    const end = (): Promise<Attempt> => this.#inTurn(purpose, () => this.#end(read, outcome))
    if (beforeRemoval === undefined) return end()
    const absent = outcome.complete ? absentIds(list, begun.monotonicMs - applier.lagMs) : []
    const leaving = new Set([...applier.leavingIds, ...absent])
    if (leaving.size === 0) return end()
    this.barrier.removals++
    try {
      const wait = (): Promise<Failure | null> => beforeRemoval(leaving)
      // If the additions failed, venues that are to be removed may be among them, so nothing is removed.
      const failure = await (purpose === 'audit' ? wait() : this.barrier.waitFor(wait))
      return failure === null ? await end() : { ok: false, failure }
    } finally {
      this.barrier.removals--
    }
  }

  async #end(read: Read<Item>, outcome: ReadEnd): Promise<Attempt> {
    const { kind, purpose, begun, applier } = read
    // Rows that the CRM reports as deleted are removed even if the absence of others is not believed.
    applier.removePostponed()
    this.#tellDelays(applier)
    if (kind !== 'availability') {
      const failure = await this.#settle(read, outcome)
      if (failure !== null) return { ok: false, failure }
    }
    notePrice(this.#options, kind, outcome)
    const isConfirmed = this.#confirm(kind, begun, applier, outcome)
    if (!this.isLoaded && (outcome.complete || isConfirmed)) this.#load()
    // A row that a refresh has seen since the audit began stays. Only the older cursor will report its deletion, so
    // that cursor is kept.
    const keepsCursor =
      purpose === 'audit'
        ? this.#cursor.isSound || this.#pages > read.pagesBefore
        : kind === 'availability' || (kind === 'changes' && applier.ignored > 0)
    if (outcome.cursor !== null && !keepsCursor) this.#cursor.take(outcome.cursor)
    return { ok: true }
  }

  /** Applies the losses of a read if the shrink guard believes them. Returns why it does not, or `null`. */
  async #settle({ kind, begun, applier }: Read<Item>, outcome: ReadEnd): Promise<Failure | null> {
    const { list, source, time, observe, pause } = this.#options
    const { complete, oneMoment } = outcome
    const sinceMs = begun.monotonicMs - applier.lagMs
    const judged = { ...applier.sighting, begun, sinceMs, kind, complete, oneMoment, resolved: applier.resolved }
    // Before the list is first served, there is nothing to hold.
    const shrinkGuardMs = this.isLoaded || this.resumed !== null ? this.#settings.shrinkGuardMs : null
    const given = { ...this.#settings, shrinkGuardMs, now: time.now(), observe, serveOld: () => this.#serveOld() }
    const { failure, isShort } = this.guard.judge(list, judged, given)
    if (failure !== null) {
      if (!source.reportsChanges) this.#cursor.take(null)
      return failure
    }
    if (complete) applier.release()
    await applier.withdrawUnreadable(pause)
    if (isShort) list.forgetLost()
    if (!complete) return null
    applier.changed += await removeAbsent(list, sinceMs, () => secondOf(time.now()), pause)
    if (kind !== 'full') return null
    if (source.reportsChanges) forgetVersions(list, sinceMs)
    list.forgetLost()
    this.#reports.newlyWithheld.addMore(list.unidentified.faults, applier.unidentified.faults)
    list.unidentified = applier.unidentified
    return null
  }

  /**
   * Serves rows although the last read failed. Rows of a snapshot have the age that it names. Returns the age in ms;
   * `null` if no instance that knew it is left.
   */
  #serveOld(): number | null {
    const now = this.#options.time.now()
    if (!this.isLoaded && this.freshness.goOnFrom(this.resumed?.list.confirmedAtMs ?? null, now)) this.#load()
    return this.freshness.confirmedAgeMs(now)
  }

  #tellDelays(applier: PageApplier<Item>): void {
    const times = applier.takeChangeTimes()
    if (times.length === 0) return
    const delaysMs = delaysOf(times, this.#options.time.now().wallMs)
    if (delaysMs.length > 0) this.#options.observe({ kind: 'changes-published', delaysMs })
  }

  /** Records what the read proves about the list's age. Returns true if it confirms the list. */
  #confirm(kind: ReadKind, begun: Moment, { lagMs }: PageApplier<Item>, outcome: ReadEnd): boolean {
    const { list, source, time, observe } = this.#options
    const asOf = outcome.asOf ?? begun
    // While the last full read is not believed, changes reported by the same CRM prove nothing either.
    const confirms = outcome.confirms && !(this.guard.shrunk !== null && kind === 'changes')
    if (!confirms) return false
    if (kind === 'availability') {
      if (hasOlderAvailability(list, asOf.monotonicMs - lagMs)) {
        this.freshness.confirmAvailabilityOnce(asOf, lagMs, time.now().monotonicMs - lagMs)
      } else this.freshness.confirmAvailability(asOf, lagMs)
      return true
    }
    this.isBridging = false
    this.freshness.confirmDetails(asOf, lagMs)
    if (kind === 'full' || source.availabilityEveryMs === null) this.freshness.confirmAvailability(asOf, lagMs)
    this.#tombstones.completeAsOf(asOf.monotonicMs - lagMs, outcome.complete)
    if (outcome.complete || outcome.unchanged) this.freshness.audit(asOf, lagMs)
    const byColumn = this.drift.countUnreported(asOf.monotonicMs - lagMs, (id) => list.find(id) !== null)
    if (byColumn.size > 0)
      observe({ kind: 'drift-found', list: list.kind.name, byColumn: Object.fromEntries(byColumn) })
    return true
  }
}
