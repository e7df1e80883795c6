import { columnOfTexts, currenciesOf, decimalSign } from '../proposal/column.ts'
import { isNo, isYes } from './remedy.ts'
import { quoted } from '../proposal/line.ts'
import { isMonthFirst } from '../proposal/text-formats.ts'

export type TextKeyFor = (found: readonly string[], expected: string) => string | null

/**
 * Returns the `crm.texts` key that would make such texts readable, as the end of a sentence; `null` if there is none.
 */
export const textKeyFor: TextKeyFor = (found, expected) => {
  if (expected.includes('yes or no')) {
    const isSet = expected.includes('(crm.texts)')
    const words = [keyOf('yes', found.filter(isYes), isSet), keyOf('no', found.filter(isNo), isSet)].filter(
      (key) => key !== null,
    )
    return words.length === 0 ? null : words.join(' and ')
  }
  if (expected === 'a list of texts') return "set crm.texts.tags to the signs that separate them, such as [';']"
  const column = columnOfTexts(found)
  if (expected.startsWith('a date-time')) {
    const [first] = column.kind === 'date-time' ? column.formats : []
    // The texts already fit a configured format: they name days that do not exist, and another format would not help.
    if (areWrittenAs(found, FORMATS.exec(expected)?.[1]?.split(' or ') ?? [])) return null
    if (first === undefined) return expected.includes('crm.texts.dates') ? 'add their format to crm.texts.dates' : null
    const other = column.formats.find((one) => isMonthFirst(one) !== isMonthFirst(first))
    return `add ${first.written}${other === undefined ? '' : ` or ${other.written}, whichever is meant,`} to crm.texts.dates`
  }
  if (!expected.includes('number')) return null
  // What is set already is in what is expected.
  const currencies = currenciesOf(found).filter((currency) => !expected.includes(currency))
  const currency = expected.startsWith('a number')
    ? keyOf('currency', currencies, expected.includes('crm.texts.currency'))
    : null
  const { sign } = expected.includes('crm.texts.decimal') ? { sign: null } : decimalSign(found)
  // Points are read without being said, but for what groups thousands beside them.
  const isNews = sign === ',' || (sign === '.' && found.some((value) => value.includes(',')))
  const decimal = isNews ? `set crm.texts.decimal: '${sign}'` : null
  return [decimal, currency].filter((key) => key !== null).join(' and ') || null
}

/** The formats that are set, in what is expected. */
const FORMATS = /^a date-time that fits (.+) \(crm\.texts\.dates\)/

function areWrittenAs(found: readonly string[], formats: readonly string[]): boolean {
  const shapes = new Set(formats.map(shapeOf))
  return found.every((value) => shapes.has(shapeOf(value)))
}

/** The letters of a format and the digits that they stand for are one. */
function shapeOf(text: string): string {
  return text.trim().replaceAll(/[\dYMDhms]+/g, '0')
}

/** @param isSet what is set already has to stay */
function keyOf(key: string, words: readonly string[], isSet: boolean): string | null {
  if (words.length === 0) return null
  const list = words.map(quoted).join(', ')
  return isSet ? `add ${list} to crm.texts.${key}` : `set crm.texts.${key}: [${list}]`
}
