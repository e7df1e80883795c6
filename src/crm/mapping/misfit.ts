import type { Cell } from './cell.ts'
import { showCell } from './show-cell.ts'

/** A cell that cannot be read as what its field holds. */
export class Misfit {
  /** The end of a sentence: `a date-time such as 2026-07-12T19:30:00+01:00`. */
  readonly expected: string
  readonly found: string

  constructor(expected: string, cell: Cell) {
    this.expected = expected
    this.found = showCell(cell)
  }
}
