import type { RowFault, Withheld } from './withheld.ts'

/** How many withheld rows have one fault in one column. */
export interface FaultCount extends Pick<RowFault, 'column' | 'fault'> {
  /** `count`: all rows with this fault. `first`: those where it is the first fault. */
  readonly count: number
  readonly first: number
}

/** A number of withheld rows with one fault in one column. */
export type WithheldCount = Omit<FaultCount, 'first'>

/** Counts withheld rows by fault and column. A count that falls to 0 stays: a metric must not vanish. */
export class FaultCounts implements Iterable<FaultCount> {
  readonly #counts = new Map<string, { -readonly [Key in keyof FaultCount]: FaultCount[Key] }>()

  /** Adds or removes one row. */
  add({ fault, column, also = [] }: Withheld, row: 1 | -1): void {
    this.#add(fault, column, row, row)
    for (const other of also) this.#add(other.fault, other.column, row, 0)
  }

  addAll(counts: Iterable<FaultCount>): void {
    for (const { fault, column, count, first } of counts) this.#add(fault, column, count, first)
  }

  /**
   * Adds the first faults that `now` has in excess of `before`. Used for rows without an id of their own, which cannot
   * be compared one by one.
   */
  addMore(before: FaultCounts, now: FaultCounts): void {
    for (const { fault, column, first } of now) {
      const more = first - (before.#counts.get(faultKey(fault, column))?.first ?? 0)
      if (more > 0) this.#add(fault, column, more, more)
    }
  }

  /** Returns the counts of first faults, highest first, and starts again from zero. */
  take(): readonly WithheldCount[] {
    const counts = this.ranked()
    this.#counts.clear()
    return counts
  }

  /** Returns the counts of first faults, highest first. */
  ranked(): readonly WithheldCount[] {
    const counts = [...this].flatMap(({ fault, column, first }) => (first > 0 ? [{ column, fault, count: first }] : []))
    return counts.toSorted((left, right) => right.count - left.count)
  }

  [Symbol.iterator](): Iterator<FaultCount> {
    return this.#counts.values()
  }

  #add(fault: RowFault['fault'], column: string | null, count: number, first: number): void {
    const key = faultKey(fault, column)
    const known = this.#counts.get(key)
    if (known === undefined) this.#counts.set(key, { fault, column, count, first })
    else {
      known.count += count
      known.first += first
    }
  }
}

/** Distinguishes a column named "null" from no column. */
export function faultKey(fault: RowFault['fault'], column: string | null): string {
  return column === null ? fault : `${fault} ${column}`
}
