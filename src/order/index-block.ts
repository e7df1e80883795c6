import type { Tick } from '../domain/date-time.ts'
import { type Guid, firstGuidDigits } from '../domain/guid.ts'
import type { HeldRow, RowKey } from '../records/held-row.ts'

/** The most rows of a block. Moving half of them to make room for one takes less than a microsecond. */
export const BLOCK_ROWS = 512
/** An estimate of the memory of a block, and of each venue and tag that its rows have, bytes. */
const BLOCK_BYTES = 12_000
const TEXT_BYTES = 50

/** Consecutive rows of a list in their order, with the venues and tags that they have. */
export class IndexBlock {
  readonly rows: HeldRow[]
  /** The keys of the rows: a query looks at these alone, because a million rows are in no cache. */
  readonly keys: RowKey[]
  /** When the rows start, epoch ms. A search for a place compares numbers, because keys and ids are in no cache. */
  readonly startsMs: number[]
  /** What decides among rows that start in the same ms, as `tieOf` returns it. */
  readonly ties: number[]
  /** The venues of all rows, and their tags without regard to case. Some of removed rows may be among them. */
  readonly venues: Set<string> = new Set()
  readonly words: Set<string> = new Set()
  /** No row ends before the first of these or after the second, epoch ms. */
  earliestEndMs = Infinity
  latestEndMs = -Infinity
  /** The number of rows removed since the sets and the times were last those of the rows alone. */
  #gone = 0

  constructor(rows: HeldRow[], ties: number[] = rows.map((row) => tieOf(keyOf(row).start, row.id))) {
    this.rows = rows
    this.keys = rows.map(keyOf)
    this.startsMs = this.keys.map(({ start }) => start.ms)
    this.ties = ties
    for (const key of this.keys) this.#include(key)
  }

  get sizeBytes(): number {
    return BLOCK_BYTES + (this.venues.size + this.words.size) * TEXT_BYTES
  }

  insert(at: number, row: HeldRow): void {
    const key = keyOf(row)
    this.rows.splice(at, 0, row)
    this.keys.splice(at, 0, key)
    this.startsMs.splice(at, 0, key.start.ms)
    this.ties.splice(at, 0, tieOf(key.start, row.id))
    this.#include(key)
  }

  remove(at: number): void {
    this.rows.splice(at, 1)
    this.keys.splice(at, 1)
    this.startsMs.splice(at, 1)
    this.ties.splice(at, 1)
    // Once for many removals: what is left of a removed row only lets queries look at this block in vain.
    if (++this.#gone > this.rows.length / 2) this.#includeAll()
  }

  /** Returns true if the row at an offset is before a position, of which `tieOf` has returned the tie. */
  isBefore(at: number, startMs: number, tie: number, id: Guid): boolean {
    const ms = this.startsMs[at] ?? Number.NaN
    if (ms !== startMs) return ms < startMs
    const own = this.ties[at] ?? Number.NaN
    return own === tie ? (this.rows[at]?.id ?? id) < id : own < tie
  }

  /** Returns two blocks with half of the rows each. */
  halves(): readonly [IndexBlock, IndexBlock] {
    const half = this.rows.length >>> 1
    const { rows, ties } = this
    return [
      new IndexBlock(rows.slice(0, half), ties.slice(0, half)),
      new IndexBlock(rows.slice(half), ties.slice(half)),
    ]
  }

  #includeAll(): void {
    this.#gone = 0
    this.venues.clear()
    this.words.clear()
    this.earliestEndMs = Infinity
    this.latestEndMs = -Infinity
    for (const key of this.keys) this.#include(key)
  }

  #include({ end, venue, tags }: RowKey): void {
    if (end.ms < this.earliestEndMs) this.earliestEndMs = end.ms
    if (end.ms > this.latestEndMs) this.latestEndMs = end.ms
    this.venues.add(venue)
    for (const word of tags.words) this.words.add(word)
  }
}

/** Returns a number in the order of the ticks of a start, then of the first digits of an id. */
export function tieOf({ ticks }: Tick, id: Guid): number {
  return ticks * 2 ** 32 + firstGuidDigits(id)
}

function keyOf({ key }: HeldRow): RowKey {
  if (key === null) throw new Error('a row without a key has no place')
  return key
}
