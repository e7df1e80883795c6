import { WHOLE_ROW } from '../domain/field.ts'
import type { FaultCounts } from '../domain/fault-counts.ts'
import type { Guid } from '../domain/guid.ts'
import { type Withheld, isOnPurpose } from '../domain/withheld.ts'
import type { HeldRow } from '../records/held-row.ts'
import type { RecordList } from '../records/record-list.ts'
import { type ReadKind, type RepeatedId, REPEATED } from './port.ts'
import type { Tombstones } from './tombstones.ts'

/** The context of one read's changes to a list. */
export interface StagingContext<Item> {
  readonly list: RecordList<Item>
  readonly tombstones: Tombstones
  readonly kind: ReadKind
  /** Returns the next number of a read or pass. Numbers count up from 1 over all reads of the list. */
  readonly nextNumber: () => number
  /** When the read began, monotonic ms. */
  readonly begunAt: number
  readonly repeatedId: RepeatedId
  /** The CRM's name for the column of the id. */
  readonly idColumn: string
  /** Returns when the tickets of all rows were last read by themselves, in the time of `HeldRow.detailsAt`. */
  readonly ticketsAt: () => number
  /** Served rows that became unreadable stay unchanged until the shrink guard has judged. */
  readonly keepsFaults: boolean
  /** The read is an audit. */
  readonly audit: boolean
  /** Whether to record publish latency: not during the first full read or an audit. */
  readonly timesChanges: boolean
  /** Counts rows that are newly withheld because of a mistake. */
  readonly newlyWithheld: FaultCounts
  /** The wall clock, whole seconds since 1970. */
  readonly wallS: () => number
  /** Lets requests run between two slices of work. */
  readonly pause: () => Promise<void>
}

/** A row that the read found different from the held one. */
export interface RowDifference<Item> {
  /** The record and its packed text; `null` if the row is not to be served. */
  readonly record: Item | null
  readonly packed: string | null
  /** Why the row is withheld; `null` if it is served, or deleted. */
  readonly withheld: Withheld | null
  readonly version: number
  /** Only the tickets of the held record have changed. */
  readonly isTickets?: boolean
  /** The number of the pass that met the row last; 0 if it has reported the deletion. */
  number: number
  readonly updatedAtMs: number
}

/** The number of rows written between two pauses. */
export const ROWS_A_SLICE = 500

/**
 * Writes what a read found to a list. One rule decides between overlapping reads: **a read changes a row only if it
 * began after the row was last established, or established it itself**. All times are in the source's time, its lag
 * subtracted.
 */
export class RowWriter<Item> {
  changed = 0
  /** The number of differences that were older than the held row. The cursor must not move past them. */
  ignored = 0
  /** New rows that an audit did not add, because the tickets have been read since. */
  outdated = 0
  /** The largest lag of any page, ms. */
  lagMs = 0
  /** Something was written. */
  hasWritten = false
  /** Whether to count changes by column: what an audit finds that the reads of changes have not reported. */
  countsDrift = false
  readonly drift: Map<string, number> = new Map()
  drifted = 0
  protected readonly context: StagingContext<Item>
  /** The number of the current pass. */
  protected number: number
  readonly #changeTimes: number[] = []
  readonly #inserted: HeldRow[] = []

  constructor(context: StagingContext<Item>) {
    this.context = context
    this.number = context.nextNumber()
  }

  /** The moment that the read shows. */
  get sinceMs(): number {
    return this.context.begunAt - this.lagMs
  }

  /** Writes a difference, unless the row was established since the read began. */
  write(id: Guid, row: HeldRow | null, found: RowDifference<Item>): void {
    const { changed } = this
    if (found.record !== null) this.#serve(id, row, found, found.record)
    else if (found.withheld !== null) this.#withhold(id, row, found.withheld, found.version)
    else this.#delete(id, row)
    if (this.changed > changed && this.context.timesChanges) this.#changeTimes.push(found.updatedAtMs)
    this.hasWritten = true
  }

  #serve(
    id: Guid,
    held: HeldRow | null,
    { packed, version, isTickets = false }: RowDifference<Item>,
    found: Item,
  ): void {
    const { list, wallS } = this.context
    if (held !== null && this.isOlder(list.knownAt(held), version)) {
      this.see(held)
      this.ignored++
      return
    }
    const record = isTickets ? found : this.#withTickets(held, found)
    if (record === null) {
      this.outdated++
      return
    }
    const row = held ?? this.#insert(id)
    if (row === null) return
    const text = record === found && packed !== null ? packed : list.kind.packing.pack(record)
    this.#noteDrift(row, text)
    if (list.servePacked(row, text, wallS, record)) this.#noteChange(row)
    if (isTickets) return
    list.kept.drop(row)
    this.see(row)
    this.establish(row, version)
  }

  /** Returns the record with tickets that were read since; `null` if they are unknown, because it was not served. */
  #withTickets(row: HeldRow | null, found: Item): Item | null {
    const { list, ticketsAt } = this.context
    if (ticketsAt() <= this.sinceMs) return found
    const newer = row === null ? null : list.read(row)
    return newer === null ? null : list.kind.withAvailability(found, newer)
  }

  #withhold(id: Guid, held: HeldRow | null, withheld: Withheld, version: number): void {
    const { list, newlyWithheld, wallS } = this.context
    if (held !== null && this.isOlder(list.knownAt(held), version)) {
      this.see(held)
      this.ignored++
      return
    }
    const row = held ?? this.#insert(id)
    if (row === null) return
    if (row.withheld === null || (!isOnPurpose(withheld) && !row.isMistake)) newlyWithheld.add(withheld, 1)
    this.#noteDrift(row, null)
    if (row.isServed) this.#noteChange(row)
    list.withhold(row, withheld, wallS)
    this.see(row)
    this.establish(row, version)
  }

  #delete(id: Guid, row: HeldRow | null): void {
    const { list, tombstones, wallS } = this.context
    if (row !== null && this.isOlder(list.knownAt(row))) {
      this.ignored++
      return
    }
    if (row !== null) {
      list.remove(row, wallS)
      this.changed++
    }
    tombstones.bury(id, this.sinceMs)
  }

  /** Inserts a row; returns `null` if it is known to be absent since the read. */
  #insert(id: Guid): HeldRow | null {
    const { list, tombstones } = this.context
    if (this.isOlder(tombstones.absentSince(id))) {
      this.ignored++
      return null
    }
    tombstones.forget(id)
    const row = list.insert(id)
    this.#inserted.push(row)
    return row
  }

  /** Returns true if the read began before the row was established. Of several rows with one id, none is older. */
  isOlder(establishedAt: number, version = Number.NaN): boolean {
    return this.sinceMs < establishedAt && version !== REPEATED
  }

  /** Records that the row was seen. Sources may lag differently, so neither value moves back. */
  see(row: HeldRow): void {
    row.seenIn = Math.max(row.seenIn, this.number)
    row.seenAt = Math.max(row.seenAt, this.sinceMs)
  }

  /** Records that the CRM had the row as it is held, or as it has just been written. */
  establish(row: HeldRow, version: number): void {
    const { list } = this.context
    if (this.isOlder(row.detailsAt, version)) return
    row.detailsAt = this.sinceMs
    list.setVersion(row, version)
  }

  #noteChange(row: HeldRow): void {
    row.updatedAt = this.sinceMs
    this.changed++
  }

  #noteDrift({ id, packed: before }: HeldRow, after: string | null): void {
    if (!this.countsDrift || before === after) return
    const { list } = this.context
    const columns = before === null || after === null ? [WHOLE_ROW] : list.kind.differences(id, before, after)
    for (const column of columns) this.drift.set(column, (this.drift.get(column) ?? 0) + 1)
    this.drifted++
  }

  /** Yields the unreadable served rows that this read judges: a full read all, others those found by refreshes. */
  *unreadableRows(): Generator<HeldRow, void> {
    const { list, kind } = this.context
    if (kind !== 'full' && list.kept.fromRefreshes === 0) return
    for (const [row, { audit }] of list.kept.entries()) if (kind === 'full' || !audit) yield row
  }

  /** The read is believed: withholds served rows that became unreadable. */
  async withdrawUnreadable(): Promise<void> {
    const { list, newlyWithheld, pause, wallS } = this.context
    let rows = 0
    for (const row of this.unreadableRows()) {
      const fault = list.kept.get(row)
      if (fault === undefined) continue
      newlyWithheld.add(fault.withheld, 1)
      if (fault.audit) this.#noteDrift(row, null)
      this.#noteChange(row)
      list.withhold(row, fault.withheld, wallS)
      list.lost.add(row)
      row.detailsAt = Math.max(row.detailsAt, fault.at)
      list.setVersion(row, fault.version)
      if (++rows % ROWS_A_SLICE === 0) await pause()
    }
  }

  /** Removes the rows that this read has inserted: with them, the list needs too much memory. */
  async takeBack(): Promise<void> {
    const { list, pause } = this.context
    for (const [index, row] of this.#inserted.toReversed().entries()) {
      // Another read may have seen the row too: its cursor is past it.
      if (row.seenIn <= this.number && list.isHeld(row)) list.remove(row)
      if (index % ROWS_A_SLICE === 0) await pause()
    }
    this.#inserted.length = 0
  }

  /** Returns the CRM's times of the changes made since the last call, wall ms; `NaN` if unknown. */
  takeChangeTimes(): readonly number[] {
    return this.#changeTimes.splice(0)
  }
}
