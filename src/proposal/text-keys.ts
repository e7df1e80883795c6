import type { Expected } from '../domain/withheld.ts'
import { columnOfTexts, currenciesOf, decimalSign } from './column.ts'
import { isNo, isYes } from '../domain/flag-words.ts'
import { quoted } from './line.ts'
import { isMonthFirst } from './text-formats.ts'

export type TextKeyFor = (found: readonly string[], expected: Expected) => string | null

/**
 * Returns the `crm.texts` key that would make such texts readable, as the end of a sentence; `null` if there is none.
 */
export const textKeyFor: TextKeyFor = (found, expected) => {
  if (expected.kind === 'flag') {
    const isSet = expected.words !== null
    const words = [keyOf('yes', found.filter(isYes), isSet), keyOf('no', found.filter(isNo), isSet)].filter(
      (key) => key !== null,
    )
    return words.length === 0 ? null : words.join(' and ')
  }
  if (expected.kind === 'texts') return "set crm.texts.tags to the signs that separate them, such as [';']"
  if (expected.kind === 'date-time') {
    const column = columnOfTexts(found)
    const [first] = column.kind === 'date-time' ? column.formats : []
    // The texts already fit a configured format: they name days that do not exist, and another format would not help.
    if (areWrittenAs(found, expected.formats)) return null
    if (first === undefined) return expected.formats.length > 0 ? 'add their format to crm.texts.dates' : null
    const other = column.formats.find((one) => isMonthFirst(one) !== isMonthFirst(first))
    return `add ${first.written}${other === undefined ? '' : ` or ${other.written}, whichever is meant,`} to crm.texts.dates`
  }
  if (expected.kind !== 'decimal' && expected.kind !== 'integer') return null
  const currencies = currenciesOf(found).filter((currency) => !expected.currency.includes(currency))
  const currency = expected.kind === 'decimal' ? keyOf('currency', currencies, expected.currency.length > 0) : null
  const { sign } = expected.sign === null ? decimalSign(found) : { sign: null }
  // A decimal point needs no key, unless commas group thousands.
  const isNews = sign === ',' || (sign === '.' && found.some((value) => value.includes(',')))
  const decimal = isNews ? `set crm.texts.decimal: '${sign}'` : null
  return [decimal, currency].filter((key) => key !== null).join(' and ') || null
}

function areWrittenAs(found: readonly string[], formats: readonly string[]): boolean {
  const shapes = new Set(formats.map(shapeOf))
  return found.every((value) => shapes.has(shapeOf(value)))
}

/** Returns the same text for a format and for the texts it fits: each run of letters or digits becomes `0`. */
function shapeOf(text: string): string {
  return text.trim().replaceAll(/[\dYMDhms]+/g, '0')
}

/** @param isSet whether the key is set already: its present values must stay */
function keyOf(key: string, words: readonly string[], isSet: boolean): string | null {
  if (words.length === 0) return null
  const list = words.map(quoted).join(', ')
  return isSet ? `add ${list} to crm.texts.${key}` : `set crm.texts.${key}: [${list}]`
}
