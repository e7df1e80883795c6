import { describe, expect, it } from 'bun:test'
import { UNREVISED } from '../../src/domain/revision.ts'
import { EMPTY_GUID } from '../../src/domain/guid.ts'
import { ListMaker, type RecordLists } from '../../src/records/row-records.ts'
import { applyRowRecord } from '../../src/records/row-records.ts'
import { FollowedLists } from '../../src/cluster/followed-lists.ts'
import { OwnTicks } from '../../src/cluster/ticks.ts'
import { eventOf, formatter, guidOf, venueOf } from '../model/records.ts'
import { Fleet, fleetSettingOf } from './fleet.ts'

const EVENT = guidOf(1)
const VENUE = guidOf(0x1000)
const FROM = { epoch: 1, seq: 1, token: 'a1' }

const told = (at: number) => ({ at, untold: false, lateByMs: 0, silent: false })

/** A venue came without a word, and goes with the event that points at it. */
function goneTogether() {
  const fleet = new Fleet(fleetSettingOf({ strategy: 'token-delta', maxAgeMs: 30_000 }), 1)
  const { tables, time } = fleet
  const venue = tables.venues.create(VENUE, EMPTY_GUID, { ...told(10), untold: true, silent: true })
  const event = tables.events.create(EVENT, VENUE, told(20))
  const held = (): { served: FollowedLists; lists: RecordLists } => {
    const lists = new ListMaker(formatter).make()
    const ticks = new OwnTicks('', time)
    const served = new FollowedLists({ lists, time, ticks, heartbeat: { ms: 500 }, from: FROM })
    const text = lists.events.kind.packing.pack(eventOf(EVENT, { Name: '1', VenueId: VENUE, TicketsAvailable: 0 }))
    applyRowRecord(
      lists,
      { list: 'events', says: 'served', id: EVENT, version: Number.NaN, revision: UNREVISED, text },
      0,
    )
    return { served, lists }
  }
  const showVenue = (lists: RecordLists): void => {
    const text = lists.venues.kind.packing.pack(venueOf(VENUE, '1'))
    applyRowRecord(
      lists,
      { list: 'venues', says: 'served', id: VENUE, version: Number.NaN, revision: UNREVISED, text },
      0,
    )
  }
  const look = (served: FollowedLists): readonly string[] => {
    fleet.checker.both(instance, served, EVENT, 1000)
    return fleet.checker.wrong
  }
  const go = (): void => {
    tables.events.change(event, { exists: false, shown: false }, told(50))
    tables.venues.change(venue, { exists: false, shown: false }, told(50))
    time.trueMs = 60
  }
  const instance = fleet.start()
  time.trueMs = 30
  return { held, showVenue, look, go }
}

describe('the check of an event and its venue', () => {
  it('finds an event that outlives its venue', () => {
    const { held, showVenue, look, go } = goneTogether()
    const { served, lists } = held()
    showVenue(lists)
    expect(look(served)).toEqual([])
    go()
    const row = lists.venues.find(VENUE)
    if (row !== null) lists.venues.remove(row)
    expect(look(served)).toEqual([expect.stringContaining('(went)')])
  })

  it('does not hold against a list what the one before it had found in an audit', () => {
    const { held, showVenue, look, go } = goneTogether()
    const before = held()
    showVenue(before.lists)
    expect(look(before.served)).toEqual([])
    go()
    expect(look(held().served)).toEqual([])
  })
})

describe('the check of one row', () => {
  it('does not hold an age that reaches back before the beginning against who shows that it was gone once', () => {
    const fleet = new Fleet(fleetSettingOf({ strategy: 'token-delta', maxAgeMs: 30_000 }), 1)
    const { tables, time, checker } = fleet
    const event = tables.events.create(EVENT, EMPTY_GUID, told(0))
    tables.events.change(event, { shown: false }, told(10))
    tables.events.change(event, { shown: true }, told(20))
    time.trueMs = 30
    const instance = fleet.start()
    checker.event(instance, instance.cluster.served, EVENT, 40)
    expect(checker.wrong).toEqual([])
    time.trueMs = 60_000
    checker.event(instance, instance.cluster.served, EVENT, 40)
    expect(checker.wrong.join()).toContain('404 for')
  })
})
