import type { RowFault, WithheldFault } from '../domain/withheld.ts'
import { FAULTS } from './packed-withheld.ts'
import type { PackedRows } from './packed-withheld.ts'

/** How many rows are newly withheld, by what is wrong with them. */
export class WithheldTally {
  readonly #counts = new Map<string, { readonly column: string | null; readonly fault: WithheldFault; count: number }>()

  add({ column, fault }: Pick<RowFault, 'column' | 'fault'>, more = 1): void {
    const key = `${fault} ${column}`
    const known = this.#counts.get(key)
    if (known !== undefined) known.count += more
    else this.#counts.set(key, { column, fault, count: more })
  }

  /** Rows without a place of their own have no before: what counts is how many more there are. */
  addExtras(before: PackedRows, now: PackedRows): void {
    for (const [number, fault] of FAULTS.entries()) {
      const more = (now.counts[number] ?? 0) - (before.counts[number] ?? 0)
      if (more > 0) this.add({ column: null, fault }, more)
    }
  }

  /** What was counted, the most first; counting begins at nothing again. */
  take(): readonly { readonly column: string | null; readonly fault: WithheldFault; readonly count: number }[] {
    const counts = [...this.#counts.values()].toSorted((left, right) => right.count - left.count)
    this.#counts.clear()
    return counts
  }
}
