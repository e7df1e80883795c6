// The order of the lists. In: each write of a list's records. Out: the rows of a query, by start, venue and tag.

import { type Guid, GuidTable, hashWords, readGuidWords } from '../domain/guid.ts'
import type { Tick } from '../domain/date-time.ts'
import { type Entry, BLOCK_ENTRIES, IndexBlock } from './index-block.ts'
import { type RecordList, type RowOrder, rowOf, slotOf } from '../records/record-list.ts'
import { TagSets } from './tag-sets.ts'

/** The number of bits of a slot within its shard. */
const SLOT_BITS = 24
/** The longest slice of building an index, and the number of rows between two looks at the clock. */
const TURN_MS = 5
const ROWS_A_LOOK = 32
/** Two neighbouring blocks are merged if together they have no more entries. */
const MERGED_ENTRIES = BLOCK_ENTRIES / 2

type PackedReader = RecordList<unknown>['kind']['packed']
type SortKey = ReturnType<PackedReader['sortKeyOf']>

interface Indexable extends Pick<RecordList<unknown>, 'shards' | 'shardAt' | 'idOf' | 'read' | 'order'> {
  readonly kind: { readonly packed: PackedReader }
}

/** Returns the index of a list; `null` if it has none. */
export function indexOf({ order }: Pick<RecordList<unknown>, 'order'>): ListIndex | null {
  return order instanceof ListIndex ? order : null
}

/** Creates an index for a list. Resolves when all rows are in it. */
export async function keepIndex(list: Indexable, pause: () => Promise<void>): Promise<void> {
  const index = new ListIndex(list)
  list.order = index
  await index.build(pause, () => list.order !== index)
}

/** The position of a row in the order of its list. */
export interface ListPosition {
  readonly start: Tick
  readonly id: Guid
}

/**
 * The served rows of a list in their order, Start, then Id (contract §4.1). The properties that queries filter by are
 * columns of numbers, so a query reads only the rows it returns. Each write of the list updates the index at once.
 */
export class ListIndex implements RowOrder {
  readonly blocks: IndexBlock[] = []
  readonly tags: TagSets
  readonly venues: VenueNumbers = new VenueNumbers()
  /** Whether all rows are in the index. */
  isWhole = false
  /** While the index is being built, the rows whose turn is before this one are in it. */
  #reached = 0
  readonly #list: Indexable
  readonly #packed: PackedReader
  readonly #words = new Uint32Array(4)
  readonly #entry: Entry = { startMs: 0, startTicks: 0, endMs: 0, row: 0, venue: 0, tagCode: 0 }

  constructor(list: Indexable) {
    const { packed } = list.kind
    this.#list = list
    this.#packed = packed
    this.tags = new TagSets(packed.tagsOf)
  }

  get sizeBytes(): number {
    let bytes = this.tags.sizeBytes + this.venues.sizeBytes
    for (const block of this.blocks) bytes += block.sizeBytes
    return bytes
  }

  /** Adds the existing rows, in slices of a few milliseconds. Stops early if the index is no longer wanted. */
  async build(pause: () => Promise<void>, isUnwanted: () => boolean): Promise<void> {
    let turnEndsAt = performance.now() + TURN_MS
    const { shards } = this.#list
    for (const shard of shards) {
      for (let slot = 0; slot < shard.slots; slot++) {
        if (slot % ROWS_A_LOOK === 0 && performance.now() > turnEndsAt) {
          await pause()
          if (isUnwanted()) return
          turnEndsAt = performance.now() + TURN_MS
        }
        const row = rowOf(shard.number, slot)
        this.#reached = this.#turnOf(row) + 1
        if (shard.isServed(slot)) this.follow(row, null, shard.read(slot))
      }
      this.#reached = this.#turnOf(rowOf(shard.number, 0)) + 2 ** SLOT_BITS
    }
    this.isWhole = true
  }

  /** A served row was written. `before` is its previous packed record; `null` if it was not served. */
  follow(row: number, before: string | null, packed: string): void {
    if (!this.#isReached(row)) return
    const entry = this.#entry
    const place = this.#packed.sortKeyOf(packed)
    entry.startMs = place.start.ms
    entry.startTicks = place.start.ticks
    entry.endMs = place.end.ms
    entry.row = row
    entry.venue = this.venues.hold(place.venue)
    entry.tagCode = this.tags.hold(place.tags) * 2 + (place.isAvailable ? 1 : 0)
    if (before !== null) {
      const start = this.#packed.startOf(before)
      const [block, at] = this.#find(row, start)
      this.#release(block, at)
      if (start.ms === entry.startMs && start.ticks === entry.startTicks) return block.replace(at, entry)
      this.#remove(block, at)
    }
    this.#insert(row, place)
  }

  /** A row is no longer served. */
  forget(row: number, before: string): void {
    if (!this.#isReached(row)) return
    const [block, at] = this.#find(row, this.#packed.startOf(before))
    this.#release(block, at)
    this.#remove(block, at)
  }

  /** Returns the block, and the offset in it, of the first entry at or after a position. */
  seek(start: Tick, words: Uint32Array): readonly [index: number, at: number] {
    const { blocks } = this
    const index = firstNot(blocks.length, (middle) => {
      const block = blocks[middle]
      return block !== undefined && this.#compare(block, block.count - 1, start, words) < 0
    })
    const block = blocks[index]
    if (block === undefined) return [index, 0]
    return [index, firstNot(block.count, (at) => this.#compare(block, at, start, words) < 0)]
  }

  /** Returns true if the entry is exactly at this position. */
  isAt(index: number, at: number, start: Tick, words: Uint32Array): boolean {
    const block = this.blocks[index]
    return block !== undefined && at < block.count && this.#compare(block, at, start, words) === 0
  }

  /** Returns the number of rows that end at or after `nowMs`, epoch ms. */
  countFrom(nowMs: number): number {
    let count = 0
    for (const { ends, count: entries } of this.blocks) {
      for (let at = 0; at < entries; at++) if ((ends[at] ?? 0) >= nowMs) count++
    }
    return count
  }

  endOf(row: number): Tick {
    return this.#packed.sortKeyOf(this.#list.read(row)).end
  }

  positionOf(row: number): ListPosition {
    return { start: this.#packed.startOf(this.#list.read(row)), id: this.#list.idOf(row) }
  }

  /** Returns how many entries of a block start before a moment. */
  startingBefore(block: IndexBlock, { ms, ticks }: Tick): number {
    const { count, starts } = block
    if ((starts[count - 1] ?? 0) < ms) return count
    return firstNot(count, (at) => {
      const startMs = starts[at] ?? 0
      return startMs < ms || (startMs === ms && (block.ticks[at] ?? 0) < ticks)
    })
  }

  #isReached(row: number): boolean {
    return this.isWhole || this.#turnOf(row) < this.#reached
  }

  /** Returns a row's turn: rows are added shard by shard, in the order in which they lie in memory. */
  #turnOf(row: number): number {
    return this.#list.shardAt(row).number * 2 ** SLOT_BITS + slotOf(row)
  }

  #find(row: number, start: Tick): readonly [IndexBlock, number] {
    this.#list.shardAt(row).ids.readWords(slotOf(row), this.#words)
    const [index, at] = this.seek(start, this.#words)
    const block = this.blocks[index]
    if (block === undefined || block.rows[at] !== row) throw new Error('a served row is not listed')
    return [block, at]
  }

  #insert(row: number, { start }: SortKey): void {
    this.#list.shardAt(row).ids.readWords(slotOf(row), this.#words)
    const [index, at] = this.seek(start, this.#words)
    const block = this.blocks[index]
    if (block !== undefined) {
      block.insert(at, this.#entry)
      if (block.count === BLOCK_ENTRIES) this.blocks.splice(index + 1, 0, block.split())
      return
    }
    // After all other entries: a list that arrives in order fills its blocks completely.
    let last = this.blocks.at(-1)
    if (last === undefined || last.count >= BLOCK_ENTRIES - 1) this.blocks.push((last = new IndexBlock(this.tags)))
    last.insert(last.count, this.#entry)
  }

  #remove(block: IndexBlock, at: number): void {
    block.remove(at)
    if (block.count >= MERGED_ENTRIES / 2) return
    const index = this.blocks.indexOf(block)
    const before = this.blocks[index - 1]
    const after = this.blocks[index + 1]
    if (block.count === 0) this.blocks.splice(index, 1)
    else if (after !== undefined && block.count + after.count <= MERGED_ENTRIES) {
      block.append(after)
      this.blocks.splice(index + 1, 1)
    } else if (before !== undefined && before.count + block.count <= MERGED_ENTRIES) {
      before.append(block)
      this.blocks.splice(index, 1)
    }
  }

  #release(block: IndexBlock, at: number): void {
    this.venues.release(block.venues[at] ?? 0)
    this.tags.release((block.tagCodes[at] ?? 0) >>> 1)
  }

  #compare(block: IndexBlock, at: number, { ms, ticks }: Tick, words: Uint32Array): number {
    const startMs = block.starts[at] ?? 0
    if (startMs !== ms) return startMs < ms ? -1 : 1
    const startTicks = block.ticks[at] ?? 0
    if (startTicks !== ticks) return startTicks < ticks ? -1 : 1
    const row = block.rows[at] ?? 0
    return this.#list.shardAt(row).ids.compare(slotOf(row), words)
  }
}

/** Returns the first number below `count` that is not before something, by halving; `count` if there is none. */
function firstNot(count: number, isBefore: (number: number) => boolean): number {
  let low = 0
  let high = count
  while (low < high) {
    const middle = (low + high) >>> 1
    if (isBefore(middle)) low = middle + 1
    else high = middle
  }
  return low
}

/** Numbers for the venues that events refer to, each while an event refers to it. */
class VenueNumbers {
  readonly #table = new GuidTable()
  #uses = new Uint32Array(0)
  readonly #words = new Uint32Array(4)

  get sizeBytes(): number {
    return this.#table.sizeBytes + this.#uses.byteLength
  }

  /** One more than the highest number. */
  get count(): number {
    return this.#table.slots
  }

  /** Returns the number of a venue; -1 if no event refers to it. */
  find(id: Guid): number {
    readGuidWords(id, this.#words)
    return this.#table.find(this.#words, hashWords(this.#words, 0))
  }

  /** Returns the number of a venue, and keeps it in use until `release`. */
  hold(id: Guid): number {
    let number = this.find(id)
    if (number === -1) {
      number = this.#table.insert(this.#words, hashWords(this.#words, 0))
      if (number >= this.#uses.length) {
        const uses = new Uint32Array(this.#table.capacity)
        uses.set(this.#uses)
        this.#uses = uses
      }
      this.#uses[number] = 0
    }
    this.#uses[number] = (this.#uses[number] ?? 0) + 1
    return number
  }

  release(number: number): void {
    const left = (this.#uses[number] ?? 0) - 1
    this.#uses[number] = left
    if (left === 0) this.#table.remove(number)
  }
}
