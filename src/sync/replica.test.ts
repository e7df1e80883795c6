import { ListMaker } from '../records/row-records.ts'
import { describe, expect, it } from 'bun:test'
import { eventOf, formatter, guidOf, venueOf } from '../../test/model/records.ts'
import { VirtualTime } from '../../test/model/virtual-time.ts'
import type { EventRecord } from '../domain/event.ts'
import type { VenueRecord } from '../domain/venue.ts'
import { type Change, type Cursor, type Failure, type ListSource, type ReadRequest, failureOf } from './port.ts'
import { Replica } from './replica.ts'

const event = guidOf(1)
const venue = guidOf(0x1000)

/** The CRM's contents of one list. A read of changes returns what was put there since the last one. */
class Fake<Item> {
  reads = 0
  fullReads = 0
  failure: Failure | null = null
  all: readonly Change<Item>[] = []
  changes: readonly Change<Item>[] = []
  takesMs = 100
  /** A read of changes names all rows. */
  scansIds = false
  /** A read of changes is a delta that cannot report deletions, unless it must confirm. */
  confirmsWhenAsked = false
  /** The duration of a read that must confirm. */
  confirmingTakesMs = 100
  hint: () => void = () => {}
  reportsChanges = true
  /** The changes since this cursor, which are returned again after a failed read. */
  #since: Cursor | null = null
  #brought: readonly Change<Item>[] = []
  readonly #time: VirtualTime

  constructor(time: VirtualTime) {
    this.#time = time
  }

  source(): ListSource<Item> {
    const reportsChanges = (): boolean => this.reportsChanges
    return {
      get reportsChanges() {
        return reportsChanges()
      },
      repeatedId: 'serves-later',
      patienceMs: 5000,
      read: (request) => this.#read(request),
      onHint: (callback) => (this.hint = callback),
    }
  }

  async *#read({ kind, cursor, mustConfirm }: ReadRequest): ReturnType<ListSource<Item>['read']> {
    this.reads++
    if (kind === 'full') this.fullReads++
    const isFull = kind === 'full'
    const takesMs = mustConfirm === true && this.confirmsWhenAsked ? this.confirmingTakesMs : this.takesMs
    await new Promise<void>((resolve) => this.#time.after(takesMs, resolve))
    if (this.failure !== null) return { ok: false, failure: this.failure }
    const isDelta = this.confirmsWhenAsked && !isFull && mustConfirm !== true
    if (this.#since === cursor)
      this.changes = [...this.#brought.filter((change) => !this.changes.includes(change)), ...this.changes]
    const changes = isFull ? this.all : this.changes.filter((change) => !isDelta || change.kind === 'record')
    if (!isFull) {
      this.changes = this.changes.filter((change) => !changes.includes(change))
      this.#since = cursor
      this.#brought = changes
    }
    yield { sourceLagMs: 0, changes, whereIs: () => 'row' }
    return {
      ok: true,
      cursor: `c${this.reads}` as Cursor,
      complete: isFull || this.scansIds,
      oneMoment: true,
      unchanged: false,
      asOf: null,
      confirms: !isDelta,
    }
  }
}

function venueRow(Name: string): Change<VenueRecord> {
  return { kind: 'record', id: venue, record: venueOf(venue, Name), version: Number.NaN }
}

function eventAt(Name: string): Change<EventRecord> {
  return { kind: 'record', id: event, record: eventOf(event, { Name, VenueId: venue }), version: Number.NaN }
}

async function scene(reportsChanges = true, staleIfErrorMs = 0) {
  const time = new VirtualTime(1)
  const [events, venues] = [new Fake<EventRecord>(time), new Fake<VenueRecord>(time)]
  events.reportsChanges = reportsChanges
  venues.reportsChanges = reportsChanges
  const replica = new Replica({
    crm: { events: events.source(), venues: venues.source(), close: () => Promise.resolve() },
    lists: new ListMaker(formatter).make(),
    settings: () => ({
      maxAgeMs: 30_000,
      refreshEveryMs: 5000,
      fullReadEveryMs: 60_000,
      staleIfErrorMs,
      shrinkGuardMs: 86_400_000,
    }),
    limits: () => ({ memoryBytes: Number.POSITIVE_INFINITY }),
    time,
    observe: () => {},
    pause: () => Promise.resolve(),
  })
  replica.start()
  await time.pass(1000)
  return { time, events, venues, replica }
}

describe('Replica (architecture: The port to a CRM)', () => {
  it('reads again within 5 s after the CRM is back, however long it was away', async () => {
    const { time, events, replica } = await scene()
    for (let outage = 0; outage < 20; outage++) {
      events.failure = failureOf('unreachable', 'down')
      await time.pass(120_000)
      expect(replica.events.isFailing).toBe(true)
      events.failure = null
      await time.pass(5000 + 2 * events.takesMs)
      expect(replica.events.isFailing).toBe(false)
    }
  })

  it('goes on after a stop with the pause that the CRM had asked for', async () => {
    const { time, events, replica } = await scene()
    events.failure = { kind: 'throttled', message: 'later', retryAfterMs: 600_000 }
    await time.pass(6000)
    const before = events.reads
    void replica.stop()
    await time.pass(1000)
    replica.start()
    await time.pass(500_000)
    expect([events.reads, replica.events.refresh.lastFailure?.message]).toEqual([before, 'later'])
    events.failure = null
    await time.pass(110_000)
    expect([events.reads > before, replica.events.refresh.lastFailure]).toEqual([true, null])
  })

  it('looks up a missing venue once, not with every page that refers to it', async () => {
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

  it('looks up a missing venue again when another event refers to it', async () => {
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
})

describe('an event whose venue cannot be read (architecture: The port to a CRM)', () => {
  const DOWN: Failure = { kind: 'broken', message: 'HTML', retryAfterMs: null }

  it('is not shown while venues are answered, and once it is, they are past the maximum age until they are read', async () => {
    const { time, events, venues, replica } = await scene()
    time.random = () => 0.999
    await time.pass(5000)
    venues.failure = DOWN
    events.changes = [eventAt('E')]
    while (replica.events.list.get(event) === null) await time.step()
    expect(replica.events.lastFailure).toBeNull()
    expect(replica.venues.ageMs(time.peek())).toBeGreaterThan(30_000)
    const before = time.peek()
    venues.failure = null
    venues.all = venues.changes = [venueRow('V')]
    while ((replica.venues.ageMs(time.peek()) ?? 0) > 30_000) await time.step()
    expect(replica.venues.list.get(venue)?.Name).toBe('V')
    expect(replica.venues.isConfirmedSince(before)).toBe(true)
  })

  it('is shown after it as soon as the CRM can be read again, whatever back-off the venues had', async () => {
    const { time, events, venues, replica } = await scene()
    time.random = () => 0.999
    venues.failure = DOWN
    events.failure = DOWN
    await time.pass(16_000)
    venues.failure = events.failure = null
    venues.all = venues.changes = [venueRow('V')]
    events.all = events.changes = [eventAt('E')]
    expect(replica.venues.refresh.isBackingOff).toBe(true)
    void replica.events.refresh.attempt()
    await time.pass(350)
    expect(replica.events.list.get(event)?.Name).toBe('E')
    expect(replica.venues.list.get(venue)?.Name).toBe('V')
  })

  it('is not looked for during a pause that the CRM asked for', async () => {
    const { time, events, venues, replica } = await scene()
    venues.failure = { kind: 'throttled', message: 'slow down', retryAfterMs: 8000 }
    void replica.venues.refresh.attempt()
    await time.pass(200)
    const { reads } = venues
    events.changes = [eventAt('E')]
    void replica.events.refresh.attempt()
    await time.pass(500)
    expect(venues.reads).toBe(reads)
  })

  it.each([0, 3_600_000])(
    'is shown at once if venues are past the maximum age (staleIfError: %p ms)',
    async (staleIfErrorMs) => {
      const { time, events, venues, replica } = await scene(true, staleIfErrorMs)
      venues.failure = DOWN
      await time.pass(31_000)
      events.changes = [eventAt('E')]
      await time.pass(5200)
      expect(replica.events.list.get(event)).not.toBeNull()
      expect(replica.events.lastFailure).toBeNull()
    },
  )
})

describe('one transaction removes a pair, the next one adds a pair (architecture: The port to a CRM)', () => {
  const [otherEvent, otherVenue] = [guidOf(2), guidOf(0x1001)]
  const removedPair = [{ kind: 'deleted', id: venue }] as const
  const addedVenue: Change<VenueRecord> = {
    kind: 'record',
    id: otherVenue,
    record: venueOf(otherVenue, 'W'),
    version: 0,
  }
  const record = eventOf(otherEvent, { Name: 'F', VenueId: otherVenue })
  const eventChanges: readonly Change<EventRecord>[] = [
    { kind: 'deleted', id: event },
    { kind: 'record', id: otherEvent, record, version: 0 },
  ]

  /** The venues' read of changes has found theirs gone, and waits. Then the second transaction is committed. */
  async function waiting() {
    const all = await scene()
    const { time, events, venues, replica } = all
    venues.changes = [venueRow('V')]
    events.changes = [eventAt('E')]
    await time.pass(10_000)
    venues.changes = removedPair
    void replica.venues.refresh.attempt()
    await time.pass(110)
    venues.changes = [addedVenue]
    events.changes = eventChanges
    const shown = (): string =>
      [replica.events, replica.venues]
        .flatMap(({ list }) => [event, venue, otherEvent, otherVenue].map((id) => list.get(id)?.Name ?? ''))
        .join('')
    const course = async (ms: number): Promise<string[]> => {
      const seen: string[] = []
      for (let step = 0; step < ms; step += 10) {
        await time.pass(10)
        if (seen.at(-1) !== shown()) seen.push(shown())
      }
      return seen
    }
    return { ...all, course }
  }

  it('changes neither list if the new venues cannot be read, and reads both again', async () => {
    const { course, events, venues, replica } = await waiting()
    venues.failure = { kind: 'broken', message: 'HTML', retryAfterMs: null }
    expect(await course(400)).toEqual(['EV'])
    expect(replica.events.lastFailure).toMatchObject({ message: 'the venues that events refer to: HTML' })
    // Neither cursor was moved.
    venues.failure = null
    venues.changes = [...removedPair, addedVenue]
    events.changes = eventChanges
    expect((await course(8000)).at(-1)).toBe('FW')
  })
})

describe('a deleted venue, with a CRM in which only long reads of the events report deletions (an id scan)', () => {
  const other = guidOf(0x1001)

  async function swept() {
    const all = await scene()
    const { time, events, venues } = all
    venues.changes = [venueRow('V'), { kind: 'record', id: other, record: venueOf(other, 'W'), version: 0 }]
    events.changes = [eventAt('E')]
    await time.pass(10_000)
    events.confirmsWhenAsked = true
    events.confirmingTakesMs = 3000
    return all
  }

  it('is removed at once if no event refers to it, after one short read of the events', async () => {
    const { time, events, venues, replica } = await swept()
    const before = events.reads
    venues.changes = [{ kind: 'deleted', id: other }]
    venues.hint()
    await time.pass(210)
    expect(replica.venues.list.get(other)).toBeNull()
    expect(events.reads - before).toBe(1)
    expect(replica.venues.ageMs(time.peek())).toBeLessThan(300)
  })

  it('is removed at once together with an event that a short read reports as deleted', async () => {
    const { time, events, venues, replica } = await swept()
    venues.changes = [{ kind: 'deleted', id: venue }]
    events.changes = [{ kind: 'record', id: event, record: eventOf(event, { VenueId: other }), version: Number.NaN }]
    venues.hint()
    await time.pass(320)
    expect(replica.events.list.get(event)?.VenueId).toBe(other)
    expect(replica.venues.list.get(venue)).toBeNull()
  })

  it('waits for the long read if an event refers to it; changes of other venues that came before are served at once', async () => {
    const { time, events, venues, replica } = await swept()
    const before = venues.reads
    venues.changes = [
      { kind: 'deleted', id: venue },
      { kind: 'record', id: other, record: venueOf(other, 'X'), version: 1 },
    ]
    events.changes = [{ kind: 'deleted', id: event }]
    for (let hints = 0; hints < 20; hints++) venues.hint()
    await time.pass(210)
    expect(replica.venues.list.get(other)?.Name).toBe('X')
    // Many hints do not cause as many reads.
    expect(venues.reads - before).toBeLessThan(3)
    expect([replica.events.list.get(event)?.Name, replica.venues.list.get(venue)?.Name]).toEqual(['E', 'V'])
    await time.pass(3000)
    expect([replica.events.list.get(event), replica.venues.list.get(venue)]).toEqual([null, null])
  })

  it('does not force reads of an events list that is backing off: the venue is removed as if events could not be read', async () => {
    const { time, events, venues, replica } = await swept()
    time.random = () => 0.999
    events.failure = { kind: 'unreachable', message: 'down', retryAfterMs: 4000 }
    void replica.events.refresh.attempt()
    await time.pass(110)
    const before = events.reads
    venues.changes = [{ kind: 'deleted', id: other }]
    venues.hint()
    await time.pass(210)
    expect(events.reads - before).toBe(0)
    expect(replica.venues.list.get(other)).toBeNull()
  })
})

describe('a removed venue to which an event refers that cannot be read (architecture: The port to a CRM)', () => {
  const DOWN: Failure = { kind: 'unreachable', message: 'down', retryAfterMs: null }

  async function referred() {
    const all = await scene()
    const { time, events, venues, replica } = all
    venues.changes = [venueRow('V')]
    events.changes = [eventAt('E')]
    await time.pass(5500)
    expect(replica.events.list.get(event)?.Name).toBe('E')
    return all
  }

  it('stays while events are answered, then goes', async () => {
    const { time, events, venues, replica } = await referred()
    time.random = () => 0.999
    events.failure = DOWN
    venues.changes = [{ kind: 'deleted', id: venue }]
    await time.pass(5500)
    expect(replica.venues.list.get(venue)?.Name).toBe('V')
    expect(replica.venues.lastFailure?.message).toBe('the events that refer to removed venues: down')
    while (replica.venues.list.get(venue) !== null) await time.step()
    expect(replica.events.ageMs(time.peek())).toBeGreaterThan(30_000)
  })

  it('goes at once if the events are answered with 502', async () => {
    const { time, events, venues, replica } = await referred()
    events.failure = DOWN
    await time.pass(31_000)
    venues.changes = [{ kind: 'deleted', id: venue }]
    await time.pass(5500)
    expect(replica.venues.list.get(venue)).toBeNull()
  })
})

describe('ListReplica', () => {
  it('reports that it is not believed, and counts as failing, although reads of changes have succeeded since an id scan', async () => {
    const { time, venues, replica } = await scene()
    const many = Array.from({ length: 30 }, (_, index) => guidOf(index + 1))
    venues.changes = many.map((id) => ({ kind: 'record', id, record: venueOf(id, 'V'), version: Number.NaN }))
    await time.pass(6000)
    venues.scansIds = true
    while (replica.venues.reader.guard.shrunk === null) await time.step()
    venues.scansIds = false
    while (replica.venues.refresh.failures > 0) await time.step()
    expect(replica.venues.refresh.lastFailure).toBeNull()
    expect(replica.venues.lastFailure).toMatchObject({
      kind: 'shrunk',
      message: expect.stringContaining('30 of 30') as string,
    })
    expect(replica.venues.isFailing).toBe(true)
  })

  it('audits a list whose source reports changes only from its second read on, and none that never does', async () => {
    const { time, events, venues, replica } = await scene(false)
    expect(venues.fullReads).toBe(1)
    venues.reportsChanges = true
    await time.pass(20_000)
    expect(venues.fullReads).toBe(1)
    await time.pass(50_000)
    expect(venues.fullReads).toBe(2)
    expect(replica.venues.audit.failures).toBe(0)
    expect(events.fullReads).toBe(events.reads)
  })

  it('waits for the next audit while the last one is not believed, and reports when that is', async () => {
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
    expect(replica.venues.lastFailure).toMatchObject({ kind: 'shrunk' })
    expect(replica.venues.isBackingOff).toBe(true)
    expect(replica.venues.refresh.isBackingOff).toBe(false)
    expect(replica.venues.nextTryInMs).toBeCloseTo(replica.venues.audit.nextTryInMs, 1)
    replica.venues.acceptShorter()
    await time.pass(500)
    expect(replica.venues.isFailing).toBe(false)
    expect(replica.venues.list.served).toBe(0)
  })
})
