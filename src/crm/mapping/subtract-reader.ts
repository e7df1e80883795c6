import type { Reader } from './list-mapping.ts'
import { Misfit } from './misfit.ts'
import { Refusal } from './refusal.ts'
import type { RowAccess } from './row-access.ts'
import { toInt32 } from './to-number.ts'

const MAX_INT32 = 2_147_483_647

/** The first column less all others, never below 0; a blank one counts as 0. */
export function subtractReader<Row>(columns: readonly string[], access: RowAccess<Row>): Reader<Row, number> {
  const parts = columns.map((column) => ({ column, cellOf: access.cell(column) }))
  return (row) => {
    let rest = 0
    for (const [index, { column, cellOf }] of parts.entries()) {
      const number = toInt32(cellOf(row))
      if (number instanceof Misfit) return new Refusal('unreadable', column, number)
      rest = index === 0 ? number : rest - number
    }
    // Subtracting what is negative may leave more than a field can hold; it is cut at the other end too.
    return Math.min(Math.max(rest, 0), MAX_INT32)
  }
}
