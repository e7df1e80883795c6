import { expect, it } from 'bun:test'
import fc from 'fast-check'
import { eventOf, formatter, guidOf } from '../../test/model/records.ts'
import type { RowFault, Withheld } from './withheld.ts'
import { FaultCounts } from './fault-counts.ts'
import { eventKind } from '../records/list-kinds.ts'
import { RecordList } from '../records/record-list.ts'

const fault = fc.record<RowFault>({
  fault: fc.constantFrom('missing', 'unreadable', 'inactive'),
  column: fc.constantFrom('Start', 'Price', null),
  expected: fc.constant(null),
  found: fc.constantFrom('"x"', null),
})
const withheld = fc
  .tuple(fault, fc.array(fault, { maxLength: 2 }))
  .map(([first, also]): Withheld => ({ ...first, where: 'row 1', ...(also.length > 0 ? { also } : {}) }))
const step = fc.tuple(fc.nat(5), fc.oneof(fc.constantFrom('serve', 'remove'), withheld))

it('counts the faults of a list while rows appear, change, are served and disappear', () => {
  fc.assert(
    fc.property(fc.array(step), (steps) => {
      const list = new RecordList(eventKind(formatter))
      const model = new Map<number, Withheld>()
      for (const [number, what] of steps) {
        const id = guidOf(number)
        const found = list.find(id)
        if (what === 'remove') {
          if (found !== null) list.remove(found)
          model.delete(number)
          continue
        }
        const row = found ?? list.insert(id)
        if (what === 'serve') {
          list.serve(row, eventOf(id))
          model.delete(number)
        } else {
          list.withhold(row, what)
          model.set(number, what)
        }
      }
      const expected = new Map<string, number>()
      const more = (key: string): unknown => expected.set(key, (expected.get(key) ?? 0) + 1)
      for (const { also = [], ...first } of model.values()) {
        more(`first ${first.fault} ${first.column}`)
        for (const one of [first, ...also]) more(`${one.fault} ${one.column}`)
      }
      const counted = [...list.faults].flatMap(({ fault: why, column, count, first }): [string, number][] => [
        [`${why} ${column}`, count],
        [`first ${why} ${column}`, first],
      ])
      expect(new Map(counted.filter(([, count]) => count !== 0))).toEqual(expected)
    }),
  )
})

it('distinguishes a column named "null" from no column', () => {
  const counts = new FaultCounts()
  const row = { fault: 'unreadable', where: 'x', expected: null, found: null } as const
  counts.add({ ...row, column: null }, 1)
  counts.add({ ...row, column: 'null' }, 1)
  expect(Array.from(counts, ({ column, count }) => [column, count])).toEqual([
    [null, 1],
    ['null', 1],
  ])
})

it('adds the first faults of rows that another count has in excess, each one of them', () => {
  const row = { fault: 'missing', where: 'x', expected: null, found: null } as const
  const [before, now, newly] = [new FaultCounts(), new FaultCounts(), new FaultCounts()]
  before.add({ ...row, column: 'Start' }, 1)
  before.add({ ...row, column: 'Name' }, 1)
  for (const column of ['Start', 'Start', 'Price', 'Price', 'Price']) now.add({ ...row, column }, 1)
  newly.addMore(before, now)
  expect(newly.take()).toEqual([
    { fault: 'missing', column: 'Price', count: 3 },
    { fault: 'missing', column: 'Start', count: 1 },
  ])
})
