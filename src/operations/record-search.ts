import type { ListName } from '../domain/field.ts'
import type { Guid } from '../domain/guid.ts'
import type { ServedList, ServedLists } from '../sync/served-list.ts'
import { slotOf } from '../records/record-list.ts'
import type { Moment } from '../time/time.ts'
import { faultWords } from '../faults/fault-words.ts'
import { scanRows } from './search-turns.ts'
import { hasAll, wordsIn } from './withheld-search.ts'

/** A served record or a withheld row. */
interface FoundRecord {
  readonly list: ListName
  /** The id; `null` if the row has no valid one. */
  readonly id: string | null
  readonly name: string
  /** The event's start and the name of its venue; `null` if there is none or the row is withheld. */
  readonly start: string | null
  readonly venue: string | null
  /** The position of a withheld row; `null` if the row is served. */
  readonly where: string | null
  /** How long the record has been served unchanged, ms; 0 if it is not served. */
  readonly changedAgoMs: number
  /** The first reason why the row is withheld; `null` if it is served. */
  readonly reason: string | null
}

interface Found {
  readonly total: number
  /** The first hits. */
  readonly records: readonly FoundRecord[]
}

const MOST_SHOWN = 20
const DAY_MS = 24 * 3_600_000

/** Finds records and withheld rows whose names contain all words, regardless of case, withheld ones first. */
export function recordsNamed(lists: ServedLists, text: string, now: Moment, signal: AbortSignal): Promise<Found> {
  const words = wordsIn(text)
  return find(lists, now, signal, (name) => hasAll(name, words))
}

/** Finds records that came or changed within a day, newest first, except those of the first read. */
export function recordsChangedLately(lists: ServedLists, now: Moment, signal: AbortSignal): Promise<Found> {
  return find(lists, now, signal, null)
}

/** Finds records and withheld rows by name, or recent changes if `isIt` is `null`. */
async function find(
  lists: ServedLists,
  now: Moment,
  signal: AbortSignal,
  isIt: ((name: string) => boolean) | null,
): Promise<Found> {
  let records: FoundRecord[] = []
  let total = 0
  const keep = (record: FoundRecord): void => {
    total++
    records.push(record)
    if (records.length > 2 * MOST_SHOWN) records = first(records)
  }
  const findIn = async <Item extends { readonly Name: string | null }>(told: ServedList<Item>): Promise<void> => {
    const { name: of, packing } = told.list.kind
    await scanRows(isIt === null ? [] : told.list.withheldRows(), signal, ({ id, withheld }) => {
      const { name = '', where } = withheld
      if (isIt?.(name) !== true) return
      const { reason } = faultWords(withheld)
      keep({ list: of, id, name, start: null, venue: null, where, changedAgoMs: 0, reason })
    })
    const since = isIt === null ? Math.max(now.monotonicMs - DAY_MS, told.loadedAtMs) : Number.NEGATIVE_INFINITY
    await scanRows(told.list.rows(), signal, (row) => {
      const shard = told.list.shardAt(row)
      const updatedAt = shard.updatedAt[slotOf(row)] ?? 0
      if (!told.list.isServed(row) || updatedAt <= since) return
      const id = told.list.idOf(row)
      const name = packing.unpack(id, shard.read(slotOf(row))).Name ?? ''
      if (isIt?.(name) === false) return
      const { start, venue } = placeOfEvent(lists, of, id)
      const changedAgoMs = Math.max(0, now.monotonicMs - updatedAt)
      keep({ list: of, id, name, start, venue, where: null, changedAgoMs, reason: null })
    })
  }
  await findIn(lists.events)
  await findIn(lists.venues)
  return { total, records: first(records) }
}

/** Returns the start and the venue, which distinguish events with the same title. */
function placeOfEvent({ events, venues }: ServedLists, list: ListName, id: Guid): Pick<FoundRecord, 'start' | 'venue'> {
  const event = list === 'events' ? events.list.get(id) : null
  if (event === null) return { start: null, venue: null }
  return { start: event.Start, venue: venues.list.get(event.VenueId)?.Name ?? null }
}

/** Orders withheld rows first, then the newest records. */
function first(records: readonly FoundRecord[]): FoundRecord[] {
  return records
    .toSorted(
      (left, right) =>
        Number(left.reason === null) - Number(right.reason === null) || left.changedAgoMs - right.changedAgoMs,
    )
    .slice(0, MOST_SHOWN)
}
