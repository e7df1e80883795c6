import type { ListName } from '../domain/field.ts'
import type { Guid } from '../domain/guid.ts'
import { type RowRecord, type RecordLists, rowRecordOf } from './row-records.ts'
import { type WriteListener, slotOf } from './record-list.ts'
import { EMPTY_WORDS, grown } from '../domain/columns.ts'
import { SERVED } from './shard.ts'

/** Which rows to take: served ones and version changes, withheld and removed ones, or all. */
type RowFilter = 'shown' | 'gone' | 'all'

/** The bitmaps have words of 2⁵ bits. */
const WORD_BITS = 5

/**
 * The rows of a list that were written or removed since they were last taken. A set, not a queue: a row that changed
 * ten times is taken once, and the bitmaps of a million rows take a quarter of a megabyte.
 */
export class DirtyRows implements WriteListener {
  readonly #list: RecordLists[ListName]
  previous: WriteListener | null
  /** Bitmaps by row: rows that were written, and rows of which only the version changed. No row is in both. */
  #written: Uint32Array = EMPTY_WORDS
  #versions: Uint32Array = EMPTY_WORDS
  #marked = 0
  readonly #removed = new Set<Guid>()
  /** Called when the set stops being empty. */
  onDirty: (() => void) | null = null

  /** Subscribes to the writes of the list. */
  constructor(list: RecordLists[ListName]) {
    this.#list = list
    this.previous = list.dirtyRows
    list.dirtyRows = this
  }

  /** Unsubscribes from the list. */
  end(): void {
    if (this.#list.dirtyRows === this) this.#list.dirtyRows = this.previous
    for (let one = this.#list.dirtyRows; one !== null; one = one.previous)
      if (one.previous === this) one.previous = this.previous
  }

  /** The number of row records that `take` would yield, at most. */
  get size(): number {
    return this.#marked + this.#removed.size
  }

  note(row: number): void {
    this.previous?.note(row)
    this.#add(row)
    this.#notify()
  }

  noteVersion(row: number): void {
    this.previous?.noteVersion(row)
    const word = this.#wordOf(row)
    const bit = 1 << row
    if ((((this.#written[word] ?? 0) | (this.#versions[word] ?? 0)) & bit) !== 0) return
    this.#marked++
    this.#versions[word] = (this.#versions[word] ?? 0) | bit
    this.#notify()
  }

  noteRemoval(row: number, id: Guid): void {
    this.previous?.noteRemoval(row, id)
    const word = this.#wordOf(row)
    this.#discard(word, 1 << row)
    this.#removed.add(id)
    this.#notify()
  }

  #notify(): void {
    if (this.size === 1) this.onDirty?.()
  }

  /** Returns a row to the set, because what was taken of it did not arrive. */
  putBack(id: Guid): void {
    const row = this.#list.find(id)
    if (row === -1) this.#removed.add(id)
    else this.#add(row)
  }

  clear(): void {
    this.#written.fill(0)
    this.#versions.fill(0)
    this.#marked = 0
    this.#removed.clear()
  }

  /** Yields at most `max` row records with the rows' present contents, and removes them from the set. */
  *take(max: number, which: RowFilter = 'all'): Generator<RowRecord, void> {
    let left = max
    for (let word = 0; word < this.#written.length && left > 0; word++) {
      let bits = (this.#written[word] ?? 0) | (this.#versions[word] ?? 0)
      while (bits !== 0 && left > 0) {
        const bit = bits & -bits
        bits ^= bit
        const row = (word << WORD_BITS) | (31 - Math.clz32(bit))
        const isWritten = ((this.#written[word] ?? 0) & bit) !== 0
        if (which !== 'all' && this.#isShown(row, isWritten) !== (which === 'shown')) continue
        if (!this.#discard(word, bit)) continue
        left--
        yield rowRecordOf(this.#list, row, !isWritten)
      }
    }
    if (which === 'shown') return
    for (const id of this.#removed) {
      if (left === 0) return
      this.#removed.delete(id)
      // If the id is held again, its row is in the bitmaps or was taken already.
      if (this.#list.find(id) !== -1) continue
      left--
      yield { list: this.#list.kind.name, says: 'removed', id, version: Number.NaN, text: '' }
    }
  }

  #isShown(row: number, isWritten: boolean): boolean {
    return !isWritten || this.#list.shardAt(row).state[slotOf(row)] === SERVED
  }

  #add(row: number): void {
    const word = this.#wordOf(row)
    const bit = 1 << row
    if (((this.#written[word] ?? 0) & bit) !== 0) return
    this.#discard(word, bit)
    this.#marked++
    this.#written[word] = (this.#written[word] ?? 0) | bit
  }

  /** Removes a row from the bitmaps. Returns true if it was there. */
  #discard(word: number, bit: number): boolean {
    const written = this.#written[word] ?? 0
    const versions = this.#versions[word] ?? 0
    if (((written | versions) & bit) === 0) return false
    this.#marked--
    this.#written[word] = written & ~bit
    this.#versions[word] = versions & ~bit
    return true
  }

  /** Returns the word of a row in the bitmaps, which grow if necessary. */
  #wordOf(row: number): number {
    const word = row >>> WORD_BITS
    if (word < this.#written.length) return word
    const length = Math.max(word + 1, this.#written.length * 2, 64)
    this.#written = grown(this.#written, new Uint32Array(length))
    this.#versions = grown(this.#versions, new Uint32Array(length))
    return word
  }
}
