import { isDeepStrictEqual } from 'node:util'
import type { Guid } from '../../domain/guid.ts'
import {
  type Change,
  type Failed,
  type Held,
  type ListReading,
  type Page,
  type PageStream,
  PAGE_ROWS,
  failed,
  heartbeat,
} from '../../sync/port.ts'
import type { Moment, Time } from '../../time/time.ts'
import { TIMED_OUT, withTimeout, yieldToEventLoop } from '../../time/waiting.ts'
import type { ConnectorRow, ListRows, RowPlace } from './list-rows.ts'
import type { Rows, RowsEnd, StreamBatch, Way, WayArgument } from './row-host.ts'
import { type LookBack, stampMs } from './stamps.ts'
import { RepeatedNotice } from '../../domain/repeated-notice.ts'
import type { ListName } from '../../domain/field.ts'
import { isMeant } from '../../domain/withheld.ts'

const MOST_BATCHES = 20_000
/** Parsing more than this at once would hold up requests for longer than a few ms. */
const SLICE_BYTES = 256 * 1024

export interface ReadParts<Item extends { readonly Id: Guid }> {
  readonly list: ListRows<Item>
  readonly held: Held
  /** Reads the list in one of the connector's ways. */
  readonly open: (way: Way, argument: WayArgument) => Rows<Item>
  readonly time: Time
  readonly signal: AbortSignal
  /** When the read began. */
  readonly begunAt: Moment
  readonly pass: number
  /** The interval of heartbeats while the connector fetches, in ms. */
  readonly heartbeatMs: number
  /** The longest that the whole read may take, in ms. */
  readonly longestMs: number
}

export class Tally {
  readonly ids = new Set<Guid>()
  nameless = 0
  /** The place of the first row that is not a JSON object, and whether another row is one. */
  torn: string | null = null
  hasWhole = false
  answers = 0
  /** The rows of the first answer and of the last. */
  firstRows = 0
  lastRows = 0
  /** Whether the first answer has as many rows as were requested. */
  isFirstFull = false
  /** Whether rows may have moved from one answer to another while they were read. */
  isUnstable = false
  /** Whether all answers show one moment. */
  isOneMoment = true
  total: number | null = null
  /** The ids of which a row that is withheld on purpose gave way to another one. */
  readonly twins = new Set<Guid>()
  /** Whether a row that is withheld on purpose came alone, though it was a twin before: which one is served is open. */
  hasLoneTwin = false
  /** How many rows their answer has twice, with different content, and the id of the first of them. */
  twice: { readonly count: number; readonly first: string | null } = { count: 0, first: null }
  #cameBefore = 0
  #startsAnswer = true
  readonly #twinsBefore: ReadonlySet<Guid>

  /** @param twins the twins of the last read of all rows */
  constructor(twins: ReadonlySet<Guid> = new Set()) {
    this.#twinsBefore = twins
  }

  /** The number of rows that came. Rows of the same id count once. */
  get came(): number {
    return this.ids.size + this.nameless
  }

  /** Whether a row came of which nobody knows which held row it is. */
  get isUnclear(): boolean {
    return this.nameless > 0 || this.hasLoneTwin
  }

  /** Counts a row whose id its answer has already had, with different content. */
  cameAgain(id: string): void {
    this.twice = { count: this.twice.count + 1, first: this.twice.first ?? id }
  }

  /** Leaves out the rows whose twin, of the last read of all rows, may be the one that is served. */
  withoutLoneTwins<Row extends { readonly change: Change<unknown> }>(rows: readonly Row[]): readonly Row[] {
    if (this.#twinsBefore.size === 0) return rows
    const others = rows.filter(({ change }) => {
      const isTwin = change.id !== null && this.#twinsBefore.has(change.id) && !this.twins.has(change.id)
      return !isTwin || !isHidden(change)
    })
    this.hasLoneTwin ||= others.length < rows.length
    return others
  }

  /** Counts a batch whose rows have come; returns what is wrong with it, as the rest of a sentence. */
  count(batch: StreamBatch<unknown>): string | null {
    if (this.#startsAnswer) [this.answers, this.lastRows] = [this.answers + 1, 0]
    this.lastRows += batch.rows.length
    if (this.answers === 1) [this.firstRows, this.isFirstFull] = [this.lastRows, batch.full]
    // A batch that continues an answer may come from several requests, for example of a command.
    if (batch.stable === null && (this.answers > 1 || batch.goesOn)) this.isUnstable = true
    this.isOneMoment &&= batch.stable === 'moment'
    if (batch.total !== null) this.total = Math.min(batch.total, this.total ?? Infinity)
    const isAfterOthers = this.answers > 1 && !batch.goesOn && batch.stable !== 'moment'
    const isOld = batch.rows.length > 0 && this.came === this.#cameBefore && isAfterOthers
    ;[this.#cameBefore, this.#startsAnswer] = [this.came, !batch.goesOn]
    return isOld ? `page ${this.answers} has only rows of earlier pages; is paging.by right?` : null
  }

  readingOf(
    { name, shape }: Pick<ListRows<never>, 'name' | 'shape'>,
    costs: Pick<ListReading, 'budget' | 'requests' | 'readsTickets'>,
  ): ListReading {
    const isEndEmpty = this.lastRows === 0
    return {
      list: name,
      ways: shape.ways,
      updatedAt: shape.updatedAt,
      rows: this.came,
      pages: this.answers - Number(isEndEmpty),
      pageRows: this.firstRows,
      isFirstFull: this.isFirstFull,
      isEndEmpty,
      total: this.total,
      ...costs,
    }
  }

  /** What is missing at the end of the read, as the rest of a sentence; `null` if nothing is. */
  get missing(): string | null {
    if (this.torn !== null && !this.hasWhole) return `no row is a JSON object, such as ${this.torn}`
    if (this.total === null || this.came >= this.total) return null
    return `the CRM says that there are ${this.total} rows, but returned ${this.came}`
  }
}

/** Waits for a promise and yields empty pages as heartbeats meanwhile. Returns `TIMED_OUT` if the read ends first. */
export async function* withHeartbeats<Value>(
  pending: Promise<Value>,
  { time, signal, begunAt, pass, heartbeatMs, longestMs }: Omit<ReadParts<never>, 'list' | 'held' | 'open'>,
): AsyncGenerator<Page<never>, Value | typeof TIMED_OUT, void> {
  for (;;) {
    const settled = await withTimeout(time, heartbeatMs, pending, signal)
    const tookMs = time.now().monotonicMs - begunAt.monotonicMs
    if (signal.aborted || tookMs > longestMs) return TIMED_OUT
    if (settled !== TIMED_OUT) return settled
    yield heartbeat(pass)
  }
}

/** Yields the pages of a batch. Returns why the batch cannot be used, or `null`. */
export type OnBatch<Item> = (batch: StreamBatch<Item>) => AsyncGenerator<Page<Item>, Failed | null, void>

/** Waits for each batch of a connector. Ends the read if it takes too long or its pages never end. */
export async function* batches<Item extends { readonly Id: Guid }>(
  rows: Rows<Item>,
  parts: ReadParts<Item>,
  onBatch: OnBatch<Item>,
): PageStream<Item, RowsEnd> {
  const { list, signal } = parts
  let isOver = false
  try {
    for (let count = 0; ; count++) {
      const next = yield* withHeartbeats(rows.next(), parts)
      if (next === TIMED_OUT) return overtime(list.name, parts, signal)
      if (next.done === true) {
        isOver = true
        return next.value
      }
      if (count >= MOST_BATCHES)
        return failed('broken', `${list.name}: the pages do not end: ${MOST_BATCHES.toLocaleString('en')} came`)
      const { lagMs, unsure } = next.value
      // Said even if the batch has no rows: a cached answer without changes does not show that there are none.
      const sign = heartbeat(parts.pass, lagMs)
      if (unsure !== undefined) yield { ...sign, unsure }
      else if (lagMs > 0) yield sign
      const fault = yield* onBatch(next.value)
      if (fault !== null) return fault
    }
  } finally {
    // Not awaited: the connector may be waiting for an answer that never comes.
    if (!isOver) void rows.return(failed('internal', 'the read was given up')).catch(() => {})
  }
}

export function overtime(name: string, { longestMs }: { readonly longestMs: number }, signal: AbortSignal): Failed {
  if (signal.aborted) return failed('internal', 'the read was given up')
  return failed('timeout', `${name}: the read did not end within ${longestMs / 1000} s (freshness.fullReadEvery)`)
}

export function brokenBy(list: string, fault: string | null): Failed | null {
  return fault === null ? null : failed('broken', `${list}: ${fault}`)
}

const NO_ROW: Buffer = Buffer.alloc(0)

/** Divides the rows of a batch into pages, each small enough to be applied between two requests. */
export async function* pagesOf<Item extends { readonly Id: Guid }>(
  batch: StreamBatch<Item>,
  parts: ReadParts<Item>,
  { tally, stamps }: { readonly tally: Tally; readonly stamps: LookBack | null },
): ReturnType<OnBatch<Item>> {
  const { list, held } = parts
  const isLater = list.shape.repeats === 'later'
  if (batch.mapped !== undefined) yield* mappedPages(batch, batch.mapped, parts)
  for (let at = 0; at < batch.rows.length;) {
    const rows = new Map<Guid | number, ConnectorRow<Item>>()
    /** Where each row is in its batch, if rows have places. */
    const indexes = batch.at === undefined ? null : new Map<ConnectorRow<Item>, number>()
    let bytes = 0
    for (; at < batch.rows.length && rows.size < PAGE_ROWS && bytes < SLICE_BYTES; at++) {
      const given = batch.rows[at] ?? NO_ROW
      const index = at
      const place = (): RowPlace => placeOf(batch, index, tally)
      const row = list.read(given, place, held, tally.ids)
      indexes?.set(row, index)
      bytes += row.bytes
      const { change, stamp, isTorn = false } = row
      if (isTorn) tally.torn ??= place().place
      else tally.hasWhole = true
      if (change.id !== null && isLater) {
        const before = rows.get(change.id)
        if (before !== undefined && isHidden(before.change) !== isHidden(change)) tally.twins.add(change.id)
        if (before !== undefined && isHidden(before.change) === isHidden(change)) {
          if (!isSameContent(before.change, change)) tally.cameAgain(nameOf(change))
          // If a row comes twice, the later one is newer; but a row that is not meant to be served hides no other.
        } else if (before !== undefined && isHidden(change)) continue
        rows.delete(change.id)
      }
      rows.set(isLater && change.id !== null ? change.id : index, row)
      if (change.id === null) tally.nameless++
      else tally.ids.add(change.id)
      if (stamp !== null) stamps?.add(stamp, nameOf(change))
    }
    const kept = tally.withoutLoneTwins([...rows.values()])
    const changes = kept.map(({ change }) => change)
    const whereIs = (index: number): string => {
      const row = kept[index]
      return (
        (row === undefined ? undefined : batch.at?.(indexes?.get(row) ?? 0)) ?? whereById(list.name, changes[index])
      )
    }
    const page = { ...changesPage(changes, batch.lagMs, parts), whereIs }
    const updatedAtMs = (index: number): number => stampMs(kept[index]?.stamp ?? '')
    yield list.shape.updatedAt === null ? page : { ...page, updatedAtMs }
    await yieldToEventLoop()
  }
  return null
}

/** Divides the rows that a stream has mapped itself into pages. */
function* mappedPages<Item extends { readonly Id: Guid }>(
  { at, changedAtMs = Number.NaN, lagMs }: StreamBatch<Item>,
  mapped: readonly Change<Item>[],
  parts: ReadParts<Item>,
): Generator<Page<Item>, void> {
  for (let from = 0; from < mapped.length; from += PAGE_ROWS) {
    const page = changesPage(mapped.slice(from, from + PAGE_ROWS), lagMs, parts)
    yield { ...page, whereIs: (index) => at?.(from + index) ?? page.whereIs(index), updatedAtMs: () => changedAtMs }
  }
}

function placeOf({ at, lines }: StreamBatch<unknown>, index: number, { came }: Tally): RowPlace {
  if (at !== undefined) return { place: at(index), isWhole: true }
  const line = lines?.[index]
  return { place: line === undefined ? `row ${came + 1}` : `line ${line}`, isWhole: false }
}

/** Returns true if two rows of an id are published alike. Withheld rows count as alike: they are reported as such. */
function isHidden(change: Change<unknown>): boolean {
  return change.kind === 'withheld' && isMeant(change.withheld)
}

function isSameContent(one: Change<unknown>, other: Change<unknown>): boolean {
  if (one.kind !== other.kind) return false
  // Not by their version: rows of one updatedAt have the same.
  return one.kind !== 'record' || other.kind !== 'record' || isDeepStrictEqual(one.record, other.record)
}

/** The deletions of a batch. Skips ids that are not valid: no record has them. */
export function deletionsOf<Item extends { readonly Id: Guid }>(
  { deleted, lagMs }: StreamBatch<Item>,
  parts: ReadParts<Item>,
): readonly Page<Item>[] {
  const ids = deleted.map((text) => parts.list.idOf(text)).filter((id) => id !== null)
  const pages: Page<Item>[] = []
  for (let at = 0; at < ids.length; at += PAGE_ROWS) {
    const changes = ids.slice(at, at + PAGE_ROWS).map((id): Change<Item> => ({ kind: 'deleted', id }))
    pages.push(changesPage(changes, lagMs, parts))
  }
  return pages
}

export function changesPage<Item extends { readonly Id: Guid }>(
  changes: readonly Change<Item>[],
  sourceLagMs: number,
  { list, pass }: Pick<ReadParts<Item>, 'list' | 'pass'>,
): Page<Item> {
  const whereIs = (index: number): string => whereById(list.name, changes[index])
  return { sourceLagMs, pass, changes, whereIs }
}

function whereById(list: ListName, change: Change<unknown> | undefined): string {
  return `${list}, id ${nameOf(change).slice(0, 80)}`
}

/** The id of a row, as the CRM writes it if that is known. */
function nameOf(change: Change<unknown> | undefined): string {
  if (change === undefined) return 'unknown'
  return ('idText' in change ? change.idText : null) ?? change.id ?? 'unknown'
}

/** The number of consecutive id scans that must find late rows before it is reported. */
const USUAL_AFTER = 3

/** A changed row that an id scan found and the read by `updatedAt` had missed. */
export interface LateRow {
  readonly id: Guid
  /** The CRM's id. */
  readonly text: string
  readonly stamp: string | null
}

/** Warns the operator about rows that cannot be relied on: once, and again whenever their number has doubled. */
export class RowNotices {
  readonly #list: ListName
  readonly #comparedEveryMs: () => number
  readonly #tell: (message: string) => void
  readonly #ahead = new RepeatedNotice()
  readonly #twice = new RepeatedNotice()
  #lateScans = 0
  #lacked: string | null = null

  constructor(list: ListName, comparedEveryMs: () => number, tell: (message: string) => void) {
    this.#list = list
    this.#comparedEveryMs = comparedEveryMs
    this.#tell = tell
  }

  /** Warns of columns that no row has, when they change. */
  lacks(warning: string | null): void {
    if (warning !== null && warning !== this.#lacked) this.#tell(warning)
    this.#lacked = warning
  }

  /** Warns of rows whose time is in the future. */
  looked({ ahead, aheadId, aheadMs }: LookBack): void {
    const by = aheadMs === Number.POSITIVE_INFINITY ? 'for ever' : `by ${roughly(aheadMs)}`
    this.#repeat(this.#ahead, ahead, aheadId, `updatedAt is in the future (${by}), so ${this.#until}`)
  }

  cameTwice({ count, first }: Tally['twice']): void {
    const what = 'one answer has two different rows of this id; the later one counts'
    this.#repeat(this.#twice, count, first, what)
  }

  #repeat(notice: RepeatedNotice, count: number, id: string | null, what: string): void {
    if (!notice.isNew(count, id)) return
    const others = count === 1 ? '' : ` and ${count - 1} more`
    this.#tell(`${this.#list}, id ${(id ?? 'unknown').slice(0, 80)}${others}: ${what}`)
  }

  /** Reports late rows if several id scans in a row have found some. */
  compared(late: readonly LateRow[], after: string): void {
    this.#lateScans = late.length === 0 ? 0 : this.#lateScans + 1
    const [first] = late
    if (this.#lateScans !== USUAL_AFTER || first === undefined) return
    const stamp = first.stamp === null ? 'none' : JSON.stringify(first.stamp.slice(0, 40))
    const row = `${this.#list}, id ${first.text.slice(0, 80)} and others`
    const why = `that since ${JSON.stringify(after)} does not return, so ${this.#until}`
    this.#tell(`${row} change with an updatedAt (${stamp}) ${why}`)
  }

  get #until(): string {
    return `such changes are seen only when all rows are compared, every ${this.#comparedEveryMs() / 1000} s`
  }
}

function roughly(ms: number): string {
  const seconds = Math.ceil(ms / 1000)
  if (seconds < 7200) return `${Math.round(seconds / 60)} min`
  return seconds < 172_800 ? `${Math.round(seconds / 3600)} h` : `${Math.round(seconds / 86_400)} days`
}
