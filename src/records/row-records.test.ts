import { Buffer } from 'node:buffer'
import { describe, expect, it } from 'bun:test'
import type { Guid } from '../domain/guid.ts'
import { UNREVISED } from '../domain/revision.ts'
import fc from 'fast-check'
import { eventOf, formatter, guidOf, venueOf } from '../../test/model/records.ts'
import {
  type RowRecord,
  type RecordLists,
  applyRowRecord,
  applyRowRecords,
  DirtyRows,
  rowRecordOf,
  RowRecordWriter,
  readRowRecords,
} from './row-records.ts'
import { eventKind, venueKind } from './packing.ts'
import { RecordList } from './record-list.ts'

const text = fc.string({ unit: 'grapheme', maxLength: 40 })
const record: fc.Arbitrary<RowRecord> = fc.record({
  list: fc.constantFrom('events' as const, 'venues' as const),
  says: fc.constantFrom('served' as const, 'withheld' as const, 'removed' as const, 'version' as const),
  id: fc.nat(1000).map(guidOf),
  version: fc.double(),
  revision: fc.record({ sinceS: fc.nat({ max: 0xffffffff }), sequence: fc.nat({ max: 0xffffffff }) }),
  text,
})

function bytesOf(records: readonly RowRecord[]): Buffer {
  const writer = new RowRecordWriter()
  for (const one of records) writer.add(one)
  return Buffer.from(writer.bytes)
}

function emptyLists(): RecordLists {
  return { events: new RecordList(eventKind(formatter)), venues: new RecordList(venueKind(formatter)) }
}

describe('row records', () => {
  it('are read back unchanged', () => {
    fc.assert(
      fc.property(fc.array(record), (records) => expect([...readRowRecords(bytesOf(records))]).toEqual(records)),
    )
  })

  it('begin with their kind, id, version, revision and length', () => {
    const id = '5f6c2a3e-8d0b-4c57-9e21-0a4b7d9c1e34' as RowRecord['id']
    const bytes = bytesOf([
      { list: 'venues', says: 'version', id, version: 1.5, revision: { sinceS: 1, sequence: 2 }, text: '' },
    ])
    expect(bytes.toString('hex')).toBe(`08${id.replaceAll('-', '')}3ff8000000000000000000010000000200000000`)
    const kinds = (['served', 'withheld', 'removed', 'version'] as const).flatMap((says) =>
      (['events', 'venues'] as const).map(
        (list) => bytesOf([{ list, says, id, version: 0, revision: UNREVISED, text: '' }])[0],
      ),
    )
    expect(kinds).toEqual([1, 2, 3, 4, 5, 6, 7, 8])
  })

  it('are refused with a sentence if they are cut short at any byte', () => {
    const bytes = bytesOf([
      { list: 'events', says: 'served', id: guidOf(1), version: 1, revision: UNREVISED, text: 'a text' },
    ])
    for (let length = 1; length < bytes.length; length++) {
      expect(() => [...readRowRecords(bytes.subarray(0, length))]).toThrow(
        /^the row record at byte 0 is (?:cut short|longer)/,
      )
    }
  })

  it('are refused if their kind is unknown or their length exceeds the available bytes', () => {
    const bytes = bytesOf([
      { list: 'events', says: 'served', id: guidOf(1), version: 1, revision: UNREVISED, text: '' },
    ])
    for (const kind of [0, 9, 255]) {
      bytes[0] = kind
      expect(() => [...readRowRecords(bytes)]).toThrow(`the row record at byte 0 is of kind ${kind}, which is unknown`)
    }
    bytes[0] = 1
    bytes.writeUInt32BE(0xffffffff, 33)
    expect(() => [...readRowRecords(bytes)]).toThrow('longer than the remaining bytes')
  })

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
    const bytes = bytesOf([rowRecordOf(from.events, shown), rowRecordOf(from.venues, hidden)])
    expect(bytes.includes('what nobody may see')).toBe(false)

    for (const one of readRowRecords(bytes)) applyRowRecord(to, one, 42)
    expect(to.events.get(event.Id)).toEqual(event)
    expect(to.events.version(event.Id)).toBe(7)
    expect(to.events.revisionOf(event.Id)).toEqual(from.events.revisionOf(event.Id))
    expect(to.events.revisionOf(event.Id).sinceS).toBe(1_800_000_000)
    expect([to.events.served, to.venues.withheld]).toEqual([1, 1])
    expect(to.events.find(event.Id)).toMatchObject({ updatedAt: 42, seenAt: -Infinity })
    expect(to.venues.find(guidOf(2))?.withheld).toEqual({ ...withheld, expected: null, found: null })
    expect(to.events.find(event.Id)).toMatchObject({ detailsAt: -Infinity })
  })

  it('applied as bytes leave the same rows as applied one by one, in any order, followed or not', () => {
    const withheld = '{"fault":"missing","column":"Name","where":"row 3"}'
    const { events, venues } = emptyLists()
    const packed = ({ list, text: Name }: RowRecord, id: Guid): string =>
      list === 'events'
        ? events.kind.packing.pack({ ...eventOf(id), Name })
        : venues.kind.packing.pack(venueOf(id, Name))
    const few = fc.tuple(record, fc.nat(8)).map(([one, number]) => {
      const id = guidOf(number)
      return { ...one, id, text: one.says === 'withheld' ? withheld : packed(one, id) }
    })
    const rowsOf = (lists: RecordLists): unknown =>
      [lists.events, lists.venues].map((list) => [
        list.served,
        list.withheld,
        list.changes,
        Array.from(list.rows(), (row) => [rowRecordOf(list, row), list.find(row.id), list.knownAt(row)]),
      ])
    fc.assert(
      fc.property(fc.array(few, { maxLength: 40 }), fc.boolean(), (records, isFollowed) => {
        const [oneByOne, atOnce] = [emptyLists(), emptyLists()]
        const dirtyRows = isFollowed ? [new DirtyRows(atOnce.events), new DirtyRows(atOnce.venues)] : []
        for (const one of records) applyRowRecord(oneByOne, one, 42)
        for (const _ of applyRowRecords(atOnce, bytesOf(records), 42));
        expect(rowsOf(atOnce)).toEqual(rowsOf(oneByOne))
        const changed = new Set(records.filter(({ says }) => says === 'served').map(({ list, id }) => list + id))
        const noted = dirtyRows.flatMap((each) => Array.from(each.take(100), ({ list, id }) => list + id))
        if (isFollowed) for (const one of changed) expect(noted).toContain(one)
      }),
    )
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
