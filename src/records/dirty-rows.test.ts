import { describe, expect, it } from 'bun:test'
import fc from 'fast-check'
import { eventOf, formatter, guidOf } from '../../test/model/records.ts'
import type { EventRecord } from '../domain/event.ts'
import { type RowRecord, type RecordLists, DirtyRows, applyRowRecord } from './row-records.ts'
import { eventKind, venueKind } from './list-kinds.ts'
import { RecordList } from './record-list.ts'

function emptyList(): RecordList<EventRecord> {
  return new RecordList(eventKind(formatter))
}

function serve(list: RecordList<EventRecord>, number: number, Name: string, version: number): void {
  const id = guidOf(number)
  const held = list.find(id)
  const row = held ?? list.insert(id)
  list.serve(row, eventOf(id, { Name }))
  list.setVersion(row, version)
}

function withhold(list: RecordList<EventRecord>, number: number): void {
  const held = list.find(guidOf(number))
  const row = held ?? list.insert(guidOf(number))
  list.withhold(row, { fault: 'inactive', column: null, where: 'here', expected: null, found: null })
  list.setVersion(row, 1)
}

function remove(list: RecordList<EventRecord>, number: number): void {
  const row = list.find(guidOf(number))
  if (row !== null) list.remove(row)
}

function told(records: Iterable<RowRecord>): readonly string[] {
  return [...records].map(({ says, id }) => `${says} ${Number.parseInt(id.slice(0, 8), 16)}`)
}

/** Everything a list reveals about these rows. */
function shown(list: RecordList<EventRecord>): unknown {
  const rows = Array.from({ length: 40 }, (_, number) => [
    list.get(guidOf(number)),
    list.version(guidOf(number)),
    list.find(guidOf(number))?.withheld,
  ])
  return [rows, list.served, list.withheld]
}

describe('DirtyRows', () => {
  it('yield a row that changed ten times once, with its present contents', () => {
    const list = emptyList()
    const dirtyRows = new DirtyRows(list)
    for (let version = 1; version <= 10; version++) serve(list, 1, `name ${version}`, version)
    expect(dirtyRows.size).toBe(1)
    const [record, ...others] = dirtyRows.take(1000)
    expect(record).toMatchObject({ says: 'served', version: 10 })
    expect(record?.text).toStartWith('name 10\u007f')
    expect([others, dirtyRows.size]).toEqual([[], 0])
  })

  it('omit a row that was read without a change, and yield only the version if nothing else changed', () => {
    const list = emptyList()
    serve(list, 1, 'a', 1)
    withhold(list, 2)
    const dirtyRows = new DirtyRows(list)
    serve(list, 1, 'a', 1)
    withhold(list, 2)
    expect(dirtyRows.size).toBe(0)
    serve(list, 1, 'a', 2)
    const revision = { sinceS: 0, sequence: 1 }
    expect([...dirtyRows.take(9)]).toEqual([
      { list: 'events', says: 'version', id: guidOf(1), version: 2, revision, text: '' },
    ])
    serve(list, 1, 'a', Number.NaN)
    serve(list, 1, 'b', 4)
    expect(told(dirtyRows.take(9))).toEqual(['served 1'])
  })

  it('yield a row that was removed and returned once, with its present contents', () => {
    const list = emptyList()
    serve(list, 1, 'a', 1)
    const dirtyRows = new DirtyRows(list)
    remove(list, 1)
    serve(list, 1, 'a', 1)
    expect(told(dirtyRows.take(9))).toEqual(['served 1'])
    expect(dirtyRows.size).toBe(0)
  })

  it('yield served and removed rows separately, and no more than requested', () => {
    const list = emptyList()
    const dirtyRows = new DirtyRows(list)
    for (const number of [1, 2, 3]) serve(list, number, 'a', 1)
    withhold(list, 3)
    remove(list, 2)
    serve(list, 4, 'a', 1)
    expect(told(dirtyRows.take(1, 'shown'))).toHaveLength(1)
    expect(told(dirtyRows.take(9, 'shown'))).toHaveLength(1)
    expect(told(dirtyRows.take(9, 'shown'))).toEqual([])
    expect(told(dirtyRows.take(1, 'gone'))).toEqual(['withheld 3'])
    expect(told(dirtyRows.take(9, 'gone'))).toEqual(['removed 2'])
    expect(dirtyRows.size).toBe(0)
  })

  it('take back what did not arrive, and are empty after `clear`', () => {
    const list = emptyList()
    for (const number of [1, 2, 3]) serve(list, number, 'a', 1)
    const dirtyRows = new DirtyRows(list)
    dirtyRows.putBack(guidOf(2))
    dirtyRows.putBack(guidOf(9))
    expect(told(dirtyRows.take(9))).toEqual(['served 2', 'removed 9'])
    dirtyRows.putBack(guidOf(1))
    dirtyRows.clear()
    expect([dirtyRows.size, told(dirtyRows.take(9))]).toEqual([0, []])
  })

  it('notify every listener until it unsubscribes', () => {
    const list = emptyList()
    const all = [new DirtyRows(list), new DirtyRows(list), new DirtyRows(list)]
    serve(list, 1, 'a', 1)
    expect(all.map(({ size }) => size)).toEqual([1, 1, 1])
    all[1]?.end()
    serve(list, 2, 'a', 1)
    expect(all.map(({ size }) => size)).toEqual([2, 1, 2])
    all[2]?.end()
    remove(list, 2)
    serve(list, 1, 'a', 2)
    expect(all.map(({ size }) => size)).toEqual([2, 1, 2])
    all[0]?.end()
    expect(list.listeners.size).toBe(0)
  })

  it('bring another list to the same contents, for any order of writes and takes', () => {
    const step = fc.record({
      does: fc.constantFrom('serve', 'serve', 'serve', 'withhold', 'remove', 'take'),
      number: fc.nat(39),
      name: fc.constantFrom('a', 'b'),
      version: fc.constantFrom(1, 2, Number.NaN),
    })
    fc.assert(
      fc.property(fc.array(step, { maxLength: 120 }), (steps) => {
        const list = emptyList()
        const lists: RecordLists = { events: emptyList(), venues: new RecordList(venueKind(formatter)) }
        const dirtyRows = new DirtyRows(list)
        const take = (max: number): void => {
          for (const record of dirtyRows.take(max)) applyRowRecord(lists, record, 0)
        }
        for (const { does, number, name, version } of steps) {
          if (does === 'serve') serve(list, number, name, version)
          else if (does === 'withhold') withhold(list, number)
          else if (does === 'remove') remove(list, number)
          else take(number)
        }
        take(Infinity)
        expect(dirtyRows.size).toBe(0)
        expect(shown(lists.events)).toEqual(shown(list))
      }),
    )
  })
})
