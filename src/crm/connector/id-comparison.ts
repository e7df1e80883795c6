import type { Guid } from '../../domain/guid.ts'
import { howMany } from '../../domain/printable.ts'
import { type Change, type Page, REPEATED } from '../../sync/port.ts'
import type { StreamBatch } from './row-host.ts'
import { type LateRow, type ReadParts, Tally, changesPage } from './row-pages.ts'

/** Compares the id and the `updatedAt` of every row with the rows in memory. */
export class IdComparison<Item extends { readonly Id: Guid }> {
  /** The CRM's ids of the rows that differ, or are new. */
  readonly wanted: string[] = []
  /** The rows that differ. */
  readonly late: LateRow[] = []
  readonly #parts: ReadParts<Item>
  readonly #tally = new Tally()
  #startsAnswer = true

  constructor(parts: ReadParts<Item>) {
    this.#parts = parts
  }

  /** Yields the rows of a batch that have not changed. Returns what is wrong with it, as the rest of a sentence. */
  async *take(batch: StreamBatch): AsyncGenerator<Page<Item>, string | null, void> {
    const { list, held, begunAt, pass } = this.#parts
    const tally = this.#tally
    const before = tally.ids.size + tally.nameless
    const unchanged: Change<Item>[] = []
    for (const bytes of batch.rows) {
      const known = list.knownId(bytes)
      if (known === null) return 'ids yielded something that is not [id, updatedAt]'
      const { id, text, stamp, version } = known
      if (id === null) {
        tally.nameless++
        continue
      }
      tally.ids.add(id)
      const heldVersion = held.version(id)
      if (heldVersion === version || heldVersion === REPEATED) unchanged.push({ kind: 'unchanged', id, idText: text })
      else {
        if (!Number.isNaN(heldVersion)) this.late.push({ text, stamp })
        this.wanted.push(text)
      }
    }
    if (unchanged.length > 0) yield changesPage(unchanged, list.name, batch.lagMs, begunAt, pass)
    const fault = tally.count(batch, before, this.#startsAnswer)
    this.#startsAnswer = !batch.goesOn
    return fault
  }

  /** Whether rows may have moved from one answer to another meanwhile. */
  get mayHaveMoved(): boolean {
    return this.#tally.isUnstable
  }

  /** What is wrong with all that came, as the rest of a sentence; `null` if nothing is. */
  get fault(): string | null {
    const { ids, nameless, missing } = this.#tally
    if (missing !== null) return missing
    // A row without a usable id is withheld. If no row has one, the id is missing from what was asked for.
    const isIdMissing = ids.size === 0 && nameless > 0 && this.#parts.held.size > 0
    return isIdMissing ? `ids returned ${howMany(nameless, 'row')}, but no usable id` : null
  }
}
