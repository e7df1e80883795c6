import type { Guid } from '../domain/guid.ts'
import { type Tick, isBefore } from '../domain/date-time.ts'
import { foldTag } from '../domain/fold-tag.ts'
import type { HeldRow, RowKey, TagSet } from '../records/held-row.ts'
import type { IndexBlock } from './index-block.ts'
import type { ListIndex, ListPosition } from './list-index.ts'
import { type CountedTag, tally } from './tag-counts.ts'

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
  /** The rows, in order. */
  readonly rows: readonly HeldRow[]
  /** Further rows follow the page. */
  readonly hasMore: boolean
  /** The earliest end, in ms, among these rows and the following one. The answer is valid until then. */
  readonly goodUntilMs: number
}

/** Returns the rows of one page. */
export function scan(index: ListIndex, wanted: Wanted): Scanned {
  const rows: HeldRow[] = []
  let goodUntilMs = Infinity
  for (const [row, { end }] of fitting(index, wanted)) {
    rows.push(row)
    goodUntilMs = Math.min(goodUntilMs, end.ms)
    if (rows.length > wanted.limit) break
  }
  const hasMore = rows.length > wanted.limit
  if (hasMore) rows.pop()
  return { rows, hasMore, goodUntilMs }
}

/** The rows of a query, counted by their tags. */
interface TagCounts {
  readonly tags: readonly CountedTag[]
  /** The earliest end, in ms, among the rows. The answer is valid until then. */
  readonly goodUntilMs: number
}

/** Returns how many rows have each tag, the most frequent ones first. */
export function countTags(index: ListIndex, wanted: Omit<Wanted, 'tags' | 'after'>): TagCounts {
  const rows = new Map<TagSet, number>()
  let goodUntilMs = Infinity
  for (const [, { tags, end }] of fitting(index, { ...wanted, tags: [], after: null })) {
    rows.set(tags, (rows.get(tags) ?? 0) + 1)
    goodUntilMs = Math.min(goodUntilMs, end.ms)
  }
  return { tags: tally(rows, wanted.limit), goodUntilMs }
}

/** Yields the rows of a query in order, each with its key. Skips blocks in which no row can fit. */
function* fitting(index: ListIndex, wanted: Wanted): Generator<readonly [HeldRow, RowKey], void> {
  const { from, to, after } = wanted
  const filter = filterOf(wanted)
  let [number, at] = after === null ? [0, 0] : placeAfter(index, after)
  for (; ; number++, at = 0) {
    const block = index.blocks[number]
    if (block === undefined) return
    const { rows, keys } = block
    const [first] = keys
    if (to !== null && first !== undefined && !isBefore(first.start, to)) return
    if (block.latestEndMs < from.ms || !filter.mayFit(block)) continue
    for (at = nextFit(keys, at, filter); at < keys.length; at = nextFit(keys, at + 1, filter)) {
      const [row, key] = [rows[at], keys[at]]
      if (row === undefined || key === undefined || (to !== null && !isBefore(key.start, to))) return
      yield [row, key]
    }
  }
}

interface Filter extends Pick<Wanted, 'from' | 'available'> {
  /** `null` for all. */
  readonly venues: ReadonlySet<string> | null
  readonly words: ReadonlySet<string> | null
  readonly earliestMs: number
  readonly latestMs: number
  mayFit(block: IndexBlock): boolean
}

function filterOf(wanted: Wanted): Filter {
  const { from, tags, available, within: [earliestMs, latestMs] = ALWAYS } = wanted
  const words: ReadonlySet<string> | null = tags.length === 0 ? null : new Set(tags.map(foldTag))
  const venues: ReadonlySet<string> | null = wanted.venues.length === 0 ? null : new Set(wanted.venues)
  return {
    from,
    available,
    venues,
    words,
    earliestMs,
    latestMs,
    mayFit: (block) =>
      (venues === null || haveCommon(block.venues, venues)) && (words === null || haveCommon(block.words, words)),
  }
}

/**
 * Returns the first row from `at` on that fits; the number of rows if there is none. Runtimes compile this loop better
 * alone than within a generator.
 */
function nextFit(keys: readonly RowKey[], at: number, filter: Filter): number {
  const { from, venues, words, available, earliestMs, latestMs } = filter
  for (; at < keys.length; at++) {
    const key = keys[at]
    if (key === undefined || (available && !key.isAvailable)) continue
    if (venues !== null && !venues.has(key.venue)) continue
    if (words !== null && !hasAny(key.tags, words)) continue
    if (!isBefore(key.end, from) && key.start.ms >= earliestMs && key.end.ms <= latestMs) return at
  }
  return at
}

function hasAny({ words: own }: TagSet, words: ReadonlySet<string>): boolean {
  for (let at = 0; at < own.length; at++) if (words.has(own[at] ?? '')) return true
  return false
}

function haveCommon(one: ReadonlySet<string>, other: ReadonlySet<string>): boolean {
  const [few, many] = one.size < other.size ? [one, other] : [other, one]
  for (const text of few) if (many.has(text)) return true
  return false
}

const ALWAYS = [-Infinity, Infinity] as const

function placeAfter(index: ListIndex, { start, id }: ListPosition): readonly [number, number] {
  const [block, at] = index.seek(start, id)
  // The position's own row, if it still exists, was on the previous page.
  return index.blocks[block]?.rows[at]?.id === id ? [block, at + 1] : [block, at]
}
