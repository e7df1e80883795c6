import { trimWhiteSpace } from '../../domain/white-space.ts'
import type { Cell } from './cell.ts'

/** Tells whether a cell holds nothing: null, or a text of white space at most. */
export function isBlank(cell: Cell): boolean {
  return cell === null || (typeof cell === 'string' && trimWhiteSpace(cell) === '')
}
