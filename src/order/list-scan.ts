import { type Guid, readGuidWords } from '../domain/guid.ts'
import { type Tick, isBefore } from '../domain/date-time.ts'
import { type IndexBlock, ANY, bitOf } from './index-block.ts'
import type { ListIndex, ListPosition } from './list-index.ts'
import type { CountedTag, FittingTagCodes } from './tag-sets.ts'

/** A query of a list (contract §4.1). */
export interface Wanted {
  /** Rows that end before this are excluded. */
  readonly from: Tick
  /** Rows that start at or after this are excluded; `null` for no limit. */
  readonly to: Tick | null
  /** Rows at any of these venues; empty for all. */
  readonly venues: readonly Guid[]
  /** Rows with any of these tags; empty for all. */
  readonly tags: readonly string[]
  readonly available: boolean
  /** Rows after this position; `null` for the first page. */
  readonly after: ListPosition | null
  readonly limit: number
  /** Rows that start before the first of these or end after the second, epoch ms, are excluded; absent for no limit. */
  readonly within?: readonly [startMs: number, endMs: number]
}

export interface Scanned {
  /** The rows' numbers, in order. */
  readonly rows: readonly number[]
  /** Further rows follow the page. */
  readonly hasMore: boolean
  /** The earliest end, in ms, among these rows and the following one. The answer is valid until then. */
  readonly goodUntilMs: number
}

const ALWAYS = [-Infinity, Infinity] as const
const NOTHING: Scanned = { rows: [], hasMore: false, goodUntilMs: Infinity }

/** Returns the rows of one page. Scans columns of numbers, skips events that are over, and reads hardly any record. */
export function scan(index: ListIndex, wanted: Wanted): Scanned {
  const { from, to, after, limit, within = ALWAYS } = wanted
  const filter = filterOf(index, wanted)
  if (filter === null) return NOTHING
  const rows: number[] = []
  let goodUntilMs = Infinity
  let [number, first] = after === null ? [0, 0] : placeAfter(index, after)
  for (; rows.length <= limit; number++, first = 0) {
    const block = index.blocks[number]
    if (block === undefined) break
    const until = to === null ? block.count : index.startingBefore(block, to)
    const isOpen = block.latestEndMs >= from.ms && (filter.any === null || block.mayHold(filter.any))
    if (isOpen) filter.settle?.(block.tagCodes, first, until)
    for (let at = isOpen ? nextFit(block, first, until, filter) : until; at < until && rows.length <= limit;) {
      const row = block.rows[at] ?? 0
      const endMs = block.ends[at] ?? 0
      const isWithin = (block.starts[at] ?? 0) >= within[0] && endMs <= within[1]
      // Ends are rounded down to milliseconds. If `from` falls within that millisecond, the record decides.
      if (isWithin && (from.ticks === 0 || endMs !== from.ms || !isBefore(index.endOf(row), from))) {
        rows.push(row)
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

/** The rows of a query, counted by their tags. */
interface TagCounts {
  readonly tags: readonly CountedTag[]
  /** The earliest end, in ms, among the rows. The answer is valid until then. */
  readonly goodUntilMs: number
}

/** Returns how many rows have each tag, the most frequent ones first. Scans columns of numbers, and reads no record. */
export function countTags(index: ListIndex, wanted: Omit<Wanted, 'tags' | 'after'>): TagCounts {
  const { from, to, limit } = wanted
  const filter = filterOf(index, { ...wanted, tags: [], after: null })
  if (filter === null) return { tags: [], goodUntilMs: Infinity }
  const rows = new Uint32Array(index.tags.count)
  let goodUntilMs = Infinity
  for (const block of index.blocks) {
    const until = to === null ? block.count : index.startingBefore(block, to)
    const isOpen = block.latestEndMs >= from.ms && (filter.any === null || block.mayHold(filter.any))
    for (
      let at = isOpen ? nextFit(block, 0, until, filter) : until;
      at < until;
      at = nextFit(block, at + 1, until, filter)
    ) {
      const endMs = block.ends[at] ?? 0
      if (from.ticks === 0 || endMs !== from.ms || !isBefore(index.endOf(block.rows[at] ?? 0), from)) {
        const set = (block.tagCodes[at] ?? 0) >>> 1
        rows[set] = (rows[set] ?? 0) + 1
        goodUntilMs = Math.min(goodUntilMs, endMs)
      }
    }
    if (until < block.count) break
  }
  return { tags: index.tags.tally(rows, limit), goodUntilMs }
}

interface Filter {
  readonly fromMs: number
  /** 1 for each tag code that matches; `null` if all do. */
  readonly tagCodes: FittingTagCodes['fits'] | null
  readonly settle: FittingTagCodes['settle']
  readonly venues: Uint8Array | null
  /** A block without any of these bits has no matching entry; `null` if the bits are not checked. */
  readonly any: readonly number[] | null
}

/** `null` if nothing can match. */
function filterOf(index: ListIndex, { from, venues, tags, available }: Wanted): Filter | null {
  const tagCodes = tags.length === 0 && !available ? null : index.tags.matching(tags, available)
  if (tagCodes === null && (tags.length > 0 || available)) return null
  const numbers = venues.map((id) => index.venues.find(id)).filter((number) => number !== -1)
  if (numbers.length === 0 && venues.length > 0) return null
  const words = tags.length === 0 ? [ANY] : index.tags.wordsOf(tags)
  return {
    fromMs: from.ms,
    tagCodes: tagCodes?.fits ?? null,
    settle: tagCodes?.settle ?? null,
    venues: numbers.length === 0 ? null : flagged(numbers, index.venues.count),
    any: bitsOf(numbers.length === 0 ? [ANY] : numbers, words, available),
  }
}

/**
 * Returns the first matching entry from `at` on; `until` if there is none. Venues and tags are combined without a
 * branch for each, because the processor could predict neither.
 */
function nextFit(block: IndexBlock, at: number, until: number, filter: Filter): number {
  const { ends, tagCodes, venues } = block
  const { fromMs, tagCodes: fits, venues: there } = filter
  if (fits === null && there === null) {
    while (at < until && (ends[at] ?? 0) < fromMs) at++
  } else if (there === null && fits !== null) {
    while (at < until && (fits[tagCodes[at] ?? 0] !== 1 || (ends[at] ?? 0) < fromMs)) at++
  } else if (fits === null && there !== null) {
    while (at < until && (there[venues[at] ?? 0] !== 1 || (ends[at] ?? 0) < fromMs)) at++
  } else if (fits !== null && there !== null) {
    while (at < until) {
      const fit = (fits[tagCodes[at] ?? 0] ?? 0) & (there[venues[at] ?? 0] ?? 0)
      if (fit === 1 && (ends[at] ?? 0) >= fromMs) break
      at++
    }
  }
  return at
}

/** The most bits to check. With more, nearly every block would have one of them. */
const MOST_BITS = 256

/**
 * Returns the bits of each wanted venue with each wanted tag. A block with a matching entry has at least one of them.
 */
function bitsOf(venues: readonly number[], words: readonly number[], available: boolean): readonly number[] | null {
  if (venues.length * words.length > MOST_BITS) return null
  return venues.flatMap((venue) => words.map((word) => bitOf(venue, word, available)))
}

/** Returns a flag for each number below `count`: 1 for these. */
function flagged(numbers: readonly number[], count: number): Uint8Array {
  const flags = new Uint8Array(count)
  for (const number of numbers) flags[number] = 1
  return flags
}

const words = new Uint32Array(4)

function placeAfter(index: ListIndex, { start, id }: ListPosition): readonly [number, number] {
  readGuidWords(id, words)
  const [block, at] = index.seek(start, words)
  // The position's own row, if it still exists, was on the previous page.
  return index.isAt(block, at, start, words) ? [block, at + 1] : [block, at]
}
