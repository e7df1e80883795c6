import type { Guid } from '../../domain/guid.ts'
import { type Failed, type ListReading, type PageStream, type ReadRequest, failed, heartbeat } from '../../sync/port.ts'
import type { RowSource, RowsEnd } from './row-host.ts'
import { type ReadParts, type RowNotices, Tally, batches, brokenBy, pagesOf } from './row-pages.ts'
import type { LookBack } from './stamps.ts'

/** How a read of all rows or ids ended. */
export type WholeEnd =
  | (Extract<RowsEnd, { ok: true }> & {
      readonly mayHaveMoved: boolean
      readonly isOneMoment: boolean
    })
  | Failed

/** Reads lists in full. */
export class WholeReads<Item extends { readonly Id: Guid }> {
  /** How the list was last read in full; `null` before. */
  reading: ListReading | null = null
  /** The ids that have a row which is withheld on purpose and another one. */
  twins: ReadonlySet<Guid> = new Set()
  readonly #of: { readonly stream: RowSource<Item>; readonly readsTickets: boolean }
  readonly #notices: RowNotices

  constructor(of: { readonly stream: RowSource<Item>; readonly readsTickets: boolean }, notices: RowNotices) {
    this.#of = of
    this.#notices = notices
  }

  read(
    request: Pick<ReadRequest, 'served' | 'purpose'>,
    parts: ReadParts<Item>,
    stamps: LookBack,
  ): PageStream<Item, WholeEnd> {
    return seeAll(request, parts, (pass) => this.#readOnce(pass, stamps))
  }

  async *#readOnce(parts: ReadParts<Item>, stamps: LookBack): PageStream<Item, WholeEnd> {
    const { list } = parts
    const tally = new Tally()
    if (!this.#of.stream.mapsRows) list.begin()
    yield heartbeat(parts.pass)
    const rows = parts.open('full', null)
    const notices = this.#notices
    const ended = yield* batches(rows, parts, async function* (batch) {
      if (tally.came === 0 && batch.rows.length > 0) {
        const { fault, warning } = list.lackingIn(batch.rows, batch.blank)
        if (fault !== null) return failed('misconfigured', fault)
        notices.lacks(warning)
      }
      const broken = yield* pagesOf(batch, parts, { tally, stamps })
      return broken ?? brokenBy(list.name, tally.count(batch))
    })
    if (!ended.ok) return ended
    const { missing } = tally
    this.twins = tally.twins
    this.#notices.cameTwice(tally.twice)
    const { stream, readsTickets } = this.#of
    const { budget, requests } = stream
    this.reading = tally.readingOf(list, { budget, requests, readsTickets })
    if (missing !== null) return failed('broken', `${list.name}: ${missing}`)
    return wholeEnd(ended, tally)
  }
}

/** Runs a read of all rows or ids. If served rows are missing, runs it again. */
export async function* seeAll<Item extends { readonly Id: Guid }>(
  { served = null, purpose }: Pick<ReadRequest, 'served' | 'purpose'>,
  parts: ReadParts<Item>,
  read: (parts: ReadParts<Item>) => PageStream<Item, WholeEnd>,
): PageStream<Item, WholeEnd> {
  const first = yield* read(parts)
  if (!first.ok || served === null || purpose === 'addition') return first
  if (!first.mayHaveMoved || served.countMissing() === 0) return first
  // A row may have moved between two pages. Only rows that are missing from both reads are gone.
  return yield* read({ ...parts, pass: parts.pass + 1 })
}

export function wholeEnd(ended: Extract<RowsEnd, { ok: true }>, tally: Tally): WholeEnd {
  const { isUnstable, isOneMoment } = tally
  return { ...ended, mayHaveMoved: isUnstable, isOneMoment }
}
