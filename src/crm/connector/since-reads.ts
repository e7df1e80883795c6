import type { Guid } from '../../domain/guid.ts'
import {
  type Cursor,
  type Failed,
  type PageStream,
  type ReadOutcome,
  type ReadRequest,
  cursorOf,
  failed,
  heartbeat,
} from '../../sync/port.ts'
import type { Time } from '../../time/time.ts'
import { type Comparisons, type Hinted, HintedRows, NOTHING_HINTED } from './comparisons.ts'
import { IdComparison } from './id-comparison.ts'
import { COMPLETE, PARTIAL, UNCLEAR, changesIn } from './read-ends.ts'
import { type LateRow, type ReadParts, type RowNotices, Tally, batches } from './row-pages.ts'
import { LookBack, farAheadLike, isNotBefore, sinceCursor, sinceIn } from './stamps.ts'
import { type WholeEnd, type WholeReads, seeAll, wholeEnd } from './whole-reads.ts'

const IGNORED = 'since returned rows that changed before the requested time; does the API ignore its parameter?'

/** The most ids in one call of `byId`. */
const MOST_IDS = 100
/** More differing rows than these are read in full if they are a tenth of the list. */
const MOST_WANTED = 1000

/** Reads a list by `updatedAt`, and compares all rows now and then. */
export class SinceReads<Item extends { readonly Id: Guid }> {
  readonly hinted: HintedRows = new HintedRows()
  readonly #time: Time
  readonly #wholes: WholeReads<Item>
  readonly #comparisons: Comparisons
  readonly #notices: RowNotices
  /** Whether a read has shown that the CRM obeys the time of `since`. */
  #isSinceHeeded = false

  constructor(time: Time, wholes: WholeReads<Item>, comparisons: Comparisons, notices: RowNotices) {
    this.#time = time
    this.#wholes = wholes
    this.#comparisons = comparisons
    this.#notices = notices
  }

  async *read(cursor: Cursor, request: ReadRequest, parts: ReadParts<Item>): PageStream<Item> {
    const after = sinceIn(cursor)
    if (after === null)
      return failed('cursor-refused', 'the list is read in full, because its cursor is from another connector')
    // An addition leaves them to the refresh that follows.
    const taken = request.purpose === 'addition' ? NOTHING_HINTED : this.hinted.take()
    let ended: ReadOutcome | null = null
    try {
      ended = yield* this.#readWith(taken, after, request, parts)
      return ended
    } finally {
      if (ended?.ok !== true) this.hinted.giveBack(taken)
    }
  }

  async *#readWith(taken: Hinted, after: string, request: ReadRequest, parts: ReadParts<Item>): PageStream<Item> {
    const time = this.#time
    const { ways } = parts.list.shape
    if (!this.#isSinceHeeded) {
      const ignored = yield* this.#sinceIgnored(after, parts)
      if (ignored !== null) return ignored
      this.#isSinceHeeded = true
    }
    const stamps = new LookBack(after, time.now().wallMs)
    const tally = new Tally(this.#wholes.twins)
    const unread = yield* batches(parts.open('since', after), parts, changesIn(parts, stamps, tally))
    if (!unread.ok) return unread
    if (tally.hasLoneTwin) return failed('cursor-refused', `${parts.list.name}: ${UNCLEAR}`)
    const next = cursorOf(sinceCursor(stamps.next))
    const second = { ...parts, pass: 1 }
    let isDue = request.mustConfirm === true || this.#comparisons.isDue(parts.begunAt, taken.all && ways.has('ids'))
    if (!isDue && !taken.all) {
      const looked = yield* this.#lookUp(taken.ids, second)
      if (!looked.ok) return looked
      // Only a comparison shows whether a row is gone that byId neither brings nor reports as deleted.
      isDue = looked.isUnclear && this.#comparisons.isDue(parts.begunAt, true)
      if (!isDue && looked.isUnclear) this.hinted.add('all')
    } else if (!isDue) this.hinted.add('all')
    if (!isDue) return { ...PARTIAL, cursor: next }
    const startedAt = time.now()
    const compared = ways.has('ids')
      ? yield* this.#scanIds(request, { ...parts, pass: 2 }, after)
      : yield* this.#wholes.read(request, { ...parts, pass: 2 }, stamps)
    this.#comparisons.ended(startedAt, time.now())
    if (!compared.ok) return compared
    if (request.purpose !== 'addition') this.#comparisons.compared(parts.begunAt)
    return { ...COMPLETE, oneMoment: compared.isOneMoment, cursor: next }
  }

  /** Reads held rows that the connector says have changed. `isUnclear`: some were neither found nor reported as gone. */
  async *#lookUp(
    hinted: ReadonlySet<string>,
    parts: ReadParts<Item>,
  ): PageStream<Item, { readonly ok: true; readonly isUnclear: boolean } | Failed> {
    const { list, held } = parts
    const wanted = new Map<Guid, string>()
    for (const text of hinted) {
      const id = list.idOf(text)
      // An id that is not held is of the other list, or the read by updatedAt has brought it.
      if (id !== null && !Number.isNaN(held.version(id))) wanted.set(id, text)
    }
    if (wanted.size === 0) return { ok: true, isUnclear: false }
    if (!list.shape.ways.has('byId')) return { ok: true, isUnclear: true }
    const found = yield* this.#readByIds([...wanted.values()], parts)
    if (!found.ok) return found
    return { ok: true, isUnclear: [...wanted.keys()].some((id) => !found.ids.has(id)) }
  }

  /** Reads rows by their ids. Returns the ids that were found or reported as deleted. */
  async *#readByIds(
    wanted: readonly string[],
    parts: ReadParts<Item>,
  ): PageStream<Item, { readonly ok: true; readonly ids: ReadonlySet<Guid> } | Failed> {
    const tally = new Tally()
    for (let at = 0; at < wanted.length; at += MOST_IDS) {
      const rows = parts.open('byId', wanted.slice(at, at + MOST_IDS))
      const read = yield* batches(rows, parts, changesIn(parts, null, tally))
      if (!read.ok) return read
    }
    return { ok: true, ids: tally.ids }
  }

  /**
   * Asks for the rows that change in the future, once. An API that ignores unknown parameters sends all rows instead.
   */
  async *#sinceIgnored(after: string, parts: ReadParts<Item>): PageStream<Item, Failed | null> {
    const { list } = parts
    const ahead = farAheadLike(after, this.#time.now().wallMs)
    const rows = parts.open('since', ahead)
    const ignored = failed('misconfigured', `${list.name}: ${IGNORED}`)
    const ended = yield* batches(rows, parts, async function* (batch) {
      yield* []
      return batch.rows.some((row) => !isNotBefore(list.stampIn(row), ahead)) ? ignored : null
    })
    return ended === ignored ? ignored : null
  }

  /** Compares the version of every row with the known one, and reads the rows that differ. */
  async *#scanIds(request: ReadRequest, parts: ReadParts<Item>, after: string): PageStream<Item, WholeEnd> {
    const late: LateRow[] = []
    const ended = yield* seeAll(request, parts, (pass) => this.#scanOnce(request, pass, after, late))
    if (ended.ok) this.#notices.compared(late, after)
    return ended
  }

  async *#scanOnce(
    request: ReadRequest,
    parts: ReadParts<Item>,
    after: string,
    late: LateRow[],
  ): PageStream<Item, WholeEnd> {
    const { list, pass } = parts
    const comparison = new IdComparison(parts, this.#time.now().wallMs)
    yield heartbeat(pass)
    const ended = yield* batches(parts.open('ids', null), parts, (batch) => comparison.take(batch))
    if (!ended.ok) return ended
    const { wanted, fault, tally } = comparison
    if (fault !== null) return failed('broken', `${list.name}: ${fault}`)
    late.push(...comparison.late)
    // That no row that differs is in the future says nothing about the others.
    if (comparison.stamps.ahead > 0) this.#notices.looked(comparison.stamps)
    // If many rows differ, one read of all costs less than one for each hundred of them.
    const areMany = wanted.length > MOST_WANTED && wanted.length * 10 > tally.ids.size
    const hasById = list.shape.ways.has('byId') && !areMany
    const found = yield* this.#readByIds(hasById ? wanted : [], parts)
    if (!found.ok) return found
    // A known row that ids lists and byId lacks is gone only if a full read lacks it too.
    const unread = hasById ? comparison.late.filter(({ id }) => !found.ids.has(id)) : wanted
    if (unread.length === 0) return wholeEnd(ended, tally)
    const stamps = new LookBack(after, 0)
    const next = { ...parts, pass: pass + 1 }
    const read = yield* this.#wholes.read(request, next, stamps)
    return read.ok ? { ...read, mayHaveMoved: false } : read
  }
}
