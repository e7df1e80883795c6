import type { ListName } from '../domain/field.ts'
import type { Guid } from '../domain/guid.ts'
import { type RowRecord, type RecordLists, rowRecordOf } from './row-records.ts'
import { type WriteListener, slotOf } from './record-list.ts'
import { EMPTY_WORDS, grown } from './columns.ts'
import { SERVED } from './shard.ts'

/** Which rows to take: those that are served, and new versions; those that are not served, or gone; both. */
type OwedRows = 'shown' | 'gone' | 'all'

/** Rows are marked in words of so many bits. */
const WORD_BITS = 5

/**
 * The rows of a list that were written or removed since they were last taken: a set, not a queue, so what changed ten times is
 * told once, and a million rows cost a quarter of a megabyte.
 */
export class DirtyRows implements WriteListener {
  readonly #list: RecordLists[ListName]
  before: WriteListener | null
  /** A bit a row that was written, and one a row of which only the version was: never both. */
  #written: Uint32Array = EMPTY_WORDS
  #versions: Uint32Array = EMPTY_WORDS
  #marks = 0
  readonly #removed = new Set<Guid>()
  /** Called when something is owed where nothing was. */
  onOwed: (() => void) | null = null

  /** The list tells it from now on. */
  constructor(list: RecordLists[ListName]) {
    this.#list = list
    this.before = list.dirtyRows
    list.dirtyRows = this
  }

  /** The list tells it no longer. */
  end(): void {
    if (this.#list.dirtyRows === this) this.#list.dirtyRows = this.before
    for (let one = this.#list.dirtyRows; one !== null; one = one.before)
      if (one.before === this) one.before = this.before
  }

  /** At most so many frames are owed. */
  get owed(): number {
    return this.#marks + this.#removed.size
  }

  note(row: number): void {
    this.before?.note(row)
    this.#mark(row)
    this.#tell()
  }

  noteVersion(row: number): void {
    this.before?.noteVersion(row)
    const word = this.#wordOf(row)
    const bit = 1 << row
    if ((((this.#written[word] ?? 0) | (this.#versions[word] ?? 0)) & bit) !== 0) return
    this.#marks++
    this.#versions[word] = (this.#versions[word] ?? 0) | bit
    this.#tell()
  }

  /** Its id is kept. */
  noteRemoval(row: number, id: Guid): void {
    this.before?.noteRemoval(row, id)
    const word = this.#wordOf(row)
    this.#unmark(word, 1 << row)
    this.#removed.add(id)
    this.#tell()
  }

  #tell(): void {
    if (this.owed === 1) this.onOwed?.()
  }

  /** What was taken of this id did not arrive: it is owed again. */
  owe(id: Guid): void {
    const row = this.#list.find(id)
    if (row === -1) this.#removed.add(id)
    else this.#mark(row)
  }

  clear(): void {
    this.#written.fill(0)
    this.#versions.fill(0)
    this.#marks = 0
    this.#removed.clear()
  }

  /** At most `max` of what is owed, as it is now: it is no longer owed. */
  *take(max: number, which: OwedRows = 'all'): Generator<RowRecord, void> {
    let left = max
    for (let word = 0; word < this.#written.length && left > 0; word++) {
      let bits = (this.#written[word] ?? 0) | (this.#versions[word] ?? 0)
      while (bits !== 0 && left > 0) {
        const bit = bits & -bits
        bits ^= bit
        const row = (word << WORD_BITS) | (31 - Math.clz32(bit))
        const isWritten = ((this.#written[word] ?? 0) & bit) !== 0
        if (which !== 'all' && this.#isShown(row, isWritten) !== (which === 'shown')) continue
        if (!this.#unmark(word, bit)) continue
        left--
        yield rowRecordOf(this.#list, row, !isWritten)
      }
    }
    if (which === 'shown') return
    for (const id of this.#removed) {
      if (left === 0) return
      this.#removed.delete(id)
      // Where the id came back, its row is owed, or was taken already.
      if (this.#list.find(id) !== -1) continue
      left--
      yield { list: this.#list.kind.name, says: 'removed', id, version: Number.NaN, text: '' }
    }
  }

  #isShown(row: number, isWritten: boolean): boolean {
    return !isWritten || this.#list.shardAt(row).state[slotOf(row)] === SERVED
  }

  #mark(row: number): void {
    const word = this.#wordOf(row)
    const bit = 1 << row
    if (((this.#written[word] ?? 0) & bit) !== 0) return
    this.#unmark(word, bit)
    this.#marks++
    this.#written[word] = (this.#written[word] ?? 0) | bit
  }

  /** Whether it was marked. */
  #unmark(word: number, bit: number): boolean {
    const written = this.#written[word] ?? 0
    const versions = this.#versions[word] ?? 0
    if (((written | versions) & bit) === 0) return false
    this.#marks--
    this.#written[word] = written & ~bit
    this.#versions[word] = versions & ~bit
    return true
  }

  /** The word of a row's marks, which there is then. */
  #wordOf(row: number): number {
    const word = row >>> WORD_BITS
    if (word < this.#written.length) return word
    const length = Math.max(word + 1, this.#written.length * 2, 64)
    this.#written = grown(this.#written, new Uint32Array(length))
    this.#versions = grown(this.#versions, new Uint32Array(length))
    return word
  }
}
