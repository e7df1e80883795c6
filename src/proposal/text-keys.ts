import type { Expected } from '../domain/withheld.ts'
import { type Column, columnOfTexts, currenciesOf, decimalSign } from './column.ts'
import { recoded } from '../domain/encoding.ts'
import { isNo, isYes } from '../domain/flag-words.ts'
import { type Line, quoted, example, OPEN } from './line.ts'
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
  // The numbers alone do not tell. A whole number with one separator groups thousands.
  const open = sign === 'both' && expected.kind === 'decimal' ? DECIMAL_SIGN : null
  return [decimal ?? open, currency].filter((key) => key !== null).join(' and ') || null
}

const DECIMAL_SIGN = 'set crm.texts.decimal to the decimal sign of the file'

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

const SIGNS: ReadonlyMap<string, string> = new Map([
  [',', "','"],
  [';', "';'"],
  ['|', "'|'"],
  ['\t', 'tab'],
])

export function textLines(
  table: Table,
  numbers: readonly Column[],
  { formats, dayOnly }: Pick<Dates, 'formats' | 'dayOnly'>,
  tags: Column | null,
): readonly Line[] {
  const lines: Line[] = []
  const add = (key: string, value: string, evidence: string): void => void lines.push({ key, value, evidence })
  if (!table.isWorkbook && !table.isTyped) {
    add(
      'delimiter',
      SIGNS.get(table.delimiter ?? ',') ?? quoted(table.delimiter ?? ','),
      `${howMany(table.columns.length, 'column')} in ${howMany(table.rows, 'row')}`,
    )
  }
  const { sure, candidates } = table.encoding
  // A workbook has no encoding, and JSON is nearly always UTF-8.
  if (!table.isWorkbook && (!table.isTyped || sure !== 'utf-8')) {
    if (sure === null) {
      const shown = candidates.map(({ label, word }) => `${label} gives ${word}`)
      const question = `The bytes are not UTF-8. Which is right: ${shown.join(', ')}?`
      add('encoding', OPEN, [question, ...otherNames(table)].join(' '))
    } else {
      const alike = candidates.slice(1, 3).map(({ label }) => label)
      const fact = `the bytes are not UTF-8; ${alike.join(' and ')} give the same text`
      add('encoding', sure, candidates.length === 0 ? 'all bytes are valid' : fact)
    }
  }
  const written = numbers.flatMap(({ texts }) => texts.flatMap(({ text, isText }) => (isText ? [text] : [])))
  const { sign: decimal, example: shown } = decimalSign(written)
  if (decimal === 'both')
    add('decimal', OPEN, `Is ${shown} written with a decimal comma (',') or a decimal point ('.')?`)
  else if (decimal !== null)
    add('decimal', quoted(decimal), `${/[.,]/.test(shown) ? '' : 'blanks group thousands; '}e.g. ${shown}`)
  const currencies = currenciesOf(written)
  if (currencies.length > 0)
    add('currency', `[${currencies.map(quoted).join(', ')}]`, 'written next to numbers, and ignored')
  if (table.headerRow !== 1) {
    const names = table.columns.slice(0, 4).map(({ name }) => name)
    add('headerRow', String(table.headerRow), names.join(', '))
  }
  if (dayOnly !== null) {
    const serves = (formats.length === 0 ? ['YYYY-MM-DD'] : waysOf(formats)).map((each) => `[${each}]`).join(' or ')
    add(
      'dates',
      OPEN,
      `${dayOnly.name} has no time. Write ${serves} to serve 00:00, or join a column of times in Start.`,
    )
  } else if (formats.length > 0) {
    const [way = '', other] = waysOf(formats)
    if (other === undefined) add('dates', `[${quoted(way)}]`, 'fits the dates')
    else add('dates', OPEN, `The dates fit both [${way}] and [${other}]. Which is right?`)
  }
  const separators = [';', ',', '/', '|'].filter((sign) =>
    tags?.texts.some(({ text, isText }) => isText && text.includes(sign)),
  )
  if (separators.length > 0) add('tags', `[${separators.map(quoted).join(', ')}]`, example(tags ?? { texts: [] }))
  return lines
}

const MOST_NAMES = 10

/** Tells which names of columns depend on the encoding: the proposal writes them as the first candidate gives them. */
function otherNames({ columns, encoding }: Table): readonly string[] {
  const [first, ...others] = encoding.candidates
  if (first === undefined) return []
  return others.flatMap(({ label }) => {
    const names = columns.flatMap(({ name }) => {
      const other = recoded(name, first.label, label)
      return other === name ? [] : [`${other} instead of ${name}`]
    })
    return names.length === 0 ? [] : [`With ${label}, also write ${names.slice(0, MOST_NAMES).join(', ')}.`]
  })
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
