import type { Decimal } from '../../domain/decimal.ts'
import { parseDecimal, ZERO } from '../../domain/decimal.ts'
import { parseInt32 } from '../../domain/int32.ts'
import type { Cell } from './cell.ts'
import { isBlank } from './is-blank.ts'
import { Misfit } from './misfit.ts'
import { sourceDigits } from './cell.ts'

/** The 32-bit integer of a cell; what is left blank is 0 (contract §2). */
export function toInt32(cell: Cell): number | Misfit {
  if (typeof cell === 'number' && (cell | 0) === cell) return cell
  if (isBlank(cell)) return 0
  const text = numberText(cell)
  return (text === null ? null : parseInt32(text)) ?? new Misfit('a whole number without separators, such as 250', cell)
}

/** The decimal of a cell with the digits and scale its source wrote; what is left blank is 0 (contract §2). */
export function toDecimal(cell: Cell): Decimal | Misfit {
  if (isBlank(cell)) return ZERO
  const text = numberText(cell)
  return (text === null ? null : parseDecimal(text)) ?? new Misfit('a number without separators, such as 12.50', cell)
}

function numberText(cell: Cell): string | null {
  return typeof cell === 'string' ? cell : sourceDigits(cell)
}
