import type { Sighting } from './absence.ts'
import { type RecordList, slotOf } from '../records/record-list.ts'

/** The rows that a read has inserted, to be taken back if they need too much memory. */
export class InsertedRows {
  readonly #rows: number[] = []

  add(row: number): void {
    this.#rows.push(row)
  }

  /** Removes the rows, and gives back their room. Pauses every 1000 rows. */
  async takeBack(
    list: Pick<RecordList<unknown>, 'shards' | 'shardAt' | 'isHeld' | 'remove'>,
    { number, audit }: Sighting,
    pause: () => Promise<void>,
  ): Promise<void> {
    for (let at = this.#rows.length - 1; at >= 0; at--) {
      const row = this.#rows[at] ?? -1
      const { seenIn, auditedIn } = list.shardAt(row)
      const [own, others] = audit ? [auditedIn, seenIn] : [seenIn, auditedIn]
      // Another read may have removed the row, and used its number again. Or it has seen the row too: its cursor is
      // past it.
      const isOwn = (own[slotOf(row)] ?? 0) >= number && others[slotOf(row)] === 0
      if (isOwn && list.isHeld(row)) list.remove(row)
      if (at % 1000 === 0) await pause()
    }
    this.#rows.length = 0
    for (const shard of list.shards) shard.trim()
  }
}
