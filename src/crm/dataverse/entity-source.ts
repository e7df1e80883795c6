import { type CrmLimits, patienceOf } from '../kit/crm-limits.ts'
import type { Pauses } from '../kit/throttle.ts'
import type { Guid } from '../../domain/guid.ts'
import { unreachable } from '../../domain/unreachable.ts'
import {
  type Failure,
  type Cursor,
  type Failed,
  type PageStream,
  type ReadOutcome,
  type ReadRequest,
  type ListSource,
  type OnPause,
  PAGE_ROWS,
  cursorOf,
  failed,
  failureOf,
} from '../../sync/port.ts'
import { type Moment, type Time, elapsedMs } from '../../time/time.ts'
import { sleep } from '../../time/waiting.ts'
import type { PageAnswer } from './client.ts'
import { type PageReader, type PageWish, patienceWithWaits, streamPages } from './page-reader.ts'
import { CHANGE_TIME } from './table-rows.ts'
import type { FullReadPace, NoTracking, Tracking } from './tracking.ts'

export interface EntitySourceSettings<Item> {
  readonly reader: PageReader<Item>
  readonly availabilityReader: PageReader<Item>
  readonly tracking: Tracking
  readonly pace: FullReadPace
  readonly time: Time
  readonly limits: CrmLimits
  readonly pauses: Pauses
  readonly availabilityEveryMs: number | null
}

/** Begins the cursor of a full read without change tracking. */
const UNTRACKED = 'untracked '
/** The longest pause that a read waits for itself; a longer one fails the read. */
const SHORT_WAIT_MS = 1000
/** Rows of availability have three columns: five times as many are no larger than a page of whole rows. */
export const AVAILABILITY_ROWS: number = PAGE_ROWS * 5
/**
 * The most rounds of one read of changes. A row that changes again while the changes are paged may be missing from all
 * pages, even with its first change; only the final link reports it. So the read follows that link, until one page
 * holds everything it reports. If even the last round has further pages, changes arrive too fast, and the next read
 * continues.
 */
const MOST_ROUNDS = 5

const ENDED = { ok: true, complete: false, oneMoment: false, unchanged: false, asOf: null, confirms: true } as const

/** Errors that the link caused, or that a full read explains better. */
const LINK_IS_AT_FAULT: ReadonlySet<string> = new Set([
  'expired-token',
  'not-tracked',
  'unknown-column',
  'unknown-table',
  'unasked',
  'other',
])

/** Failures of a read of changes that the link may have caused. */
const MAY_BE_THE_LINK: ReadonlySet<Failure['kind']> = new Set(['broken', 'unreachable', 'timeout'])

/** One list in a table: read in full by pages, then by its changes. */
export class EntitySource<Item> implements ListSource<Item> {
  readonly repeatedId = 'serves-later'
  readonly availabilityEveryMs: number | null
  readonly #settings: EntitySourceSettings<Item>
  #wasRead = false
  /** The last complete full read without change tracking, and the cursor that stands for it. */
  #last: { readonly begunAt: Moment; readonly cursor: Cursor } | null = null
  #untrackedReads = 0

  constructor(settings: EntitySourceSettings<Item>) {
    this.#settings = settings
    this.availabilityEveryMs = settings.availabilityEveryMs
  }

  /** The time limit of a page. Long reads wait out short outages, and the last try must end within this limit. */
  get patienceMs(): number {
    return patienceWithWaits(patienceOf(this.#settings.limits))
  }

  get reportsChanges(): boolean {
    return this.noTracking === null
  }

  /** Why the table is read in full each time; `null` if change tracking works. */
  get noTracking(): NoTracking | null {
    return this.#settings.tracking.why
  }

  /** Delta links are valid for any client that may read the table; other cursors mean nothing to another process. */
  travels(cursor: Cursor): boolean {
    return !cursor.startsWith(UNTRACKED)
  }

  onPause(callback: OnPause): void {
    this.#settings.pauses.on(callback)
  }

  remarkOn(id: Guid): string | null {
    return this.#settings.reader.table.unlabelled.remarkOn(id)
  }

  read(request: ReadRequest): PageStream<Item> {
    switch (request.kind) {
      case 'full':
        return this.#readFull(request)
      case 'changes':
        return this.#readChanges(request)
      case 'availability':
        return this.#readAvailability(request)
      default:
        return unreachable(request.kind)
    }
  }

  /** Requests one row, unless this process has read the table already. Returns why it cannot be read, or `null`. */
  async examine(): Promise<Failure | null> {
    if (this.#wasRead) return null
    const first = await this.#firstOfAll({ rows: 1 }, AbortSignal.timeout(this.patienceMs))
    return first.kind === 'error' ? first.failure : null
  }

  async *#readFull(request: ReadRequest): PageStream<Item> {
    const { tracking, pace, time } = this.#settings
    if (tracking.why !== null) {
      const early = await this.#tooEarly(request)
      if (early !== null) return early
    }
    const begunAt = time.now()
    pace.begins(begunAt)
    let outcome: ReadOutcome
    try {
      outcome = yield* this.#readAll(request, begunAt)
      if (outcome.ok) pace.ended()
    } finally {
      if (tracking.why === null) pace.tracked()
    }
    return outcome.ok || tracking.why === null ? outcome : this.#untilAllowed(outcome)
  }

  async *#readAll({ signal }: ReadRequest, begunAt: Moment): PageStream<Item> {
    const { reader, tracking, pace } = this.#settings
    const { labels } = reader.table
    const onRequest = (): void => pace.requests()
    let wish: PageWish = { rows: reader.pageRows, tracksChanges: tracking.isAsked }
    onRequest()
    let first = await this.#firstOfAll(wish, signal)
    if (first.kind === 'error' && first.error === 'not-tracked') {
      tracking.isOff('off')
      wish = { rows: wish.rows }
      first = await this.#firstOfAll(wish, signal)
    }
    // Read after the first page has shown that the columns exist: labels of a missing column would only fail unclearly.
    const unlabelled = first.kind === 'page' ? await labels.read(signal) : null
    if (unlabelled !== null) return { ok: false, failure: unlabelled }
    const { finds } = labels
    const ended = yield* streamPages(first, { reader, wish, signal, isPatient: true, onRequest })
    if (!ended.ok) return ended
    this.#wasRead = true
    labels.appliedTo(finds)
    tracking.wasReadInFull()
    reader.readInFull()
    if (wish.tracksChanges === true && tracking.isAsked) {
      if (ended.deltaLink === null) tracking.isOff('off')
      else if (reader.client.linkFault(ended.deltaLink) !== null) tracking.isOff('failing')
      else tracking.began()
    }
    const link = tracking.why === null ? ended.deltaLink : null
    const next = cursorOf(link ?? `${UNTRACKED}${++this.#untrackedReads}`)
    if (link === null) this.#last = { begunAt, cursor: next }
    return { ...ENDED, cursor: next, complete: true }
  }

  #firstOfAll(wish: PageWish, signal: AbortSignal): Promise<PageAnswer> {
    const { reader } = this.#settings
    const { columns, readsChangeTime } = reader.table.rows
    const mapped = columns.map(({ column }) => column)
    return reader.first(readsChangeTime ? [...mapped, CHANGE_TIME] : mapped, wish, signal)
  }

  /** Returns the outcome to report instead of a full read that comes too early; `null` if the read may start. */
  async #tooEarly({ cursor, signal }: ReadRequest): Promise<ReadOutcome | null> {
    const { reader, pace, time, limits } = this.#settings
    const { waitMs } = pace
    // The replica has another cursor if it rejected the last read.
    if (this.#last !== null && cursor === this.#last.cursor) {
      const { begunAt } = this.#last
      // Half the maximum age, so the next read ends before this one is too old.
      const enoughMs = waitMs > 0 ? limits.maxAgeMs : limits.maxAgeMs / 2
      if (elapsedMs(begunAt, time.now()) < enoughMs) return { ...ENDED, cursor, asOf: begunAt }
    }
    if (waitMs > SHORT_WAIT_MS) {
      const message = `${reader.table.from} has no working change tracking, and more full reads would exceed Dataverse's limits`
      return failed('throttled', message, waitMs)
    }
    // If the list is short, the second read, which confirms a large loss, follows at once.
    if (waitMs > 0) await sleep(waitMs, time, signal)
    return null
  }

  /** Delays the next try until the limits allow it: an earlier one would only report the limits, not this failure. */
  #untilAllowed({ failure }: Failed): Failed {
    const { waitMs } = this.#settings.pace
    if (waitMs <= SHORT_WAIT_MS) return { ok: false, failure }
    return { ok: false, failure: { ...failure, retryAfterMs: Math.max(waitMs, failure.retryAfterMs ?? 0) } }
  }

  async *#readChanges(request: ReadRequest): PageStream<Item> {
    const { reader, tracking } = this.#settings
    const { cursor, signal } = request
    if (cursor === null || reader.client.linkFault(cursor) !== null)
      return cursorRefused('there is no valid position to continue from')
    // A code that gets a label is not reported as a change of its rows, so all rows are read again.
    if (await reader.table.labels.haveGrown(signal)) return yield* this.#readFull(request)
    const wish = { rows: reader.pageRows }
    let link: string = cursor
    for (let round = 1; ; round++) {
      const first = await reader.page(link, wish, signal)
      const refusal = refusalOf(first)
      if (refusal !== null) return this.#linkRefused(refusal)
      const ended = yield* streamPages(first, { reader, wish, signal, valueMayBeMissing: true })
      if (!ended.ok) return this.#changesFailed(ended.failure)
      // A served row is outdated, and only a full read can tell which one.
      if (ended.hasNameless) return cursorRefused('a changed or deleted row has no usable id')
      const isWhole = ended.requests === 1
      if (ended.deltaLink === null && !isWhole) {
        const message = `${reader.table.from}: the last page of the changes has no link to continue from`
        return this.#changesFailed(failureOf('broken', message))
      }
      link = ended.deltaLink ?? link
      const fault = reader.client.linkFault(link)
      if (fault !== null) return this.#linkRefused(`the answer ${fault}`)
      if (!isWhole && round < MOST_ROUNDS) continue
      tracking.followed()
      const asOf = first.kind === 'page' ? first.begunAt : null
      return { ...ENDED, cursor: cursorOf(link), asOf, confirms: isWhole }
    }
  }

  #linkRefused(why: string): ReadOutcome {
    this.#settings.tracking.refused()
    return cursorRefused(why)
  }

  /**
   * Handles a failed read of changes. A following full read shows whether the link was to blame; after repeated
   * failures the link is given up at once.
   */
  #changesFailed(failure: Failure): ReadOutcome {
    const { tracking } = this.#settings
    if (!MAY_BE_THE_LINK.has(failure.kind)) return { ok: false, failure }
    if (tracking.isOnTrial) return this.#linkRefused(failure.message)
    tracking.failed()
    return { ok: false, failure }
  }

  async *#readAvailability({ signal }: ReadRequest): PageStream<Item> {
    const { availabilityReader: reader } = this.#settings
    const { availability } = reader.table
    if (availability === null) throw new Error('venues have no availability')
    const wish = { rows: reader.pageRows }
    const first = await reader.first(availability.columns, wish, signal)
    const { changeOf } = availability
    const ended = yield* streamPages(first, { reader, wish, signal, changeOf })
    if (!ended.ok) return ended
    reader.readInFull()
    return { ...ENDED, cursor: null }
  }
}

function refusalOf(first: PageAnswer): string | null {
  if (first.kind === 'error') return LINK_IS_AT_FAULT.has(first.error) ? first.failure.message : null
  const { rows, isDelta } = first.page
  // The whole list in place of changes does not show deletions; only a full read does.
  return rows !== null && !isDelta ? 'Dataverse sent the whole list instead of its changes' : null
}

function cursorRefused(why: string): Failed {
  return failed('cursor-refused', `the changes cannot be read: ${why}`)
}
