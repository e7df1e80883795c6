import type { Guid } from '../domain/guid.ts'
import type { Observe } from '../observe/observation.ts'
import { absentIds, doubtVersions, hasOlderAvailability, removeAbsent, servedRows } from './absence.ts'
import { Barrier } from './barrier.ts'
import { type SnapshotList, type ResumeState, baseListOf } from './snapshot-list.ts'
import type { Attempt } from './poller.ts'
import { Drift } from './drift.ts'
import { Freshness } from './freshness.ts'
import { HeldCursor } from './held-cursor.ts'
import { PackedRows } from '../records/packed-withheld.ts'
import { Pages } from './pages.ts'
import type { Failure, Cursor, Page, ReadEnd, ReadKind, ReadPurpose, Source } from './port.ts'
import { failed } from './port.ts'
import { ReadReports } from './read-reports.ts'
import { PageApplier } from './page-applier.ts'
import type { RecordList } from '../records/record-list.ts'
import { type ShrinkGuardSetting, type Shrunk, ShrinkGuard } from './shrink-guard.ts'
import { type Moment, type Time, delaysOf, earlierBy, momentAt } from '../time/time.ts'
import { Tombstones } from './tombstones.ts'
import { Mutex } from '../time/waiting.ts'

export interface ListReaderOptions<Item> {
  readonly carried?: ResumeState
  readonly list: RecordList<Item>
  readonly source: Source<Item>
  readonly time: Time
  readonly observe: Observe
  /** Lets requests pass between two slices of work. */
  readonly pause: () => Promise<void>
  /** Whether all that is held, and so many bytes of what is being read, is more than there is room for. */
  readonly isTooLarge: (readingBytes: number) => boolean
  /** Whether rows of the page point at what the other list does not serve: it may have come with them. */
  readonly pointsAtMissing?: (page: Page<Item>) => boolean
  /** Runs before such a page is applied: venues are added before the events that point at them. Why not, or null. */
  readonly beforePointing?: () => Promise<Failure | null>
  /** Runs before rows that are served are removed: venues are removed after the events that point at them. */
  readonly beforeRemoval?: (leaving: ReadonlySet<Guid>) => Promise<void>
}

interface ReaderSettings extends ShrinkGuardSetting {
  readonly maxAgeMs: number
}

/** One read, and what is done with it. An addition only adds: nothing is removed, confirmed or remembered for it. */
interface Read<Item> {
  readonly kind: ReadKind
  readonly purpose: ReadPurpose
  readonly begun: Moment
  /** How many pages refreshes had applied. */
  readonly pagesBefore: number
  readonly reading: PageApplier<Item>
}

/** Reads one list of the CRM into memory: in full, by changes, or its availability alone. */
export class ListReader<Item> {
  readonly freshness: Freshness
  readonly drift: Drift = new Drift()
  readonly barrier: Barrier = new Barrier()
  readonly guard: ShrinkGuard = new ShrinkGuard()
  /** The list was read in full once, or what it took over was confirmed: nothing is answered from it before. */
  isLoaded = false
  adoptedAtMs: number = Number.POSITIVE_INFINITY
  /** When that was, by the monotonic clock. */
  loadedAtMs: number = Number.POSITIVE_INFINITY
  /** The snapshot that its rows are from; null where there was none. */
  #adopted: SnapshotList | null = null
  readonly #options: ListReaderOptions<Item>
  readonly #settings: ReaderSettings
  readonly #tombstones = new Tombstones()
  readonly #mutex = new Mutex()
  readonly #cursor = new HeldCursor()
  readonly #reports: ReadReports<Item>
  #reads = 0
  /** Pages of the details that refreshes have applied. */
  #pages = 0
  /** Reads have to confirm until all is known as of this moment. */
  #confirmSince: Moment | null = null

  constructor(options: ListReaderOptions<Item>, settings: ReaderSettings) {
    this.#options = options
    this.#settings = settings
    this.#reports = new ReadReports(options.list, options.observe)
    const { carried } = options
    this.freshness = carried?.freshness ?? new Freshness()
    if (carried?.isLoaded !== true) return
    const now = options.time.now()
    ;[this.isLoaded, this.loadedAtMs] = [true, now.monotonicMs]
    options.list.unidentified = PackedRows.counted(carried.unidentified)
    this.#cursor.take(carried.cursor)
    this.confirmSince(now)
    const { shrunk, lost, accepting } = carried
    options.list.lostElsewhere = lost
    if (shrunk !== null) this.#resume({ ...shrunk, since: earlierBy(now, shrunk.forMs) })
    if (accepting) this.guard.acceptShorter(now.monotonicMs)
  }

  /** What another reader could go on from; null where it has to read all rows. */
  get travellingCursor(): Cursor | null {
    const { text } = this.#cursor
    return text !== null && this.#options.source.travels?.(text) === true ? text : null
  }

  #resume(shrunk: Shrunk): void {
    const { list } = this.#options
    this.guard.resume(list.kind.name, list.served + list.lostCount, shrunk)
  }

  /** The next read of all rows may remove what it does not mention, however much that is. */
  acceptShorter(): void {
    this.guard.acceptShorter(this.#options.time.now().monotonicMs)
  }

  /** Reads have to tell all changes until they are known as of `moment`. */
  confirmSince(moment: Moment): void {
    this.#confirmSince = moment
  }

  /** No refresh begins until what it gives is called. */
  hold(): Promise<() => void> {
    return this.#mutex.lock()
  }

  /** What a snapshot says of the list; null where neither it was read in full nor its rows are those of a snapshot: what the shrink guard holds must outlive this process. */
  get snapshotList(): SnapshotList | null {
    const { list, time } = this.#options
    if (!this.isLoaded && this.#adopted === null) return null
    const { freshness, guard, travellingCursor: cursor } = this
    return baseListOf(list, { freshness, guard, cursor, adopted: this.#adopted, now: time.now() })
  }

  /** Goes on from a snapshot whose rows are in the list: the next read that tells all changes confirms them. */
  adopt(snapshot: SnapshotList): void {
    const { list, time } = this.#options
    const { cursor, unidentified, shrunk, lost } = snapshot
    const now = time.now()
    this.#adopted = snapshot
    this.adoptedAtMs = now.monotonicMs
    list.unidentified = PackedRows.counted(unidentified)
    list.lostElsewhere = lost
    this.#cursor.take(cursor)
    this.confirmSince(now)
    if (shrunk !== null) this.#resume({ ...shrunk, since: momentAt(shrunk.sinceMs, now) })
  }

  /** Brings the list up to date by the cheapest read there is. */
  refresh(): Promise<Attempt> {
    return this.#mutex.run(() => this.#readCheaply('refresh'))
  }

  /** Applies what came to the list while a refresh, whose turn this is, waits for the other list. */
  readAdditions(): Promise<Attempt> {
    return this.barrier.readAdditions(() => this.#readCheaply('addition'))
  }

  /** Something may have changed: where a refresh waits for the other list, what came is read beside it. */
  hint(): void {
    this.barrier.hint(() => this.#readCheaply('addition'))
  }

  /** A full read beside the refreshes. Until the list was read in full once, the refresh is that read. */
  async audit(): Promise<Attempt> {
    if (!this.isLoaded || this.#cursor.text === null) return { ok: true }
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

  /** In full; once more where so much is missing that a second reading has to agree. */
  async #readAll(purpose: ReadPurpose): Promise<Attempt> {
    const attempt = await this.#read('full', purpose)
    return attempt.ok || attempt.failure.kind !== 'unconfirmed' ? attempt : this.#read('full', purpose)
  }

  /**
   * Not beside a refresh: a page of each that overlap would be too old for the other, and neither as new as it began. It
   * would gain nothing, since an answer is as old as the older of the two.
   */
  async readAvailability(): Promise<Attempt> {
    return this.isLoaded ? this.#mutex.run(() => this.#read('availability', 'refresh')) : { ok: true }
  }

  async #read(kind: ReadKind, purpose: ReadPurpose): Promise<Attempt> {
    const { list, time, source, beforeRemoval } = this.#options
    const audit = purpose === 'audit'
    // An audit begins between two refreshes: what changed before it is then either in them or found by it.
    const begun = audit ? await this.#mutex.run(async () => this.#beginAudit()) : time.now()
    const reading = new PageApplier<Item>({
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
      // Where absence is the only sign of removal, a read that fails half-way must not have withdrawn anything.
      postponeRemovals: beforeRemoval !== undefined || !source.reportsChanges,
      now: () => time.now().monotonicMs,
      // Of a list that nobody was ever shown, nothing is kept.
      keepsFaults: this.isLoaded || this.#adopted !== null,
      newlyWithheld: this.#reports.newlyWithheld,
    })
    const attempt = await this.#consume({ kind, purpose, begun, pagesBefore: this.#pages, reading })
    const tookMs = time.now().monotonicMs - begun.monotonicMs
    this.#reports.tell({ kind, purpose, reading }, attempt, this.isLoaded, tookMs)
    return attempt
  }

  #beginAudit(): Moment {
    this.#tombstones.duringAudit(true)
    return this.#options.time.now()
  }

  async #consume(read: Read<Item>): Promise<Attempt> {
    const { list, source, time } = this.#options
    const { kind, purpose, reading } = read
    const cursor = kind === 'full' && source.reportsChanges ? null : this.#cursor.text
    const mustConfirm = this.#confirmSince !== null && !this.freshness.areDetailsConfirmedSince(this.#confirmSince)
    const served = servedRows(read, list, this, time.now(), this.#settings)
    const pages = new Pages<Item>(
      (signal) => source.read({ kind, purpose, cursor, held: list, mustConfirm, served, signal }),
      source.patienceMs,
      time,
    )
    let attempt: Attempt
    try {
      attempt = await this.#applyPages(pages, read)
    } catch (cause) {
      // A bug: told by its name alone, for its message may hold a row.
      const name = cause instanceof Error ? cause.name : 'an error'
      attempt = failed('internal', `a page could not be applied (${name})`)
    }
    if (attempt.ok) return attempt
    pages.abandon()
    // A list that was applied in part is no longer what the cursor says.
    if (!source.reportsChanges && reading.rows > 0) this.#cursor.take(null)
    return attempt
  }

  async #applyPages(pages: Pages<Item>, read: Read<Item>): Promise<Attempt> {
    const { pointsAtMissing, beforePointing, isTooLarge } = this.#options
    const { kind, purpose, reading } = read
    const { isLoaded, barrier } = this
    const number = purpose === 'refresh' && kind !== 'availability' ? ++barrier.begun : null
    let isPointing = false
    for (;;) {
      const next = await pages.next()
      if (next.kind === 'end') {
        if (!next.outcome.ok) return next.outcome
        // Nothing is answered from a list that was never read in full: then it is enough to wait here.
        const failure = isPointing && !isLoaded ? await beforePointing?.() : null
        if (failure) return { ok: false, failure }
        if (number !== null) barrier.tell(number)
        return purpose === 'addition' ? { ok: true } : this.#finish(read, next.outcome)
      }
      if (isLoaded || !isPointing) isPointing = pointsAtMissing?.(next.page) ?? false
      const failure = isPointing && isLoaded ? await beforePointing?.() : null
      if (failure) return { ok: false, failure }
      // A page of an audit is applied between two refreshes, never while one is under way.
      if (purpose === 'audit') await this.#mutex.run(async () => reading.apply(next.page))
      else {
        if (kind !== 'availability') this.#pages++
        reading.apply(next.page)
      }
      this.#tellDelays(reading)
      if (isTooLarge(reading.unidentified.sizeBytes)) {
        return failed('too-large', 'the list is larger than limits.memory; what was held is kept')
      }
    }
  }

  async #finish(read: Read<Item>, outcome: ReadEnd): Promise<Attempt> {
    const { list, beforeRemoval } = this.#options
    const { purpose, begun, reading } = read
    const end = (): Promise<Attempt> =>
      purpose === 'audit' ? this.#mutex.run(() => this.#end(read, outcome)) : this.#end(read, outcome)
    if (beforeRemoval === undefined) return end()
    const absent = outcome.complete ? absentIds(list, begun.monotonicMs - reading.lagMs) : []
    const leaving = new Set([...reading.leavingIds, ...absent])
    if (leaving.size === 0) return end()
    this.barrier.removals++
    try {
      if (purpose === 'audit') await beforeRemoval(leaving)
      else {
        // What points at this list was held up by that, and may still show: nothing goes before it.
        const added = await this.barrier.waitFor(() => beforeRemoval(leaving))
        if (!added.ok) return added
      }
      return await end()
    } finally {
      this.barrier.removals--
    }
  }

  async #end(read: Read<Item>, outcome: ReadEnd): Promise<Attempt> {
    const { kind, purpose, begun, reading } = read
    const { time } = this.#options
    const audit = purpose === 'audit'
    // What the CRM says is gone is gone, whether or not the absence of the rest is believed.
    reading.removePostponed()
    this.#tellDelays(reading)
    if (kind !== 'availability') {
      const failure = await this.#settle(read, outcome)
      if (failure !== null) return { ok: false, failure }
    }
    const isConfirmed = this.#confirm(kind, begun, reading, outcome)
    if (!this.isLoaded && (outcome.complete || isConfirmed)) {
      this.loadedAtMs = time.now().monotonicMs
      this.isLoaded = true
    }
    // A row that a refresh has seen since an audit began is not gone for it: only the older cursor tells of its deletion.
    const keepsCursor = audit
      ? this.#cursor.isSound || this.#pages > read.pagesBefore
      : kind === 'availability' || (kind === 'changes' && reading.ignored > 0)
    if (outcome.cursor !== null && !keepsCursor) this.#cursor.take(outcome.cursor)
    return { ok: true }
  }

  /** Takes off the web what the read says is gone or unreadable, where the shrink guard believes it; else why not. */
  async #settle({ kind, purpose, begun, reading }: Read<Item>, outcome: ReadEnd): Promise<Failure | null> {
    const { list, source, time, observe, pause } = this.#options
    const { complete, oneMoment } = outcome
    const sinceMs = begun.monotonicMs - reading.lagMs
    const { number, resolved } = reading
    const sighting = { number, begunAt: begun.monotonicMs, audit: purpose === 'audit' }
    const judged = { ...sighting, kind, begun, complete, oneMoment, sinceMs, resolved }
    const { shrinkGuardMs } = this.#settings
    const { failure, isShort } = this.guard.judge(list, judged, { shrinkGuardMs, now: time.now(), observe })
    if (failure !== null) {
      if (!source.reportsChanges) this.#cursor.take(null)
      if (failure.kind === 'shrunk') this.#serveAdopted()
      return failure
    }
    if (complete) reading.release()
    await reading.withdrawUnreadable(pause)
    if (isShort) list.forgetLost()
    if (!complete) return null
    reading.changed += await removeAbsent(list, sinceMs, pause)
    if (kind !== 'full') return null
    if (source.reportsChanges) doubtVersions(list, sinceMs)
    list.forgetLost()
    this.#reports.newlyWithheld.addMore(list.unidentified.faults, reading.unidentified.faults)
    list.unidentified = reading.unidentified
    return null
  }

  /** The rows of a snapshot are those that the shrink guard keeps on the web: served at the age that the snapshot told. */
  #serveAdopted(): void {
    const now = this.#options.time.now()
    if (this.isLoaded || !this.freshness.goOnFrom(this.#adopted?.confirmedAtMs ?? null, now)) return
    ;[this.isLoaded, this.loadedAtMs] = [true, now.monotonicMs]
  }

  #tellDelays(reading: PageApplier<Item>): void {
    const times = reading.takeChangeTimes()
    if (times.length === 0) return
    const { time, observe } = this.#options
    const delaysMs = delaysOf(times, time.now().wallMs)
    if (delaysMs.length > 0) observe({ kind: 'changes-published', delaysMs })
  }

  /** Whether the read tells that all is known. */
  #confirm(kind: ReadKind, begun: Moment, { lagMs }: PageApplier<Item>, outcome: ReadEnd): boolean {
    const { list, source, observe } = this.#options
    const asOf = outcome.asOf ?? begun
    // While the last full read is not believed, the changes of the same CRM are no proof of anything either.
    const confirms = outcome.confirms && !(this.guard.shrunk !== null && kind === 'changes')
    if (!confirms) return false
    if (kind === 'availability') {
      this.#confirmAvailability(asOf, lagMs)
      return true
    }
    this.freshness.confirmDetails(asOf, lagMs)
    if (kind === 'full' || source.availabilityEveryMs === null) this.freshness.confirmAvailability(asOf, lagMs)
    this.#tombstones.completeAsOf(asOf.monotonicMs - lagMs, outcome.complete)
    if (outcome.complete || outcome.unchanged) this.freshness.audit(asOf, lagMs)
    const byColumn = this.drift.countUnreported(asOf.monotonicMs - lagMs, (id) => list.find(id) !== -1)
    if (byColumn.size > 0)
      observe({ kind: 'drift-found', list: list.kind.name, byColumn: Object.fromEntries(byColumn) })
    return true
  }

  #confirmAvailability(asOf: Moment, lagMs: number): void {
    const { list, time } = this.#options
    if (hasOlderAvailability(list, asOf.monotonicMs - lagMs)) {
      this.freshness.confirmAvailabilityOnce(asOf, lagMs, time.now().monotonicMs - lagMs)
    } else this.freshness.confirmAvailability(asOf, lagMs)
  }
}
