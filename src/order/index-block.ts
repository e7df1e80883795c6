import type { HeldRow, RowKey } from '../records/held-row.ts'

/** The most rows of a block. Moving half of them to make room for one takes less than a microsecond. */
export const BLOCK_ROWS = 512
/** An estimate of the memory of a block, and of each venue and tag that its rows have, bytes. */
const BLOCK_BYTES = 5000
const COUNTED_BYTES = 60

/** Consecutive rows of a list in their order, and how many of them have each venue and tag. */
export class IndexBlock {
  readonly rows: HeldRow[] = []
  /** The keys of the rows: a query looks at these alone, because a million rows are in no cache. */
  readonly keys: RowKey[] = []
  readonly venues: Counts = new Counts()
  /** The tags of the rows, without regard to case. */
  readonly words: Counts = new Counts()
  /** When the first of the rows ends, and the last, epoch ms. */
  earliestEndMs = Infinity
  latestEndMs = -Infinity

  constructor(rows: readonly HeldRow[] = []) {
    for (const row of rows) this.insert(this.rows.length, row)
  }

  get sizeBytes(): number {
    return BLOCK_BYTES + (this.venues.size + this.words.size) * COUNTED_BYTES
  }

  insert(at: number, row: HeldRow): void {
    const { key } = row
    if (key === null) throw new Error('a row without a key has no place')
    this.rows.splice(at, 0, row)
    this.keys.splice(at, 0, key)
    this.#include(key.end.ms)
    this.venues.add(key.venue)
    for (const word of key.tags.words) this.words.add(word)
  }

  remove(at: number): void {
    this.rows.splice(at, 1)
    const [key] = this.keys.splice(at, 1)
    if (key === undefined) return
    const { end, venue, tags } = key
    this.venues.remove(venue)
    for (const word of tags.words) this.words.remove(word)
    if (end.ms === this.earliestEndMs || end.ms === this.latestEndMs) this.#findEnds()
  }

  /** Returns two blocks with half of the rows each. */
  halves(): readonly [IndexBlock, IndexBlock] {
    const half = this.rows.length >>> 1
    return [new IndexBlock(this.rows.slice(0, half)), new IndexBlock(this.rows.slice(half))]
  }

  #findEnds(): void {
    this.earliestEndMs = Infinity
    this.latestEndMs = -Infinity
    for (const { end } of this.keys) this.#include(end.ms)
  }

  #include(endMs: number): void {
    if (endMs < this.earliestEndMs) this.earliestEndMs = endMs
    if (endMs > this.latestEndMs) this.latestEndMs = endMs
  }
}

/** How many rows have each of some texts. */
class Counts {
  readonly #counts = new Map<string, number>()

  get size(): number {
    return this.#counts.size
  }

  add(text: string): void {
    this.#counts.set(text, (this.#counts.get(text) ?? 0) + 1)
  }

  remove(text: string): void {
    const left = (this.#counts.get(text) ?? 0) - 1
    if (left > 0) this.#counts.set(text, left)
    else this.#counts.delete(text)
  }

  hasAny(texts: ReadonlySet<string>): boolean {
    if (texts.size <= this.#counts.size) {
      for (const text of texts) if (this.#counts.has(text)) return true
    } else for (const text of this.#counts.keys()) if (texts.has(text)) return true
    return false
  }
}
