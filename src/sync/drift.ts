import type { Guid } from '../domain/guid.ts'
import { type RecordList, slotOf } from '../records/record-list.ts'

/** What stands for a whole row in the columns of a drift: it came, went, or changed between served and withheld. */
export const WHOLE_ROW = '(row)'

const SUSPECTS_CEILING = 100_000

/** A row as it is held and as an audit has read it, packed; null where it is not served. */
interface Difference {
  readonly id: Guid
  readonly before: string | null
  readonly after: string | null
  readonly version: number
  /** When the audit read it. */
  readonly at: number
}

interface Suspect {
  readonly columns: readonly string[]
  readonly foundAt: number
}

/**
 * Changes an audit found that the reads of changes had not reported. One is only suspected until a read of changes that
 * began after it was found has ended without naming the row: the CRM may simply not have had its turn.
 */
export class Drift {
  readonly #suspects = new Map<Guid, Suspect>()
  /** Records that drifted, by column, since the start. */
  readonly byColumn: Map<string, number> = new Map()
  records = 0

  suspect(id: Guid, columns: readonly string[], foundAt: number): void {
    if (this.#suspects.size < SUSPECTS_CEILING) this.#suspects.set(id, { columns, foundAt })
  }

  /** An audit found the row other than it is held. */
  note<Item>(list: RecordList<Item>, row: number, { id, before, after, version, at }: Difference): void {
    const shard = list.shardAt(row)
    const slot = slotOf(row)
    const isNew = shard.detailsAt[slot] === Number.NEGATIVE_INFINITY
    const columns = before === null || after === null ? [WHOLE_ROW] : list.kind.differences(id, before, after)
    const heldVersion = shard.version[slot] ?? Number.NaN
    if (Number.isNaN(heldVersion) || isNew) this.suspect(id, columns, at)
    // The row had changed while its version had not: no read of changes can name it any more.
    else if (heldVersion === version) this.suspect(id, columns, Number.NEGATIVE_INFINITY)
  }

  /** The read of changes named the row after all. */
  clear(id: Guid): void {
    if (this.#suspects.size > 0) this.#suspects.delete(id)
  }

  /**
   * Counts what all changes up to `asOf` do not name, where it was found before; returns the columns of the new ones. A row that
   * is no longer held is none: it came and went between two reads of changes, or an id scan found that it is gone, which is its task.
   */
  countUnreported(asOf: number, isHeld: (id: Guid) => boolean): ReadonlyMap<string, number> {
    const found = new Map<string, number>()
    for (const [id, { columns, foundAt }] of this.#suspects) {
      if (foundAt > asOf) continue
      this.#suspects.delete(id)
      if (!isHeld(id)) continue
      this.records++
      for (const column of columns) {
        found.set(column, (found.get(column) ?? 0) + 1)
        this.byColumn.set(column, (this.byColumn.get(column) ?? 0) + 1)
      }
    }
    return found
  }
}
