import type { Guid } from '../domain/guid.ts'
import { unreachable } from '../domain/unreachable.ts'
import { type RepeatedRow, type Withheld, isMeant, rowRepeated } from '../domain/withheld.ts'
import type { HeldRow } from '../records/held-row.ts'
import type { RecordList } from '../records/record-list.ts'
import type { Sighting } from './absence.ts'
import { type Change, type Held, type Page, REPEATED } from './port.ts'
import { type RowDifference, type StagingContext, ROWS_A_SLICE, RowWriter } from './row-writer.ts'

interface Found<Item> extends RowDifference<Item> {
  /** It removes nothing that is served. */
  readonly adds: boolean
  /** The row was not held. */
  readonly isNew: boolean
}

type RowChange<Item> = Extract<Change<Item>, { readonly kind: 'record' | 'withheld' }> & { readonly id: Guid }

const NOT_SERVED = { record: null, packed: null } as const
/** The number of no pass: after the deletion, the id may be met for the first time. */
const DELETED = 0
/** Estimates of the memory of a difference besides its texts, of a record, and with the details of a withheld row, bytes. */
const FOUND_BYTES = 200
const RECORD_BYTES = 400
const WITHHELD_BYTES = 600

/**
 * Collects what a read finds different from the held rows, and writes it in the order of `ListReader`: what the read
 * adds or changes, what the CRM removes, what became unreadable.
 */
export class Staging<Item> extends RowWriter<Item> {
  rows = 0
  /** Withheld rows without an id of their own. */
  readonly unidentified: RecordList<Item>['unidentified']
  readonly sighting: Sighting
  readonly #found = new Map<Guid, Found<Item>>()
  #addedBytes = 0
  #newBytes = 0
  #pass = 0
  #writesAtOnce = false

  constructor(context: StagingContext<Item>) {
    super(context)
    this.unidentified = context.list.newUnidentified()
    this.sighting = { number: this.number, begunAt: context.begunAt, names: (id) => this.#found.has(id) }
  }

  /** The memory of staged rows that are added or changed, and may be written before the read ends. */
  get addedBytes(): number {
    return this.#addedBytes
  }

  /** By how much the list will grow. */
  get grownBytes(): number {
    return this.#newBytes + this.unidentified.sizeBytes
  }

  /** The rows as they will be held, for an id scan after a delta. */
  get held(): Held {
    const { list } = this.context
    return {
      get size() {
        return list.size
      },
      version: (id) => this.#found.get(id)?.version ?? list.version(id),
    }
  }

  /** The ids of the served rows that `remove` will remove. */
  get leavingIds(): readonly Guid[] {
    const { list } = this.context
    return this.#found
      .keys()
      .filter((id) => list.serves(id))
      .toArray()
  }

  /** @param writesAtOnce nothing of the list is served yet */
  stage(page: Page<Item>, writesAtOnce = false): void {
    this.#writesAtOnce = writesAtOnce
    this.lagMs = Math.max(this.lagMs, page.sourceLagMs)
    this.rows += page.changes.length
    const { pass = 0 } = page
    if (pass !== this.#pass) this.number = this.context.nextNumber()
    this.#pass = pass
    page.changes.forEach((change, index) => this.#stage(change, index, page))
  }

  #stage(change: Change<Item>, index: number, page: Page<Item>): void {
    const { list, kind, repeatedId } = this.context
    const { id } = change
    if (id === null) {
      if (change.kind === 'withheld') this.unidentified.add(null, change.withheld)
      return
    }
    const row = list.find(id)
    const found = this.#found.get(id)
    const updatedAtMs = page.updatedAtMs?.(index) ?? Number.NaN
    switch (change.kind) {
      case 'record':
      case 'withheld':
        if (!hasId(change)) return
        if (this.#isRepeated(change, row, () => page.whereIs(index))) return
        // Several rows have had this id. Only a read of all rows tells whether that is over.
        if (row !== null && repeatedId === 'serves-neither' && kind !== 'full' && list.versionOf(row) === REPEATED)
          this.see(row)
        else this.#compare(change, row, updatedAtMs)
        return
      case 'deleted':
        this.#put(id, row, { ...NOT_SERVED, withheld: null, version: Number.NaN, number: DELETED, updatedAtMs })
        return
      case 'unchanged':
        if (row === null && found === undefined) this.ignored++
        else if (!this.#isRepeated(change, row, () => page.whereIs(index))) this.#keep(id, row)
        return
      case 'availability':
        this.#compareTickets(change, row)
        return
      default:
        unreachable(change)
    }
  }

  /** Returns true if this pass has met the id before, and this row does not take its place. */
  #isRepeated(
    change: RowChange<Item> | (RepeatedRow & { readonly kind: 'unchanged' }),
    row: HeldRow | null,
    where: () => string,
  ): boolean {
    const { kind, repeatedId, idColumn } = this.context
    const { id } = change
    const found = this.#found.get(id)
    const isMet = (found?.number ?? row?.seenIn) === this.number
    if (!isMet || repeatedId === 'serves-later') return false
    const hidden = change.kind === 'withheld' && isMeant(change.withheld) ? change.withheld : null
    // A row that is withheld on purpose gives way to another one.
    if (hidden === null && isHidden(found, row)) return false
    const withheld = rowRepeated(change, idColumn, where())
    if (kind === 'full') this.unidentified.add(id, hidden ?? withheld)
    if (hidden === null && repeatedId === 'serves-neither')
      this.#put(id, row, { ...NOT_SERVED, withheld, version: REPEATED, number: this.number, updatedAtMs: Number.NaN })
    return true
  }

  #compare(change: RowChange<Item>, row: HeldRow | null, updatedAtMs: number): void {
    const { list } = this.context
    const { id, version } = change
    const record = change.kind === 'record' ? change.record : null
    const packed = change.kind === 'record' ? list.kind.packing.pack(change.record) : null
    const withheld = change.kind === 'withheld' ? change.withheld : null
    if (row !== null && this.#isEqual(row, packed, withheld)) {
      this.#drop(id)
      this.see(row)
      this.establish(row, version)
    } else this.#put(id, row, { record, packed, withheld, version, number: this.number, updatedAtMs })
  }

  #isEqual(row: HeldRow, packed: string | null, withheld: Withheld | null): boolean {
    const { list } = this.context
    if (packed === null) return withheld !== null && list.isWithheldAs(row, withheld)
    return row.packed === packed && list.kept.get(row) === undefined
  }

  /** An id scan has found the version that is held, or staged by this read. */
  #keep(id: Guid, row: HeldRow | null): void {
    const found = this.#found.get(id)
    // An id scan after the delta may mean the row as it is staged. A deleted one is there after all, and one that is
    // withheld gives way to another one.
    const mayBeStaged = found !== undefined && (found.packed !== null || found.number !== this.number)
    if (mayBeStaged && found.number !== DELETED) found.number = this.number
    else {
      this.#drop(id)
      if (row !== null) this.see(row)
    }
  }

  #compareTickets(
    { id, TicketCapacity, TicketsAvailable }: Extract<Change<Item>, { readonly kind: 'availability' }>,
    row: HeldRow | null,
  ): void {
    const { list } = this.context
    const held = row === null ? null : list.read(row)
    if (row === null || held === null) return
    const { packing, withAvailability } = list.kind
    const record = withAvailability(held, { TicketCapacity, TicketsAvailable })
    const packed = packing.pack(record)
    if (packed === row.packed) this.#drop(id)
    else {
      const { version } = row
      const difference = { record, packed, withheld: null, version, number: this.number, updatedAtMs: Number.NaN }
      this.#put(id, row, { ...difference, isTickets: true })
    }
  }

  #put(id: Guid, row: HeldRow | null, found: RowDifference<Item>): void {
    this.#drop(id)
    if (this.#writesAtOnce) {
      this.write(id, row, found)
      return
    }
    const adds = found.packed !== null || (found.withheld !== null && row?.isServed !== true)
    const staged = { ...found, adds, isNew: row === null }
    this.#found.set(id, staged)
    this.#count(staged, 1)
  }

  #drop(id: Guid): void {
    if (this.#found.size === 0) return
    const found = this.#found.get(id)
    if (found === undefined) return
    this.#found.delete(id)
    this.#count(found, -1)
  }

  #count({ packed, withheld, adds, isNew }: Found<Item>, sign: 1 | -1): void {
    if (!adds) return
    const bytes =
      (withheld === null ? FOUND_BYTES : WITHHELD_BYTES) + (packed === null ? 0 : RECORD_BYTES + 2 * packed.length)
    this.#addedBytes += sign * bytes
    if (isNew) this.#newBytes += sign * bytes
  }

  /** Yields each staged record, with the row that it replaces. */
  *added(): Generator<{ readonly record: Item; readonly row: HeldRow | null }, void> {
    const { list } = this.context
    for (const [id, { record }] of this.#found) if (record !== null) yield { record, row: list.find(id) }
  }

  /**
   * Writes what the read adds or changes, and rows that were not served before.
   * @param isEnd all rows are staged; if not, an id with several rows may still repeat
   */
  async add(isEnd: boolean): Promise<void> {
    const { list } = this.context
    await this.#writeAll(({ packed, withheld }, row) => {
      if (!isEnd && row !== null && list.versionOf(row) === REPEATED) return false
      return packed !== null || (withheld !== null && row?.isServed !== true)
    })
  }

  /**
   * All rows are staged, and what they add is written. Rows that became unreadable are kept until the shrink guard has
   * judged; only removals stay staged.
   */
  keepUnreadable(): void {
    const { list, audit, keepsFaults } = this.context
    if (!keepsFaults) return
    for (const [id, { withheld, version }] of this.#found) {
      if (withheld === null || isMeant(withheld)) continue
      this.#drop(id)
      const row = list.find(id)
      if (row === null || !row.isServed) continue
      if (this.isOlder(list.knownAt(row), version)) this.ignored++
      else list.kept.keep(row, withheld, { version, at: this.sinceMs, audit })
      this.see(row)
    }
  }

  /** Writes what the CRM removes: deleted rows, and those that it withholds on purpose. */
  async remove(): Promise<void> {
    await this.#writeAll(() => true)
  }

  async #writeAll(isDue: (found: Found<Item>, row: HeldRow | null) => boolean): Promise<void> {
    const { list, pause } = this.context
    let rows = 0
    for (const [id, found] of this.#found) {
      const row = list.find(id)
      if (!isDue(found, row)) continue
      this.#drop(id)
      this.write(id, row, found)
      if (++rows % ROWS_A_SLICE === 0) await pause()
    }
  }
}

function hasId<Item>(change: Change<Item> & { readonly kind: 'record' | 'withheld' }): change is RowChange<Item> {
  return change.id !== null
}

function isHidden(found: Found<unknown> | undefined, row: HeldRow | null): boolean {
  if (found !== undefined) return found.withheld !== null && isMeant(found.withheld)
  return row !== null && row.withheld !== null && !row.isMistake
}
