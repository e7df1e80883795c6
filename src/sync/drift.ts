import { WHOLE_ROW } from '../domain/field.ts'
import type { Guid } from '../domain/guid.ts'
import type { RecordList } from '../records/record-list.ts'
import type { HeldRow } from '../records/held-row.ts'

const SUSPECTS_CEILING = 100_000

/** What the audit read instead of the held row: the packed record, or `null` if it is not to be served. */
interface Difference {
  readonly after: string | null
  readonly version: number
  /** When the audit read the row, monotonic ms. */
  readonly at: number
}

interface Suspect {
  readonly columns: readonly string[]
  readonly foundAt: number
}

/**
 * Changes that an audit found and the reads of changes had not reported. Each is only a suspicion until a later read of
 * changes has ended without naming the row: the CRM may simply not have reported it yet.
 */
export class Drift {
  readonly #suspects = new Map<Guid, Suspect>()
  /** Drifted records by column, since the start. */
  readonly byColumn: Map<string, number> = new Map()
  records = 0

  suspect(id: Guid, columns: readonly string[], foundAt: number): void {
    if (this.#suspects.size < SUSPECTS_CEILING) this.#suspects.set(id, { columns, foundAt })
  }

  /** Records that an audit found a row different from the held one. */
  note<Item>(kind: RecordList<Item>['kind'], row: HeldRow, { after, version, at }: Difference): void {
    const { id, packed: before } = row
    const isNew = row.detailsAt === Number.NEGATIVE_INFINITY
    const columns = before === null || after === null ? [WHOLE_ROW] : kind.differences(id, before, after)
    if (Number.isNaN(row.version) || isNew) this.suspect(id, columns, at)
    // The row changed without a new version, so no read of changes can ever name it.
    else if (row.version === version) this.suspect(id, columns, Number.NEGATIVE_INFINITY)
  }

  /** Clears the suspicion: a read of changes named the row after all. */
  clear(id: Guid): void {
    if (this.#suspects.size > 0) this.#suspects.delete(id)
  }

  /**
   * Counts the suspicions found up to `asOf` that the reads of changes up to then did not name, and returns their
   * number by column. A row that is no longer held is not drift: it existed only between two reads of changes, or an id
   * scan found that it is gone, which is the id scan's purpose.
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
