import type { Guid } from '../domain/guid.ts'
import { GuidTable, hashWords, readGuidWords } from '../records/guid-table.ts'
import { EMPTY_WORDS, grown } from '../records/columns.ts'

/** Numbers for the venues that events name, each while an event names it. */
export class VenueNumbers {
  readonly #table = new GuidTable()
  #uses: Uint32Array = EMPTY_WORDS
  readonly #words = new Uint32Array(4)

  get sizeBytes(): number {
    return this.#table.sizeBytes + this.#uses.byteLength
  }

  /** One more than the highest number. */
  get count(): number {
    return this.#table.slots
  }

  /** -1 where no event names it. */
  find(id: Guid): number {
    readGuidWords(id, this.#words)
    return this.#table.find(this.#words, hashWords(this.#words, 0))
  }

  /** The number of a venue, held once more until `release`. */
  hold(id: Guid): number {
    let number = this.find(id)
    if (number === -1) {
      number = this.#table.insert(this.#words, hashWords(this.#words, 0))
      if (number >= this.#uses.length) this.#uses = grown(this.#uses, new Uint32Array(this.#table.capacity))
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
