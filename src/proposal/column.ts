import { type DateFormat, BadDateFormat, parseByFormat, parseDateFormat } from '../domain/date-format.ts'
import { parseDateTimeText } from '../domain/date-time.ts'
import { parseGuid } from '../domain/guid.ts'

/** What is in a column, by its values alone. */
export interface Column {
  readonly name: string
  readonly values: readonly (string | null)[]
  readonly filled: readonly string[]
  readonly isUnique: boolean
  readonly isGuid: boolean
  readonly kind: 'date-time' | 'date' | 'time' | 'number' | 'text'
  /** The formats that fit every value; empty where ISO 8601 does. */
  readonly formats: readonly DateFormat[]
  readonly distinct: number
  /** How many values are of that kind. */
  readonly fit: number
}

const DAYS = [
  'DD.MM.YYYY',
  'D.M.YYYY',
  'DD/MM/YYYY',
  'D/M/YYYY',
  'MM/DD/YYYY',
  'M/D/YYYY',
  'DD-MM-YYYY',
  'D-M-YYYY',
  'YYYY/MM/DD',
  'YYYY-MM-DD',
  'YYYY.MM.DD',
]
const TIMES = [
  'hh:mm',
  'h:mm',
  'hh:mm:ss',
  'h:mm:ss',
  'hh.mm',
  'h.mm',
  'hhhmm',
  'hhmm',
  'h:mm A',
  'hh:mm A',
  'hh:mm Uhr',
  'hh.mm Uhr',
  'h:mmA',
]

function formatOf(written: string): DateFormat {
  const parsed = parseDateFormat(written)
  if (parsed instanceof BadDateFormat) throw new Error(`${written} ${parsed.problem}`)
  return parsed
}

const DAY_FORMATS = DAYS.map(formatOf)
const DATE_TIME_FORMATS = DAYS.flatMap((day) => TIMES.map((time) => formatOf(`${day} ${time}`)))

export function lookAtColumn(name: string, values: readonly (string | null)[]): Column {
  const filled = values.filter((value) => value !== null)
  const distinct = new Set(filled).size
  const isGuid = filled.length > 0 && filled.every((value) => parseGuid(value) !== null)
  const isUnique = distinct === values.length
  const rest = { name, values, filled, distinct, isUnique, isGuid, formats: [], fit: filled.length }
  if (filled.length === 0 || isGuid) return { ...rest, kind: 'text' }
  const iso = filled.filter((value) => parseDateTimeText(value) !== null).length
  if (iso >= filled.length * ENOUGH) return { ...rest, kind: 'date-time', fit: iso }
  for (const [kind, texts, known] of [
    ['date', filled, DAY_FORMATS],
    ['date-time', filled, DATE_TIME_FORMATS],
    ['time', filled.map((value) => `2000-01-01 ${value}`), TIME_FORMATS],
  ] as const) {
    const { formats, fit } = fitting(texts, known)
    if (formats.length > 0) return { ...rest, kind, formats: kind === 'time' ? [] : formats, fit }
  }
  const numbers = filled.filter((value) => NUMBER.test(withoutCurrency(value))).length
  if (numbers >= filled.length * ENOUGH) return { ...rest, kind: 'number', fit: numbers }
  return { ...rest, kind: 'text' }
}

/** The share of values that decides what a column holds; the others are slips, which `check` tells. */
export const ENOUGH = 0.75

// 12.50 is a price rather than a time.
const TIME_FORMATS = TIMES.filter((time) => !/^h+\.mm$/.test(time)).map((time) => formatOf(`YYYY-MM-DD ${time}`))
const NUMBER = /^[+-]?\d[\d.,\u00a0\u202f ]*$/

interface Fitting {
  readonly formats: readonly DateFormat[]
  readonly fit: number
}

/** The formats that fit most of the texts, and equally many; those of two digits stand before those of one or two. */
function fitting(texts: readonly string[], known: readonly DateFormat[]): Fitting {
  let best: Fitting = { formats: [], fit: Math.max(1, Math.ceil(texts.length * ENOUGH)) }
  for (const format of known) {
    const fit = texts.filter((text) => parseByFormat(text, format) !== null).length
    if (fit > best.fit) best = { formats: [format], fit }
    else if (fit === best.fit) best = { formats: [...best.formats, format], fit }
  }
  return best
}

/** The formats that fit the dates of all these columns. */
export function commonFormats(columns: readonly Column[]): readonly DateFormat[] {
  // What ISO 8601 fits needs none.
  const texts = columns.flatMap(({ formats, filled }) => (formats.length > 0 ? filled : []))
  return fitting(texts, DATE_TIME_FORMATS).formats
}

/** The formats of texts, each a day and a time that stand in two columns. */
export function joinedFormats(texts: readonly string[]): readonly DateFormat[] {
  const iso = texts.filter((text) => parseDateTimeText(text) !== null).length
  return iso >= texts.length * ENOUGH ? [] : fitting(texts, DATE_TIME_FORMATS).formats
}

/** What numbers say about the decimal sign; `both` where nothing of them decides. */
export function decimalSign(numbers: readonly string[]): {
  readonly sign: '.' | ',' | 'both' | null
  readonly example: string
} {
  let example = ''
  let ambiguous = ''
  const signs = new Set<'.' | ','>()
  for (const value of numbers.map(withoutCurrency)) {
    const marks = value.replaceAll(/[^.,]/g, '')
    if (marks === '') continue
    const last = marks.at(-1) === ',' ? ',' : '.'
    const isGrouped = /^[+-]?\d{1,3}(?:[.,\u00a0\u202f ]\d{3})+$/.test(value) && new Set(marks).size === 1
    if (isGrouped && marks.length === 1) {
      ambiguous = value
      continue
    }
    // Several of one kind group thousands; of two kinds the last is the decimal sign.
    signs.add(isGrouped ? (last === ',' ? '.' : ',') : last)
    example = value
  }
  const [sign] = signs
  if (sign !== undefined && signs.size === 1) return { sign, example }
  if (signs.size > 1) return { sign: 'both', example }
  return ambiguous === '' ? { sign: null, example: '' } : { sign: 'both', example: ambiguous }
}

const CURRENCY = /^(?:\p{Sc}|[A-Z]{3}(?=[ \u00a0\d]))|(?:\p{Sc}|(?<=[ \u00a0\d])[A-Z]{3})$/u

function withoutCurrency(value: string): string {
  return value.replace(CURRENCY, '').trim()
}

/** The signs and words of money that stand beside numbers, each once. */
export function currenciesOf(numbers: readonly string[]): readonly string[] {
  return [...new Set(numbers.flatMap((value) => CURRENCY.exec(value) ?? []))]
}
