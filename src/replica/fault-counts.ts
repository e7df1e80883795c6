import type { RowFault, Withheld } from '../domain/withheld.ts'

/** What is wrong in one column, and in how many rows. */
export interface FaultCount extends Pick<RowFault, 'column' | 'fault'> {
  /** All rows that have this fault, and those of which it is the first. */
  readonly count: number
  readonly first: number
}

/** How many rows are withheld, by what is wrong with them. What no row has any longer stays, with 0: a metric must not vanish. */
export class FaultCounts implements Iterable<FaultCount> {
  readonly #counts = new Map<string, { -readonly [Key in keyof FaultCount]: FaultCount[Key] }>()

  /** Counts one row more, or one less. */
  add({ fault, column, also = [] }: Withheld, row: 1 | -1): void {
    this.#add(fault, column, row, row)
    for (const other of also) this.#add(other.fault, other.column, row, 0)
  }

  addAll(counts: Iterable<FaultCount>): void {
    for (const { fault, column, count, first } of counts) this.#add(fault, column, count, first)
  }

  /** How many rows have this fault first of all. */
  firstOf(fault: RowFault['fault'], column: string | null): number {
    return this.#counts.get(`${fault} ${column}`)?.first ?? 0
  }

  [Symbol.iterator](): Iterator<FaultCount> {
    return this.#counts.values()
  }

  #add(fault: RowFault['fault'], column: string | null, count: number, first: number): void {
    const key = `${fault} ${column}`
    const known = this.#counts.get(key)
    if (known === undefined) this.#counts.set(key, { fault, column, count, first })
    else {
      known.count += count
      known.first += first
    }
  }
}
