import { trimWhiteSpace } from '../../domain/white-space.ts'
import { type Cell, CellFault, DecimalText } from '../cells/cell.ts'
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

/** Matches a word after a number, or the sign of a percentage. */
const WORD = /^\s*[\p{L}%]/u

/** Matches what stands before an amount that is paid in addition: `12 € + 2 € Gebühr`. */
const IN_ADDITION = /(?:\+|(?<!\p{L})(?:plus|zzgl\.?|zuzüglich|más|più))$/iu

/** Matches what stands before a number of people, beside the price: `1'200.- (table de 10)`. */
const OF_PEOPLE = /\(\p{L}[^()]*\s(?:de|da|di|für|for|pour|per|para|voor|van|of|à)\s*$/iu

/** Matches cents behind the currency: `12€50`. */
const CENTS = /^\d\d(?!\d)/

const CURRENCY = /^\p{Sc}|\p{Sc}$/u

/**
 * Returns a function that finds the amounts in a cell: its number, else each number in its text. A number before a word
 * is no amount, unless a currency stands beside it: `ab 6 Jahren: 12 €`. If there is a currency, numbers without one are
 * amounts only in a series that ends with it.
 * @param toNumber reads a number as the field does
 * @param currency marks besides the signs of currencies
 */
export function amountFinder(
  toNumber: Convert<number | string>,
  currency: readonly string[],
): (cell: Cell) => readonly Amount[] {
  const amountOf = (cell: Cell): Amount | null => {
    const number = toNumber(cell)
    return number instanceof CellFault ? null : { cell, value: Number(number) }
  }
  const markBefore = (text: string): string =>
    currency.find((mark) => text.endsWith(mark)) ?? CURRENCY.exec(text.slice(-1))?.[0] ?? ''
  const markAfter = (text: string): string =>
    currency.find((mark) => text.startsWith(mark)) ?? CURRENCY.exec(text.slice(0, 1))?.[0] ?? ''
  return (cell) => {
    const whole = amountOf(cell)
    if (whole !== null) return [whole]
    if (typeof cell !== 'string' || cell.length > LONGEST) return []
    let isCents = false
    const found = Array.from(cell.matchAll(DIGITS), ({ 0: digits, index }) => {
      const after = cell.slice(index + digits.length)
      const end = NO_CENTS.exec(after)?.[0] ?? ''
      const rest = after.slice(end.length)
      const [before, behind] = [trimWhiteSpace(cell.slice(0, index)), trimWhiteSpace(rest)]
      const [first, last] = [markBefore(before), markAfter(behind)]
      const cents = last === '' ? undefined : CENTS.exec(rest.slice(last.length))?.[0]
      const hasCents = rest.startsWith(last) && cents !== undefined && /^\d+$/.test(digits)
      const isAmount = !digits.includes(':') && !isCents
      isCents = hasCents
      return {
        number: hasCents ? new DecimalText(`${digits}.${cents}`) : digits,
        // Digits with a colon are a time.
        isAmount: isAmount && !IN_ADDITION.test(trimWhiteSpace(before.slice(0, before.length - first.length))),
        isSure: first !== '' || last !== '' || end !== '',
        isInSeries: IN_SERIES.test(rest) && !OF_PEOPLE.test(cell.slice(0, index)),
        isBeforeWord: WORD.test(rest),
      }
    })
    const hasSure = found.some(({ isSure }) => isSure)
    const meant = found.filter(
      ({ isAmount, isSure, isInSeries, isBeforeWord }) =>
        isAmount && (isSure || isInSeries || !(hasSure || isBeforeWord)),
    )
    const amounts = meant.map(({ number }) => amountOf(number))
    // A number that cannot be read may be the lowest.
    return amounts.every((amount) => amount !== null) ? amounts : []
  }
}
