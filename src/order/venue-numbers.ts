import type { Guid } from '../domain/guid.ts'
import { GuidTable, hashWords, readGuidWords } from '../domain/guid-table.ts'

/** Numbers for the venues that events refer to, each while an event refers to it. */
export class VenueNumbers {
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
