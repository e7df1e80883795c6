import { expect, it } from 'bun:test'
import { RowFault } from '../domain/withheld.ts'
import { faultGroups } from './fault-groups.ts'

it('a group shows the values that were found most often, also if the first of them comes late', () => {
  const expected = { kind: 'decimal', sign: null, currency: [] } as const
  const values = [...Array.from({ length: 12 }, (_, at) => `${at}?`), 'free', 'free']
  const rows = values.map((value, at) => {
    const fault = new RowFault('unreadable', 'Price', { expected, found: JSON.stringify(value) })
    return { id: null, withheld: { ...fault, where: `events.csv, line ${at + 2}` } }
  })
  const [group] = faultGroups('event', rows, () => null)
  expect(group?.found[0]).toEqual({ value: 'free', count: 2 })
  expect([group?.count, group?.found.length]).toEqual([14, 10])
})
