import { expect, it } from 'bun:test'
import { parseGuid } from '../../domain/guid.ts'
import { type Cell, CellFault } from '../cells/cell.ts'
import { remembered } from '../../domain/named-ids.ts'

it('an id is made once for each text, in whatever order the texts come again, as far as there is room', () => {
  const guidOf = (text: string): string => `0d9b6a14-7c3e-4f58-92a1-${text.padStart(12, '0')}`
  const asked: unknown[] = []
  const named = remembered((cell: Cell) => {
    asked.push(cell)
    return (typeof cell === 'string' ? parseGuid(guidOf(cell)) : null) ?? new CellFault({ kind: 'id' }, cell)
  }, 4)
  const orders = ['1234', '1234', '4321', '1124', '3412', '567', '1526']
  for (const order of orders)
    for (const text of order) expect(JSON.stringify(named(text))).toBe(JSON.stringify(guidOf(text)))
  expect(asked).toEqual([...'1234', ...'567', '5', '6'])
  named(null)
  expect(named(null)).toBeInstanceOf(CellFault)
})
