import type { Guid } from '../domain/guid.ts'
import { type Tick, isBefore } from '../domain/tick.ts'
import { readGuidWords } from '../records/guid-table.ts'
import { type IndexBlock, ANY, bitOf } from './index-block.ts'
import type { ListIndex, ListPosition } from './list-index.ts'
import { readSortKey } from '../records/packing.ts'
import type { FittingNonces } from './tag-sets.ts'

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
  readonly after: ListPosition | null
  readonly limit: number
}

export interface Scanned {
  /** Handles of the rows, in order. */
  readonly rows: readonly number[]
  /** There is at least one more. */
  readonly hasMore: boolean
  /** The first moment, in ms, after which one of them, or the one that there is more, is over. */
  readonly goodUntilMs: number
}

const NOTHING: Scanned = { rows: [], hasMore: false, goodUntilMs: Infinity }

/** The rows of one page: a walk over columns of numbers that skips what is over, and reads no record. */
export function scan(index: ListIndex, { from, to, venues, tags, available, after, limit }: Wanted): Scanned {
  const filter = filterOf(index, { from, venues, tags, available })
  if (filter === null) return NOTHING
  const rows: number[] = []
  let goodUntilMs = Infinity
  let [number, first] = after === null ? [0, 0] : placeAfter(index, after)
  for (; rows.length <= limit; number++, first = 0) {
    const block = index.blocks[number]
    if (block === undefined) break
    const until = to === null ? block.count : index.startingBefore(block, to)
    const isOpen = block.latestEndMs >= from.ms && (filter.any === null || block.mayHold(filter.any))
    if (isOpen) filter.settle?.(block.marks, first, until)
    for (let at = isOpen ? nextFit(block, first, until, filter) : until; at < until && rows.length <= limit;) {
      const handle = block.handles[at] ?? 0
      const endMs = block.ends[at] ?? 0
      // Ends are whole milliseconds: within that of a `from` that is finer the row itself decides.
      if (from.ticks === 0 || endMs !== from.ms || !isOver(index, handle, from)) {
        rows.push(handle)
        goodUntilMs = Math.min(goodUntilMs, endMs)
      }
      at = nextFit(block, at + 1, until, filter)
    }
    if (until < block.count) break
  }
  const hasMore = rows.length > limit
  if (hasMore) rows.pop()
  return { rows, hasMore, goodUntilMs }
}

interface Filter {
  readonly fromMs: number
  /** By mark and by venue, 1 for what fits; null where all do. */
  readonly marks: FittingNonces['fits'] | null
  readonly settle: FittingNonces['settle']
  readonly venues: Uint8Array | null
  /** A block without the bits of any of these has none that fits; null where that is not asked. */
  readonly any: readonly number[] | null
}

type Choice = Pick<Wanted, 'venues' | 'tags' | 'available'>

/** Null where nothing can fit. */
function filterOf(index: ListIndex, wanted: Choice & Pick<Wanted, 'from'>): Filter | null {
  const { from, venues, tags, available } = wanted
  const marks = tags.length === 0 && !available ? null : index.tags.matching(tags, available)
  const atVenues = venues.length === 0 ? null : flagged(index, venues)
  if (marks === null && (tags.length > 0 || available)) return null
  if (atVenues === null && venues.length > 0) return null
  return {
    fromMs: from.ms,
    marks: marks?.fits ?? null,
    settle: marks?.settle ?? null,
    venues: atVenues,
    any: bitsOf(index, wanted),
  }
}

/**
 * The first entry from `at` on that fits, `until` where there is none. Venues and tags are combined without a branch each: of
 * common ones that never meet the processor could guess neither.
 */
function nextFit(block: IndexBlock, at: number, until: number, filter: Filter): number {
  const { ends, marks, venues } = block
  const { fromMs, marks: fits, venues: there } = filter
  if (fits === null && there === null) {
    while (at < until && (ends[at] ?? 0) < fromMs) at++
  } else if (there === null && fits !== null) {
    while (at < until && (fits[marks[at] ?? 0] !== 1 || (ends[at] ?? 0) < fromMs)) at++
  } else if (fits === null && there !== null) {
    while (at < until && (there[venues[at] ?? 0] !== 1 || (ends[at] ?? 0) < fromMs)) at++
  } else if (fits !== null && there !== null) {
    while (at < until) {
      const fit = (fits[marks[at] ?? 0] ?? 0) & (there[venues[at] ?? 0] ?? 0)
      if (fit === 1 && (ends[at] ?? 0) >= fromMs) break
      at++
    }
  }
  return at
}

function isOver(index: ListIndex, handle: number, from: Tick): boolean {
  const [shard, slot] = index.rowOf(handle)
  return isBefore(readSortKey(shard.read(slot)).end, from)
}

/** Where so many bits are asked for, most blocks have one of them. */
const MOST_BITS = 256

/** The bits of which a block that holds what is wanted has one: of each venue with each tag. */
function bitsOf(index: ListIndex, { venues, tags, available }: Choice): readonly number[] | null {
  const numbers =
    venues.length === 0 ? [ANY] : venues.map((id) => index.venues.find(id)).filter((number) => number !== -1)
  const words = tags.length === 0 ? [ANY] : index.tags.wordsOf(tags)
  if (numbers.length * words.length > MOST_BITS) return null
  return numbers.flatMap((venue) => words.map((word) => bitOf(venue, word, available)))
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

function placeAfter(index: ListIndex, { start, id }: ListPosition): readonly [number, number] {
  readGuidWords(id, words)
  const [block, at] = index.seek(start, words)
  // The row itself, where it is still there, was on the page before.
  return index.isAt(block, at, start, words) ? [block, at + 1] : [block, at]
}
