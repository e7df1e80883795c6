import { describe, expect, it } from 'bun:test'
import { eventOf, formatter, guidOf, venueOf } from '../../test/model/records.ts'
import { VirtualTime } from '../../test/model/virtual-time.ts'
import type { EventRecord } from '../domain/event.ts'
import type { VenueRecord } from '../domain/venue.ts'
import type { Change, CrmFailure, Cursor, Source } from './port.ts'
import { Replica } from './replica.ts'

const event = guidOf(1)
const venue = guidOf(0x1000)

/** What the CRM holds of one list: a read of changes brings what was put there since the last one. */
class Fake<Item> {
  reads = 0
  failure: CrmFailure | null = null
  all: readonly Change<Item>[] = []
  changes: readonly Change<Item>[] = []
  takesMs = 100
  readonly #time: VirtualTime

  constructor(time: VirtualTime) {
    this.#time = time
  }

  source(): Source<Item> {
    return {
      reportsChanges: true,
      availabilityEveryMs: null,
      repeatedId: 'serves-later',
      patienceMs: 5000,
      read: (request) => this.#read(request.kind === 'full'),
    }
  }

  async *#read(isFull: boolean): ReturnType<Source<Item>['read']> {
    this.reads++
    const begunAt = this.#time.now()
    await new Promise<void>((resolve) => this.#time.after(this.takesMs, resolve))
    if (this.failure !== null) return { ok: false, failure: this.failure }
    const changes = isFull ? this.all : this.changes
    if (!isFull) this.changes = []
    yield { begunAt, sourceLagMs: 0, changes, whereIs: () => 'row' }
    return {
      ok: true,
      cursor: 'c' as Cursor,
      complete: isFull,
      oneMoment: true,
      unchanged: false,
      asOf: null,
      confirms: true,
    }
  }
}

function venueRow(Name: string): Change<VenueRecord> {
  return { kind: 'record', id: venue, record: venueOf(venue, Name), version: Number.NaN }
}

function eventAt(Name: string): Change<EventRecord> {
  return { kind: 'record', id: event, record: eventOf(event, { Name, VenueId: venue }), version: Number.NaN }
}

async function scene() {
  const time = new VirtualTime(1)
  const [events, venues] = [new Fake<EventRecord>(time), new Fake<VenueRecord>(time)]
  const replica = new Replica({
    crm: { events: events.source(), venues: venues.source(), close: () => Promise.resolve() },
    formatter,
    settings: { boundMs: 30_000, refreshEveryMs: 5000, fullReadEveryMs: 60_000, staleIfErrorMs: 0, brake: true },
    memoryLimitBytes: Number.POSITIVE_INFINITY,
    time,
    observe: () => {},
    pause: () => Promise.resolve(),
  })
  replica.start()
  await time.pass(1000)
  return { time, events, venues, replica }
}

describe('Replica (architecture: The port to a CRM)', () => {
  it('adds a venue before the event that points at it', async () => {
    const { time, events, venues, replica } = await scene()
    venues.changes = [venueRow('V')]
    events.changes = [eventAt('E')]
    // The venues were read a moment ago and would not be for seconds.
    await time.pass(3000)
    const seen: string[] = []
    void replica.events.refresh.attempt()
    for (let step = 0; step < 40; step++) {
      await time.pass(20)
      seen.push(`${replica.events.list.get(event)?.Name ?? '-'}${replica.venues.list.get(venue)?.Name ?? '-'}`)
    }
    expect([...new Set(seen)].filter((pair) => pair !== '-V')).toEqual(['--', 'EV'])
  })

  it('looks once for a venue that does not exist, not with every page that names it', async () => {
    const { time, events, venues } = await scene()
    events.changes = [eventAt('E')]
    await time.pass(5000)
    const before = venues.reads
    for (let round = 0; round < 4; round++) {
      events.changes = [eventAt(`E${round}`)]
      await time.pass(5000)
    }
    expect(venues.reads - before).toBe(4)
  })

  it('looks again for a venue that was looked for in vain when another event points at it', async () => {
    const { time, events, venues, replica } = await scene()
    events.changes = [eventAt('E')]
    await time.pass(6000)
    const other = guidOf(2)
    venues.changes = [venueRow('V')]
    events.changes = [{ kind: 'record', id: other, record: eventOf(other, { VenueId: venue }), version: Number.NaN }]
    void replica.events.refresh.attempt()
    while (replica.events.list.get(other) === null) await time.step()
    expect(replica.venues.list.get(venue)).not.toBeNull()
  })

  it('removes a venue after the events that pointed at it', async () => {
    const { time, events, venues, replica } = await scene()
    venues.changes = [venueRow('V')]
    events.changes = [eventAt('E')]
    await time.pass(10_000)
    events.changes = [{ kind: 'deleted', id: event }]
    venues.changes = [{ kind: 'deleted', id: venue }]
    const seen: string[] = []
    void replica.venues.refresh.attempt()
    for (let step = 0; step < 40; step++) {
      await time.pass(20)
      seen.push(`${replica.events.list.get(event)?.Name ?? '-'}${replica.venues.list.get(venue)?.Name ?? '-'}`)
    }
    expect([...new Set(seen)]).not.toContain('E-')
    expect(seen.at(-1)).toBe('--')
  })
})

describe('ListReplica', () => {
  it('while an audit is not believed, waits for the next audit, and says when that is', async () => {
    const { time, venues, replica } = await scene()
    const many = Array.from({ length: 30 }, (_, index) => guidOf(index + 1))
    venues.changes = many.map((id) => ({ kind: 'record', id, record: venueOf(id, 'V'), version: Number.NaN }))
    await time.pass(20_000)
    time.random = () => 0.999
    await time.pass(40_000)
    while (replica.venues.audit.failures < 4) await time.step()
    expect(replica.venues.isFailing).toBe(true)
    await time.pass(500)
    expect(replica.venues.refresh.lastFailure).toBeNull()
    expect(replica.venues.lastFailure).toMatchObject({ kind: 'braked' })
    expect(replica.venues.isBackingOff).toBe(true)
    expect(replica.venues.refresh.isBackingOff).toBe(false)
    expect(replica.venues.nextTryInMs).toBeCloseTo(replica.venues.audit.nextTryInMs, 1)
    replica.venues.acceptShorter()
    await time.pass(500)
    expect(replica.venues.isFailing).toBe(false)
    expect(replica.venues.list.served).toBe(0)
  })
})
