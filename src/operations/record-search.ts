import type { ListName } from '../domain/field.ts'
import type { Guid } from '../domain/guid.ts'
import type { ServedList, ServedLists } from '../sync/served-list.ts'
import type { Withheld } from '../domain/withheld.ts'
import { FREE, SERVED, WITHHELD } from '../records/shard.ts'
import type { Moment } from '../time/time.ts'
import { yieldToEventLoop } from '../time/waiting.ts'
import { faultWords } from '../faults/fault-words.ts'
import { wordsIn } from './withheld-search.ts'

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
/** The number of records examined without a pause, so that a search does not delay requests. */
const SLICE_ROWS = 500
const DAY_MS = 24 * 3_600_000

/** Finds records and withheld rows whose names contain all words, regardless of case, withheld ones first. */
export function recordsNamed(lists: ServedLists, text: string, now: Moment, signal: AbortSignal): Promise<Found> {
  const words = wordsIn(text)
  return find(lists, now, signal, (name) => {
    const lower = name.toLowerCase()
    return words.every((word) => lower.includes(word))
  })
}

/** Finds records that came or changed within a day, newest first, except those of the first read. */
export function recordsChangedLately(lists: ServedLists, now: Moment, signal: AbortSignal): Promise<Found> {
  return find(lists, now, signal, null)
}

/** Searches in slices, between which requests run. Without words, finds recent changes. */
async function find(
  lists: ServedLists,
  now: Moment,
  signal: AbortSignal,
  isIt: ((name: string) => boolean) | null,
): Promise<Found> {
  let records: FoundRecord[] = []
  let [total, looked] = [0, 0]
  const keep = (record: FoundRecord): void => {
    total++
    records.push(record)
    if (records.length > 2 * MOST_SHOWN) records = first(records)
  }
  const look = async <Item extends { readonly Name: string | null }>(told: ServedList<Item>): Promise<void> => {
    const { list, loadedAtMs } = told
    const { name: of, packing } = list.kind
    const keepWithheld = (id: string | null, withheld: Withheld | null): void => {
      const name = withheld?.name ?? ''
      if (withheld === null || isIt?.(name) !== true) return
      const { where } = withheld
      const reason = faultWords(withheld).reason
      keep({ list: of, id, name, start: null, venue: null, where, changedAgoMs: 0, reason })
    }
    const since = isIt === null ? Math.max(now.monotonicMs - DAY_MS, loadedAtMs) : Number.NEGATIVE_INFINITY
    for (const shard of list.shards) {
      for (let slot = 0; slot < shard.slots; slot++) {
        const isWanted = shard.state[slot] === SERVED ? (shard.updatedAt[slot] ?? 0) > since : isIt !== null
        if (!isWanted || shard.state[slot] === FREE) continue
        if (++looked % SLICE_ROWS === 0) await yieldToEventLoop()
        if (signal.aborted) return
        // The row may have changed during the pause.
        if (shard.state[slot] === WITHHELD) keepWithheld(shard.guid(slot), shard.withheldAt(slot))
        if (shard.state[slot] !== SERVED) continue
        const id = shard.guid(slot)
        const name = packing.unpack(id, shard.read(slot)).Name ?? ''
        const changedAgoMs = Math.max(0, now.monotonicMs - (shard.updatedAt[slot] ?? 0))
        if (isIt?.(name) === false) continue
        const { start, venue } = placeOfEvent(lists, of, id)
        keep({ list: of, id, name, start, venue, where: null, changedAgoMs, reason: null })
      }
      await yieldToEventLoop()
      if (signal.aborted) return
    }
    if (isIt === null) return
    for (const { id, withheld } of list.unidentified) {
      if (++looked % SLICE_ROWS === 0) await yieldToEventLoop()
      if (signal.aborted) return
      keepWithheld(id, withheld)
    }
  }
  await look(lists.events)
  await look(lists.venues)
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
