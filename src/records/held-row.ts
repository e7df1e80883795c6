import type { Guid } from '../domain/guid.ts'
import { type Revision, UNREVISED } from '../domain/revision.ts'
import { type Withheld, type WithheldRow, FAULTS, isOnPurpose } from '../domain/withheld.ts'
import { FaultCounts, faultKey } from '../domain/fault-counts.ts'
import type { RowBodies } from './ready-bodies.ts'
import type { SortKey } from './packing.ts'

/** The tags of a row. Rows with equal tags share it. */
export interface TagSet {
  readonly written: readonly string[]
  /** The tags without regard to case, each once. */
  readonly words: readonly string[]
  /** The name of the set among others. */
  readonly key: string
}

/** The place of a row in the order of its list, and what queries filter by. */
export interface RowKey extends Omit<SortKey, 'tags' | 'isAvailable'> {
  readonly tags: TagSet
  isAvailable: boolean
}

/**
 * A held row: the record of a served one, or why it is withheld. Times are monotonic ms in the source's time (its lag
 * subtracted).
 */
export class HeldRow {
  readonly id: Guid
  /** The packed record, which stays equal while the record does; `null` if the row is not served. */
  packed: string | null = null
  /** Why the row is withheld; `null` if it is served, or was not written yet. */
  withheld: Withheld | null = null
  /** The version of the last read row; `NaN` if it has none. */
  version: number = Number.NaN
  revision: Revision = UNREVISED
  /** When the row was last established: as of when the CRM had it like this. Only a read that began later changes it. */
  detailsAt: number = Number.NEGATIVE_INFINITY
  /** When any read last mentioned the row. */
  seenAt: number = Number.NEGATIVE_INFINITY
  /** The number of the last read that mentioned the row. */
  seenIn = 0
  /** When the row last changed. */
  updatedAt = 0
  /** The bodies that were requested lately; `null` if none was. */
  bodies: RowBodies | null = null
  /** The place in the order of the list; `null` if the row is not served. */
  key: RowKey | null = null

  constructor(id: Guid) {
    this.id = id
  }

  get isServed(): boolean {
    return this.packed !== null
  }

  /** Whether the row is withheld because of a mistake, not on purpose. */
  get isMistake(): boolean {
    return this.withheld !== null && !isOnPurpose(this.withheld)
  }

  /** Returns true if the row was mentioned by a numbered read, or by another since that began. */
  isSeen(number: number, begunAt: number): boolean {
    return this.seenIn >= number || this.seenAt >= begunAt
  }
}

/** The most withheld rows of one kind whose details are kept. Of the others only fault and column are. */
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

  /** Returns true if the details are those of which `kept` was kept. */
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

  /** The number of withheld rows whose fault was found by a refresh, not by an audit. */
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
