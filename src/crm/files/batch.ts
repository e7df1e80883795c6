import type { Change } from '../../replica/port.ts'

/** Rows of a file in their order, and where they stand. */
export interface Batch<Item> {
  /** How many rows of the file come before these. */
  readonly before: number
  readonly changes: readonly Change<Item>[]
  /** The line that each row begins in. */
  readonly lines: readonly number[]
}

/** Gathers rows until they are taken, a page at most at a time. */
export class Gathering<Item> {
  #before = 0
  #changes: Change<Item>[] = []
  #lines: number[] = []

  get size(): number {
    return this.#changes.length
  }

  /** How many rows of the file come before the next one. */
  get count(): number {
    return this.#before + this.#changes.length
  }

  add(change: Change<Item>, line: number): void {
    this.#changes.push(change)
    this.#lines.push(line)
  }

  /** All rows that were gathered, in batches of at most `limit`. */
  take(limit: number): readonly Batch<Item>[] {
    const batches: Batch<Item>[] = []
    for (let from = 0; from < this.#changes.length; from += limit) {
      const changes =
        from === 0 && this.#changes.length <= limit ? this.#changes : this.#changes.slice(from, from + limit)
      batches.push({ before: this.#before + from, changes, lines: this.#lines.slice(from, from + limit) })
    }
    this.#before += this.#changes.length
    this.#changes = []
    this.#lines = []
    return batches
  }
}
