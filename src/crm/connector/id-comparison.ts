import type { Guid } from '../../domain/guid.ts'
import { howMany } from '../../domain/printable.ts'
import { type Change, REPEATED } from '../../sync/port.ts'
import type { StreamBatch } from './row-host.ts'
import { LookBack } from './stamps.ts'
import { type LateRow, type OnBatch, type ReadParts, Tally, brokenBy, changesPage } from './row-pages.ts'

/** Compares the id and the `updatedAt` of every row with the rows in memory. */
export class IdComparison<Item extends { readonly Id: Guid }> {
  /** The CRM's ids of the rows that differ, or are new. */
  readonly wanted: string[] = []
  /** The rows that differ. */
  readonly late: LateRow[] = []
  readonly tally = new Tally()
  readonly #parts: ReadParts<Item>

  /** The times of the rows that differ. */
  readonly stamps: LookBack

  constructor(parts: ReadParts<Item>, nowWallMs: number) {
    this.#parts = parts
    this.stamps = new LookBack(null, nowWallMs)
  }

  /** Yields the rows of a batch that have not changed. */
  async *take(batch: StreamBatch<Item>): ReturnType<OnBatch<Item>> {
    const { list, held } = this.#parts
    const unchanged: Change<Item>[] = []
    for (const row of batch.rows) {
      const known = list.knownId(row)
      if (known === null) return brokenBy(list.name, 'ids yielded something that is not [id, updatedAt]')
      const { id, text, stamp, version } = known
      if (id === null) {
        this.tally.nameless++
        continue
      }
      this.tally.ids.add(id)
      const heldVersion = held.version(id)
      if (heldVersion === version || heldVersion === REPEATED) unchanged.push({ kind: 'unchanged', id, idText: text })
      else {
        if (!Number.isNaN(heldVersion)) this.late.push({ id, text, stamp })
        this.wanted.push(text)
        if (stamp !== null) this.stamps.add(stamp, text)
      }
    }
    if (unchanged.length > 0) yield changesPage(unchanged, batch.lagMs, this.#parts)
    return brokenBy(list.name, this.tally.count(batch))
  }

  /** What is wrong with all that came, as the rest of a sentence; `null` if nothing is. */
  get fault(): string | null {
    const { ids, nameless, missing } = this.tally
    if (missing !== null) return missing
    // A row without a usable id is withheld. If no row has one, the id is missing from what was asked for.
    const isIdMissing = ids.size === 0 && nameless > 0 && this.#parts.held.size > 0
    return isIdMissing ? `ids returned ${howMany(nameless, 'row')}, but no usable id` : null
  }
}
