import type { Guid } from '../domain/guid.ts'
import { type ListSource, type ReadEnd, type ReadKind, type ServedRows, REPEATED } from './port.ts'
import type { RecordList } from '../records/record-list.ts'
import type { HeldRow } from '../records/held-row.ts'

/** Yields the served ids that a complete read, begun at `since` (monotonic ms), did not mention. */
export function* absentIds<Item>(list: RecordList<Item>, since: number): Generator<Guid, void> {
  for (const row of list.rows()) if (row.isServed && row.seenAt < since) yield row.id
}

/** A read. The `seenAt` of a row that it mentioned is at least `number`, which is the number of its first pass. */
export interface Sighting {
  readonly number: number
  /** Monotonic ms. */
  readonly begunAt: number
  readonly audit: boolean
}

/**
 * Yields the served rows that a complete read did not mention. Rows that another read has seen since it began do not
 * count. If the source lags, fewer rows would be removed than are yielded, because rows seen after the source's moment
 * stay.
 */
export function* missingRows(
  list: Pick<RecordList<unknown>, 'rows'>,
  { number, begunAt, audit }: Sighting,
): Generator<HeldRow, void> {
  for (const row of list.rows()) {
    if (row.isServed && !row.isSeen(number, begunAt, audit)) yield row
  }
}

/** Returns the served rows, for the source of a read. */
export function servedRows<Item>(list: RecordList<Item>, sighting: Sighting): ServedRows {
  return {
    get count() {
      return list.served
    },
    has: (id) => list.serves(id),
    countMissing: () => missingRows(list, sighting).reduce((count) => count + 1, 0),
  }
}

/** Returns true if a read of the availability, begun at `since`, left out a served row. */
export function hasOlderAvailability<Item>(list: RecordList<Item>, since: number): boolean {
  for (const row of list.rows()) if (row.isServed && row.availabilityAt < since) return true
  return false
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
