import type { Guid } from '../domain/guid.ts'
import { type Revision, UNREVISED } from '../domain/revision.ts'
import { type Withheld, isOnPurpose } from '../domain/withheld.ts'
import type { RowBodies } from './ready-bodies.ts'
import type { SortKey } from './list-kinds.ts'

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
