import type { ListName } from '../domain/field.ts'
import type { Guid } from '../domain/guid.ts'
import type { ServedList, ServedLists } from '../sync/served-list.ts'
import type { Moment } from '../time/time.ts'
import { faultWords, withheldWords } from '../faults/fault-words.ts'
import type { TextKeyFor } from '../proposal/text-keys.ts'
import { type RowFault, type WithheldFault, type WithheldRow, isOnPurpose, FAULTS } from '../domain/withheld.ts'
import { Mutex, yieldToEventLoop } from '../time/waiting.ts'

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

const MOST_SHOWN = 20
const DAY_MS = 24 * 3_600_000

/** Finds records and withheld rows whose names contain all words, regardless of case, withheld ones first. */
export function recordsNamed(lists: ServedLists, text: string, now: Moment, signal: AbortSignal) {
  const words = wordsIn(text)
  return find(lists, now, signal, (name) => hasAll(name, words))
}

/** Finds records that came or changed within a day, newest first, except those of the first read. */
export function recordsChangedLately(lists: ServedLists, now: Moment, signal: AbortSignal) {
  return find(lists, now, signal, null)
}

/** Finds records and withheld rows by name, or recent changes if `isIt` is `null`. */
async function find(lists: ServedLists, now: Moment, signal: AbortSignal, isIt: ((name: string) => boolean) | null) {
  let records: FoundRecord[] = []
  let total = 0
  const keep = (record: FoundRecord): void => {
    total++
    records.push(record)
    if (records.length > 2 * MOST_SHOWN) records = first(records)
  }
  const findIn = async <Item extends { readonly Name: string | null }>(list: ServedList<Item>): Promise<void> => {
    const { name: of } = list.list.kind
    await scanRows(isIt === null ? [] : list.list.withheldRows(), signal, ({ id, withheld }) => {
      const { name = '', where } = withheld
      if (isIt?.(name) !== true) return
      const { reason } = faultWords(withheld)
      keep({ list: of, id, name, start: null, venue: null, where, changedAgoMs: 0, reason })
    })
    const since = isIt === null ? Math.max(now.monotonicMs - DAY_MS, list.loadedAtMs) : Number.NEGATIVE_INFINITY
    await scanRows(list.list.rows(), signal, (row) => {
      const { id, updatedAt } = row
      const record = updatedAt <= since ? null : list.list.read(row)
      if (record === null) return
      const name = record.Name ?? ''
      if (isIt?.(name) === false) return
      const { start, venue } = placeOfEvent(lists, of, id)
      const changedAgoMs = Math.max(0, now.monotonicMs - updatedAt)
      keep({ list: of, id, name, start, venue, where: null, changedAgoMs, reason: null })
    })
  }
  await findIn(lists.events)
  await findIn(lists.venues)
  // All hits are counted, and the first are shown.
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

export interface WithheldQuery {
  readonly list: ListName
  /** Words in lower case that must all appear in the row's id, name, position, column or reason. */
  readonly words: readonly string[]
  /** The fault to find; `null` for any. `mistakes` are all faults except drafts and inactive rows. */
  readonly fault: WithheldFault | 'mistakes' | null
  /** The column that must have the fault, or any fault if none is named; `null` for all rows. */
  readonly column: string | null
  readonly offset: number
}

const PAGE_ROWS = 20
/** The last page. Hits before it are kept during the search. */
const FURTHEST = 10_000
const LONGEST_TEXT = 200
/** The number of hits beyond two pages that are kept before they are sorted. */
const MOST_UNSORTED = 500

/** Parses a query; `null` if it is malformed. */
export function withheldQuery(parameter: (name: string) => string | undefined): WithheldQuery | null {
  const list = parameter('list') ?? 'events'
  const offset = parameter('offset') ?? '0'
  const fault = [...FAULTS, 'mistakes' as const].find((known) => known === parameter('reason')) ?? null
  if ((list !== 'events' && list !== 'venues') || !/^\d{1,9}$/.test(offset) || Number(offset) > FURTHEST) return null
  if (fault === null && (parameter('reason') ?? '') !== '') return null
  const column = parameter('column') || null
  return { list, words: wordsIn(parameter('q') ?? ''), fault, column, offset: Number(offset) }
}

/** Splits a search text into words in lower case. */
function wordsIn(text: string): readonly string[] {
  const words = text.slice(0, LONGEST_TEXT).toLowerCase().split(/\s+/)
  return words.filter((word) => word !== '')
}

/** Orders mistakes first, then by position in the file or table. */
function inOrder(left: WithheldRow, right: WithheldRow): number {
  const [one, other] = [left.withheld, right.withheld]
  return (
    Number(isOnPurpose(one)) - Number(isOnPurpose(other)) ||
    placeOf(one.where) - placeOf(other.where) ||
    (one.where < other.where ? -1 : 1)
  )
}

function placeOf(where: string): number {
  return Number(/(?:row|line|item) (\d+)/.exec(where)?.[1] ?? 0)
}

/** Searches the withheld rows of a list in slices, between which requests run. */
export async function searchWithheld(
  rows: Iterable<WithheldRow>,
  { list, words, offset, ...about }: WithheldQuery,
  signal: AbortSignal,
  pause?: () => Promise<void>,
  keyFor?: TextKeyFor,
) {
  const most = offset + PAGE_ROWS
  let found: WithheldRow[] = []
  let total = 0
  let matching = 0
  const look = (row: WithheldRow): void => {
    total++
    if (!isAbout(row, about) || !hasWords(row, words)) return
    matching++
    found.push(row)
    if (found.length > 2 * most + MOST_UNSORTED) found = found.toSorted(inOrder).slice(0, most)
  }
  await scanRows(rows, signal, look, pause)
  // The number of withheld rows in the list, and of those that match the query.
  return {
    list,
    total,
    matching,
    offset,
    rows: found
      .toSorted(inOrder)
      .slice(offset, most)
      .map((row) => shown(row, keyFor)),
  }
}

function isAbout({ withheld }: WithheldRow, { fault, column }: Pick<WithheldQuery, 'fault' | 'column'>): boolean {
  const has = (row: RowFault): boolean =>
    fault === null || (fault === 'mistakes' ? !isOnPurpose(row) : row.fault === fault)
  if (column === null) return has(withheld)
  return [withheld, ...(withheld.also ?? [])].some((row) => row.column === column && has(row))
}

function hasAll(text: string, words: readonly string[]): boolean {
  const lower = text.toLowerCase()
  return words.every((word) => lower.includes(word))
}

function hasWords(row: WithheldRow, words: readonly string[]): boolean {
  if (words.length === 0) return true
  const { id, name, where, reason } = shown(row)
  return hasAll(`${id ?? ''} ${name ?? ''} ${where} ${reason}`, words)
}

/** Returns the row for the dashboard, with reasons and remedies for the row and for each fault. */
function shown({ id, withheld }: WithheldRow, keyFor?: TextKeyFor) {
  const { name = null, where, fault } = withheld
  const faults = [withheld, ...(withheld.also ?? [])].map((one) => faultWords(one, keyFor))
  return { id, name, where, fault, ...withheldWords(withheld, keyFor), faults }
}

const MOST_SEARCHES = 8
const SLICE_ROWS = 500

/** Runs one search at a time, because several would delay requests. */
export class SearchQueue {
  readonly #mutex = new Mutex()
  #searches = 0

  /** Runs the search in turn; `null` if too many are waiting. */
  async run<Result>(search: () => Promise<Result>): Promise<Result | null> {
    if (this.#searches >= MOST_SEARCHES) return null
    this.#searches++
    return this.#mutex.run(search).finally(() => this.#searches--)
  }
}

/** Looks at rows in slices, between which requests run. Ends early if nobody waits for the result any longer. */
async function scanRows<Row>(
  rows: Iterable<Row>,
  signal: AbortSignal,
  look: (row: Row) => void,
  pause: () => Promise<void> = yieldToEventLoop,
): Promise<void> {
  let looked = 0
  for (const row of rows) {
    look(row)
    looked++
    if (looked % SLICE_ROWS > 0) continue
    await pause()
    if (signal.aborted) return
  }
}
