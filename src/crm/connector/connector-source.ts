import { type CrmLimits, LONGEST_CURSOR, patienceOf } from '../kit/crm-limits.ts'
import type { Guid } from '../../domain/guid.ts'
import { howMany } from '../../domain/printable.ts'
import type { Observe } from '../../observe/observation.ts'
import type {
  Cursor,
  Failed,
  Failure,
  ListReading,
  OnPause,
  PageStream,
  ReadEnd,
  ReadRequest,
  RepeatedId,
  ListSource,
} from '../../sync/port.ts'
import { cursorOf, failed, failureOf, heartbeat } from '../../sync/port.ts'
import { type Moment, type Time, elapsedMs } from '../../time/time.ts'
import type { RowKind } from '../mapping/map-row.ts'
import { IdComparison } from './id-comparison.ts'
import { type ListParts, ListRows } from './list-rows.ts'
import {
  type LateRow,
  type OnBatch,
  type ReadParts,
  RowNotices,
  Tally,
  batches,
  brokenBy,
  changesPage,
  deletionsOf,
  overtime,
  pagesOf,
  withHeartbeats,
} from './row-pages.ts'
import type { RowsEnd, StreamShape } from './row-host.ts'
import type { RowStream } from './row-stream.ts'
import { LookBack, farAheadLike, isNotBefore, sinceCursor, sinceIn } from './stamps.ts'
import { TIMED_OUT, withTimeout } from '../../time/waiting.ts'

export interface ConnectorSourceSettings<Item extends { readonly Id: Guid }> {
  readonly kind: RowKind<Item>
  readonly stream: RowStream
  readonly parts: ListParts
  readonly availabilityEveryMs: number | null
  readonly time: Time
  readonly limits: CrmLimits
  readonly observe: Observe
}

const COMPLETE = { ok: true, complete: true, oneMoment: false, unchanged: false, asOf: null, confirms: true } as const
/** The result of a read by `updatedAt`. It cannot report deletions, so it does not confirm the list. */
const PARTIAL = { ...COMPLETE, complete: false, confirms: false } as const
const REPORTED = { ...COMPLETE, complete: false } as const

type WholeEnd = (Extract<RowsEnd, { ok: true }> & { readonly mayHaveMoved: boolean }) | Failed

const IGNORED = 'since returned rows that changed before the requested time; does the API ignore its parameter?'

const UNCLEAR = 'the list is read in full, because a changed row is too large, or has no usable id of its own'

/** The most ids in one call of `byId`. */
const MOST_IDS = 100
/**
 * The part of the interval after which an id scan is due. It is below 1, so a scan joins a refresh that is slightly
 * early.
 */
const DUE_EARLY = 0.95
/** How many request time limits the first rows may take: a connector may send several requests before it has rows. */
const PATIENCE_OF_FIRST = 3
const USUAL_LONGEST_MS = 15 * 60_000

/** One list of a connector. Which methods the connector has decides how the list is read. */
export class ConnectorSource<Item extends { readonly Id: Guid }> implements ListSource<Item> {
  readonly availabilityEveryMs: number | null
  readonly repeatedId: RepeatedId = 'serves-later'
  /** How the list was last read in full; `null` before. */
  reading: ListReading | null = null
  readonly #settings: ConnectorSourceSettings<Item>
  readonly #notices: RowNotices
  #rows: ListRows<Item> | null = null
  /** When all rows were last compared with the rows in memory. */
  #comparedAt: Moment | null = null
  /** Whether the last full read returned a cursor, as commands may. */
  #gaveCursor = false
  /** The ids that have a row which is withheld on purpose and another one. */
  #twins: ReadonlySet<Guid> = new Set()
  /** Whether a read has shown that the CRM obeys the time of `since`. */
  #isSinceHeeded = false

  constructor(settings: ConnectorSourceSettings<Item>) {
    this.#settings = settings
    this.availabilityEveryMs = settings.availabilityEveryMs
    const { observe, limits } = settings
    this.#notices = new RowNotices(
      settings.stream.name,
      () => limits.maxAgeMs / 2,
      (message) => observe({ kind: 'crm-noticed', message }),
    )
  }

  get reportsChanges(): boolean {
    const ways = this.#settings.stream.known?.ways
    return this.#gaveCursor || ways?.has('changes') === true || ways?.has('since') === true
  }

  get idColumn(): string {
    return this.#rows?.idColumn ?? 'Id'
  }

  /** Long enough for the time between two heartbeats, and for the start of the connector. */
  get patienceMs(): number {
    return patienceOf(this.#settings.limits)
  }

  /** True: cursors work in every process, and a process compares all rows before it reads by `updatedAt`. */
  travels(): boolean {
    return true
  }

  onHint(callback: () => void): () => void {
    const { name, host } = this.#settings.stream
    return host.onHint(name, callback)
  }

  onPause(callback: OnPause): void {
    this.#settings.stream.host.pauses?.on(callback)
  }

  async *read(request: ReadRequest): PageStream<Item> {
    const { stream, time, limits } = this.#settings
    const { held, signal, cursor } = request
    const longestMs = Math.max(limits.fullReadEveryMs ?? USUAL_LONGEST_MS, 3 * patienceOf(limits))
    // All pages have the time at which the read began, so rows that a connector fetches ahead cannot look newer than
    // they are.
    const around = { time, signal, begunAt: time.now(), pass: 0, heartbeatMs: limits.requestTimeoutMs, longestMs }
    // The connector may have to be started first.
    const shape = yield* withHeartbeats(stream.shape(), around)
    if (shape === TIMED_OUT) return overtime(this.#settings.kind.table.list, around, signal)
    if ('message' in shape) return { ok: false, failure: shape }
    const parts = { ...around, list: this.#listOf(shape), held }
    if (request.kind === 'availability') return yield* this.#readAvailability(request, parts)
    if (request.kind === 'full' || cursor === null) return yield* this.#readFull(request, parts)
    if (shape.ways.has('since')) return yield* this.#readSince(cursor, request, parts)
    return yield* this.#readChanges(cursor, parts)
  }

  /**
   * Asks for the first rows, unless this process has read the list already. Returns why it cannot be read, or `null`.
   * After the first rows it stops the read, to save requests of a daily budget.
   */
  async examine(): Promise<Failure | null> {
    if (this.#comparedAt !== null) return null
    const { stream, time, limits } = this.#settings
    const patienceMs = PATIENCE_OF_FIRST * patienceOf(limits)
    const examining = new AbortController()
    const asked = this.#firstFault(examining.signal)
    const fault = await withTimeout(time, patienceMs, asked)
    examining.abort()
    if (fault !== TIMED_OUT) return fault
    return failureOf('timeout', `${stream.name}: no rows came within ${patienceMs / 1000} s`)
  }

  async #firstFault(signal: AbortSignal): Promise<Failure | null> {
    const { stream } = this.#settings
    const shape = await stream.shape()
    if ('message' in shape) return shape
    const rows = stream.open('full', null, signal)
    const first = await rows.next()
    if (first.done === true) return first.value.ok ? null : first.value.failure
    await rows.return({ ok: true, cursor: null })
    const { fault } = this.#listOf(shape).lackingIn(first.value.rows)
    return fault === null ? null : failureOf('misconfigured', fault)
  }

  #listOf(shape: StreamShape): ListRows<Item> {
    const { kind, parts } = this.#settings
    if (this.#rows?.shape !== shape) this.#rows = new ListRows(kind, shape, parts)
    return this.#rows
  }

  async *#readAvailability({ served }: ReadRequest, parts: ReadParts<Item>): PageStream<Item> {
    const { list, signal } = parts
    if (!list.shape.ways.has('availability'))
      return failed('misconfigured', `${list.name}: crm.availability needs the method availability of the connector`)
    const rows = this.#settings.stream.open('availability', null, signal)
    let [came, usable] = [0, 0]
    const ended = yield* batches(rows, parts, async function* (batch) {
      const changes = batch.rows.map((bytes) => list.availabilityIn(bytes)).filter((change) => change !== null)
      came += batch.rows.length
      usable += changes.length
      yield changesPage(changes, batch.lagMs, parts)
      return null
    })
    if (!ended.ok) return ended
    // The tickets of the served rows would be confirmed without having been read.
    if (came > 0 && usable === 0 && (served?.count ?? 0) > 0) {
      const needed = [...list.availabilityColumns].join(', ')
      const sentence = `none of ${howMany(came, 'row')} of availability has usable ${needed}`
      return failed('misconfigured', `${list.name}: ${sentence}`)
    }
    return { ...REPORTED, cursor: null }
  }

  async *#readFull(request: ReadRequest, parts: ReadParts<Item>): PageStream<Item> {
    const { stream, time } = this.#settings
    const { shape } = parts.list
    let cursor: string | null = null
    if (shape.ways.has('changes')) {
      // The cursor is requested before the rows: a change in between is then read twice instead of never.
      const began = yield* batches(stream.open('changes', null, parts.signal), parts, nothing)
      if (!began.ok) return began
      const fault = cursorFault(began.cursor)
      if (fault !== null) return failed('broken', `${parts.list.name}: ${fault}`)
      ;({ cursor } = began)
    }
    const stamps = new LookBack(null, time.now().wallMs)
    const ended = yield* this.#seeAll(request, parts, (pass) => this.#readOnce(pass, stamps))
    if (!ended.ok) return ended
    if (shape.updatedAt !== null && stamps.read === 0 && stamps.unreadable !== null) {
      const found = JSON.stringify(stamps.unreadable.slice(0, 40))
      return failed('misconfigured', `${parts.list.name}: ${shape.updatedAt} (updatedAt) holds ${found}, not a time`)
    }
    if (request.purpose !== 'addition') this.#comparedAt = parts.begunAt
    this.#notices.readInFull(stamps)
    if (shape.ways.has('since')) cursor = sinceCursor(stamps.next)
    else cursor ??= ended.cursor
    this.#gaveCursor = cursor !== null
    return { ...COMPLETE, cursor: cursor === null ? null : cursorOf(cursor) }
  }

  /** Runs a read of all rows or ids. If served rows are missing, runs it again. */
  async *#seeAll(
    { served = null, purpose }: Pick<ReadRequest, 'served' | 'purpose'>,
    parts: ReadParts<Item>,
    read: (parts: ReadParts<Item>) => PageStream<Item, WholeEnd>,
  ): PageStream<Item, RowsEnd> {
    const first = yield* read(parts)
    if (!first.ok || !first.mayHaveMoved || served === null || purpose === 'addition') return first
    if (served.countMissing() === 0) return first
    // A row may have moved between two pages. Only rows that are missing from both reads are gone.
    return yield* read({ ...parts, pass: parts.pass + 1 })
  }

  async *#readOnce(parts: ReadParts<Item>, stamps: LookBack): PageStream<Item, WholeEnd> {
    const { list } = parts
    const tally = new Tally()
    list.begin()
    yield heartbeat(parts.begunAt, parts.pass)
    const rows = this.#settings.stream.open('full', null, parts.signal)
    const notices = this.#notices
    const ended = yield* batches(rows, parts, async function* (batch) {
      if (tally.came === 0 && batch.rows.length > 0) {
        const { fault, warning } = list.lackingIn(batch.rows)
        if (fault !== null) return failed('misconfigured', fault)
        notices.lacks(warning)
      }
      const broken = yield* pagesOf(batch, parts, { tally, stamps })
      return broken ?? brokenBy(list.name, tally.count(batch))
    })
    if (!ended.ok) return ended
    const { missing, isUnstable } = tally
    this.#twins = tally.twins
    this.#notices.cameTwice(tally.twice)
    const { budget, requests } = this.#settings.stream
    this.reading = tally.readingOf(list, { budget, requests, availabilityEveryMs: this.availabilityEveryMs })
    if (missing !== null) return failed('broken', `${list.name}: ${missing}`)
    return { ...ended, mayHaveMoved: isUnstable }
  }

  async *#readChanges(cursor: Cursor, parts: ReadParts<Item>): PageStream<Item> {
    const { stream } = this.#settings
    const rows = stream.open('changes', cursor, parts.signal)
    const tally = new Tally(this.#twins)
    const ended = yield* batches(rows, parts, changesIn(parts, null, tally))
    if (!ended.ok) return ended
    // A served row is outdated, and only a full read can tell which one.
    if (tally.isUnclear) return failed('cursor-refused', `${parts.list.name}: ${UNCLEAR}`)
    const fault = cursorFault(ended.cursor)
    if (fault !== null || ended.cursor === null) return failed('broken', `${parts.list.name}: ${fault}`)
    return { ...REPORTED, cursor: cursorOf(ended.cursor) }
  }

  async *#readSince(
    cursor: Cursor,
    request: ReadRequest,
    parts: ReadParts<Item>,
  ): PageStream<Item, ReadEnd | Extract<RowsEnd, { ok: false }>> {
    const { stream, time, limits } = this.#settings
    const { ways } = parts.list.shape
    const after = sinceIn(cursor)
    if (after === null)
      return failed('cursor-refused', 'the list is read in full, because its cursor is from another connector')
    if (!this.#isSinceHeeded) {
      const ignored = yield* this.#sinceIgnored(after, parts)
      if (ignored !== null) return ignored
      this.#isSinceHeeded = true
    }
    const stamps = new LookBack(after, time.now().wallMs)
    const tally = new Tally(this.#twins)
    const unread = yield* batches(stream.open('since', after, parts.signal), parts, changesIn(parts, stamps, tally))
    if (!unread.ok) return unread
    if (tally.hasLoneTwin) return failed('cursor-refused', `${parts.list.name}: ${UNCLEAR}`)
    const next = cursorOf(sinceCursor(stamps.next))
    const sinceMs = this.#comparedAt === null ? Infinity : elapsedMs(this.#comparedAt, parts.begunAt)
    const isDue = request.mustConfirm === true || sinceMs >= (limits.maxAgeMs / 2) * DUE_EARLY
    if (!isDue) return { ...PARTIAL, cursor: next }
    const second = { ...parts, pass: 1 }
    const compared = ways.has('ids')
      ? yield* this.#scanIds(request, second, after)
      : yield* this.#seeAll(request, second, (pass) => this.#readOnce(pass, stamps))
    if (!compared.ok) return compared
    if (request.purpose !== 'addition') this.#comparedAt = parts.begunAt
    return { ...COMPLETE, cursor: next }
  }

  /**
   * Asks for the rows that change in the future, once. An API that ignores unknown parameters sends all rows instead.
   */
  async *#sinceIgnored(after: string, parts: ReadParts<Item>): PageStream<Item, Failed | null> {
    const { stream, time } = this.#settings
    const { list } = parts
    const ahead = farAheadLike(after, time.now().wallMs)
    const rows = stream.open('since', ahead, parts.signal)
    const ignored = failed('misconfigured', `${list.name}: ${IGNORED}`)
    const ended = yield* batches(rows, parts, async function* (batch) {
      yield* []
      return batch.rows.some((bytes) => !isNotBefore(list.stampIn(bytes), ahead)) ? ignored : null
    })
    return ended === ignored ? ignored : null
  }

  /** Compares the version of every row with the known one, and reads the rows that differ. */
  async *#scanIds(request: ReadRequest, parts: ReadParts<Item>, after: string): PageStream<Item, RowsEnd> {
    const late: LateRow[] = []
    const ended = yield* this.#seeAll(request, parts, (pass) => this.#scanOnce(request, pass, after, late))
    if (ended.ok) this.#notices.compared(late, after)
    return ended
  }

  async *#scanOnce(
    request: ReadRequest,
    parts: ReadParts<Item>,
    after: string,
    late: LateRow[],
  ): PageStream<Item, WholeEnd> {
    const { stream } = this.#settings
    const { list, begunAt, pass } = parts
    const comparison = new IdComparison(parts)
    yield heartbeat(begunAt, pass)
    const pairs = stream.open('ids', null, parts.signal)
    const ended = yield* batches(pairs, parts, (batch) => comparison.take(batch))
    if (!ended.ok) return ended
    const { wanted, fault, tally } = comparison
    if (fault !== null) return failed('broken', `${list.name}: ${fault}`)
    late.push(...comparison.late)
    const hasById = list.shape.ways.has('byId')
    const found = new Tally()
    const asked = hasById ? wanted : []
    for (let at = 0; at < asked.length; at += MOST_IDS) {
      const rows = stream.open('byId', asked.slice(at, at + MOST_IDS), parts.signal)
      const read = yield* batches(rows, parts, changesIn(parts, null, found))
      if (!read.ok) return read
    }
    // A known row that ids lists and byId lacks is gone only if a full read lacks it too.
    const unread = hasById ? comparison.late.filter(({ id }) => !found.ids.has(id)) : wanted
    if (unread.length === 0) return { ...ended, mayHaveMoved: tally.isUnstable }
    const stamps = new LookBack(after, 0)
    const next = { ...parts, pass: pass + 1 }
    const read = yield* this.#seeAll(request, next, (again) => this.#readOnce(again, stamps))
    return read.ok ? { ...read, mayHaveMoved: false } : read
  }
}

function changesIn<Item extends { readonly Id: Guid }>(
  parts: ReadParts<Item>,
  stamps: LookBack | null,
  tally: Tally = new Tally(),
): OnBatch<Item> {
  return async function* (batch) {
    const broken = yield* pagesOf(batch, parts, { tally, stamps })
    if (broken !== null) return broken
    for (const page of deletionsOf(batch, parts)) {
      for (const { id } of page.changes) if (id !== null) tally.ids.add(id)
      yield page
    }
    return null
  }
}

/** Discards rows: only the cursor is needed. */
async function* nothing(): AsyncGenerator<never, null, void> {
  yield* []
  return null
}

function cursorFault(cursor: string | null): string | null {
  if (cursor === null) return 'changes returned no cursor'
  return cursor.length > LONGEST_CURSOR ? `changes returned a cursor of more than ${LONGEST_CURSOR} characters` : null
}
