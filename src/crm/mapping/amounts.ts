import { trimWhiteSpace } from '../../domain/white-space.ts'
import { type Cell, CellFault } from '../cells/cell.ts'
import type { Convert } from './conversions.ts'

/** A number in a cell, and the text that it is read from. */
export interface Amount {
  readonly cell: Cell
  readonly value: number
}

/** Longer texts are descriptions, not prices. */
const LONGEST = 300

/** Matches digits with their separators. A blank only separates groups of three. */
const DIGITS = /\d+(?:(?:[.,:'’]|[ \u00a0\u202f](?=\d{3}(?!\d)))\d+)*/g

/** Matches the end of an amount without cents: `18,-`, `18.–`. */
const NO_CENTS = /^[.,] ?[-–—]{1,2}(?!\d)/

/** Matches what may follow a number of a series that ends with a currency: `10/8 EUR`, `10 bis 20 €`. */
const IN_SERIES = /^\s*(?:$|[-–—/|,;()&]|(?:bis|to|à|a|al|tot|und|and|et|y|e|en|oder|or|ou|o|of)(?![\p{L}\d]))/u

/**
 * Returns a function that finds the amounts in a cell: its number, else each number in its text. If any number stands
 * next to a currency, a number that a word follows is not an amount: `ab 6 Jahren: 12 €`.
 * @param toNumber reads a number as the field does
 */
export function amountFinder(
  toNumber: Convert<number | string>,
  currency: readonly string[],
): (cell: Cell) => readonly Amount[] {
  const amountOf = (cell: Cell): Amount | null => {
    const number = toNumber(cell)
    return number instanceof CellFault ? null : { cell, value: Number(number) }
  }
  return (cell) => {
    const whole = amountOf(cell)
    if (whole !== null) return [whole]
    if (typeof cell !== 'string' || cell.length > LONGEST) return []
    const found = Array.from(cell.matchAll(DIGITS), ({ 0: digits, index }) => {
      const after = cell.slice(index + digits.length)
      const end = NO_CENTS.exec(after)?.[0] ?? ''
      const rest = after.slice(end.length)
      const before = trimWhiteSpace(cell.slice(0, index))
      const isMarked = currency.some((mark) => before.endsWith(mark) || trimWhiteSpace(rest).startsWith(mark))
      return { digits, isSure: isMarked || end !== '', isInSeries: IN_SERIES.test(rest) }
    })
    const hasSure = found.some(({ isSure }) => isSure)
    // Digits with a colon are a time.
    const meant = found.filter(
      ({ digits, isSure, isInSeries }) => !digits.includes(':') && (!hasSure || isSure || isInSeries),
    )
    const amounts = meant.map(({ digits }) => amountOf(digits))
    // A number that cannot be read may be the lowest.
    return amounts.every((amount) => amount !== null) ? amounts : []
  }
}
