// The changes that callers can ask for. In: the writes of both lists. Out: the records that changed since a position.
// Each is there once, with its last state. Records that were never served are not there.

import { randomBytes } from 'node:crypto'
import type { ListName } from '../domain/field.ts'
import { type Guid, EMPTY_GUID } from '../domain/guid.ts'
import type { HeldRow } from '../records/held-row.ts'
import type { WriteListener } from '../records/record-list.ts'
import type { RecordLists } from '../records/row-records.ts'

/** How many removals are kept, and for how long. */
const MOST_REMOVALS = 100_000
const KEPT_MS = 7 * 24 * 3_600_000
/** How many processes before this one are remembered: each has a name of its own for the same history. */
const MOST_RUNS = 100
/** How many contents of the store of a cluster are remembered. */
const MOST_MARKS = 10_000

interface Change {
  readonly list: ListName
  readonly id: Guid
  readonly state: 'updated' | 'removed'
}

export interface ChangePage {
  readonly changes: readonly Change[]
  /** Where the next page begins. */
  readonly next: string
  /** Whether there are more changes already. */
  readonly more: boolean
}

/** The last change of a record. */
interface Entry {
  readonly number: number
  readonly list: ListName
  readonly id: Guid
  /** When the record was removed, epoch ms; `null` if it is served. */
  readonly removedMs: number | null
  /** A later entry of the same record follows. */
  isStale: boolean
}

/** A process that wrote the history, and the number of its last change. */
interface Run {
  readonly name: string
  readonly last: number
}

/** A journal as a snapshot keeps it. */
export interface KeptJournal {
  readonly runs: readonly Run[]
  readonly floor: number
  readonly entries: readonly (readonly [number: number, list: ListName, id: Guid, removedMs: number | null])[]
}

/** A journal, and the last position that each webhook was told, as a snapshot keeps them. */
export interface KeptChanges extends KeptJournal {
  readonly told: Readonly<Record<string, string>>
  /** Identifies the settings by which records were written. */
  readonly form: string
}

/** Up to where a caller knows the changes. Removed venues are told last, so they have a number of their own. */
interface Position {
  readonly number: number
  readonly removedVenues: number
  /** The last change there was: earlier ones of the same records were left out. */
  readonly last: number
}

/** A write in the store of a cluster. It names one content of the lists, the same on all instances. */
export interface SharedContent {
  readonly token: string
  readonly seq: number
}

/** The writes of one token after which the lists held what they held here at a number. */
interface Mark {
  readonly token: string
  readonly first: number
  last: number
  readonly number: number
}

/** The changes of what is served, in memory. */
export class ChangeJournal {
  readonly #lists: RecordLists
  readonly #nowMs: () => number
  /** Positions name the process that gave them: after a crash, numbers may be given twice. */
  readonly #name: string = randomBytes(9).toString('base64url')
  readonly #runs: readonly Run[]
  /** Ascending by number. Stale entries go now and then. */
  #entries: Entry[] = []
  #stale = 0
  readonly #latest: Readonly<Record<ListName, Map<Guid, Entry>>> = { events: new Map(), venues: new Map() }
  /** The entries of removals, ascending, stale ones too; those before `#oldestRemoval` have gone. */
  #removals: Entry[] = []
  #oldestRemoval = 0
  #last = 0
  /** Positions before this number are unknown: a removal after them has been forgotten. */
  #floor = 0
  /** Ascending. Positions that another instance gave after the same writes are known by them. */
  #marks: Mark[] = []
  #onChange: (() => void)[] = []
  readonly #followers: readonly (readonly [RecordLists[ListName], WriteListener])[]

  /** @param kept the journal of the process before; `null` if there is none */
  constructor(lists: RecordLists, nowMs: () => number, kept: KeptJournal | null = null) {
    this.#lists = lists
    this.#nowMs = nowMs
    this.#runs = kept?.runs.slice(-MOST_RUNS) ?? []
    this.#floor = kept?.floor ?? 0
    for (const [number, list, id, removedMs] of kept?.entries ?? [])
      this.#append({ number, list, id, removedMs, isStale: false })
    this.#last = Math.max(this.#floor, this.#last, ...this.#runs.map(({ last }) => last))
    this.#followers = (['events', 'venues'] as const).map((name) => [lists[name], this.#listenerOf(name)] as const)
    for (const [list, listener] of this.#followers) list.listeners.add(listener)
  }

  /** Whether these are the lists that the journal follows. */
  isOf({ events, venues }: RecordLists): boolean {
    return this.#lists.events === events && this.#lists.venues === venues
  }

  /** Stops following the lists. */
  end(): void {
    for (const [list, listener] of this.#followers) list.listeners.delete(listener)
    this.wake()
  }

  /** The position from which on everything is still to come. */
  get now(): string {
    return this.#written({ number: this.#last, removedVenues: this.#last, last: this.#last })
  }

  /** Returns the changes since a position, at most `most`; `null` if the position is unknown. */
  since(position: string, most: number): ChangePage | null {
    this.#forgetRemovals()
    const known = this.#read(position)
    if (known === 'ahead') return { changes: [], next: position, more: false }
    return known === null ? null : this.#page(known, most)
  }

  /**
   * Notes that the content of a write in the store of the cluster is what the lists held at a number, or later. `null`:
   * it is later than that of the mark before.
   */
  mark({ token, seq }: SharedContent, at: number | null): void {
    const last = this.#marks.at(-1)
    const number = at ?? last?.number
    if (number === undefined) return
    if (last?.token === token && last.number === number) last.last = seq
    else this.#marks.push({ token, first: seq, last: seq, number })
    if (this.#marks.length > MOST_MARKS) this.#marks = this.#marks.slice(MOST_MARKS / 2)
  }

  /** The number of the last change. */
  get last(): number {
    return this.#last
  }

  /** Calls back once, after the next change or at the end of the journal. Returns how to stop waiting. */
  afterChange(wake: () => void): () => void {
    this.#onChange.push(wake)
    return () => {
      this.#onChange = this.#onChange.filter((one) => one !== wake)
    }
  }

  /** Returns what a snapshot keeps. */
  kept(): KeptJournal {
    this.#forgetRemovals()
    const runs = [...this.#runs, { name: this.#name, last: this.#last }]
    const entries = this.#entries.flatMap(({ number, list, id, removedMs, isStale }) =>
      isStale ? [] : [[number, list, id, removedMs] as const],
    )
    return { runs, floor: this.#floor, entries }
  }

  #listenerOf(list: ListName): WriteListener {
    const note = ({ id, isServed }: Pick<HeldRow, 'id' | 'isServed'>, wasServed: boolean): void => {
      if (isServed || wasServed) this.#note(list, id, isServed)
    }
    return { note, noteRemoval: ({ id }, wasServed) => note({ id, isServed: false }, wasServed) }
  }

  #note(list: ListName, id: Guid, isServed: boolean): void {
    const removedMs = isServed ? null : this.#nowMs()
    this.#append({ number: this.#last + 1, list, id, removedMs, isStale: false })
    this.#forgetStale()
    this.wake()
  }

  #append(entry: Entry): void {
    const latest = this.#latest[entry.list]
    const before = latest.get(entry.id)
    if (before !== undefined) {
      before.isStale = true
      this.#stale++
    }
    latest.set(entry.id, entry)
    this.#entries.push(entry)
    if (entry.removedMs !== null) this.#removals.push(entry)
    this.#last = entry.number
  }

  /** Each change adds one entry, so this costs a change the same however many there are. */
  #forgetStale(): void {
    if (this.#stale < 1000 || this.#stale * 2 < this.#entries.length) return
    this.#entries = this.#entries.filter(({ isStale }) => !isStale)
    this.#removals = this.#removals.slice(this.#oldestRemoval).filter(({ isStale }) => !isStale)
    this.#oldestRemoval = 0
    this.#stale = 0
  }

  #forgetRemovals(): void {
    const oldestMs = this.#nowMs() - KEPT_MS
    for (;;) {
      const entry = this.#removals[this.#oldestRemoval]
      if (entry === undefined) return
      const isOver = this.#removals.length - this.#oldestRemoval > MOST_REMOVALS
      if (!isOver && (entry.removedMs ?? 0) >= oldestMs) return
      this.#oldestRemoval++
      if (entry.isStale) continue
      entry.isStale = true
      this.#stale++
      this.#latest[entry.list].delete(entry.id)
      this.#floor = entry.number
    }
  }

  /** Wakes all callers that wait for a change. */
  wake(): void {
    for (const wake of this.#onChange.splice(0)) wake()
  }

  /**
   * A venue comes before the events that point at it, and a removed venue after them. So updated venues are first on a
   * page, with those that an event of the page points at and that come later; removed venues wait until nothing else is left.
   */
  #page({ number: from, removedVenues }: Position, most: number): ChangePage {
    const found = new Set<Entry>()
    let reached = from
    let isWhole = true
    for (let at = firstAfter(this.#entries, from); at < this.#entries.length && isWhole; at++) {
      const entry = this.#entries[at]
      if (entry === undefined) break
      if (!entry.isStale && !isRemovedVenue(entry)) {
        const needed = [this.#laterVenueOf(entry), entry].filter((one) => one !== null && !found.has(one))
        isWhole = found.size + needed.length <= most
        if (!isWhole) break
        for (const one of needed) if (one !== null) found.add(one)
      }
      reached = entry.number
    }
    const next = { number: isWhole ? this.#last : reached, removedVenues, last: this.#last }
    if (isWhole) {
      for (let at = firstAfter(this.#removals, removedVenues, this.#oldestRemoval); at < this.#removals.length; at++) {
        const entry = this.#removals[at]
        if (entry === undefined || entry.isStale || !isRemovedVenue(entry)) continue
        isWhole = found.size < most
        if (!isWhole) break
        found.add(entry)
        next.removedVenues = entry.number
      }
      if (isWhole) next.removedVenues = this.#last
    }
    const changes = [...found].toSorted(inOrder).map(({ list, id, removedMs }) => {
      return { list, id, state: removedMs === null ? ('updated' as const) : ('removed' as const) }
    })
    return { changes, next: this.#written(next), more: !isWhole }
  }

  /** The venue of an event that changed after the event did; `null` if there is none. */
  #laterVenueOf({ list, id, removedMs, number }: Entry): Entry | null {
    const key = list === 'events' && removedMs === null ? this.#lists.events.find(id)?.key : null
    const venue = this.#latest.venues.get(key?.venue ?? EMPTY_GUID)
    return venue !== undefined && venue.removedMs === null && venue.number > number ? venue : null
  }

  #written({ number, removedVenues, last }: Position): string {
    const numbers = removedVenues === last ? [number] : [number, removedVenues, last]
    const mark = this.#marks.at(-1)
    // A change that may not be in the store is perhaps never heard of elsewhere, nor is its reversal.
    const isShared =
      mark !== undefined && [number, removedVenues, last, this.#last].every((each) => each === mark.number)
    const shared = isShared ? `~${mark.token}.${mark.last.toString(36)}` : ''
    return [this.#name, ...numbers.map((each) => each.toString(36))].join('.') + shared
  }

  /** Parses a position. `ahead`: another instance has changes that are not here yet. `null` if it is unknown here. */
  #read(position: string): Position | 'ahead' | null {
    const [, name = '', number = '', removedVenues = number, last = number, token = '', seq = ''] =
      POSITION.exec(position) ?? []
    const known = { number: parsed(number), removedVenues: parsed(removedVenues), last: parsed(last) }
    const run = name === this.#name ? { last: this.#last } : this.#runs.find((one) => one.name === name)
    if (run === undefined) return this.#readShared({ token, seq: parsed(seq) })
    const isOrdered = known.removedVenues <= known.number && known.number <= known.last && known.last <= run.last
    return isOrdered && known.removedVenues >= this.#floor ? known : null
  }

  /** Looks for what another instance held when it gave a position. */
  #readShared({ token, seq }: SharedContent): Position | 'ahead' | null {
    const mark = this.#marks.findLast((one) => one.token === token && one.first <= seq)
    if (mark === undefined || mark.number < this.#floor) return null
    const { number } = mark
    const isLast = mark === this.#marks.findLast((one) => one.token === token)
    if (!isLast || seq <= mark.last) return { number, removedVenues: number, last: number }
    // If the history went on without these writes, they are lost.
    return mark === this.#marks.at(-1) && number === this.#last ? 'ahead' : null
  }
}

const POSITION =
  /^([\w-]{12})\.([0-9a-z]{1,10})(?:\.([0-9a-z]{1,10})\.([0-9a-z]{1,10}))?(?:~([0-9a-f]{16})\.([0-9a-z]{1,10}))?$/

function parsed(number: string): number {
  return Number.parseInt(number, 36)
}

function isRemovedVenue({ list, removedMs }: Entry): boolean {
  return list === 'venues' && removedMs !== null
}

/** Updated venues, then events, then removed venues; each in the order of their changes. */
function inOrder(left: Entry, right: Entry): number {
  return groupOf(left) - groupOf(right) || left.number - right.number
}

function groupOf(entry: Entry): number {
  if (entry.list === 'events') return 1
  return isRemovedVenue(entry) ? 2 : 0
}

/** The index of the first entry with a greater number. */
function firstAfter(entries: readonly Entry[], number: number, from = 0): number {
  let low = from
  let high = entries.length
  while (low < high) {
    const middle = (low + high) >>> 1
    if ((entries[middle]?.number ?? 0) > number) high = middle
    else low = middle + 1
  }
  return low
}
