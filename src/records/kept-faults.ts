import type { FaultCounts } from '../domain/fault-counts.ts'
import type { Withheld } from '../domain/withheld.ts'
import type { HeldRow } from './held-row.ts'
import { WithheldDetails } from './withheld-details.ts'

/** The fault of a row that is still served, with the read that found it. */
interface KeptFault {
  readonly withheld: Withheld
  /** The version of the unreadable row. */
  readonly version: number
  /** When the row was read, in the time of `HeldRow.detailsAt`. A page requested earlier must not overwrite it. */
  readonly at: number
  /** Found by an audit, which must end before the shrink guard judges. */
  readonly audit: boolean
}

/** Faults of rows that are served until the shrink guard has judged. */
export class KeptFaults {
  readonly #details = new WithheldDetails()
  readonly #kept = new Map<HeldRow, KeptFault>()
  #byAudits = 0

  /** Counts by fault and column. */
  get faults(): FaultCounts {
    return this.#details.faults
  }

  get size(): number {
    return this.#kept.size
  }

  /** The number of these rows whose fault was found by a refresh, not by an audit. */
  get fromRefreshes(): number {
    return this.#kept.size - this.#byAudits
  }

  get sizeBytes(): number {
    return this.#details.sizeBytes
  }

  get(row: HeldRow): KeptFault | undefined {
    return this.#kept.get(row)
  }

  /** Replaces the fault that was kept for the row. */
  keep(row: HeldRow, withheld: Withheld, read: Omit<KeptFault, 'withheld'>): void {
    this.drop(row)
    this.#kept.set(row, { withheld: this.#details.keep(withheld), ...read })
    if (read.audit) this.#byAudits++
  }

  /** Removes the row's fault: the row is readable again or is no longer served. */
  drop(row: HeldRow): void {
    const kept = this.#kept.get(row)
    if (kept === undefined) return
    this.#kept.delete(row)
    if (kept.audit) this.#byAudits--
    this.#details.drop(kept.withheld)
  }

  /** The caller may drop rows while iterating. */
  entries(): Iterable<readonly [HeldRow, KeptFault]> {
    return this.#kept
  }
}
