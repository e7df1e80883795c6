import { type CrmLimits, patienceOf } from '../kit/crm-limits.ts'
import type { Guid } from '../../domain/guid.ts'
import { howMany } from '../../domain/printable.ts'
import type { Observe } from '../../observe/observation.ts'
import type {
  Cursor,
  Failure,
  ListReading,
  OnPause,
  PageStream,
  ReadRequest,
  RepeatedId,
  ListSource,
} from '../../sync/port.ts'
import { cursorOf, failed, failureOf } from '../../sync/port.ts'
import { type Moment, type Time, elapsedMs } from '../../time/time.ts'
import { columnName } from '../mapping/list-setting.ts'
import type { RowKind } from '../mapping/map-row.ts'
import { Comparisons } from './comparisons.ts'
import { type ListParts, ListRows } from './list-rows.ts'
import { COMPLETE, PARTIAL, REPORTED, UNCLEAR, changesIn } from './read-ends.ts'
import { type ReadParts, RowNotices, Tally, batches, changesPage, overtime, withHeartbeats } from './row-pages.ts'
import type { Hint, RowSource, StreamShape } from './row-host.ts'
import { SinceReads } from './since-reads.ts'
import { LookBack, sinceCursor } from './stamps.ts'
import { TIMED_OUT, withTimeout } from '../../time/waiting.ts'
import { WholeReads } from './whole-reads.ts'

export interface ConnectorSourceSettings<Item extends { readonly Id: Guid }> {
  readonly kind: RowKind<Item>
  readonly stream: RowSource<Item>
  readonly parts: ListParts
  readonly readsTickets: boolean
  readonly time: Time
  readonly limits: () => CrmLimits
  readonly observe: Observe
  /** The interval of comparisons of all rows; half the maximum age if absent. */
  readonly compareEveryMs?: () => number
}

/** Begins a cursor that is the version of a list. */
const VERSION = 'version '
/** Reads in full for want of a cursor take one of so many parts of the budget: the other list may need as much. */
const BUDGET_PARTS = 3
/** Begins a cursor that stands for the last read of a list whose connector gave none. */
const UNTRACKED = 'untracked '
/** How many times changes are asked for in one read if the connector says that some may be missing. */
const MOST_ROUNDS = 5
/** If so many cursors in a row expire at once, changes are not asked for during this time. */
const MOST_EXPIRED = 5
const CHANGES_OFF_MS = 15 * 60_000

/** How many request time limits the first rows may take: a connector may send several requests before it has rows. */
const PATIENCE_OF_FIRST = 3
const USUAL_LONGEST_MS = 15 * 60_000

/** One list of a connector. Which methods the connector has decides how the list is read. */
export class ConnectorSource<Item extends { readonly Id: Guid }> implements ListSource<Item> {
  readonly readsTickets: boolean
  readonly #settings: ConnectorSourceSettings<Item>
  readonly #notices: RowNotices
  #rows: ListRows<Item> | null = null
  readonly #comparisons: Comparisons
  /** Whether the last full read returned a cursor; `null` before. */
  #gaveCursor: boolean | null = null
  /** Stands for the last full read of a connector that gave no cursor. */
  #untracked: Cursor | null = null
  #untrackedReads = 0
  /** How many cursors in a row have expired, and when the last one did. */
  #expired: { readonly times: number; readonly at: Moment } | null = null
  readonly #wholes: WholeReads<Item>
  readonly #sinces: SinceReads<Item>

  constructor(settings: ConnectorSourceSettings<Item>) {
    this.#settings = settings
    this.readsTickets = settings.readsTickets
    const { observe, limits, compareEveryMs = (): number => limits().maxAgeMs / 2 } = settings
    this.#comparisons = new Comparisons(compareEveryMs)
    this.#notices = new RowNotices(settings.stream.name, compareEveryMs, (message) =>
      observe({ kind: 'crm-noticed', message }),
    )
    this.#wholes = new WholeReads(settings, this.#notices)
    this.#sinces = new SinceReads(settings.time, this.#wholes, this.#comparisons, this.#notices)
  }

  /** How the list was last read in full; `null` before. */
  get reading(): ListReading | null {
    return this.#wholes.reading
  }

  get reportsChanges(): boolean {
    const ways = this.#settings.stream.known?.ways
    if (ways?.has('since') === true) return true
    return this.#gaveCursor ?? ways?.has('changes') === true
  }

  get repeatedId(): RepeatedId {
    return `serves-${this.#settings.stream.known?.repeats ?? 'later'}`
  }

  get idColumn(): string {
    const { known } = this.#settings.stream
    return known === null ? 'Id' : columnName(known, 'Id')
  }

  /** Long enough for the time between two heartbeats, and for the start of the connector. */
  get patienceMs(): number {
    return patienceOf(this.#settings.limits())
  }

  /**
   * Cursors work in every process, and a process compares all rows before it reads by `updatedAt`. A version does not:
   * a process has to map every row once.
   */
  travels(cursor: Cursor): boolean {
    if (cursor.startsWith(VERSION)) return this.#settings.stream.travels?.(cursor) ?? false
    return !cursor.startsWith(UNTRACKED)
  }

  onHint(callback: () => void): () => void {
    const onHint = (hint: Hint): void => {
      this.#sinces.hinted.add(hint)
      callback()
    }
    return this.#settings.stream.onHint?.(onHint) ?? ((): void => {})
  }

  onPause(callback: OnPause): void {
    this.#settings.stream.onPause?.(callback)
  }

  async hasChanged(): Promise<boolean> {
    return (await this.#settings.stream.hasChanged?.()) === true
  }

  async *read(request: ReadRequest): PageStream<Item> {
    const { stream, time } = this.#settings
    const limits = this.#settings.limits()
    const { held, signal, cursor, purpose } = request
    const longestMs = Math.max(limits.fullReadEveryMs ?? USUAL_LONGEST_MS, 3 * patienceOf(limits))
    const around = { time, signal, begunAt: time.now(), pass: 0, heartbeatMs: limits.requestTimeoutMs, longestMs }
    // The connector may have to be started first.
    const shape = yield* withHeartbeats(stream.shape(), around)
    if (shape === TIMED_OUT) return overtime(this.#settings.kind.table.list, around, signal)
    if ('message' in shape) return { ok: false, failure: shape }
    const list = this.#listOf(shape)
    const version = cursor?.startsWith(VERSION) === true ? cursor.slice(VERSION.length) : null
    const open: ReadParts<Item>['open'] = (way, argument) =>
      stream.open(way, argument, signal, purpose === 'audit' ? 'audit' : 'refresh', { list, request, version })
    const parts = { ...around, list, held, open }
    if (request.kind === 'availability') return yield* this.#readAvailability(request, parts)
    if (request.kind === 'full' && shape.ways.has('version') && !this.reportsChanges)
      return yield* this.#readVersion(request, parts)
    if (request.kind === 'full' || cursor === null) return yield* this.#readFull(request, parts)
    if (shape.ways.has('since')) return yield* this.#sinces.read(cursor, request, parts)
    return yield* this.#readChanges(cursor, parts)
  }

  /**
   * Asks for the first rows, unless this process has read the list already. Returns why it cannot be read, or `null`.
   * After the first rows it stops the read, to save requests of a daily budget.
   */
  async examine(): Promise<Failure | null> {
    if (this.#comparisons.at !== null) return null
    const { stream, time, limits } = this.#settings
    const patienceMs = PATIENCE_OF_FIRST * patienceOf(limits())
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
    const { list } = parts
    if (!list.shape.ways.has('availability'))
      return failed('misconfigured', `${list.name}: crm.availability needs the method availability of the connector`)
    let [came, usable] = [0, 0]
    const ended = yield* batches(parts.open('availability', null), parts, async function* (batch) {
      const changes = batch.rows.map((row) => list.availabilityIn(row)).filter((change) => change !== null)
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

  /** Reads a list in full unless its version is that of the last read. */
  async *#readVersion(request: ReadRequest, parts: ReadParts<Item>): PageStream<Item> {
    const asked = yield* batches(parts.open('version', null), parts, nothing)
    if (!asked.ok) return asked
    const { cursor: version, asOf = null } = asked
    const { cursor } = request
    const isSame = version !== null && cursor === cursorOf(VERSION + version)
    if (isSame && (asked.isSame ?? this.#comparisons.at !== null))
      return { ...COMPLETE, cursor, complete: false, oneMoment: true, unchanged: true, asOf }
    return yield* this.#readFull(request, parts, version)
  }

  async *#readFull(request: ReadRequest, parts: ReadParts<Item>, version: string | null = null): PageStream<Item> {
    const { time } = this.#settings
    const { shape } = parts.list
    const hasChanges = shape.ways.has('changes') && !this.#hasExpiredTooOften(parts.begunAt)
    // Without a cursor the list is read in full at each refresh, but not more often than its age requires, and evenly,
    // so that the budget is not used up by the first reads.
    const isUntracked = shape.ways.has('changes') && this.#gaveCursor === false && request.purpose !== 'audit'
    const isEarly =
      !this.#comparisons.isDue(parts.begunAt, false) || this.#comparisons.sinceMs(parts.begunAt) < this.#paceMs
    // The cursor is another one if the last read was not believed.
    const isTaken = request.cursor !== null && request.cursor === this.#untracked
    if (isUntracked && isTaken && request.mustConfirm !== true && isEarly) return { ...PARTIAL, cursor: request.cursor }
    let cursor: string | null = null
    if (hasChanges) {
      // The cursor is requested before the rows: a change in between is then read twice instead of never.
      const began = yield* batches(parts.open('changes', null), parts, nothing)
      if (!began.ok) return began
      ;({ cursor } = began)
    }
    const stamps = new LookBack(null, time.now().wallMs)
    const ended = yield* this.#wholes.read(request, parts, stamps)
    if (!ended.ok) return ended
    if (shape.updatedAt !== null && stamps.read === 0 && stamps.unreadable !== null) {
      const found = JSON.stringify(stamps.unreadable.slice(0, 40))
      return failed('misconfigured', `${parts.list.name}: ${shape.updatedAt} (updatedAt) holds ${found}, not a time`)
    }
    if (request.purpose !== 'addition') this.#comparisons.compared(parts.begunAt)
    this.#notices.looked(stamps)
    if (shape.ways.has('since')) cursor = sinceCursor(stamps.next)
    else if (hasChanges || !shape.ways.has('changes')) cursor = ended.cursor ?? cursor
    this.#gaveCursor = cursor !== null
    const read = ended.version ?? version
    if (cursor === null && read !== null) cursor = VERSION + read
    else if (cursor === null && shape.ways.has('changes')) {
      cursor = `${UNTRACKED}${++this.#untrackedReads}`
      if (request.purpose !== 'audit') this.#untracked = cursorOf(cursor)
    }
    const { isOneMoment: oneMoment, asOf = null } = ended
    return { ...COMPLETE, oneMoment, asOf, cursor: cursor === null ? null : cursorOf(cursor) }
  }

  /** The interval at which reads in full take no more than their share of the budget, in ms. */
  get #paceMs(): number {
    const { budget, requests } = this.#settings.stream
    return budget === null ? 0 : ((requests.get('full') ?? 0) * budget.perMs * BUDGET_PARTS) / budget.most
  }

  #hasExpiredTooOften(now: Moment): boolean {
    if (this.#expired === null || this.#expired.times < MOST_EXPIRED) return false
    return elapsedMs(this.#expired.at, now) < CHANGES_OFF_MS
  }

  /** Asks for changes until none can be missing. If some still can be after five rounds, the read confirms nothing. */
  async *#readChanges(first: Cursor, parts: ReadParts<Item>): PageStream<Item> {
    let cursor = first
    for (let pass = 0; pass < MOST_ROUNDS; pass++) {
      const round = { ...parts, pass }
      const tally = new Tally(this.#wholes.twins)
      const ended = yield* batches(parts.open('changes', cursor), round, changesIn(round, null, tally))
      if (!ended.ok) {
        if (ended.failure.kind === 'cursor-refused')
          this.#expired = { times: (this.#expired?.times ?? 0) + 1, at: parts.begunAt }
        return ended
      }
      this.#expired = null
      // A served row is outdated, and only a full read can tell which one.
      if (tally.isUnclear) return failed('cursor-refused', `${parts.list.name}: ${UNCLEAR}`)
      if (ended.cursor === null) return failed('broken', `${parts.list.name}: changes returned no cursor`)
      cursor = cursorOf(ended.cursor)
      if (ended.more !== true) return { ...REPORTED, cursor }
    }
    return { ...PARTIAL, cursor }
  }
}

/** Discards rows: only the cursor is needed. */
async function* nothing(): AsyncGenerator<never, null, void> {
  yield* []
  return null
}
