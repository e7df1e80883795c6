import { describe, expect, it } from 'bun:test'
import { Chance } from '../../test/model/chance.ts'
import { eventOf, formatter, guidOf, venueOf } from '../../test/model/records.ts'
import { type Guid, EMPTY_GUID } from '../domain/guid.ts'
import { type RecordLists, applyRowRecord, ListMaker, rowRecordOf } from '../records/row-records.ts'
import { type ChangePage, type SharedContent, ChangeJournal } from './change-journal.ts'

const DAY_MS = 24 * 3_600_000

/** Both lists, and a journal of them, with a clock that the test sets. */
function scene() {
  const lists = new ListMaker(formatter).make()
  const clock = { nowMs: 0 }
  return { lists, clock, journal: new ChangeJournal(lists, () => clock.nowMs) }
}

function serveVenue({ venues }: RecordLists, id: Guid, name: string): void {
  venues.serve(venues.find(id) ?? venues.insert(id), venueOf(id, name))
}

function serveEvent({ events }: RecordLists, id: Guid, name: string, venue: Guid = EMPTY_GUID): void {
  events.serve(events.find(id) ?? events.insert(id), eventOf(id, { Name: name, VenueId: venue }))
}

function remove({ events, venues }: RecordLists, id: Guid): void {
  for (const list of [events, venues]) {
    const row = list.find(id)
    if (row !== null) list.remove(row)
  }
}

const WITHHELD = { fault: 'inactive', column: null, expected: null, found: null, where: 'a row' } as const

describe('a journal of changes', () => {
  it('has nothing of what was served before its position', () => {
    const { lists, journal } = scene()
    serveEvent(lists, guidOf(1), 'A')
    const page = journal.since(journal.now, 1000)
    expect(page).toMatchObject({ changes: [], more: false })
  })

  it('has each record once, with its last state, the oldest change first', () => {
    const { lists, journal } = scene()
    const position = journal.now
    serveEvent(lists, guidOf(1), 'A')
    serveEvent(lists, guidOf(2), 'B')
    serveEvent(lists, guidOf(1), 'C')
    remove(lists, guidOf(2))
    expect(journal.since(position, 1000)?.changes).toEqual([
      { list: 'events', id: guidOf(1), state: 'updated' },
      { list: 'events', id: guidOf(2), state: 'removed' },
    ])
  })

  it('has nothing of a row that was never served', () => {
    const { lists, journal } = scene()
    const position = journal.now
    lists.events.withhold(lists.events.insert(guidOf(1)), WITHHELD)
    remove(lists, guidOf(1))
    expect(journal.since(position, 1000)?.changes).toEqual([])
  })

  it('calls a record removed that is withheld from now on', () => {
    const { lists, journal } = scene()
    serveEvent(lists, guidOf(1), 'A')
    const position = journal.now
    const row = lists.events.find(guidOf(1))
    if (row !== null) lists.events.withhold(row, WITHHELD)
    expect(journal.since(position, 1000)?.changes).toEqual([{ list: 'events', id: guidOf(1), state: 'removed' }])
  })

  it('has a venue before the events that point at it, even one that changed again later', () => {
    const { lists, journal } = scene()
    const position = journal.now
    serveVenue(lists, guidOf(9), 'Hall')
    for (let number = 1; number <= 4; number++) serveEvent(lists, guidOf(number), 'A', guidOf(9))
    serveVenue(lists, guidOf(9), 'New hall')
    const first = journal.since(position, 3)
    expect(first?.changes.map(({ id }) => id)).toEqual([guidOf(9), guidOf(1), guidOf(2)])
    expect(first?.more).toBe(true)
  })

  it('has a removed venue after all other changes, on the last page', () => {
    const { lists, journal } = scene()
    serveVenue(lists, guidOf(9), 'Hall')
    for (let number = 1; number <= 4; number++) serveEvent(lists, guidOf(number), 'A', guidOf(9))
    const position = journal.now
    for (let number = 1; number <= 4; number++) serveEvent(lists, guidOf(number), 'A')
    remove(lists, guidOf(9))
    for (let number = 1; number <= 4; number++) serveEvent(lists, guidOf(number), 'B')
    const first = journal.since(position, 3)
    const second = journal.since(first?.next ?? '', 3)
    expect(first?.changes.map(({ id }) => id)).toEqual([guidOf(1), guidOf(2), guidOf(3)])
    expect(second?.changes.map(({ id, state }) => [id, state])).toEqual([
      [guidOf(4), 'updated'],
      [guidOf(9), 'removed'],
    ])
    expect(second?.more).toBe(false)
  })

  it('does not know positions of other journals, nor made-up ones', () => {
    const { journal } = scene()
    const other = scene().journal.now
    for (const position of [other, '', 'x', `${journal.now}z`, `${journal.now}.1`, '%00'])
      expect([position, journal.since(position, 1000)]).toEqual([position, null])
  })

  it('forgets removals after seven days, and then does not know older positions', () => {
    const { lists, clock, journal } = scene()
    serveEvent(lists, guidOf(1), 'A')
    const position = journal.now
    remove(lists, guidOf(1))
    const later = journal.now
    clock.nowMs = 7 * DAY_MS
    expect(journal.since(position, 1000)?.changes).toHaveLength(1)
    clock.nowMs = 7 * DAY_MS + 1
    expect(journal.since(position, 1000)).toBeNull()
    expect(journal.since(later, 1000)?.changes).toEqual([])
  })

  it('keeps at most 100,000 removals', () => {
    const { lists, journal } = scene()
    const position = journal.now
    for (let number = 1; number <= 100_000; number++) {
      serveEvent(lists, guidOf(number), 'A')
      remove(lists, guidOf(number))
    }
    expect(journal.since(position, 1000)?.more).toBe(true)
    serveEvent(lists, guidOf(100_001), 'A')
    remove(lists, guidOf(100_001))
    expect(journal.since(position, 1000)).toBeNull()
  })

  it('calls back once, at the next change', () => {
    const { lists, journal } = scene()
    let calls = 0
    journal.afterChange(() => void calls++)
    const forget = journal.afterChange(() => void (calls += 100))
    forget()
    serveEvent(lists, guidOf(1), 'A')
    serveEvent(lists, guidOf(2), 'A')
    expect(calls).toBe(1)
  })
})

describe('the positions of two journals of one cluster', () => {
  const [TOKEN, NEXT_TOKEN] = ['0123456789abcdef', 'fedcba9876543210']
  const at = (seq: number, token = TOKEN): SharedContent => ({ token, seq })
  /** Two journals that have begun at the same write. */
  const both = () => {
    const [one, other] = [scene(), scene()]
    for (const { journal } of [one, other]) journal.mark(at(1), journal.last)
    return { one, other }
  }
  const change = ({ lists }: ReturnType<typeof scene>, number: number): void =>
    serveEvent(lists, guidOf(number), `event ${number}`)
  const idsOf = (page: ChangePage | null): readonly Guid[] | null => page?.changes.map(({ id }) => id) ?? null

  it('are known to both after the same write, also if others with nothing to tell have followed', () => {
    const { one, other } = both()
    for (const seq of [2, 3, 4]) one.journal.mark(at(seq), one.journal.last)
    for (const seq of [2, 3, 4, 5, 6]) other.journal.mark(at(seq), other.journal.last)
    const position = one.journal.now
    change(other, 1)
    other.journal.mark(at(7), other.journal.last)
    expect(idsOf(other.journal.since(position, 1000))).toEqual([guidOf(1)])
    const next = other.journal.since(position, 1000)?.next ?? ''
    change(one, 1)
    one.journal.mark(at(7), one.journal.last)
    change(one, 2)
    expect(idsOf(one.journal.since(next, 1000))).toEqual([guidOf(2)])
  })

  it('are known to one journal alone while a change of it may not be in the store, and on pages before the last', () => {
    const { one, other } = both()
    change(one, 1)
    expect(other.journal.since(one.journal.now, 1000)).toBeNull()
    one.journal.mark(at(2), one.journal.last)
    expect(other.journal.since(one.journal.now, 1000)).not.toBeNull()
    const position = one.journal.now
    for (const number of [2, 3, 4]) change(one, number)
    one.journal.mark(at(3), one.journal.last)
    const page = one.journal.since(position, 2)
    expect([page?.more, other.journal.since(page?.next ?? '', 1000)]).toEqual([true, null])
  })

  it('wait at a journal that has not come so far, and are unknown once the history goes on without their writes', () => {
    const { one, other } = both()
    change(one, 1)
    one.journal.mark(at(2), one.journal.last)
    const position = one.journal.now
    expect(other.journal.since(position, 1000)).toEqual({ changes: [], next: position, more: false })
    other.journal.mark(at(2, NEXT_TOKEN), other.journal.last)
    expect(other.journal.since(position, 1000)).toBeNull()
    const { one: third, other: alone } = both()
    change(third, 1)
    third.journal.mark(at(2), third.journal.last)
    change(alone, 2)
    expect(alone.journal.since(third.journal.now, 1000)).toBeNull()
  })

  it('of a write that took only a part of what has changed are told all of that', () => {
    const { one, other } = both()
    for (const number of [1, 2]) change(one, number)
    one.journal.mark(at(2), null)
    change(other, 1)
    other.journal.mark(at(2), other.journal.last)
    const position = other.journal.now
    expect(idsOf(one.journal.since(position, 1000))).toEqual([guidOf(1), guidOf(2)])
    one.journal.mark(at(3), one.journal.last)
    expect(idsOf(one.journal.since(position, 1000))).toEqual([guidOf(1), guidOf(2)])
  })

  it('are unknown to a journal that began after their write, and after a removal that is forgotten', () => {
    const { one, other } = both()
    const position = one.journal.now
    const late = scene()
    late.journal.mark(at(2), late.journal.last)
    expect(late.journal.since(position, 1000)).toBeNull()
    change(other, 1)
    remove(other.lists, guidOf(1))
    other.clock.nowMs = 7 * DAY_MS + 1
    other.journal.mark(at(2), other.journal.last)
    expect(other.journal.since(position, 1000)).toBeNull()
  })
})

/** A caller's copy, kept by the pages of changes. */
class Copy {
  readonly names = new Map<Guid, string>()
  readonly #lists: () => RecordLists
  readonly #journal: () => ChangeJournal
  #position: string | null = null
  rereads = 0

  constructor(lists: () => RecordLists, journal: () => ChangeJournal) {
    this.#lists = lists
    this.#journal = journal
  }

  /** Reads a page, or the lists if the position is unknown. Returns whether the copy is complete. */
  follow(most: number): boolean {
    const page = this.#position === null ? null : this.#journal().since(this.#position, most)
    if (page === null) {
      this.rereads++
      this.#position = this.#journal().now
      this.names.clear()
      for (const list of [this.#lists().events, this.#lists().venues]) for (const { id } of list.rows()) this.#take(id)
      return true
    }
    for (const { id, state } of page.changes) {
      if (state === 'removed') this.names.delete(id)
      else this.#take(id)
    }
    this.#position = page.next
    return !page.more
  }

  #take(id: Guid): void {
    const { events, venues } = this.#lists()
    const record = events.get(id) ?? venues.get(id)
    if (record === null) this.names.delete(id)
    else this.names.set(id, record.Name ?? '')
  }
}

function servedIn({ events, venues }: RecordLists): Map<Guid, string> {
  const rows = [...events.rows(), ...venues.rows()].flatMap(({ id }) => {
    const record = events.get(id) ?? venues.get(id)
    return record === null ? [] : [[id, record.Name ?? ''] as const]
  })
  return new Map(rows)
}

/** Both lists and the journal as a snapshot keeps them. */
function snapshotOf(lists: RecordLists, journal: ChangeJournal) {
  const rows = [lists.venues, lists.events].flatMap((list) => Array.from(list.rows(), (row) => rowRecordOf(list, row)))
  return { rows, kept: journal.kept() }
}

/** The next process: as the snapshot was, until its first read finds what has changed since. */
function restarted({ rows, kept }: ReturnType<typeof snapshotOf>, now: RecordLists, nowMs: () => number) {
  const lists = new ListMaker(formatter).make()
  for (const row of rows) applyRowRecord(lists, row, 0)
  const journal = new ChangeJournal(lists, nowMs, kept)
  for (const name of ['venues', 'events'] as const)
    for (const row of now[name].rows()) applyRowRecord(lists, rowRecordOf(now[name], row), 0)
  for (const list of [lists.events, lists.venues])
    for (const row of list.rows()) if (now[list.kind.name].find(row.id) === null) list.remove(row)
  return { lists, journal }
}

it('a copy that follows the changes through random writes, restarts and crashes equals the lists', () => {
  const chance = new Chance(Number(process.env['MARQUEE_SEED'] ?? 1))
  let rereads = 0
  for (let run = 0; run < 40; run++) {
    const { clock, ...first } = scene()
    const nowMs = (): number => clock.nowMs
    let current: Pick<ReturnType<typeof scene>, 'lists' | 'journal'> = first
    let snapshot = snapshotOf(first.lists, first.journal)
    const copy = new Copy(
      () => current.lists,
      () => current.journal,
    )
    for (let step = 0; step < 400; step++) {
      const { lists, journal } = current
      const id = guidOf(1 + chance.below(20))
      const venue = guidOf(101 + chance.below(5))
      switch (chance.below(9)) {
        case 0:
          remove(lists, id)
          break
        case 1:
          remove(lists, venue)
          break
        case 2:
          serveVenue(lists, venue, `venue ${step}`)
          break
        case 3: {
          const row = lists.events.find(id)
          if (row !== null) lists.events.withhold(row, WITHHELD)
          break
        }
        case 4:
          snapshot = snapshotOf(lists, journal)
          break
        case 5:
          // A stop writes the snapshot; after a crash it is older than what callers know.
          if (chance.happens(0.8)) break
          if (chance.happens(0.5)) snapshot = snapshotOf(lists, journal)
          current = restarted(snapshot, lists, nowMs)
          break
        case 6:
          copy.follow(2 + chance.below(4))
          break
        default:
          serveEvent(lists, id, `event ${step}`, chance.happens(0.7) ? venue : EMPTY_GUID)
      }
      clock.nowMs += chance.happens(0.005) ? DAY_MS : 1
    }
    while (!copy.follow(2 + chance.below(4)));
    rereads += copy.rereads
    expect([run, Object.fromEntries(copy.names)]).toEqual([run, Object.fromEntries(servedIn(current.lists))])
  }
  // Some positions were lost, and most were not.
  expect(rereads).toBeGreaterThan(40)
  expect(rereads).toBeLessThan(40 * 20)
})

it('a copy that follows the changes never has an event without its venue', () => {
  const chance = new Chance(Number(process.env['MARQUEE_SEED'] ?? 1))
  for (let run = 0; run < 20; run++) {
    const { lists, journal } = scene()
    const venues = new Set<Guid>()
    const events = new Map<Guid, Guid>()
    let position = journal.now
    for (let step = 0; step < 300; step++) {
      const id = guidOf(1 + chance.below(20))
      const venue = guidOf(101 + chance.below(5))
      if (chance.happens(0.1)) {
        // As reads write it: the events leave before their venue.
        for (const { id: gone, key } of lists.events.rows()) if (key?.venue === venue) remove(lists, gone)
        remove(lists, venue)
      } else if (chance.happens(0.3)) serveVenue(lists, venue, `venue ${step}`)
      else if (lists.venues.serves(venue)) serveEvent(lists, id, `event ${step}`, venue)
      if (!chance.happens(0.3)) continue
      const page = journal.since(position, 2 + chance.below(4))
      if (page === null) throw new Error('the position is known')
      position = page.next
      for (const change of page.changes) {
        if (change.list === 'venues' && change.state === 'updated') venues.add(change.id)
        else if (change.list === 'venues') venues.delete(change.id)
        else if (change.state === 'removed') events.delete(change.id)
        else events.set(change.id, lists.events.get(change.id)?.VenueId ?? EMPTY_GUID)
        expect([...events.values()].filter((one) => !venues.has(one))).toEqual([])
      }
    }
  }
})
