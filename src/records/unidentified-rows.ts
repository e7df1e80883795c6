import type { FaultCounts } from '../domain/fault-counts.ts'
import type { Guid } from '../domain/guid.ts'
import { type Withheld, type WithheldRow, FAULTS } from '../domain/withheld.ts'
import { WithheldDetails } from './withheld-details.ts'

/** Withheld rows without an id of their own: they have no id, or another row's. */
export class UnidentifiedRows implements Iterable<WithheldRow> {
  length = 0
  readonly #details = new WithheldDetails()
  readonly #rows: WithheldRow[] = []

  /** Returns rows of which only the number per fault is known: another process held them. */
  static counted(counts: readonly number[]): UnidentifiedRows {
    const rows = new UnidentifiedRows()
    rows.faults.addAll(
      counts.flatMap((count, index) => {
        const fault = FAULTS[index]
        return fault === undefined || count === 0 ? [] : [{ fault, column: null, count, first: count }]
      }),
    )
    rows.length = counts.reduce((sum, count) => sum + count, 0)
    return rows
  }

  get faults(): FaultCounts {
    return this.#details.faults
  }

  get sizeBytes(): number {
    return this.#details.sizeBytes
  }

  /** The number of rows by first fault, in the order of `FAULTS`. */
  get counts(): readonly number[] {
    const counts = FAULTS.map(() => 0)
    for (const { fault, first } of this.faults)
      counts[FAULTS.indexOf(fault)] = (counts[FAULTS.indexOf(fault)] ?? 0) + first
    return counts
  }

  add(id: Guid | null, withheld: Withheld): void {
    this.length++
    if (this.#details.keep(withheld) === withheld) this.#rows.push({ id, withheld })
  }

  [Symbol.iterator](): Iterator<WithheldRow> {
    return this.#rows.values()
  }
}
