import type { Fault } from '../../domain/withheld.ts'
import type { Cell } from './cell.ts'
import { sourceDigits } from './cell.ts'
import type { ConditionSetting } from './mapping-settings.ts'
import { Refusal } from './refusal.ts'
import type { RowAccess } from './row-access.ts'
import { showCell } from './show-cell.ts'

/** Conditions that hold where every column named holds one of its values; null holds none. */
export function listConditions<Row>(
  setting: ConditionSetting | null,
  access: RowAccess<Row>,
  fault: Fault,
): readonly ((row: Row) => Refusal | null)[] {
  return (setting ?? []).map(({ column, oneOf }) => {
    const cellOf = access.cell(column)
    const values = new Set(oneOf.map(String))
    const expected = oneOf.length === 1 ? String(oneOf[0]) : `one of ${oneOf.join(', ')}`
    return (row) => {
      const cell = cellOf(row)
      const text = textOf(cell)
      if (text !== null && values.has(text)) return null
      return new Refusal(fault, column, { expected, found: showCell(cell) })
    }
  })
}

function textOf(cell: Cell): string | null {
  if (typeof cell === 'string') return cell
  return typeof cell === 'boolean' ? String(cell) : sourceDigits(cell)
}
