import type { Expected, ExpectedNumber } from '../domain/withheld.ts'
import { type Column, countedTexts, currenciesOf, dateTimeFormats, decimalSign } from './column.ts'
import { CENTRAL, USUAL } from './encodings.ts'
import { isNo, isYes } from '../domain/flag-words.ts'
import { type Line, example, listed, OPEN, quoted } from './line.ts'
import type { DateFormat } from '../domain/date-format.ts'
import { howMany } from '../domain/printable.ts'
import type { Dates } from './moments.ts'
import type { Table } from './table.ts'

export type TextKeyFor = (found: readonly string[], expected: Expected) => string | null

/**
 * Returns the `crm.texts` key that would make such texts readable, as the end of a sentence; `null` if there is none.
 */
export const textKeyFor: TextKeyFor = (found, expected) => {
  if (expected.kind === 'flag') {
    const isSet = expected.words !== null
    return joined(keyOf('yes', found.filter(isYes), isSet), keyOf('no', found.filter(isNo), isSet))
  }
  if (expected.kind === 'texts') return "set crm.texts.tags to the signs that separate them, such as [';']"
  if (expected.kind === 'date-time') {
    // The texts already fit a configured format: they name days that do not exist, and another format would not help.
    if (areWrittenAs(found, expected.formats)) return null
    const [way, other] = waysOf(dateTimeFormats(countedTexts(found)))
    if (way === undefined) return null
    return `add ${way}${other === undefined ? '' : ` or ${other}, whichever is meant,`} to crm.texts.dates`
  }
  if (expected.kind === 'integer') return decimalKey(found, expected)
  if (expected.kind !== 'decimal') return null
  const currencies = currenciesOf(found).filter((currency) => !expected.currency.includes(currency))
  return joined(decimalKey(found, expected), keyOf('currency', currencies, expected.currency.length > 0))
}

function areWrittenAs(found: readonly string[], formats: readonly string[]): boolean {
  const shapes = new Set(formats.map(shapeOf))
  return found.every((value) => shapes.has(shapeOf(value)))
}

/** Returns the same text for a format and for the texts it fits: each run of letters or digits becomes `0`. */
function shapeOf(text: string): string {
  return text.trim().replaceAll(/[\dYMDhms]+/g, '0')
}

function joined(...keys: readonly (string | null)[]): string | null {
  return keys.filter((key) => key !== null).join(' and ') || null
}

/** @param isSet whether the key is set already: its present values must stay */
function keyOf(key: string, words: readonly string[], isSet: boolean): string | null {
  if (words.length === 0) return null
  const list = words.map(quoted).join(', ')
  return isSet ? `add ${list} to crm.texts.${key}` : `set crm.texts.${key}: [${list}]`
}

function decimalKey(found: readonly string[], { kind, sign: set }: ExpectedNumber): string | null {
  const { sign } = decimalSign(found)
  if (set !== null || sign === null) return null
  // The numbers alone do not tell. A whole number with one separator groups thousands.
  if (sign === 'both') return kind === 'decimal' ? 'set crm.texts.decimal to the decimal sign of these texts' : null
  // A decimal point needs no key, unless commas group thousands.
  const isNews = sign === ',' || found.some((value) => value.includes(','))
  return isNews ? `set crm.texts.decimal: '${sign}'` : null
}

/** Proposes the `texts` of a list. */
export function textLines(
  table: Table,
  numbers: readonly Column[],
  { formats, dayOnly }: Pick<Dates, 'formats' | 'dayOnly'>,
  tags: Column | null,
): readonly Line[] {
  const lines: Line[] = []
  const add = (key: string, value: string, evidence: string): void => void lines.push({ key, value, evidence })
  const { columns, delimiter, encoding, headerRow } = table
  if (delimiter !== null) {
    const evidence = `${howMany(columns.length, 'column')} in ${howMany(table.rows, 'row')}`
    add('delimiter', delimiter === '\t' ? 'tab' : `'${delimiter}'`, evidence)
  }
  const { sure, candidates } = encoding
  if (sure === null) {
    const shown = candidates.map(({ label, word }) => `${label} gives ${word}`).join(', ')
    const names = `The names of columns below are written as ${USUAL} gives them.`
    add('encoding', OPEN, `The bytes are not UTF-8. Which is right: ${shown}? ${names}`)
  } else if (delimiter !== null || sure !== 'utf-8') {
    const same = `the bytes are not UTF-8; ${CENTRAL} gives the same text`
    add('encoding', sure, sure === USUAL ? same : 'all bytes are valid')
  }
  const written = numbers.flatMap(({ texts }) => texts.flatMap(({ text, isText }) => (isText ? [text] : [])))
  const { sign: decimal, example: shown } = decimalSign(written)
  if (decimal === 'both') {
    add('decimal', OPEN, `Is ${shown} written with a decimal comma (',') or a decimal point ('.')?`)
  } else if (decimal !== null) {
    add('decimal', quoted(decimal), `${/[.,]/.test(shown) ? '' : 'blanks group thousands; '}e.g. ${shown}`)
  }
  const currencies = currenciesOf(written)
  if (currencies.length > 0) add('currency', listed(currencies), 'written next to numbers, and ignored')
  if (headerRow !== 1) {
    const names = columns.slice(0, 4).map(({ name }) => name)
    add('headerRow', String(headerRow), names.join(', '))
  }
  const [way, other] = waysOf(formats)
  if (dayOnly !== null) {
    const midnight = waysOf(formats).map((each) => `[${each}]`)
    const evidence = `${dayOnly.name} has no time. Write ${midnight.join(' or ')} to serve 00:00, or join a column of times in Start.`
    add('dates', OPEN, evidence)
  } else if (other !== undefined) {
    add('dates', OPEN, `The dates fit both [${way}] and [${other}]. Which is right?`)
  } else if (way !== undefined) {
    add('dates', listed([way]), 'fits the dates')
  }
  const separators = [';', ',', '/', '|'].filter((sign) =>
    tags?.texts.some(({ text, isText }) => isText && text.includes(sign)),
  )
  if (separators.length > 0) add('tags', listed(separators), example(tags ?? { texts: [] }))
  return lines
}

/** The first format, and the first one with day and month swapped. */
function waysOf(formats: readonly DateFormat[]): readonly string[] {
  const [first] = formats
  const other = formats.find((one) => first !== undefined && isMonthFirst(one) !== isMonthFirst(first))
  return [first, other].flatMap((format) => format?.written ?? [])
}

function isMonthFirst({ written }: DateFormat): boolean {
  return written.startsWith('M')
}
