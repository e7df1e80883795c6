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
  /** The text of each row; `null` if the cell is blank. */
  readonly cells: readonly (CountedText | null)[]
  /** The number of rows in which the column is not blank. */
  readonly filled: number
  /** The distinct texts, in order of appearance. */
  readonly texts: readonly CountedText[]
  /** Whether all values differ. */
  readonly isDistinct: boolean
  readonly isGuid: boolean
  /** What most values are. `check` reports the others as mistakes. */
  readonly kind: 'date-time' | 'date' | 'time' | 'number' | 'text'
  /** The formats that fit equally many values; empty for ISO 8601. */
  readonly formats: readonly DateFormat[]
  /** The number of values that are of `kind`. */
  readonly fit: number
}

const DAYS = [
  ...['DD.MM.YYYY', 'DD/MM/YYYY', 'MM/DD/YYYY', 'DD-MM-YYYY'].flatMap((day) => [day, single(day)]),
  'YYYY/MM/DD',
  'YYYY-MM-DD',
  'YYYY.MM.DD',
]
const TIMES = [
  ...['hh:mm', 'hh:mm:ss', 'hh.mm', 'hh:mm A', 'hh:mm:ss A'].flatMap((time) => [time, single(time)]),
  'hhhmm',
  'hhmm',
  'hh:mm Uhr',
  'hh.mm Uhr',
  'h:mmA',
]

/** The same format for numbers of one or two digits. Minutes and seconds always have two. */
function single(format: string): string {
  return format.replace('DD', 'D').replace('MM', 'M').replace('hh', 'h')
}

function formatOf(written: string): DateFormat {
  const parsed = parseDateFormat(written)
  if (typeof parsed === 'string') throw new Error(`${written} ${parsed}`)
  return parsed
}

const DAY_FORMATS = DAYS.map(formatOf)
const DATE_TIME_FORMATS = DAYS.flatMap((day) => TIMES.map((time) => formatOf(`${day} ${time}`)))
const TIME_FORMATS = TIMES.map((time) => formatOf(`YYYY-MM-DD ${time}`))
const SURE_TIME_FORMATS = TIME_FORMATS.filter(({ written }) => !/ (?:h+\.mm|hhmm)$/.test(written))

/** Collects the cells of a column. */
export class ColumnCells {
  readonly #name: string
  readonly #texts = new Map<string, { text: string; count: number; isText: boolean }>()
  /** Without an element for a blank cell. */
  readonly #cells: CountedText[] = []

  constructor(name: string) {
    this.#name = name
  }

  add(row: number, text: string, isText: boolean): void {
    const counted = this.#texts.get(text) ?? { text, count: 0, isText: false }
    counted.count++
    counted.isText ||= isText
    this.#texts.set(text, counted)
    this.#cells[row] = counted
  }

  get texts(): readonly CountedText[] {
    return [...this.#texts.values()]
  }

  column(rows: number): Column {
    const { texts } = this
    const filled = countOf(texts, () => true)
    return {
      name: this.#name,
      cells: Array.from({ length: rows }, (_, row) => this.#cells[row] ?? null),
      filled,
      texts,
      isDistinct: filled > 0 && texts.length === filled,
      ...contentOf(this.#name, texts, filled),
    }
  }
}

export function countedTexts(all: readonly string[]): readonly CountedText[] {
  const cells = new ColumnCells('')
  for (const [row, text] of all.entries()) cells.add(row, text, true)
  return cells.texts
}

type Content = Pick<Column, 'kind' | 'fit' | 'formats' | 'isGuid'>

function contentOf(name: string, texts: readonly CountedText[], filled: number): Content {
  const isGuid = filled > 0 && texts.every(({ text }) => parseGuid(text) !== null)
  const as = (kind: Column['kind'], fit: number, formats: readonly DateFormat[] = []): Content => {
    return { kind, fit, formats, isGuid }
  }
  if (isGuid) return as('text', filled)
  // A workbook may have dates and texts in one column.
  const moments = fitting(withoutIso(texts), DATE_TIME_FORMATS)
  const fit = countOf(texts, isIso) + moments.fit
  if (isMost(fit, filled)) return as('date-time', fit, moments.formats)
  const days = fitting(texts, DAY_FORMATS)
  if (days.fit > 0) return as('date', days.fit, days.formats)
  const times = countOf(texts, isTimeIn(name))
  if (isMost(times, filled)) return as('time', times)
  const numbers = countOf(texts, (text) => NUMBER.test(withoutCurrency(text)))
  return isMost(numbers, filled) ? as('number', numbers) : as('text', filled)
}

/** Returns true if so many of all values decide what a column holds. */
export function isMost(count: number, all: number): boolean {
  return count > all / 2
}

function isIso(text: string): boolean {
  return parseDateTimeText(text) !== null
}

/** ISO 8601 needs no format. */
function withoutIso(texts: readonly CountedText[]): readonly CountedText[] {
  return texts.filter(({ text }) => !isIso(text))
}

/**
 * Returns a test for times in a column of this name: a workbook may have times and texts such as `8:00 PM` in one. 12.50
 * and 1250 are numbers rather than times, unless the column is named like a time.
 */
function isTimeIn(name: string): (text: string) => boolean {
  const role = momentRole(name)
  const formats = role === null || role === 'other' ? SURE_TIME_FORMATS : TIME_FORMATS
  return (text) => formats.some((format) => parseByFormat(`2000-01-01 ${text}`, format) !== null)
}

/** The number of rows whose text fits. */
export function countOf(texts: readonly CountedText[], holds: (text: string) => boolean): number {
  return texts.reduce((sum, { text, count }) => (holds(text) ? sum + count : sum), 0)
}

export function isMoment({ kind }: Column): boolean {
  return kind === 'date' || kind === 'date-time'
}

/** The rows in which none of these columns is blank, with their texts. */
export function rowsOf(columns: readonly Column[]): readonly (readonly string[])[] {
  const rows = columns[0]?.cells.map((_, row) => columns.flatMap(({ cells }) => cells[row]?.text ?? []))
  return rows?.filter((texts) => texts.length === columns.length) ?? []
}

const NUMBER = /^[+-]?\d[\d.,\u00a0\u202f ]*$/

type Fitting = Pick<Column, 'formats' | 'fit'>

/** The number of texts from which candidate formats are chosen. All texts are then counted for those. */
const SOME_TEXTS = 200

/** Returns the formats that fit most texts; formats with two digits come before those with one or two. */
function fitting(texts: readonly CountedText[], known: readonly DateFormat[]): Fitting {
  const all = countOf(texts, () => true)
  const some = texts.slice(0, SOME_TEXTS)
  let best: Fitting = { formats: [], fit: 0 }
  for (const format of known) {
    const fits = (text: string): boolean => parseByFormat(text, format) !== null
    const fit = some.some(({ text }) => fits(text)) ? countOf(texts, fits) : 0
    if (isMost(fit, all) && fit >= best.fit)
      best = { formats: fit === best.fit ? [...best.formats, format] : [format], fit }
  }
  return best
}

/** The formats that fit most of these date-times. */
export function dateTimeFormats(texts: readonly CountedText[]): readonly DateFormat[] {
  return fitting(withoutIso(texts), DATE_TIME_FORMATS).formats
}

type DecimalSign = '.' | ',' | 'both' | null

/** Finds the decimal separator of numbers; `both` if they contradict each other or are ambiguous. */
export function decimalSign(numbers: readonly string[]): { readonly sign: DecimalSign; readonly example: string } {
  const bare = numbers.map(withoutCurrency)
  const marked = bare.filter((number) => /[.,]/.test(number))
  // Blanks that group thousands tell something only if no number has a decimal sign.
  const found = (marked.length === 0 ? bare : marked).map((example) => ({ sign: signOf(example), example }))
  const last = found.findLast(({ sign }) => sign === '.' || sign === ',')
  if (last === undefined) return found.findLast(({ sign }) => sign === 'both') ?? { sign: null, example: '' }
  const other = last.sign === ',' ? '.' : ','
  return found.some(({ sign }) => sign === other) ? { ...last, sign: 'both' } : last
}

function signOf(number: string): DecimalSign {
  const signs = number.replaceAll(/[^.,]/g, '')
  const last = signs.endsWith(',') ? ',' : '.'
  const isGrouped = GROUPED.test(number) && new Set(signs).size <= 1
  // Where blanks group thousands, a comma is decimal.
  if (signs === '') return isGrouped ? ',' : null
  if (!isGrouped) return last
  // Repeated separators of one kind group thousands. A single one may be either.
  if (signs.length === 1) return 'both'
  return last === ',' ? '.' : ','
}

const GROUPED = /^[+-]?[1-9]\d{0,2}(?:[.,\u00a0\u202f ]\d{3})+$/

const CURRENCY = /^(?:\p{Sc}|[A-Z]{3}(?=[ \u00a0\d]))|(?:\p{Sc}|(?<=[ \u00a0\d])[A-Z]{3})$/u

function withoutCurrency(value: string): string {
  return value.replace(CURRENCY, '').trim()
}

/** The currency signs and words next to numbers, each once. */
export function currenciesOf(numbers: readonly string[]): readonly string[] {
  return [...new Set(numbers.flatMap((value) => CURRENCY.exec(value) ?? []))]
}
