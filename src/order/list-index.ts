// The order of the lists. In: each write of a list's records. Out: the rows of a query, by start, venue and tag.

import type { Guid } from '../domain/guid.ts'
import type { Tick } from '../domain/date-time.ts'
import { BLOCK_ROWS, IndexBlock, tieOf } from './index-block.ts'
import type { RecordList, RowOrder } from '../records/record-list.ts'
import type { HeldRow } from '../records/held-row.ts'

/** The longest slice of building an index, and the number of rows between two looks at the clock. */
const TURN_MS = 5
const ROWS_A_LOOK = 32
/** Two neighbouring blocks are merged if together they have no more rows. */
const MERGED_ROWS = BLOCK_ROWS / 2

/** Returns the index of a list; `null` if it has none. A list knows its order only as one to report writes to. */
export function orderIndexOf({ order }: Pick<RecordList<unknown>, 'order'>): ListIndex | null {
  return order instanceof ListIndex ? order : null
}

/** Creates an index for a list. Resolves when all rows are in it. */
export async function keepIndex(list: Indexable, pause: () => Promise<void>): Promise<void> {
  dropIndex(list)
  const index = new ListIndex(list)
  list.order = index
  await index.build(pause, () => list.order !== index)
}

export function dropIndex(list: Pick<RecordList<unknown>, 'order'>): void {
  list.order = null
}

/** The position of a row in the order of its list. */
export interface ListPosition {
  readonly start: Tick
  readonly id: Guid
}

type Indexable = Pick<RecordList<unknown>, 'shards' | 'order'>

/**
 * The served rows of a list in their order, Start, then Id (contract §4.1), in blocks. Each block knows the venues and
 * the tags of its rows, and a query skips those where it can find nothing. Each write of the list updates the index at
 * once.
 */
export class ListIndex implements RowOrder {
  readonly blocks: IndexBlock[] = []
  /** Whether all rows are in the index. */
  isWhole = false
  readonly #list: Indexable

  constructor(list: Indexable) {
    this.#list = list
  }

  get sizeBytes(): number {
    return this.blocks.reduce((bytes, block) => bytes + block.sizeBytes, 0)
  }

  /** Adds the existing rows, in slices of a few milliseconds. Stops early if the index is no longer wanted. */
  async build(pause: () => Promise<void>, isUnwanted: () => boolean): Promise<void> {
    let turnEndsAt = performance.now() + TURN_MS
    let looked = 0
    for (const shard of this.#list.shards) {
      for (const row of shard.values()) {
        if (++looked % ROWS_A_LOOK === 0 && performance.now() > turnEndsAt) {
          await pause()
          if (isUnwanted()) return
          turnEndsAt = performance.now() + TURN_MS
        }
        if (row.key !== null) this.insert(row)
      }
    }
    this.isWhole = true
  }

  /** Does nothing if the row was written during `build`, and is in its place already. */
  insert(row: HeldRow): void {
    const [index, at] = this.#placeOf(row)
    const block = this.blocks[index]
    if (block === undefined) this.#append(row)
    else if (block.rows[at] !== row) {
      block.insert(at, row)
      if (block.rows.length === BLOCK_ROWS) this.blocks.splice(index, 1, ...block.halves())
    }
  }

  remove(row: HeldRow): void {
    const [index, at] = this.#placeOf(row)
    const block = this.blocks[index]
    if (block?.rows[at] === row) {
      block.remove(at)
      this.#mergeAt(index, block)
    } else if (this.isWhole) throw new Error('a served row is not listed')
  }

  /** Returns the block, and the offset in it, of the first row at or after a position. */
  seek(start: Tick, id: Guid): readonly [index: number, at: number] {
    const { blocks } = this
    const { ms } = start
    const tie = tieOf(start, id)
    const index = firstNot(blocks.length, (middle) => {
      const block = blocks[middle]
      return block !== undefined && block.isBefore(block.rows.length - 1, ms, tie, id)
    })
    const block = blocks[index]
    return [index, block === undefined ? 0 : firstNot(block.rows.length, (at) => block.isBefore(at, ms, tie, id))]
  }

  /** Returns the number of rows that end at or after `nowMs`, epoch ms. */
  countFrom(nowMs: number): number {
    let count = 0
    for (const { keys, earliestEndMs, latestEndMs } of this.blocks) {
      if (earliestEndMs >= nowMs) count += keys.length
      else if (latestEndMs >= nowMs) for (const { end } of keys) if (end.ms >= nowMs) count++
    }
    return count
  }

  #placeOf({ key, id }: HeldRow): readonly [index: number, at: number] {
    if (key === null) throw new Error('a row without a key has no place')
    return this.seek(key.start, id)
  }

  /** Adds a row after all others. A list that arrives in order fills its blocks completely. */
  #append(row: HeldRow): void {
    const last = this.blocks.at(-1)
    if (last !== undefined && last.rows.length < BLOCK_ROWS - 1) last.insert(last.rows.length, row)
    else this.blocks.push(new IndexBlock([row]))
  }

  #mergeAt(index: number, block: IndexBlock): void {
    const { length } = block.rows
    if (length >= MERGED_ROWS / 2) return
    if (length === 0) {
      this.blocks.splice(index, 1)
      return
    }
    const left = (this.blocks[index - 1]?.rows.length ?? BLOCK_ROWS) + length <= MERGED_ROWS ? index - 1 : index
    const [into, from] = [this.blocks[left], this.blocks[left + 1]]
    if (into === undefined || from === undefined || into.rows.length + from.rows.length > MERGED_ROWS) return
    this.blocks.splice(left, 2, new IndexBlock([...into.rows, ...from.rows]))
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
