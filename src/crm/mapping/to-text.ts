import type { Cell } from './cell.ts'
import { sourceDigits } from './cell.ts'
import { Misfit } from './misfit.ts'

/** The text of a cell as it is; a number's is its source text. */
export function toText(cell: Cell): string | null | Misfit {
  if (cell === null || typeof cell === 'string') return cell
  return sourceDigits(cell) ?? new Misfit('a text', cell)
}
