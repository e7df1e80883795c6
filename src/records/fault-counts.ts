import type { RowFault, Withheld } from '../domain/withheld.ts'
import type { WithheldCount } from '../observe/observation.ts'

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

  /** Counts what `now` has more of each fault than `before`: rows without a place of their own have no before themselves. */
  addMore(before: FaultCounts, now: FaultCounts): void {
    for (const { fault, column, first } of now) {
      const more = first - (before.#counts.get(faultKey(fault, column))?.first ?? 0)
      if (more > 0) this.#add(fault, column, more, more)
    }
  }

  /** How many rows have each fault first of all, the most first; counting begins at nothing again. */
  take(): readonly WithheldCount[] {
    const counts = this.ranked()
    this.#counts.clear()
    return counts
  }

  /** The same, and counting goes on. */
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

/** A column may be called null. */
export function faultKey(fault: RowFault['fault'], column: string | null): string {
  return column === null ? fault : `${fault} ${column}`
}
