import { type DateFormat, parseByFormat, parseDateFormat } from '../domain/date-format.ts'
import { parseDateTimeText } from '../domain/date-time.ts'
import { parseGuid } from '../domain/guid.ts'
import { momentRole } from './field-names.ts'

/** A text in a column, and the number of rows that hold it. */
export interface CountedText {
  readonly text: string
  readonly count: number
  /** Whether it is a text rather than a number in a workbook. Only texts can write numbers in several ways. */
  readonly isText: boolean
}

/** What a column holds, judged by its values alone. */
export interface Column {
  readonly name: string
  /** The number of rows of the table, and of rows in which the column is not blank. */
  readonly rows: number
  readonly filled: number
  /** The distinct texts, in order of appearance; incomplete for large files. */
  readonly texts: readonly CountedText[]
  readonly distinct: number
  /** Whether all compared values differ. */
  readonly isDistinct: boolean
  readonly isGuid: boolean
  readonly kind: 'date-time' | 'date' | 'time' | 'number' | 'text'
  /** The formats that fit equally many values; empty for ISO 8601. */
  readonly formats: readonly DateFormat[]
  /** The number of values that are of `kind`. */
  readonly fit: number
  /** The number of cells whose text was not kept, and how many of those are of `kind`. */
  readonly others: number
  readonly othersFit: number
  /**
   * The rows in which the column is not blank, in order, and their values; null if a value was not kept. Incomplete for
   * large files.
   */
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
  'h:mm:ss A',
  'hh:mm:ss A',
  'hh:mm Uhr',
  'hh.mm Uhr',
  'h:mmA',
]

function formatOf(written: string): DateFormat {
  const parsed = parseDateFormat(written)
  if (typeof parsed === 'string') throw new Error(`${written} ${parsed}`)
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
  // A workbook may have dates and texts in one column.
  const iso = countOf(texts, isIso)
  const moments = fitting(withoutIso(texts), DATE_TIME_FORMATS)
  const fit = iso + (moments.formats.length === 0 ? 0 : moments.fit)
  if (iso >= known * ENOUGH) return as('date-time', fit, moments.formats)
  const days = fitting(texts, DAY_FORMATS)
  if (days.formats.length > 0) return as('date', days.fit, days.formats)
  if (moments.formats.length > 0 && fit >= known * ENOUGH) return as('date-time', fit, moments.formats)
  const times = countOf(texts, isTimeIn(name))
  if (times >= Math.max(1, known * ENOUGH)) return as('time', times)
  const numbers = countOf(texts, isNumber)
  return numbers >= known * ENOUGH ? as('number', numbers) : as('text', known)
}

/** The column that would hold these texts, one per row. */
export function columnOfTexts(all: readonly string[]): Column {
  const counts = { rows: all.length, filled: all.length, others: 0, othersFit: 0, at: [], held: [] }
  return lookAtColumn('', countedTexts(all), counts)
}

/** Returns a test for whether a text is of the column's kind. */
export function fitsAs({ name, kind, formats, isGuid }: Column): (text: string) => boolean {
  if (isGuid) return (text) => parseGuid(text) !== null
  if (kind === 'text') return () => true
  if (kind === 'number') return isNumber
  if (kind === 'time') return isTimeIn(name)
  return (text) => isIso(text) || formats.some((format) => isWrittenAs(text, format))
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

/** ISO 8601 needs no format. */
function withoutIso(texts: readonly CountedText[]): readonly CountedText[] {
  return texts.filter(({ text }) => !isIso(text))
}

/** Returns a test for times in a column of this name: a workbook may have times and texts such as `8:00 PM` in one. */
function isTimeIn(name: string): (text: string) => boolean {
  const formats = timeFormatsFor(name)
  return (text) => formats.some((format) => isWrittenAs(`2000-01-01 ${text}`, format))
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

/** The rows in which none of these columns is blank, with their texts; a text that was not kept is empty. */
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

/** The share of values that decides what a column holds. `check` reports the others as mistakes. */
export const ENOUGH = 0.75

const TIME_FORMATS = TIMES.map((time) => formatOf(`YYYY-MM-DD ${time}`))
const SURE_TIME_FORMATS = TIME_FORMATS.filter(({ written }) => !/ (?:h+\.mm|hhmm)$/.test(written))

/** The formats of times. 12.50 and 1250 are numbers rather than times, unless the column is named like a time. */
function timeFormatsFor(name: string): readonly DateFormat[] {
  const role = momentRole(name)
  return role === null || role === 'other' ? SURE_TIME_FORMATS : TIME_FORMATS
}

const NUMBER = /^[+-]?\d[\d.,\u00a0\u202f ]*$/

interface Fitting {
  readonly formats: readonly DateFormat[]
  readonly fit: number
}

/** The number of texts from which candidate formats are chosen. All texts are then counted for those. */
const SOME_TEXTS = 200

/**
 * Returns the formats that fit the most texts, if those are enough; formats with two digits come before those with one
 * or two.
 */
function fitting(texts: readonly CountedText[], known: readonly DateFormat[], share = ENOUGH): Fitting {
  const all = texts.reduce((sum, { count }) => sum + count, 0)
  const some = texts.slice(0, SOME_TEXTS)
  let best: Fitting = { formats: [], fit: Math.max(1, Math.ceil(all * share)) }
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
  const texts = columns.flatMap((column) => (column.formats.length > 0 ? column.texts : []))
  return fitting(withoutIso(texts), DATE_TIME_FORMATS).formats
}

/**
 * The formats of texts made of a day and a time from two columns. Both columns are known to hold such, so half of the
 * texts decide: `check` reports the others, in which times are written differently.
 */
export function joinedFormats(texts: readonly CountedText[]): readonly DateFormat[] {
  return fitting(withoutIso(texts), DATE_TIME_FORMATS, 0.5).formats
}

/** Finds the decimal separator of numbers; `both` if they contradict each other or are ambiguous. */
export function decimalSign(numbers: readonly string[]): {
  readonly sign: '.' | ',' | 'both' | null
  readonly example: string
} {
  let example = ''
  let ambiguous = ''
  let spaced = ''
  const signs = new Set<'.' | ','>()
  for (const value of numbers.map(withoutCurrency)) {
    const marks = value.replaceAll(/[^.,]/g, '')
    if (marks === '') {
      if (GROUPED_BY_BLANKS.test(value)) spaced = value
      continue
    }
    const last = marks.at(-1) === ',' ? ',' : '.'
    const isGrouped = /^[+-]?[1-9]\d{0,2}(?:[.,\u00a0\u202f ]\d{3})+$/.test(value) && new Set(marks).size === 1
    if (isGrouped && marks.length === 1) {
      ambiguous = value
      continue
    }
    // Repeated separators of one kind group thousands. Of two kinds, the last is the decimal separator.
    signs.add(isGrouped ? (last === ',' ? '.' : ',') : last)
    example = value
  }
  const [sign] = signs
  if (sign !== undefined && signs.size === 1) return { sign, example }
  if (signs.size > 1) return { sign: 'both', example }
  if (ambiguous !== '') return { sign: 'both', example: ambiguous }
  // Where blanks group thousands, a comma is decimal.
  return { sign: spaced === '' ? null : ',', example: spaced }
}

const GROUPED_BY_BLANKS = /^[+-]?[1-9]\d{0,2}([ \u00a0\u202f])\d{3}(?:\1\d{3})*$/

const CURRENCY = /^(?:\p{Sc}|[A-Z]{3}(?=[ \u00a0\d]))|(?:\p{Sc}|(?<=[ \u00a0\d])[A-Z]{3})$/u

function withoutCurrency(value: string): string {
  return value.replace(CURRENCY, '').trim()
}

/** The currency signs and words next to numbers, each once. */
export function currenciesOf(numbers: readonly string[]): readonly string[] {
  return [...new Set(numbers.flatMap((value) => CURRENCY.exec(value) ?? []))]
}
