import { expect, it } from 'bun:test'
import { type Column, ColumnCells } from './column.ts'
import { idField } from './id-columns.ts'

function columnWith(blanks: number, rows: number): Column {
  const cells = new ColumnCells('Nr')
  for (let row = blanks; row < rows; row++) cells.add(row, `A-${row}`, true)
  return cells.column(rows)
}

it.each([
  [0, 100, 'Nr'],
  [2, 100, 'Nr'],
  [3, 100, undefined],
  [1, 4, 'Nr'],
  [2, 4, undefined],
  [1, 3, undefined],
])('a column that is blank in %i of %i rows is proposed as the id: %p', (blanks, rows, name) => {
  expect(idField([columnWith(blanks, rows)])?.name).toBe(name as string)
})
