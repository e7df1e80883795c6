import { describe, expect, it } from 'bun:test'
import { type Cell, DecimalText, showCell } from './cell.ts'

describe('showing a cell to a person', () => {
  it.each<[Cell, string]>([
    [null, 'null'],
    [' 1', '" 1"'],
    ['a\u001b[31m', '"a\\u001b[31m"'],
    [new DecimalText('1.50'), '1.50'],
    [[1, 'a', null], '[1,"a",null]'],
    [{ Rel: 'r', Links: [] }, '{"Rel":"r","Links":[]}'],
    ['x'.repeat(100), `"${'x'.repeat(78)}…`],
    ['x'.repeat(77) + '😀😀', `"${'x'.repeat(77)}…`],
  ])('shows %j', (cell, shown) => {
    expect(showCell(cell)).toBe(shown)
  })

  it('is not afraid of depth or length', () => {
    let cell: Cell = 'x'
    for (let depth = 0; depth < 100_000; depth++) cell = depth % 2 === 0 ? [cell] : { a: cell }
    expect(showCell(cell)).toHaveLength(80)
    expect(showCell(Array.from({ length: 1_000_000 }, () => 1))).toHaveLength(80)
  })
})
