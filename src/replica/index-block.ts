/** So many entries a block holds at most: to move half of them aside for another takes under a microsecond. */
export const BLOCK_ENTRIES = 512
/** Columns grow and shrink by so many entries, so that little of them is empty. */
const STEP = 32
/** Start and end 8 each, handle, venue and mark 4 each, ticks 2. */
const ENTRY_BYTES = 30
/** What a block takes besides, roughly: its object, the buffer and the six views. */
const BLOCK_BYTES = 640

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

  get sizeBytes(): number {
    return this.starts.length * ENTRY_BYTES + BLOCK_BYTES
  }

  insert(at: number, entry: Entry): void {
    const { count } = this
    if (count === this.starts.length) this.#resize(count + STEP)
    this.#move(at + 1, at, count)
    this.count++
    this.starts[at] = entry.startMs
    this.ticks[at] = entry.startTicks
    this.handles[at] = entry.handle
    this.replace(at, entry)
  }

  /** Writes what does not decide where the entry stands. */
  replace(at: number, { endMs, venue, mark }: Entry): void {
    this.ends[at] = endMs
    this.venues[at] = venue
    this.marks[at] = mark
    if (endMs > this.latestEndMs) this.latestEndMs = endMs
  }

  remove(at: number): void {
    const endMs = this.ends[at]
    this.#move(at, at + 1, this.count)
    this.count--
    if (this.starts.length - this.count >= 2 * STEP) this.#resize(this.starts.length - STEP)
    if (endMs === this.latestEndMs) this.#findLatestEnd()
  }

  /** Takes the later half of the entries out, into a block that follows. */
  split(): IndexBlock {
    const later = new IndexBlock()
    const half = this.count >>> 1
    later.append(this, half)
    this.count = half
    this.#resize(roundedUp(half))
    this.#findLatestEnd()
    return later
  }

  /** Takes over the entries of the block that follows, from the one at `from` on. */
  append(next: IndexBlock, from = 0): void {
    const at = this.count
    this.count += next.count - from
    this.#resize(roundedUp(this.count))
    copyColumns(next.#columns(), this.#columns(), from, next.count, at)
    this.#findLatestEnd()
  }

  #findLatestEnd(): void {
    let latest = -Infinity
    for (let at = 0; at < this.count; at++) latest = Math.max(latest, this.ends[at] ?? 0)
    this.latestEndMs = latest
  }

  #move(to: number, from: number, until: number): void {
    if (from === until) return
    this.starts.copyWithin(to, from, until)
    this.ends.copyWithin(to, from, until)
    this.handles.copyWithin(to, from, until)
    this.venues.copyWithin(to, from, until)
    this.marks.copyWithin(to, from, until)
    this.ticks.copyWithin(to, from, until)
  }

  #resize(capacity: number): void {
    if (capacity === this.starts.length) return
    const before = this.#columns()
    // One buffer for all: a small one of its own for each column would cost more than what lies in it.
    const buffer = new ArrayBuffer(capacity * ENTRY_BYTES)
    this.starts = new Float64Array(buffer, 0, capacity)
    this.ends = new Float64Array(buffer, capacity * 8, capacity)
    this.handles = new Uint32Array(buffer, capacity * 16, capacity)
    this.venues = new Uint32Array(buffer, capacity * 20, capacity)
    this.marks = new Uint32Array(buffer, capacity * 24, capacity)
    this.ticks = new Uint16Array(buffer, capacity * 28, capacity)
    copyColumns(before, this.#columns(), 0, Math.min(capacity, before[0].length), 0)
  }

  #columns(): Columns {
    return [this.starts, this.ends, this.handles, this.venues, this.marks, this.ticks]
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
