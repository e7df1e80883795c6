import { type DateFormat, BadDateFormat, parseByFormat, parseDateFormat } from '../domain/date-format.ts'
import { parseDateTimeText } from '../domain/date-time.ts'
import { parseGuid } from '../domain/guid.ts'

/** A text that stands in a column, and in how many rows. */
export interface CountedText {
  readonly text: string
  readonly count: number
  /** Whether it is a text in a workbook too: only there can numbers be written in several ways. */
  readonly isText: boolean
}

/** What is in a column, by its values alone. */
export interface Column {
  readonly name: string
  /** Rows of the table, and those in which the column holds something. */
  readonly rows: number
  readonly filled: number
  /** The different texts, in the order in which they come; of a large file not all. */
  readonly texts: readonly CountedText[]
  readonly distinct: number
  /** No two rows hold the same, of those that were compared. */
  readonly isDistinct: boolean
  readonly isGuid: boolean
  readonly kind: 'date-time' | 'date' | 'time' | 'number' | 'text'
  /** The formats that fit every value; empty where ISO 8601 does. */
  readonly formats: readonly DateFormat[]
  /** How many values are of that kind. */
  readonly fit: number
  /** How many cells hold a text that was not kept, and how many of those are of that kind. */
  readonly others: number
  readonly othersFit: number
  /** The rows that hold something, in their order, and what they hold; null: not known. Of a large file not all. */
  readonly at: readonly number[]
  readonly held: readonly (CountedText | null)[]
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

type Counts = Pick<Column, 'rows' | 'filled' | 'others' | 'othersFit' | 'at' | 'held'>

export function lookAtColumn(name: string, texts: readonly CountedText[], counts: Counts): Column {
  const { rows, filled, others, othersFit, at, held } = counts
  const known = filled - others
  const isDistinct = filled > 0 && texts.every(({ count }) => count === 1)
  const isGuid = texts.length > 0 && texts.every(({ text }) => parseGuid(text) !== null)
  const rest = {
    name,
    rows,
    filled,
    texts,
    distinct: texts.length + others,
    isDistinct,
    isGuid,
    others,
    othersFit,
    at,
    held,
  }
  const as = (kind: Column['kind'], fit: number, formats: readonly DateFormat[] = []): Column => ({
    ...rest,
    kind,
    formats,
    fit: fit + othersFit,
  })
  if (texts.length === 0 || isGuid) return as('text', known)
  const iso = countOf(texts, isIso)
  if (iso >= known * ENOUGH) return as('date-time', iso)
  for (const [kind, all, formats] of [
    ['date', texts, DAY_FORMATS],
    ['date-time', texts, DATE_TIME_FORMATS],
    ['time', texts.map(afterSomeDay), TIME_FORMATS],
  ] as const) {
    const found = fitting(all, formats)
    if (found.formats.length > 0) return as(kind, found.fit, kind === 'time' ? [] : found.formats)
  }
  const numbers = countOf(texts, isNumber)
  return numbers >= known * ENOUGH ? as('number', numbers) : as('text', known)
}

/** The column that such texts would be, one in each row. */
export function columnOfTexts(all: readonly string[]): Column {
  const counts = { rows: all.length, filled: all.length, others: 0, othersFit: 0, at: [], held: [] }
  return lookAtColumn('', countedTexts(all), counts)
}

/** Whether one more text is of the column's kind. */
export function fitsAs({ kind, formats, isGuid }: Column): (text: string) => boolean {
  if (isGuid) return (text) => parseGuid(text) !== null
  if (kind === 'text') return () => true
  if (kind === 'number') return isNumber
  if (kind === 'time') return (text) => TIME_FORMATS.some((format) => isWrittenAs(someDay(text), format))
  return formats.length === 0 ? isIso : (text) => formats.some((format) => isWrittenAs(text, format))
}

function isIso(text: string): boolean {
  return parseDateTimeText(text) !== null
}

function isNumber(text: string): boolean {
  return NUMBER.test(withoutCurrency(text))
}

function isWrittenAs(text: string, format: DateFormat): boolean {
  return parseByFormat(text, format) !== null
}

function someDay(time: string): string {
  return `2000-01-01 ${time}`
}

function afterSomeDay(counted: CountedText): CountedText {
  return { ...counted, text: someDay(counted.text) }
}

function countOf(texts: readonly CountedText[], holds: (text: string) => boolean): number {
  return texts.reduce((sum, { text, count }) => (holds(text) ? sum + count : sum), 0)
}

export function countedTexts(all: readonly string[]): readonly CountedText[] {
  const counts = new Map<string, number>()
  for (const text of all) counts.set(text, (counts.get(text) ?? 0) + 1)
  return Array.from(counts, ([text, count]) => ({ text, count, isText: true }))
}

export function isMoment({ kind }: Column): boolean {
  return kind === 'date' || kind === 'date-time'
}

/** The rows in which all these columns hold something: what each holds, the empty text where it is not known. */
export function rowsOf(columns: readonly Column[]): readonly (readonly string[])[] {
  const [first, ...others] = columns.map(({ at, held }) => ({ at, held, next: 0 }))
  const rows: string[][] = []
  for (const [index, row] of first?.at.entries() ?? []) {
    for (const other of others) while ((other.at[other.next] ?? Infinity) < row) other.next++
    if (!others.every(({ at, next }) => at[next] === row)) continue
    rows.push([first?.held[index]?.text ?? '', ...others.map(({ held, next }) => held[next]?.text ?? '')])
  }
  return rows
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

/** So many texts tell which formats there can be; all are counted for those. */
const SOME_TEXTS = 200

/** The formats that fit most of the texts, and equally many; those of two digits stand before those of one or two. */
function fitting(texts: readonly CountedText[], known: readonly DateFormat[]): Fitting {
  const all = texts.reduce((sum, { count }) => sum + count, 0)
  const some = texts.slice(0, SOME_TEXTS)
  let best: Fitting = { formats: [], fit: Math.max(1, Math.ceil(all * ENOUGH)) }
  for (const format of known) {
    if (!some.some(({ text }) => isWrittenAs(text, format))) continue
    const fit = countOf(texts, (text) => isWrittenAs(text, format))
    if (fit > best.fit) best = { formats: [format], fit }
    else if (fit === best.fit) best = { formats: [...best.formats, format], fit }
  }
  return best
}

/** The formats that fit the dates of all these columns. */
export function commonFormats(columns: readonly Column[]): readonly DateFormat[] {
  // What ISO 8601 fits needs none.
  const texts = columns.flatMap((column) => (column.formats.length > 0 ? column.texts : []))
  return fitting(texts, DATE_TIME_FORMATS).formats
}

/** The formats of texts, each a day and a time that stand in two columns. */
export function joinedFormats(texts: readonly CountedText[]): readonly DateFormat[] {
  const all = texts.reduce((sum, { count }) => sum + count, 0)
  return countOf(texts, isIso) >= all * ENOUGH ? [] : fitting(texts, DATE_TIME_FORMATS).formats
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
