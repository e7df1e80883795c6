import type { Guid } from '../domain/guid.ts'
import type { Tick } from '../domain/tick.ts'
import { isBefore } from '../domain/tick.ts'
import { readGuidWords } from './guid-words.ts'
import type { IndexBlock } from './index-block.ts'
import type { ListIndex, Position } from './list-index.ts'
import { endOf } from './row-places.ts'

/** What is asked of a list (contract §4.1). */
export interface Wanted {
  /** Not over before it. */
  readonly from: Tick
  /** Started before it; null where any start will do. */
  readonly to: Tick | null
  /** At any of these; empty for all. */
  readonly venues: readonly Guid[]
  /** With any of these; empty for all. */
  readonly tags: readonly string[]
  readonly available: boolean
  /** After it; null for the first page. */
  readonly after: Position | null
  readonly limit: number
}

export interface Found {
  /** Handles of the rows, in order. */
  readonly rows: readonly number[]
  /** There is at least one more. */
  readonly hasMore: boolean
  /** The first moment, in ms, after which one of them, or the one that there is more, is over. */
  readonly goodUntilMs: number
}

const NOTHING: Found = { rows: [], hasMore: false, goodUntilMs: Infinity }

/** The rows of one page: a walk over columns of numbers that skips what is over, and reads no record. */
export function scan(index: ListIndex, wanted: Wanted): Found {
  const { to, venues, tags, available, after, limit } = wanted
  const sets = tags.length === 0 ? null : index.tags.matching(tags)
  const atVenues = venues.length === 0 ? null : flagged(index, venues)
  if ((tags.length > 0 && sets === null) || (venues.length > 0 && atVenues === null)) return NOTHING
  const filter: Filter = { from: wanted.from, sets, atVenues, available, most: limit + 1 }
  const rows: number[] = []
  const endsMs = { earliest: Infinity }
  let [at, first] = after === null ? [0, 0] : placeAfter(index, after)
  for (; at < index.blocks.length && rows.length <= limit; at++, first = 0) {
    const block = index.blocks[at]
    if (block === undefined) break
    const until = to === null ? block.count : index.startingBefore(block, to)
    if (block.latestEndMs >= wanted.from.ms) walk(index, block, first, until, filter, rows, endsMs)
    if (until < block.count) break
  }
  const hasMore = rows.length > limit
  if (hasMore) rows.pop()
  return { rows, hasMore, goodUntilMs: endsMs.earliest }
}

interface Filter {
  readonly from: Tick
  readonly sets: Uint8Array | null
  readonly atVenues: Uint8Array | null
  readonly available: boolean
  readonly most: number
}

function walk(
  index: ListIndex,
  block: IndexBlock,
  first: number,
  until: number,
  { from, sets, atVenues, available, most }: Filter,
  rows: number[],
  endsMs: { earliest: number },
): void {
  const { ends, marks, venues, handles } = block
  const mask = available ? 1 : 0
  for (let at = first; at < until; at++) {
    const endMs = ends[at] ?? 0
    if (endMs < from.ms) continue
    const mark = marks[at] ?? 0
    if ((mark & mask) !== mask) continue
    if (sets !== null && sets[mark >>> 1] !== 1) continue
    if (atVenues !== null && atVenues[venues[at] ?? 0] !== 1) continue
    const handle = handles[at] ?? 0
    // Ends are whole milliseconds: within that of a `from` that is finer the row itself decides.
    if (from.ticks > 0 && endMs === from.ms && isOver(index, handle, from)) continue
    rows.push(handle)
    if (endMs < endsMs.earliest) endsMs.earliest = endMs
    if (rows.length === most) return
  }
}

function isOver(index: ListIndex, handle: number, from: Tick): boolean {
  const [shard, slot] = index.rowOf(handle)
  return isBefore(endOf(shard.read(slot)), from)
}

/** By number, 1 for each of these venues; null where no event names any. */
function flagged({ venues }: ListIndex, ids: readonly Guid[]): Uint8Array | null {
  let flags: Uint8Array | null = null
  for (const id of ids) {
    const number = venues.find(id)
    if (number === -1) continue
    flags ??= new Uint8Array(venues.count)
    flags[number] = 1
  }
  return flags
}

const words = new Uint32Array(4)

function placeAfter(index: ListIndex, { start, id }: Position): readonly [number, number] {
  readGuidWords(id, words)
  const [block, at] = index.seek(start, words)
  // The row itself, where it is still there, was on the page before.
  return index.isAt(block, at, start, words) ? [block, at + 1] : [block, at]
}
