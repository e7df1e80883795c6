import type { Guid } from '../domain/guid.ts'
import { type ListSource, type ReadEnd, type ReadKind, type ServedRows, REPEATED } from './port.ts'
import type { RecordList } from '../records/record-list.ts'
import type { HeldRow } from '../records/held-row.ts'

/** Yields the served ids that a complete read, begun at `since` (monotonic ms), did not mention. */
export function* absentIds<Item>(list: RecordList<Item>, since: number): Generator<Guid, void> {
  for (const row of list.rows()) if (row.isServed && row.seenAt < since) yield row.id
}

/** A read. The `seenIn` of a row that it mentioned is at least `number`, which is the number of its first pass. */
export interface Sighting {
  readonly number: number
  /** Monotonic ms. */
  readonly begunAt: number
  /** Returns true if the read found the row different, and has not written it. */
  names(id: Guid): boolean
}

/**
 * Yields the served rows that a complete read did not mention. Rows that another read has seen since it began do not
 * count. If the source lags, fewer rows would be removed than are yielded, because rows seen after the source's moment
 * stay.
 *
 * @param sinceMs the moment that the read shows, monotonic ms: whatever would be removed is yielded
 */
export function* missingRows(
  list: Pick<RecordList<unknown>, 'rows'>,
  read: Sighting,
  sinceMs: number,
): Generator<HeldRow, void> {
  for (const row of list.rows()) {
    if (row.isServed && (row.seenAt < sinceMs || !row.isSeen(read.number, read.begunAt)) && !read.names(row.id))
      yield row
  }
}

interface Staged {
  readonly sighting: Sighting
  readonly sinceMs: number
}

/** Returns the served rows, for the source of a read. */
export function servedRows<Item>(list: RecordList<Item>, read: Staged): ServedRows {
  return {
    get count() {
      return list.served
    },
    has: (id) => list.serves(id),
    countMissing: () => missingRows(list, read.sighting, read.sinceMs).reduce((count) => count + 1, 0),
  }
}

/** The number of rows looked at between two pauses. A row that is removed counts as many. */
const ROWS_A_TURN = 100_000
const ROWS_A_REMOVAL = 100

/**
 * Removes the rows that a complete read, begun at `since`, did not mention. Pauses between shards. Returns their number.
 */
export async function removeAbsent<Item>(
  list: RecordList<Item>,
  since: number,
  wallS: () => number,
  pause: () => Promise<void>,
): Promise<number> {
  let removed = 0
  let sincePause = 0
  for (const shard of list.shards) {
    sincePause += shard.size
    for (const row of shard.values()) {
      if (row.seenAt >= since) continue
      list.remove(row, wallS)
      removed++
      sincePause += ROWS_A_REMOVAL
    }
    if (sincePause > ROWS_A_TURN) {
      sincePause = 0
      await pause()
    }
  }
  return removed
}

/**
 * Forgets the versions of rows that a read of all rows, begun at `since`, did not find, although a comparison of
 * versions has seen them since. They were absent in between and may have changed without a new version, so the next
 * comparison must read them.
 */
export function forgetVersions<Item>(list: RecordList<Item>, since: number): void {
  for (const row of list.rows()) {
    if (row.detailsAt < since && row.version !== REPEATED) list.setVersion(row, Number.NaN)
  }
}

/** Notes whether Price is read. Only a read of all rows proves that none has a column for it. */
export function notePrice<Item>(
  { list, source }: { readonly list: RecordList<Item>; readonly source: ListSource<Item> },
  kind: ReadKind,
  { complete, unchanged }: Pick<ReadEnd, 'complete' | 'unchanged'>,
): void {
  const readsPrice = source.readsPrice?.() ?? null
  const sawAll = kind === 'full' && complete && !unchanged
  if (readsPrice !== null && (readsPrice || sawAll)) list.readsPrice = readsPrice
}
