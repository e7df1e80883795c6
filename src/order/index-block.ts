import type { TagSets } from './tag-sets.ts'

/** So many entries a block holds at most: to move half of them aside for another takes under a microsecond. */
export const BLOCK_ENTRIES = 512
/** Columns grow and shrink by so many entries, so that little of them is empty. */
const STEP = 32
/** Start and end 8 each, handle, venue and mark 4 each, ticks 2. */
const ENTRY_BYTES = 30
/** What a block takes besides, roughly: its object, the buffer, the six views, and its bits. */
const BLOCK_BYTES = 1200

/** A block has so many bits for what its entries name: about a fifth of them are set. */
const BITS = 4096
const UNUSED_BITS = 32 - Math.log2(BITS)

/** What stands for any venue, and for any tag. */
export const ANY = -1

/** The bit of a venue with a tag, of rows that have tickets or of all; either may be `ANY`. */
export function bitOf(venue: number, word: number, available: boolean): number {
  const mixed = Math.imul(Math.imul(venue, 0x9e3779b1) ^ (word + 1), 0xc2b2ae35) + (available ? 0x27d4eb2f : 0)
  return Math.imul(mixed ^ (mixed >>> 15), 0x85ebca6b) >>> UNUSED_BITS
}

/** What an index holds of a row. Times are epoch milliseconds. */
export interface Entry {
  startMs: number
  /** What `startMs` leaves out: tenths of a microsecond, below 10,000. */
  startTicks: number
  /** When it ends, rounded down to whole milliseconds. */
  endMs: number
  handle: number
  venue: number
  /** The number of the set of tags twice, and 1 where tickets can be had. */
  mark: number
}

/** Some entries of an index that follow one another in its order, a column for each number. */
export class IndexBlock {
  count = 0
  /** No entry's end is later; it may itself be too late. */
  latestEndMs = -Infinity
  starts: Float64Array = new Float64Array(0)
  ends: Float64Array = new Float64Array(0)
  handles: Uint32Array = new Uint32Array(0)
  venues: Uint32Array = new Uint32Array(0)
  marks: Uint32Array = new Uint32Array(0)
  ticks: Uint16Array = new Uint16Array(0)
  #columns: Columns = [this.starts, this.ends, this.handles, this.venues, this.marks, this.ticks]
  /** 1 for each venue, tag and pair of them that an entry has, and some that one had. */
  readonly #bits = new Uint32Array(BITS / 32)
  /** How many entries were replaced or removed since those were set. */
  #outdated = 0
  readonly #tags: TagSets

  constructor(tags: TagSets) {
    this.#tags = tags
  }

  get sizeBytes(): number {
    return this.starts.length * ENTRY_BYTES + BLOCK_BYTES
  }

  /** Whether any of these bits is set; where not, no entry has what they stand for. */
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
    this.handles[at] = entry.handle
    this.#write(at, entry)
  }

  /** Writes what does not decide where the entry stands. */
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

  /** Takes the later half of the entries out, into a block that follows. */
  split(): IndexBlock {
    const later = new IndexBlock(this.#tags)
    const half = this.count >>> 1
    later.append(this, half)
    this.count = half
    this.#resize(roundedUp(half))
    this.#summarize()
    return later
  }

  /** Takes over the entries of the block that follows, from the one at `from` on. */
  append(next: IndexBlock, from = 0): void {
    const at = this.count
    this.count += next.count - from
    this.#resize(roundedUp(this.count))
    copyColumns(next.#columns, this.#columns, from, next.count, at)
    this.#summarize()
  }

  #write(at: number, { endMs, venue, mark }: Entry): void {
    this.ends[at] = endMs
    this.venues[at] = venue
    this.marks[at] = mark
    if (endMs > this.latestEndMs) this.latestEndMs = endMs
    this.#note(venue, mark)
  }

  #note(venue: number, mark: number): void {
    const words = this.#tags.membersOf(mark >>> 1)
    this.#noteVenue(venue, words, false)
    if ((mark & 1) === 1) this.#noteVenue(venue, words, true)
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
    for (let at = 0; at < this.count; at++) this.#note(this.venues[at] ?? 0, this.marks[at] ?? 0)
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
    // One buffer for all: a small one of its own for each column would cost more than what lies in it.
    const buffer = new ArrayBuffer(capacity * ENTRY_BYTES)
    this.starts = new Float64Array(buffer, 0, capacity)
    this.ends = new Float64Array(buffer, capacity * 8, capacity)
    this.handles = new Uint32Array(buffer, capacity * 16, capacity)
    this.venues = new Uint32Array(buffer, capacity * 20, capacity)
    this.marks = new Uint32Array(buffer, capacity * 24, capacity)
    this.ticks = new Uint16Array(buffer, capacity * 28, capacity)
    this.#columns = [this.starts, this.ends, this.handles, this.venues, this.marks, this.ticks]
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
