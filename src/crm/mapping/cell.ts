/** One value of a CRM's row, before it is read as anything. Dates are texts: no connector may round them on the way. */
export type Cell = null | boolean | string | number | NumberText | readonly Cell[] | CellObject

export interface CellObject {
  readonly [name: string]: Cell
}

/** A number by the digits its source wrote, where a float would lose some of them; a plain `number` is a safe integer. */
export class NumberText {
  readonly source: string

  constructor(source: string) {
    this.source = source
  }
}

export function isObject(cell: Cell): cell is CellObject {
  return typeof cell === 'object' && cell !== null && !(cell instanceof NumberText) && !isList(cell)
}

export function isList(cell: Cell): cell is readonly Cell[] {
  return Array.isArray(cell)
}

/** The digits of a number as its source wrote them, null for a cell that is no number. */
export function sourceDigits(cell: Cell): string | null {
  if (typeof cell === 'number') return String(cell)
  return cell instanceof NumberText ? cell.source : null
}
