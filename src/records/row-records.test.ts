import { describe, expect, it } from 'bun:test'
import { UNREVISED } from '../domain/revision.ts'
import { eventOf, formatter, guidOf, venueOf } from '../../test/model/records.ts'
import { type RecordLists, applyRowRecord, rowRecordOf } from './row-records.ts'
import { eventKind, venueKind } from './list-kinds.ts'
import { RecordList } from './record-list.ts'

function emptyLists(): RecordLists {
  return { events: new RecordList(eventKind(formatter)), venues: new RecordList(venueKind(formatter)) }
}

describe('row records', () => {
  it('bring a list to the contents of another, as if its rows had never been seen', () => {
    const [from, to] = [emptyLists(), emptyLists()]
    const event = eventOf(guidOf(1), { Name: 'Ä\u0000b', Tags: ['x'] })
    const shown = from.events.insert(event.Id)
    from.events.serve(shown, event, () => 1_800_000_000)
    from.events.setVersion(shown, 7)
    const hidden = from.venues.insert(guidOf(2))
    const withheld = {
      fault: 'missing',
      column: 'Name',
      where: 'venues.json, row 3',
      expected: { kind: 'text' },
    } as const
    from.venues.withhold(hidden, { ...withheld, found: 'what nobody may see' })
    const records = [rowRecordOf(from.events, shown), rowRecordOf(from.venues, hidden)]
    expect(JSON.stringify(records)).not.toContain('what nobody may see')

    for (const one of records) applyRowRecord(to, one, 42)
    expect(to.events.get(event.Id)).toEqual(event)
    expect(to.events.version(event.Id)).toBe(7)
    expect(to.events.revisionOf(event.Id)).toEqual(from.events.revisionOf(event.Id))
    expect(to.events.revisionOf(event.Id).sinceS).toBe(1_800_000_000)
    expect([to.events.served, to.venues.withheld]).toEqual([1, 1])
    expect(to.events.find(event.Id)).toMatchObject({ updatedAt: 42, seenAt: -Infinity })
    expect(to.venues.find(guidOf(2))?.withheld).toEqual({ ...withheld, expected: null, found: null })
    expect(to.events.find(event.Id)).toMatchObject({ detailsAt: -Infinity })
  })

  it('remove a row, change a version, and ignore an id that is not held', () => {
    const lists = emptyLists()
    const venue = venueOf(guidOf(1), 'Hall')
    const told = {
      list: 'venues',
      id: venue.Id,
      version: 2,
      revision: UNREVISED,
      text: lists.venues.kind.packing.pack(venue),
    } as const
    for (const says of ['version', 'removed'] as const) applyRowRecord(lists, { ...told, says }, 0)
    expect(lists.venues.size).toBe(0)
    applyRowRecord(lists, { ...told, says: 'served' }, 0)
    applyRowRecord(lists, { ...told, says: 'version', version: 3, revision: UNREVISED, text: '' }, 0)
    expect([lists.venues.get(venue.Id), lists.venues.version(venue.Id)]).toEqual([venue, 3])
    applyRowRecord(lists, { ...told, says: 'removed' }, 0)
    expect(lists.venues.size).toBe(0)
  })

  it('of withheld rows without a fault are refused, and the list stays unchanged', () => {
    const lists = emptyLists()
    for (const wrong of ['', 'null', '[]', '{"fault":"new","column":null,"where":""}', '{"fault":"missing"}']) {
      const told = {
        list: 'events',
        says: 'withheld',
        id: guidOf(1),
        version: 0,
        revision: UNREVISED,
        text: wrong,
      } as const
      expect(() => applyRowRecord(lists, told, 0)).toThrow()
      expect(lists.events.size).toBe(0)
    }
  })
})
