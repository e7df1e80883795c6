import { fieldsOf } from '../domain/json-value.ts'
import type { EventRecord } from '../domain/event.ts'
import { type ListName, LISTS } from '../domain/field.ts'
import type { Guid } from '../domain/guid.ts'
import { type Revision, joined } from '../domain/revision.ts'
import { unreachable } from '../domain/unreachable.ts'
import type { VenueRecord } from '../domain/venue.ts'
import { type Withheld, FAULTS } from '../domain/withheld.ts'
import type { Formatter } from '../formats/format.ts'
import { eventKind, venueKind } from './list-kinds.ts'
import { ReadyBodies } from './ready-bodies.ts'
import { type WriteListener, RecordList } from './record-list.ts'
import type { HeldRow } from './held-row.ts'

/**
 * The kinds of row records. `version`: only the row's version changed. The order defines the numbers of the kinds.
 */
export const SAYS = ['served', 'withheld', 'removed', 'version'] as const

/** One row at the present moment, as written to snapshots and to the cluster's log. */
export interface RowRecord {
  readonly list: ListName
  readonly says: (typeof SAYS)[number]
  readonly id: Guid
  /** `NaN` if the row has no version. */
  readonly version: number
  /** Since when the row has been served as it is; for a removed row that of the last removal from its list. */
  readonly revision: Revision
  /** The packed record; for a withheld row its fault, column and position as JSON; else empty. */
  readonly text: string
}

export interface RecordLists {
  readonly events: RecordList<EventRecord>
  readonly venues: RecordList<VenueRecord>
}

/** Makes lists that share one room for ready bodies: the served ones, and those that may replace them. */
export class ListMaker {
  readonly ready: ReadyBodies
  readonly #formatter: Formatter

  /** @param readyBytes The limit for ready bodies; absent for the usual one */
  constructor(formatter: Formatter, readyBytes?: number) {
    this.#formatter = formatter
    this.ready = new ReadyBodies(readyBytes)
  }

  /** Returns both lists, empty. */
  make(): RecordLists {
    const { ready } = this
    const [events, venues] = [eventKind(this.#formatter), venueKind(this.#formatter)]
    return { events: new RecordList(events, ready), venues: new RecordList(venues, ready) }
  }
}

export function rowRecordOf(list: RecordLists[ListName], row: HeldRow, isVersionAlone = false): RowRecord {
  const { id, version, revision, packed, withheld } = row
  const what = { list: list.kind.name, id, version, revision }
  if (isVersionAlone) return { ...what, says: 'version', text: '' }
  if (packed !== null) return { ...what, says: 'served', text: packed }
  return { ...what, says: 'withheld', text: withheldText(withheld) }
}

/** Yields a record of each row, venues before the events that refer to them. */
export function* allRowRecords(
  { events, venues }: RecordLists,
  names: readonly ListName[] = LISTS,
): Generator<RowRecord, void> {
  if (names.includes('venues')) for (const row of venues.rows()) yield rowRecordOf(venues, row)
  if (names.includes('events')) for (const row of events.rows()) yield rowRecordOf(events, row)
}

/** Omits the value found: it may be confidential and stays in the process that read it. */
function withheldText(withheld: Withheld | null): string {
  const { fault, column, where } = withheld ?? { fault: 'unreadable', column: null, where: '' }
  return JSON.stringify({ fault, column, where })
}

function withheldOf(text: string): Withheld {
  const { fault, column, where } = fieldsOf(JSON.parse(text))
  const known = FAULTS.find((name) => name === fault)
  if (known === undefined || typeof where !== 'string' || (typeof column !== 'string' && column !== null)) {
    throw new Error('the row record of a withheld row must name a fault, a column and a position')
  }
  return { fault: known, column, where, expected: null, found: null }
}

/** Throws a sentence if a row record cannot be applied. */
export function checkRowRecord(lists: RecordLists, { list, says, id, text }: RowRecord): void {
  if (says === 'withheld') withheldOf(text)
  if (says === 'served' && !lists[list].kind.isPacked(id, text)) throw new Error(`the row ${id} is not a packed record`)
}

/** Applies a row record to its list, as if the row had never been seen: any read overrules it. */
export function applyRowRecord(
  lists: RecordLists,
  { list: name, says, id, version, revision, text }: RowRecord,
  nowMs: number,
): void {
  const list = lists[name]
  const held = list.find(id)
  switch (says) {
    case 'served':
    case 'withheld': {
      const withheld = says === 'served' ? null : withheldOf(text)
      const row = held ?? list.insert(id)
      const changed = withheld === null ? list.servePacked(row, text, revision) : list.withhold(row, withheld)
      list.setVersion(row, version)
      row.revision = revision
      if (changed) row.updatedAt = nowMs
      row.seenAt = row.detailsAt = Number.NEGATIVE_INFINITY
      return
    }
    case 'removed':
      if (held !== null) list.remove(held)
      list.lastRemoval = joined(list.lastRemoval, revision)
      return
    case 'version':
      if (held !== null) list.setVersion(held, version)
      return
    default:
      unreachable(says)
  }
}

/** Which rows to take: served ones and version changes, withheld and removed ones, or all. */
type RowFilter = 'shown' | 'gone' | 'all'

/**
 * The rows of a list that were written or removed since they were last taken. A set, not a queue: a row that changed
 * ten times is taken once.
 */
export class DirtyRows implements WriteListener {
  readonly #list: RecordLists[ListName]
  /** Rows that were written, and rows of which only the version changed. No row is in both. */
  readonly #written = new Set<HeldRow>()
  readonly #versions = new Set<HeldRow>()
  readonly #removed = new Set<Guid>()
  /**
   * Called when the set stops being empty, and again for each write while it has one row. Not called by `putBack`, after
   * which the caller tries again by itself.
   */
  onDirty: (() => void) | null = null

  /** Subscribes to the writes of the list. */
  constructor(list: RecordLists[ListName]) {
    this.#list = list
    list.listeners.add(this)
  }

  /** Unsubscribes from the list. */
  end(): void {
    this.#list.listeners.delete(this)
  }

  /** The number of row records that `take` would yield, at most. */
  get size(): number {
    return this.#written.size + this.#versions.size + this.#removed.size
  }

  note(row: HeldRow): void {
    this.#versions.delete(row)
    this.#written.add(row)
    this.#notify()
  }

  noteVersion(row: HeldRow): void {
    if (this.#written.has(row)) return
    this.#versions.add(row)
    this.#notify()
  }

  noteRemoval(row: HeldRow): void {
    this.#written.delete(row)
    this.#versions.delete(row)
    this.#removed.add(row.id)
    this.#notify()
  }

  #notify(): void {
    if (this.size === 1) this.onDirty?.()
  }

  /** Returns a row to the set, because what was taken of it did not arrive. */
  putBack(id: Guid): void {
    const row = this.#list.find(id)
    if (row === null) this.#removed.add(id)
    else {
      this.#versions.delete(row)
      this.#written.add(row)
    }
  }

  clear(): void {
    for (const rows of [this.#written, this.#versions, this.#removed]) rows.clear()
  }

  /** Yields at most `max` row records with the rows' present contents, and removes them from the set. */
  *take(max: number, which: RowFilter = 'all'): Generator<RowRecord, void> {
    let left = max
    for (const rows of [this.#written, this.#versions]) {
      for (const row of rows) {
        if (left === 0) return
        const isShown = row.isServed || rows === this.#versions
        if (which !== 'all' && isShown !== (which === 'shown')) continue
        rows.delete(row)
        left--
        yield rowRecordOf(this.#list, row, rows === this.#versions)
      }
    }
    if (which === 'shown') return
    for (const id of this.#removed) {
      if (left === 0) return
      this.#removed.delete(id)
      // If the id is held again, its row is in the other sets or was taken already.
      if (this.#list.find(id) !== null) continue
      left--
      const { lastRemoval: revision } = this.#list
      yield { list: this.#list.kind.name, says: 'removed', id, version: Number.NaN, revision, text: '' }
    }
  }
}
