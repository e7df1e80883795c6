import type { Guid } from '../domain/guid.ts'
import type { Observe } from '../observe/observation.ts'
import type { HeldRow } from '../records/held-row.ts'
import type { RecordList } from '../records/record-list.ts'
import { type Moment, type Time, earlierOf, secondOf } from '../time/time.ts'
import { absentIds, forgetVersions, missingRows, notePrice, removeAbsent, servedRows } from './absence.ts'
import { HeldCursor } from './held-cursor.ts'
import { Pages, RowWait } from './pages.ts'
import type { Attempt } from './poller.ts'
import type { Failed, Failure, ListSource, ReadEnd, ReadKind, ReadPurpose, ReadRequest } from './port.ts'
import { failed } from './port.ts'
import { type Read, MOST_STAGED, missingIn, recordsOf } from './read.ts'
import { type MemoryUse, ReadMemory } from './read-memory.ts'
import { ASKED_BEFORE, ResumedSnapshot } from './resumed-snapshot.ts'
import { ReadReports } from './read-reports.ts'
import { Freshness, type ListState, type ResumeState, type RefreshSettings, type SnapshotList } from './served-list.ts'
import { ShrinkGuard } from './shrink-guard.ts'
import { Staging } from './staging.ts'
import { Tombstones } from './tombstones.ts'
import { Turns } from './turns.ts'

export interface ListReaderOptions<Item> {
  readonly resumeState?: ResumeState
  readonly list: RecordList<Item>
  readonly source: ListSource<Item>
  readonly time: Time
  readonly observe: Observe
  /** Lets requests run between two slices of work. */
  readonly pause: () => Promise<void>
  readonly memory: () => MemoryUse
  /**
   * Returns the venue to which an event refers anew and that is not served, perhaps because it is new too; `null` if
   * there is none. `row` is that of the event, if there is one.
   */
  readonly missingFor?: (event: Item, row: HeldRow | null) => Guid | null
  /** Adds missing venues before their events are written. Returns why these must not be written, or `null`. */
  readonly beforePointing?: (missing: ReadonlySet<Guid>) => Promise<Failure | null>
  /** Runs before served rows are removed: venues are removed after their events. Returns why they must stay, or `null`. */
  readonly beforeRemoval?: (leaving: ReadonlySet<Guid>) => Promise<Failure | null>
}

/**
 * Reads one list of the CRM into memory. A read is staged, and written at its end in this order: what it adds, what the
 * CRM removes, then what the shrink guard believes to be lost.
 */
export class ListReader<Item> {
  readonly freshness: Freshness
  readonly guard: ShrinkGuard = new ShrinkGuard()
  readonly reports: ReadReports<Item>
  /** The list was read in full once, or its snapshot was confirmed. Nothing is answered from it before. */
  isLoaded = false
  /** When the list was first loaded, monotonic ms. */
  loadedAtMs: number = Number.POSITIVE_INFINITY
  readonly turns: Turns = new Turns()
  readonly wait: RowWait = new RowWait()
  /** The last read of the tickets: its beginning, and the moment it shows in monotonic ms. */
  tickets: { readonly begun: Moment; readonly sinceMs: number } | null = null
  /** The snapshot of the rows; `null` if there was none. */
  resumed: ResumedSnapshot | null = null
  /** No read has succeeded since the start, and the rows of the snapshot are served. */
  isBridging = false
  readonly #options: ListReaderOptions<Item>
  readonly #settings: () => RefreshSettings
  readonly #tombstones = new Tombstones()
  readonly #cursor = new HeldCursor()
  #reads = 0
  /** Until the list is known as of this moment, reads must confirm it. */
  #confirmSince: Moment | null = null

  constructor(options: ListReaderOptions<Item>, settings: () => RefreshSettings) {
    this.#options = options
    this.#settings = settings
    this.reports = new ReadReports(options)
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

  /** What is known of the list besides its rows. */
  stateAt(now: Moment): ListState {
    const { list, source } = this.#options
    const { text } = this.#cursor
    return {
      cursor: text !== null && source.travels?.(text) === true ? text : null,
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
    if (!this.#hasOldRows) return null
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

  /** Serves the rows of the snapshot after a failed read, if their age is allowed. */
  bridge({ kind }: Failure): void {
    const mayBridge = this.resumed?.mayBridge(this.#settings(), this.#options.time.now(), kind) === true
    if (!this.isLoaded && mayBridge) this.isBridging = this.#serveOld() !== null
  }

  #load(): void {
    this.isLoaded = true
    this.loadedAtMs = this.#options.time.now().monotonicMs
  }

  /** Rows are served, or will be if the shrink guard does not believe the next read. */
  get #hasOldRows(): boolean {
    return this.isLoaded || this.resumed !== null
  }

  /** Brings the list up to date by the cheapest kind of read. */
  refresh(): Promise<Attempt> {
    return this.turns.between(() => this.#refreshInTurn())
  }

  /** Adds missing rows, unless they have been added meanwhile. Waits for a refresh that is reading. */
  readAdditions(missing: ReadonlySet<Guid>): Promise<Attempt> {
    const { list } = this.#options
    return this.turns.add(async () => {
      const isAdded = [...missing].every((id) => list.serves(id) && !this.turns.leaving.has(id))
      return isAdded ? { ok: true } : this.#readCheaply('addition')
    })
  }

  /** Reads the list in full beside the refreshes. Does nothing before the first full read. */
  async audit(): Promise<Attempt> {
    if (!this.isLoaded) return { ok: true }
    // A refresh reads in full then.
    if (this.#cursor.text === null) return this.refresh()
    this.#tombstones.duringAudit(true)
    try {
      return await this.#readAll('audit')
    } finally {
      this.#tombstones.duringAudit(false)
    }
  }

  #refreshInTurn(): Promise<Attempt> {
    return this.turns.refresh(async () => {
      // First, so that the details, which are newer, tell which of the rows are still there.
      const tickets = await this.readTickets()
      return tickets.ok ? this.#readCheaply('refresh') : tickets
    })
  }

  /** Reads the tickets of the served rows, if the source reads them by themselves. */
  async readTickets(): Promise<Attempt> {
    const hasTickets = this.isLoaded && this.#options.source.readsTickets === true
    return hasTickets ? this.#read('availability', 'refresh') : { ok: true }
  }

  async #readCheaply(purpose: 'refresh' | 'addition'): Promise<Attempt> {
    if (this.#cursor.text === null || !this.#options.source.reportsChanges) return this.#readAll(purpose)
    const attempt = await this.#read('changes', purpose)
    return this.#cursor.isGivenUp(attempt.ok ? null : attempt.failure) ? this.#readAll(purpose) : attempt
  }

  /** Reads in full, and once more if so many rows are missing that a second read must agree. */
  async #readAll(purpose: ReadPurpose): Promise<Attempt> {
    const attempt = await this.#read('full', purpose)
    return attempt.ok || attempt.failure.kind !== 'unconfirmed' ? attempt : this.#read('full', purpose)
  }

  async #read(kind: ReadKind, purpose: ReadPurpose): Promise<Attempt> {
    const { list, time, source, pause } = this.#options
    const askedMs = this.resumed?.askedMs(time.now()) ?? 0
    if (askedMs > 0) return failed('throttled', ASKED_BEFORE, askedMs)
    const audit = purpose === 'audit'
    // An audit begins between two refreshes, so each earlier change is found by a refresh or by the audit.
    const begun = audit ? await this.turns.between(async () => time.now()) : time.now()
    const staging = new Staging<Item>({
      list,
      tombstones: this.#tombstones,
      kind,
      nextNumber: () => ++this.#reads,
      begunAt: begun.monotonicMs,
      repeatedId: source.repeatedId,
      idColumn: source.idColumn ?? 'Id',
      ticketsAt: () => this.tickets?.sinceMs ?? Number.NEGATIVE_INFINITY,
      keepsFaults: this.#hasOldRows,
      audit,
      timesChanges: this.isLoaded && !audit,
      newlyWithheld: this.reports.newlyWithheld,
      wallS: () => secondOf(time.now()),
      pause,
    })
    const attempt = await this.#consume({ kind, purpose, begun, staging, unsure: null, missing: new Set() })
    const tookMs = time.now().monotonicMs - begun.monotonicMs
    this.reports.tell({ kind, purpose, staging }, attempt, this.isLoaded, tookMs)
    return attempt
  }

  async #consume(read: Read<Item>): Promise<Attempt> {
    const { source, time } = this.#options
    const { kind, purpose, staging } = read
    const isConfirmed = this.#confirmSince === null || this.freshness.isConfirmedSince(this.#confirmSince)
    const request: Omit<ReadRequest, 'signal'> = {
      kind,
      purpose,
      cursor: kind === 'full' && source.reportsChanges ? null : this.#cursor.text,
      held: staging.held,
      // A new row may have an old updatedAt, so additions must compare ids too.
      mustConfirm: !isConfirmed || purpose === 'addition',
      served: this.#hasOldRows ? servedRows(this.#options.list, staging) : null,
    }
    const [{ fullReadEveryMs: longestMs }, { patienceMs }] = [this.#settings(), source]
    const limits = { patienceMs, longestMs, wait: purpose === 'audit' ? null : this.wait }
    const pages = new Pages<Item>((signal) => source.read({ ...request, signal }), limits, time)
    let attempt: Attempt
    try {
      const outcome = await this.#collect(pages, read)
      attempt = outcome.ok ? await this.#inTurn(read, () => this.#commit(read, outcome)) : outcome
    } catch (cause) {
      // A bug. Its message may contain a row.
      attempt = failed('internal', `a page could not be applied (${cause instanceof Error ? cause.name : 'an error'})`)
    }
    if (attempt.ok) return attempt
    pages.abandon()
    // The fingerprint no longer describes a list to which only some rows were written.
    if (!source.reportsChanges && (staging.hasWritten || attempt.failure.kind === 'shrunk')) this.#cursor.take(null)
    return attempt
  }

  /** Stages the pages of a read. Writes some of it early only if nothing is served yet, or if it takes too much memory. */
  async #collect(pages: Pages<Item>, read: Read<Item>): Promise<ReadEnd | Failed> {
    const { list, missingFor, beforeRemoval } = this.#options
    const { kind, staging } = read
    const memory = new ReadMemory(list, this.#options.memory, kind === 'full')
    for (;;) {
      const next = await pages.next()
      if (next.kind === 'end') return next.outcome
      read.unsure = next.page.unsure ?? read.unsure
      const isFirst = read.unsure === null && !this.#hasOldRows
      staging.stage(next.page, isFirst)
      if (isFirst) for (const id of missingIn(recordsOf(next.page), missingFor)) read.missing.add(id)
      else if (read.unsure === null && staging.addedBytes > MOST_STAGED.bytes) {
        const failure = await this.#inTurn(read, () => this.#add(read, false))
        if (failure !== null) return { ok: false, failure }
      }
      const excess = memory.excess(staging)
      if (excess !== null) {
        // Served events may refer to venues by now.
        if (beforeRemoval === undefined || !this.isLoaded) await this.#inTurn(read, () => staging.takeBack(), false)
        return failed('too-large', `${excess}${this.isLoaded ? '; the previous list is kept' : ''}`)
      }
    }
  }

  /**
   * Runs a step of a read that writes. A step of an audit runs between two refreshes, after one of its own: what the CRM
   * reports comes first, and the rest is drift.
   */
  async #inTurn<Value>({ purpose, staging }: Read<Item>, step: () => Promise<Value>, refreshes = true): Promise<Value> {
    if (purpose !== 'audit') return step()
    return this.turns.between(async () => {
      if (refreshes) {
        this.confirmSince(this.#options.time.now())
        staging.countsDrift = (await this.#refreshInTurn()).ok
      }
      return step()
    })
  }

  /** Writes what the read adds, after the venues to which its events refer. Returns why it must not, or `null`. */
  async #add({ staging, missing }: Read<Item>, isEnd: boolean): Promise<Failure | null> {
    const { missingFor, beforePointing } = this.#options
    const all = new Set([...missing, ...missingIn(staging.added(), missingFor)])
    const failure = all.size === 0 ? null : await beforePointing?.(all)
    if (failure) return failure
    await staging.add(isEnd)
    return null
  }

  async #commit(read: Read<Item>, outcome: ReadEnd): Promise<Attempt> {
    const { list } = this.#options
    const { kind, purpose, begun, staging, unsure } = read
    if (kind === 'availability') {
      await staging.add(true)
      this.tickets = { begun, sinceMs: staging.sinceMs }
      return { ok: true }
    }
    const isDoubtful = unsure !== null && missingRows(list, staging.sighting, staging.sinceMs).next().done !== true
    if (isDoubtful) return failed('waiting', unsure)
    const failure = await this.#add(read, true)
    if (failure !== null) return { ok: false, failure }
    return purpose === 'addition' ? { ok: true } : this.#settle(read, outcome)
  }

  /** Writes what leaves the list, as far as the shrink guard believes it, and confirms the list. */
  async #settle(read: Read<Item>, outcome: ReadEnd): Promise<Attempt> {
    const { list, source, time, pause, beforeRemoval } = this.#options
    const { kind, purpose, staging } = read
    const { complete } = outcome
    staging.keepUnreadable()
    const verdict = this.#judge(read, outcome)
    const isBelieved = verdict.failure === null
    const absent = complete && isBelieved ? absentIds(list, staging.sinceMs) : []
    const unreadable = isBelieved ? [...staging.unreadableRows()].map(({ id }) => id) : []
    const leaving = new Set([...staging.leavingIds, ...unreadable, ...absent])
    const waits = beforeRemoval !== undefined && leaving.size > 0
    const failure = waits ? await this.turns.leave(purpose !== 'audit', leaving, beforeRemoval) : null
    if (failure !== null) return { ok: false, failure }
    // Rows that the CRM reports as removed go even if the absence of others is not believed.
    await staging.remove()
    if (verdict.failure !== null) return { ok: false, failure: verdict.failure }
    await staging.withdrawUnreadable()
    if (verdict.isShort) list.forgetLost()
    if (complete) {
      staging.changed += await removeAbsent(list, staging.sinceMs, () => secondOf(time.now()), pause)
      if (kind === 'full') {
        if (source.reportsChanges) forgetVersions(list, staging.sinceMs)
        list.forgetLost()
        this.reports.newlyWithheld.addMore(list.unidentified.faults, staging.unidentified.faults)
        list.unidentified = staging.unidentified
      }
    }
    verdict.release()
    notePrice(this.#options, kind, outcome)
    this.reports.tellDrift(staging)
    this.#confirm(read, outcome)
    return { ok: true }
  }

  #judge({ kind, begun, staging }: Read<Item>, { complete, oneMoment }: ReadEnd): ReturnType<ShrinkGuard['judge']> {
    const { list, time, observe } = this.#options
    const { sinceMs, sighting, leavingIds } = staging
    const judged = { ...sighting, begun, sinceMs, kind, complete, oneMoment, removed: leavingIds.length }
    // Before the list is first served, there is nothing to hold.
    const shrinkGuardMs = this.#hasOldRows ? this.#settings().shrinkGuardMs : null
    const given = { ...this.#settings(), shrinkGuardMs, now: time.now(), observe, serveOld: () => this.#serveOld() }
    return this.guard.judge(list, judged, given)
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

  /** Records what the read proves about the list's age, and takes its cursor. */
  #confirm({ kind, purpose, begun, staging }: Read<Item>, outcome: ReadEnd): void {
    const { lagMs, sinceMs, ignored, outdated } = staging
    const { complete, unchanged, cursor } = outcome
    // Only a read that begins with the tickets can add the rows that are missing.
    if (outdated > 0) this.#cursor.take(null)
    // While the last full read is not believed, changes reported by the same CRM prove nothing either.
    const confirms = outcome.confirms && outdated === 0 && !(this.guard.shrunk !== null && kind === 'changes')
    if (confirms) {
      const details = outcome.asOf ?? begun
      const tickets = purpose === 'refresh' ? this.tickets : null
      const asOf = tickets === null ? details : earlierOf(details, tickets.begun)
      this.isBridging = false
      this.freshness.confirm(asOf, lagMs)
      this.#tombstones.completeAsOf(sinceMs, complete)
      if ((complete && kind === 'full') || unchanged) this.freshness.audit(asOf, lagMs)
    }
    if (!this.isLoaded && (complete || confirms)) this.#load()
    const { reportsChanges } = this.#options.source
    this.#cursor.takeFrom({ cursor, kind, purpose, ignored, reportsChanges })
  }
}
