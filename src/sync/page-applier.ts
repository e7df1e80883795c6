import type { Guid } from '../domain/guid.ts'
import { unreachable } from '../domain/unreachable.ts'
import { type RepeatedRow, type Withheld, isMeant, isOnPurpose, rowRepeated } from '../domain/withheld.ts'
import type { Sighting } from './absence.ts'
import { type HeldRow, UnidentifiedRows } from '../records/held-row.ts'
import { type Change, type Page, REPEATED } from './port.ts'
import {
  type PageApplierContext,
  type PageMoments,
  type Postponed,
  type Released,
  type RowChange,
  NO_PAGE,
  bringBack,
  hasId,
  isOlder,
  momentsOf,
} from './page-context.ts'

/**
 * Applies one read to a list, page by page, under one rule: **a page changes a field group of a row only if its request
 * began after that group was last written, or if an earlier page of the same request wrote it**. All times are in the
 * source's time, its lag subtracted.
 */
export class PageApplier<Item> {
  changed = 0
  rows = 0
  /** The number of rows whose held data was newer than a page. The cursor must not move past them. */
  ignored = 0
  /** The largest lag of any page, ms. */
  lagMs = 0
  readonly sighting: Sighting
  readonly #context: PageApplierContext<Item>
  /** Withheld rows without an id of their own. */
  readonly unidentified: UnidentifiedRows = new UnidentifiedRows()
  readonly #postponed = new Map<Guid, Postponed>()
  /** Ids that were withheld as duplicates and that this full read has met once so far. */
  readonly #released = new Map<Guid, Released<Item>>()
  readonly #changeTimes: number[] = []
  readonly #inserted: HeldRow[] = []
  #pass = 0
  #passNumber: number
  /** The moments of the page that is being applied. */
  #page: PageMoments = NO_PAGE

  constructor(context: PageApplierContext<Item>) {
    this.#context = context
    this.#passNumber = context.nextNumber()
    this.sighting = { number: this.#passNumber, begunAt: context.begunAt, audit: context.audit }
  }

  /** The ids that are still served, but only until `removePostponed` is called or the read is believed. */
  get leavingIds(): readonly Guid[] {
    const { list } = this.#context
    const unreadable = [...this.unreadableRows()].map(({ id }) => id)
    return [...this.#postponed.keys().filter((id) => list.serves(id)), ...unreadable]
  }

  apply(page: Page<Item>): void {
    this.lagMs = Math.max(this.lagMs, page.sourceLagMs)
    this.rows += page.changes.length
    const { pass = 0 } = page
    if (pass !== this.#pass) this.#passNumber = this.#context.nextNumber()
    this.#pass = pass
    this.#page = momentsOf(page, this.#context.now(), this.#page)
    page.changes.forEach((change, index) => {
      const { changed } = this
      if (this.#context.repeatedId === 'serves-later') bringBack(change, this.#postponed, this.#context.list)
      const where = (): string => page.whereIs(index)
      this.#applyChange(change, where)
      if (!this.#context.timesChanges || page.updatedAtMs === undefined) return
      if (this.changed > changed) this.#changeTimes.push(page.updatedAtMs(index))
      const removal = change.id === null ? undefined : this.#postponed.get(change.id)
      if (removal !== undefined) removal.updatedAtMs = page.updatedAtMs(index)
    })
  }

  removePostponed(): void {
    for (const { remove, updatedAtMs } of this.#postponed.values()) {
      const { changed } = this
      remove()
      if (this.changed > changed) this.#changeTimes.push(updatedAtMs)
    }
    this.#postponed.clear()
  }

  /** Removes the rows that this read has inserted: with them, the list needs too much memory. */
  async takeBack(pause: () => Promise<void>): Promise<void> {
    const { list, audit } = this.#context
    for (const [index, row] of this.#inserted.toReversed().entries()) {
      const { seenIn, auditedIn } = row
      const [own, others] = audit ? [auditedIn, seenIn] : [seenIn, auditedIn]
      // Another read may have seen the row too: its cursor is past it.
      const isOwn = own >= this.sighting.number && others === 0
      if (isOwn && list.isHeld(row)) list.remove(row)
      if (index % 1000 === 0) await pause()
    }
    this.#inserted.length = 0
  }

  /** Returns the CRM's times of the changes made here since the last call, wall ms; `NaN` if unknown. */
  takeChangeTimes(): readonly number[] {
    return this.#changeTimes.splice(0)
  }

  /** The full read is believed: serves former duplicate ids that it met only once. */
  release(): void {
    for (const { change, page } of this.#released.values()) {
      this.#page = page
      const row = this.#context.list.find(change.id)
      if (row !== null) this.#write(row, change)
    }
    this.#released.clear()
    this.removePostponed()
  }

  #applyChange(change: Change<Item>, where: () => string): void {
    const { list, drift, audit, repeatedId, idColumn } = this.#context
    if (change.id !== null && !audit) drift.clear(change.id)
    switch (change.kind) {
      case 'record':
      case 'withheld': {
        if (!hasId(change)) {
          this.unidentified.add(null, change.withheld)
          return
        }
        const row = this.#rowFor(change, where)
        if (row !== null) this.#write(row, change)
        return
      }
      case 'deleted':
        this.#delete(change.id)
        return
      case 'unchanged': {
        const row = list.find(change.id)
        if (row === null) this.ignored++
        else if (this.#meetsFirst(row) || repeatedId === 'serves-later' || this.#unhide(row)) this.#see(row)
        else if (repeatedId === 'serves-neither') this.#withholdRepeated(row, change, where())
        else this.unidentified.add(change.id, rowRepeated(change, idColumn, where()))
        return
      }
      case 'availability':
        this.#updateAvailability(change.id, change.TicketCapacity, change.TicketsAvailable)
        return
      default:
        unreachable(change)
    }
  }

  /** Returns the row to write the change to; `null` if it must not be written, or not yet. */
  #rowFor(change: RowChange<Item>, where: () => string): HeldRow | null {
    const { list, tombstones, kind, repeatedId, idColumn } = this.#context
    const { id } = change
    const row = list.find(id)
    if (row === null) {
      if (isOlder(this.#page, tombstones.absentSince(id))) {
        this.ignored++
        return null
      }
      tombstones.forget(id)
      return this.#insert(id)
    }
    if (!this.#meetsFirst(row) && repeatedId !== 'serves-later') {
      const hidden = change.kind === 'withheld' && isMeant(change.withheld) ? change.withheld : null
      if (hidden !== null || !this.#unhide(row)) {
        if (kind === 'full') this.unidentified.add(id, hidden ?? rowRepeated(change, idColumn, where()))
        if (hidden === null && repeatedId === 'serves-neither') this.#withholdRepeated(row, change, where())
        return null
      }
    }
    if (repeatedId !== 'serves-neither' || list.versionOf(row) !== REPEATED) return row
    this.#see(row)
    if (kind === 'full') this.#released.set(id, { change, page: this.#page })
    return null
  }

  /** Returns true if all rows of the id met so far are withheld on purpose: they give way to another one. */
  #unhide(row: HeldRow): boolean {
    const released = this.#released.get(row.id)?.change
    if (released !== undefined) return released.kind === 'withheld' && isMeant(released.withheld)
    if (this.#postponed.get(row.id)?.isHiding === true) return this.#postponed.delete(row.id)
    return row.withheld !== null && !row.isMistake
  }

  #insert(id: Guid): HeldRow {
    const row = this.#context.list.insert(id)
    this.#inserted.push(row)
    this.#meetsFirst(row)
    this.#see(row)
    return row
  }

  #write(row: HeldRow, change: RowChange<Item>): void {
    if (change.kind === 'record') this.#serve(row, change.record, change.version)
    else this.#withhold(row, change.withheld, change.version)
  }

  /** Returns true if this pass meets the row for the first time. */
  #meetsFirst(row: HeldRow): boolean {
    const number = this.#context.audit ? 'auditedIn' : 'seenIn'
    if (row[number] === this.#passNumber) return false
    row[number] = this.#passNumber
    return true
  }

  /** Records when the row was seen. The time only moves forward, because sources may lag differently. */
  #see(row: HeldRow, now: number = this.#page.now): void {
    row.seenAt = Math.max(row.seenAt, now)
  }

  #serve(row: HeldRow, record: Item, version: number): void {
    const { list } = this.#context
    this.#see(row)
    const { packing, withAvailability } = list.kind
    const { id, packed: before } = row
    const detailsAreOlder = isOlder(this.#page, list.knownAt(row))
    const availabilityIsOlder = isOlder(this.#page, row.availabilityAt)
    if (detailsAreOlder) this.ignored++
    if (detailsAreOlder && (availabilityIsOlder || before === null)) return
    let merged = record
    if (before !== null && detailsAreOlder) merged = withAvailability(packing.unpack(id, before), record)
    else if (before !== null && availabilityIsOlder) merged = withAvailability(record, packing.unpack(id, before))
    const packed = packing.pack(merged)
    this.#noteDrift(row, packed, version)
    if (list.servePacked(row, packed, this.#context.wallS, merged)) this.#changedNow(row)
    if (!detailsAreOlder) {
      list.kept.drop(row)
      row.detailsAt = this.#page.now
      list.setVersion(row, version)
    }
    if (!availabilityIsOlder) row.availabilityAt = this.#page.now
  }

  /** Withholds an id that several rows have, regardless of how new the held data is. */
  #withholdRepeated(row: HeldRow, change: RepeatedRow, where: string): void {
    this.#released.delete(change.id)
    this.#see(row)
    const withheld = rowRepeated(change, this.#context.idColumn, where)
    this.#withhold(row, withheld, REPEATED, { ...this.#page, readAt: Number.POSITIVE_INFINITY })
  }

  #withhold(row: HeldRow, withheld: Withheld, version: number, page = this.#page): void {
    const { list, audit, keepsFaults } = this.#context
    if (isOlder(page, list.knownAt(row))) {
      this.#see(row)
      this.ignored++
      return
    }
    const { now } = page
    // The row is not marked as seen: if the read fails, an audit must still be able to remove it.
    if (keepsFaults && row.isServed && !isMeant(withheld)) {
      list.kept.keep(row, withheld, { version, at: now, audit })
      return
    }
    const withhold = (): void => {
      // Looked up again, because the row may have been removed while this was postponed.
      const held = list.find(row.id)
      if (held === null || isOlder(page, held.detailsAt)) {
        this.ignored++
        return
      }
      const isNew = held.withheld === null
      if (isNew || (!isOnPurpose(withheld) && !held.isMistake)) this.#context.newlyWithheld.add(withheld, 1)
      this.#noteDrift(held, null, version)
      if (held.isServed) this.#changedNow(held)
      list.withhold(held, withheld, this.#context.wallS)
      held.detailsAt = held.availabilityAt = now
      this.#see(held, now)
      list.setVersion(held, version)
    }
    if (row.isServed) this.#remove(row.id, withhold, { isHiding: isMeant(withheld), version })
    else withhold()
  }

  /** Yields the unreadable served rows that this read judges: a full read all, others those found by refreshes. */
  *unreadableRows(): Generator<HeldRow, void> {
    const { list, kind } = this.#context
    if (kind !== 'full' && list.kept.fromRefreshes === 0) return
    for (const [row, { audit }] of list.kept.entries()) if (kind === 'full' || !audit) yield row
  }

  /** The number of kept rows whose id is no longer repeated: this full read has it only once. */
  get resolved(): number {
    const { list } = this.#context
    const readable = [...this.#released.values()].filter(({ change }) => change.kind === 'record')
    const isKept = (row: HeldRow | null): boolean => row !== null && list.kept.get(row) !== undefined
    return readable.filter(({ change: { id } }) => isKept(list.find(id))).length
  }

  /** The read is believed: withholds served rows that became unreadable. Pauses every 1000 rows. */
  async withdrawUnreadable(pause: () => Promise<void>): Promise<void> {
    let rows = 0
    for (const row of this.unreadableRows()) {
      this.#withdraw(row)
      if (++rows % 1000 === 0) await pause()
    }
  }

  #withdraw(row: HeldRow): void {
    const { list, newlyWithheld } = this.#context
    const fault = list.kept.get(row)
    if (fault === undefined) return
    const { withheld, version, at } = fault
    newlyWithheld.add(withheld, 1)
    this.#page = { ...this.#page, now: at }
    this.#noteDrift(row, null, version)
    this.#changedNow(row)
    list.withhold(row, withheld, this.#context.wallS)
    list.lost.add(row)
    row.detailsAt = row.availabilityAt = at
    this.#see(row, at)
    list.setVersion(row, version)
  }

  #delete(id: Guid): void {
    const { list, tombstones } = this.#context
    const page = this.#page
    const remove = (): void => {
      const row = list.find(id)
      if (row !== null && isOlder(page, list.knownAt(row))) {
        this.ignored++
        return
      }
      if (row !== null) {
        list.remove(row, this.#context.wallS)
        this.changed++
      }
      tombstones.bury(id, page.now)
    }
    this.#remove(id, remove, { isHiding: false, version: Number.NaN })
  }

  #remove(id: Guid, remove: () => void, of: Pick<Postponed, 'isHiding' | 'version'>): void {
    if (this.#context.postponeRemovals) this.#postponed.set(id, { remove, ...of, updatedAtMs: Number.NaN })
    else remove()
  }

  #updateAvailability(id: Guid, TicketCapacity: number, TicketsAvailable: number): void {
    const { list } = this.#context
    const { withAvailability } = list.kind
    const row = list.find(id)
    const held = row === null ? null : list.read(row)
    if (row === null || held === null || isOlder(this.#page, row.availabilityAt)) return
    const changed = withAvailability(held, { TicketCapacity, TicketsAvailable })
    if (list.serve(row, changed, this.#context.wallS)) this.#changedNow(row)
    row.availabilityAt = this.#page.now
  }

  #changedNow(row: HeldRow): void {
    row.updatedAt = this.#page.now
    this.changed++
  }

  #noteDrift(row: HeldRow, after: string | null, version: number): void {
    const { audit, drift, list } = this.#context
    if (audit && row.packed !== after) drift.note(list.kind, row, { after, version, at: this.#page.now })
  }
}
