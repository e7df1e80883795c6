import type { Condition } from '../../config/crm/sources.ts'
import type { WithheldFault } from '../../domain/withheld.ts'
import { plainText, showCell } from './cell.ts'
import { toFlag } from './conversions.ts'
import type { RowAccess } from './reader.ts'
import { Misfit, Reason } from './reader.ts'

/** A column that says yes or no, and what a blank one means. */
export interface FlagColumn {
  readonly column: string
  readonly whenBlank: boolean
}

/** Why a row is not in the list, null where it is; `fault` is what its being left out is called. */
export function conditionsOf<Row>(
  condition: Condition | FlagColumn | null,
  access: RowAccess<Row>,
  fault: WithheldFault,
): readonly ((row: Row) => Reason | null)[] {
  if (condition === null) return []
  if ('whenBlank' in condition) return [flagCondition(condition, access, fault)]
  return condition.map((part) => oneOfCondition(part, access, fault))
}

function flagCondition<Row>({ column, whenBlank }: FlagColumn, access: RowAccess<Row>, fault: WithheldFault) {
  const cellOf = access.cell(column)
  return (row: Row): Reason | null => {
    const flag = toFlag(cellOf(row))
    if (flag instanceof Misfit) return new Reason('unreadable', column, flag)
    return (flag ?? whenBlank) ? null : new Reason(fault, column, null)
  }
}

/** Null holds none of the values. */
function oneOfCondition<Row>({ column, oneOf }: Condition[number], access: RowAccess<Row>, fault: WithheldFault) {
  const cellOf = access.cell(column)
  const values = new Set(oneOf.map(String))
  const expected = oneOf.length === 1 ? String(oneOf[0]) : `one of ${oneOf.join(', ')}`
  return (row: Row): Reason | null => {
    const cell = cellOf(row)
    const text = typeof cell === 'boolean' ? String(cell) : plainText(cell)
    return text !== null && values.has(text) ? null : new Reason(fault, column, { expected, found: showCell(cell) })
  }
}
