import { FaultCounts, faultKey } from '../domain/fault-counts.ts'
import type { Withheld } from '../domain/withheld.ts'

/** The most withheld rows of one kind whose details are kept. Of further rows, only the fault and the column are kept. */
const MOST_DETAILED = 100_000
/** An estimate of the memory of the details of a withheld row, bytes. */
const DETAILS_BYTES = 400

/** The details of withheld rows: all of the first ones; of the rest one object for each fault and column. */
export class WithheldDetails {
  readonly faults: FaultCounts = new FaultCounts()
  #detailed = 0
  readonly #shared = new Map<string, Withheld>()

  get sizeBytes(): number {
    return this.#detailed * DETAILS_BYTES
  }

  /** Counts a withheld row, and returns what is kept of it. */
  keep(withheld: Withheld): Withheld {
    const kept = this.#detailed < MOST_DETAILED ? withheld : this.#sharedOf(withheld)
    if (kept === withheld) this.#detailed++
    this.faults.add(kept, 1)
    return kept
  }

  drop(kept: Withheld): void {
    this.faults.add(kept, -1)
    if (!this.#isShared(kept)) this.#detailed--
  }

  /** Returns true if `kept` stands for these details. */
  isSame(kept: Withheld, withheld: Withheld): boolean {
    const { fault, column } = withheld
    if (kept.fault !== fault || kept.column !== column) return false
    return this.#isShared(kept) || JSON.stringify(kept) === JSON.stringify(withheld)
  }

  #isShared(kept: Withheld): boolean {
    return this.#shared.get(faultKey(kept.fault, kept.column)) === kept
  }

  #sharedOf({ fault, column }: Withheld): Withheld {
    const key = faultKey(fault, column)
    const shared = this.#shared.get(key) ?? { fault, column, expected: null, found: null, where: 'one of many rows' }
    this.#shared.set(key, shared)
    return shared
  }
}
