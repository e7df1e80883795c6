import type { Observe } from '../observe/observation.ts'
import { countAbsent, hasOlderAvailability, removeAbsent } from './absence.ts'
import { Belief } from './belief.ts'
import type { Attempt } from './cycle.ts'
import { Drift } from './drift.ts'
import { Freshness } from './freshness.ts'
import { HeldCursor } from './held-cursor.ts'
import { Pages } from './pages.ts'
import type { Page, ReadEnd, ReadKind, Source } from './port.ts'
import { failureOf } from './port.ts'
import { Reading } from './reading.ts'
import type { RecordList } from './record-list.ts'
import type { Moment, Time } from './time.ts'
import { Tombstones } from './tombstones.ts'
import { Turns } from './turns.ts'

export interface ListReaderOptions<Item> {
  readonly list: RecordList<Item>
  readonly source: Source<Item>
  readonly brake: boolean
  readonly time: Time
  readonly observe: Observe
  /** Lets requests pass between two slices of work. */
  readonly pause: () => Promise<void>
  readonly isTooLarge: () => boolean
  /** Runs before a page is applied: venues are added before the events that point at them. */
  readonly beforePage?: (page: Page<Item>) => Promise<void>
  /** Runs before served rows are removed: venues are removed after the events that point at them. */
  readonly beforeRemoval?: () => Promise<void>
}

const LONGEST_DELAY_MS = 24 * 3_600_000

/** Reads one list of the CRM into memory: in full, by changes, or its availability alone. */
export class ListReader<Item> {
  readonly freshness: Freshness = new Freshness()
  readonly drift: Drift = new Drift()
  readonly belief: Belief = new Belief()
  readonly #options: ListReaderOptions<Item>
  readonly #tombstones = new Tombstones()
  readonly #turns = new Turns()
  readonly #cursor = new HeldCursor()
  #loaded = false
  #reads = 0

  constructor(options: ListReaderOptions<Item>) {
    this.#options = options
  }

  /** The list got so short that it is not believed, and nothing has shown otherwise since. */
  get braked(): boolean {
    return this.belief.braked !== null
  }

  /** The next read of all rows may remove what it does not mention, however much that is. */
  acceptShorter(): void {
    this.belief.acceptShorter(this.#options.time.now().monotonicMs)
  }

  /** Brings the list up to date by the cheapest read there is. */
  refresh(): Promise<Attempt> {
    return this.#alone(async () => {
      if (this.#cursor.text === null || !this.#options.source.reportsChanges) return this.#readAll(false)
      const attempt = await this.#read('changes', false)
      if (attempt.ok) this.#cursor.followed()
      return attempt.ok || !this.#cursor.isGivenUp(attempt.failure) ? attempt : this.#readAll(false)
    })
  }

  /** In full; once more where so much is missing that a second reading has to agree. */
  async #readAll(audit: boolean): Promise<Attempt> {
    const attempt = await this.#read('full', audit)
    return attempt.ok || attempt.failure.kind !== 'doubted' ? attempt : this.#read('full', audit)
  }

  /** A full read beside the refreshes. Until the list was read in full once, the refresh is that read. */
  async audit(): Promise<Attempt> {
    if (!this.#loaded || this.#cursor.text === null) return { ok: true }
    try {
      return await this.#readAll(true)
    } finally {
      this.#tombstones.duringAudit(false)
    }
  }

  /**
   * Not beside a refresh: a page of each that overlap would be too old for the other, and neither as new as it began. It
   * would gain nothing, since an answer is as old as the older of the two.
   */
  async readAvailability(): Promise<Attempt> {
    return this.#loaded ? this.#alone(() => this.#read('availability', false)) : { ok: true }
  }

  async #read(kind: ReadKind, audit: boolean): Promise<Attempt> {
    const { list, time, source, observe, beforeRemoval } = this.#options
    // An audit begins between two refreshes: what changed before it is then either in them or found by it.
    const begun = audit ? await this.#alone(async () => this.#beginAudit()) : time.now()
    const reading = new Reading<Item>({
      list,
      tombstones: this.#tombstones,
      drift: this.drift,
      kind,
      nextNumber: () => ++this.#reads,
      begunAt: begun.monotonicMs,
      repeatedId: source.repeatedId,
      audit,
      timesChanges: this.#loaded && !audit,
      // Where absence is the only sign of removal, a read that fails half-way must not have withdrawn anything.
      postponeRemovals: beforeRemoval !== undefined || !source.reportsChanges,
      now: () => time.now().monotonicMs,
    })
    const attempt = await this.#consume(kind, audit, begun, reading)
    observe({
      kind: 'read-ended',
      read: {
        list: list.kind.name,
        kind,
        outcome: attempt.ok ? 'ok' : attempt.failure.kind,
        message: attempt.ok ? null : attempt.failure.message,
        durationMs: time.now().monotonicMs - begun.monotonicMs,
        rows: reading.rows,
        changed: reading.changed,
        served: list.served,
        withheld: list.withheld + list.extras.length,
      },
    })
    return attempt
  }

  #beginAudit(): Moment {
    this.#tombstones.duringAudit(true)
    return this.#options.time.now()
  }

  async #consume(kind: ReadKind, audit: boolean, begun: Moment, reading: Reading<Item>): Promise<Attempt> {
    const { list, source, time } = this.#options
    const cursor = kind === 'full' && source.reportsChanges ? null : this.#cursor.text
    const read = (signal: AbortSignal): ReturnType<Source<Item>['read']> =>
      source.read({ kind, cursor, held: list, signal })
    const pages = new Pages<Item>(read, source.patienceMs, time)
    let attempt: Attempt
    try {
      attempt = await this.#applyPages(pages, kind, audit, begun, reading)
    } catch (cause) {
      // A bug: told by its name alone, for its message may hold a row.
      const name = cause instanceof Error ? cause.name : 'an error'
      attempt = { ok: false, failure: failureOf('internal', `a page could not be applied (${name})`) }
    }
    if (attempt.ok) return attempt
    pages.abandon()
    // A list that was applied in part is no longer what the cursor says.
    if (!source.reportsChanges && reading.rows > 0) this.#cursor.take(null)
    return attempt
  }

  async #applyPages(
    pages: Pages<Item>,
    kind: ReadKind,
    audit: boolean,
    begun: Moment,
    reading: Reading<Item>,
  ): Promise<Attempt> {
    const { beforePage, isTooLarge } = this.#options
    for (;;) {
      const next = await pages.next()
      if (next.kind === 'end') {
        const { outcome } = next
        if (!outcome.ok) return outcome
        await this.#prepareRemovals(outcome, begun, reading)
        const end = (): Promise<Attempt> => this.#end(kind, audit, begun, reading, outcome)
        return audit ? this.#alone(end) : end()
      }
      await beforePage?.(next.page)
      // A page of an audit is applied between two refreshes, never while one is under way.
      if (audit) await this.#alone(async () => reading.apply(next.page))
      else reading.apply(next.page)
      this.#tellDelays(reading)
      if (!isTooLarge()) continue
      return {
        ok: false,
        failure: failureOf('too-large', 'the list is larger than limits.memory; what was held is kept'),
      }
    }
  }

  async #prepareRemovals(outcome: ReadEnd, begun: Moment, reading: Reading<Item>): Promise<void> {
    const { list, beforeRemoval } = this.#options
    if (beforeRemoval === undefined) return
    const removes =
      reading.hasPostponed || (outcome.complete && countAbsent(list, begun.monotonicMs - reading.lagMs) > 0)
    if (removes) await beforeRemoval()
  }

  async #end(
    kind: ReadKind,
    audit: boolean,
    begun: Moment,
    reading: Reading<Item>,
    outcome: ReadEnd,
  ): Promise<Attempt> {
    const { list, source, brake, time, observe, pause } = this.#options
    // What the CRM says is gone is gone, whether or not the absence of the rest is believed.
    reading.settleRemovals()
    this.#tellDelays(reading)
    if (outcome.complete && kind !== 'availability') {
      const sinceMs = begun.monotonicMs - reading.lagMs
      const sighting = { number: reading.number, begunAt: begun.monotonicMs, audit }
      const { oneMoment } = outcome
      const nowMs = time.now().monotonicMs
      const failure = this.belief.judge(list, sighting, { oneMoment, brake, sinceMs, nowMs, observe })
      if (failure !== null) {
        if (!source.reportsChanges) this.#cursor.take(null)
        return { ok: false, failure }
      }
      reading.changed += await removeAbsent(list, sinceMs, pause)
      reading.release()
      if (kind === 'full') list.extras = reading.extras
      this.#loaded = true
    }
    this.#confirm(kind, begun, reading, outcome)
    const keepsCursor = audit
      ? this.#cursor.isSound
      : kind === 'availability' || (kind === 'changes' && reading.ignored > 0)
    if (outcome.cursor !== null && !keepsCursor) this.#cursor.take(outcome.cursor)
    return { ok: true }
  }

  /** Clocks that differ, and rows that show only now, such as those of another view, make times that tell of no delay. */
  #tellDelays(reading: Reading<Item>): void {
    const times = reading.takeChangeTimes()
    if (times.length === 0) return
    const { list, time, observe } = this.#options
    const { wallMs } = time.now()
    const delaysMs = times.map((at) => wallMs - at).filter((ms) => ms >= 0 && ms <= LONGEST_DELAY_MS)
    if (delaysMs.length > 0) observe({ kind: 'changes-published', list: list.kind.name, delaysMs })
  }

  #confirm(kind: ReadKind, begun: Moment, { lagMs }: Reading<Item>, outcome: ReadEnd): void {
    const { list, source, observe } = this.#options
    const asOf = outcome.asOf ?? begun
    // While the last full read is not believed, the changes of the same CRM are no proof of anything either.
    const confirms = outcome.confirms && !(this.braked && kind === 'changes')
    if (!confirms) return
    if (kind === 'availability') return this.#confirmAvailability(asOf, lagMs)
    this.freshness.confirmDetails(asOf, lagMs)
    if (kind === 'full' || source.availabilityEveryMs === null) this.freshness.confirmAvailability(asOf, lagMs)
    this.#tombstones.completeAsOf(asOf.monotonicMs - lagMs, outcome.complete)
    if (outcome.complete || outcome.unchanged) this.freshness.audit(asOf, lagMs)
    const byColumn = this.drift.settle(asOf.monotonicMs - lagMs)
    if (byColumn.size > 0)
      observe({ kind: 'drift-found', list: list.kind.name, byColumn: Object.fromEntries(byColumn) })
  }

  #confirmAvailability(asOf: Moment, lagMs: number): void {
    const { list, time } = this.#options
    if (hasOlderAvailability(list, asOf.monotonicMs - lagMs)) {
      this.freshness.confirmAvailabilityOnce(asOf, lagMs, time.now().monotonicMs - lagMs)
    } else this.freshness.confirmAvailability(asOf, lagMs)
  }

  async #alone<Result>(work: () => Promise<Result>): Promise<Result> {
    const letGo = await this.#turns.take()
    try {
      return await work()
    } finally {
      letGo()
    }
  }
}
