import type { TagSets } from './tag-sets.ts'

/** The capacity of a block. Moving half of them to make room for one takes less than a microsecond. */
export const BLOCK_ENTRIES = 512
/** Columns grow and shrink by this many entries, to keep the unused part small. */
const STEP = 32
/** Start and end 8 bytes each; row, venue and tag code 4 each; ticks 2. */
const ENTRY_BYTES = 30
/** An estimate of the other memory of a block: the object, the buffer, the six views and the bits. */
const BLOCK_BYTES = 1200

/** Each block has a Bloom filter of this many bits; about a fifth of them are set. */
const BITS = 4096
const UNUSED_BITS = 32 - Math.log2(BITS)

/** Stands for any venue or any tag in `bitOf`. */
export const ANY = -1

/** Returns the bit of a venue with a tag, for rows with tickets available or for all rows. Either may be `ANY`. */
export function bitOf(venue: number, word: number, available: boolean): number {
  const mixed = Math.imul(Math.imul(venue, 0x9e3779b1) ^ (word + 1), 0xc2b2ae35) + (available ? 0x27d4eb2f : 0)
  return Math.imul(mixed ^ (mixed >>> 15), 0x85ebca6b) >>> UNUSED_BITS
}

/** A row in the index. Times are epoch milliseconds. */
export interface Entry {
  startMs: number
  /** The fraction of `startMs`, in units of 100 ns, below 10,000. */
  startTicks: number
  /** The row's end, rounded down to whole milliseconds. */
  endMs: number
  row: number
  venue: number
  /** Twice the number of the tag set, plus 1 if tickets are available. */
  tagCode: number
}

/** Consecutive entries of an index, with a column for each property. */
export class IndexBlock {
  count = 0
  /** No entry ends later. Replacing an entry does not lower it, so it may be too late. */
  latestEndMs = -Infinity
  starts: Float64Array = new Float64Array(0)
  ends: Float64Array = new Float64Array(0)
  rows: Uint32Array = new Uint32Array(0)
  venues: Uint32Array = new Uint32Array(0)
  tagCodes: Uint32Array = new Uint32Array(0)
  ticks: Uint16Array = new Uint16Array(0)
  #columns: Columns = [this.starts, this.ends, this.rows, this.venues, this.tagCodes, this.ticks]
  /** A 1 for each venue, tag and pair of them in the entries, and for some of earlier entries. */
  readonly #bits = new Uint32Array(BITS / 32)
  /** Replacements and removals since the bits were last computed. */
  #outdated = 0
  readonly #tags: TagSets

  constructor(tags: TagSets) {
    this.#tags = tags
  }

  get sizeBytes(): number {
    return this.starts.length * ENTRY_BYTES + BLOCK_BYTES
  }

  /** Returns false if no entry has any of these bits' properties. */
  mayHold(any: readonly number[]): boolean {
    for (const bit of any) if (((this.#bits[bit >>> 5] ?? 0) & (1 << (bit & 31))) !== 0) return true
    return false
  }

  insert(at: number, entry: Entry): void {
    const { count } = this
    if (count === this.starts.length) this.#resize(count + STEP)
    this.#move(at + 1, at, count)
    this.count++
    this.starts[at] = entry.startMs
    this.ticks[at] = entry.startTicks
    this.rows[at] = entry.row
    this.#write(at, entry)
  }

  /** Overwrites the columns that do not determine the entry's position. */
  replace(at: number, entry: Entry): void {
    this.#write(at, entry)
    this.#outdate()
  }

  remove(at: number): void {
    const endMs = this.ends[at]
    this.#move(at, at + 1, this.count)
    this.count--
    if (this.starts.length - this.count >= 2 * STEP) this.#resize(this.starts.length - STEP)
    if (endMs === this.latestEndMs) this.#findLatestEnd()
    this.#outdate()
  }

  /** Moves the later half of the entries into a new block and returns it. */
  split(): IndexBlock {
    const later = new IndexBlock(this.#tags)
    const half = this.count >>> 1
    later.append(this, half)
    this.count = half
    this.#resize(roundedUp(half))
    this.#summarize()
    return later
  }

  /** Appends the entries of the next block, beginning with the one at `from`. */
  append(next: IndexBlock, from = 0): void {
    const at = this.count
    this.count += next.count - from
    this.#resize(roundedUp(this.count))
    copyColumns(next.#columns, this.#columns, from, next.count, at)
    this.#summarize()
  }

  #write(at: number, { endMs, venue, tagCode }: Entry): void {
    this.ends[at] = endMs
    this.venues[at] = venue
    this.tagCodes[at] = tagCode
    if (endMs > this.latestEndMs) this.latestEndMs = endMs
    this.#note(venue, tagCode)
  }

  #note(venue: number, tagCode: number): void {
    const words = this.#tags.membersOf(tagCode >>> 1)
    this.#noteVenue(venue, words, false)
    if ((tagCode & 1) === 1) this.#noteVenue(venue, words, true)
  }

  #noteVenue(venue: number, words: readonly number[], available: boolean): void {
    this.#set(bitOf(venue, ANY, available))
    this.#set(bitOf(ANY, ANY, available))
    for (const word of words) {
      this.#set(bitOf(ANY, word, available))
      this.#set(bitOf(venue, word, available))
    }
  }

  #set(bit: number): void {
    this.#bits[bit >>> 5] = (this.#bits[bit >>> 5] ?? 0) | (1 << (bit & 31))
  }

  #outdate(): void {
    if (++this.#outdated >= BLOCK_ENTRIES) this.#summarize()
  }

  #summarize(): void {
    this.#outdated = 0
    this.#bits.fill(0)
    for (let at = 0; at < this.count; at++) this.#note(this.venues[at] ?? 0, this.tagCodes[at] ?? 0)
    this.#findLatestEnd()
  }

  #findLatestEnd(): void {
    let latest = -Infinity
    for (let at = 0; at < this.count; at++) latest = Math.max(latest, this.ends[at] ?? 0)
    this.latestEndMs = latest
  }

  #move(to: number, from: number, until: number): void {
    if (from === until) return
    for (const column of this.#columns) column.copyWithin(to, from, until)
  }

  #resize(capacity: number): void {
    if (capacity === this.starts.length) return
    const before = this.#columns
    // One buffer for all columns: small separate buffers would cost more than their contents.
    const buffer = new ArrayBuffer(capacity * ENTRY_BYTES)
    this.starts = new Float64Array(buffer, 0, capacity)
    this.ends = new Float64Array(buffer, capacity * 8, capacity)
    this.rows = new Uint32Array(buffer, capacity * 16, capacity)
    this.venues = new Uint32Array(buffer, capacity * 20, capacity)
    this.tagCodes = new Uint32Array(buffer, capacity * 24, capacity)
    this.ticks = new Uint16Array(buffer, capacity * 28, capacity)
    this.#columns = [this.starts, this.ends, this.rows, this.venues, this.tagCodes, this.ticks]
    copyColumns(before, this.#columns, 0, Math.min(capacity, before[0].length), 0)
  }
}

type Columns = readonly [Float64Array, Float64Array, Uint32Array, Uint32Array, Uint32Array, Uint16Array]

function copyColumns(from: Columns, to: Columns, begin: number, end: number, at: number): void {
  for (const [index, column] of to.entries()) {
    const other = from[index]
    if (other !== undefined) column.set(other.subarray(begin, end), at)
  }
}

function roundedUp(count: number): number {
  return Math.ceil(count / STEP) * STEP
}
