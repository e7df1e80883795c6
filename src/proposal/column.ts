import { parseGuid } from '../domain/guid.ts'
import { momentRole } from './field-names.ts'
import { dayAlone, isMomentText, isTime, isWordedDay } from './written-dates.ts'
import { isNumber } from './written-numbers.ts'

/** A text in a column, and the number of rows that hold it. */
export interface CountedText {
  readonly text: string
  readonly count: number
  /** Whether it is a text rather than a number in a workbook. Only texts can write numbers in several ways. */
  readonly isText: boolean
}

/**
 * What the values of a column are: moments; days, with midnight or without a time; days whose month is a word; times of
 * a day, or ranges of such.
 */
type Kind = 'date-time' | 'date' | 'worded-date' | 'time' | 'number' | 'text'

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
  readonly kind: Kind
  /** The number of values that are of `kind`. */
  readonly fit: number
}

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
      isGuid: filled > 0 && texts.every(({ text }) => parseGuid(text) !== null),
      ...kindOf(this.#name, texts, filled),
    }
  }
}

export function countedTexts(all: readonly string[]): readonly CountedText[] {
  const cells = new ColumnCells('')
  for (const [row, text] of all.entries()) cells.add(row, text, true)
  return cells.texts
}

function kindOf(name: string, texts: readonly CountedText[], filled: number): Pick<Column, 'kind' | 'fit'> {
  const role = momentRole(name)
  const isNamedTime = role !== null && role !== 'other'
  const tests: readonly (readonly [Kind, (text: string) => boolean])[] = [
    // A time of day may have the day that programs write for none, so times come first.
    ['time', (text) => isTime(text, isNamedTime)],
    ['date', (text) => dayAlone(text) !== null],
    ['date-time', isMomentText],
    ['worded-date', isWordedDay],
    ['number', isNumber],
  ]
  for (const [kind, holds] of tests) {
    // All values decide only if some do.
    if (!texts.slice(0, SOME_TEXTS).some(({ text }) => holds(text))) continue
    const fit = countOf(texts, holds)
    if (kind === 'date' ? areDays(texts, fit, filled) : isMost(fit, filled)) return { kind, fit }
  }
  return { kind: 'text', fit: filled }
}

/** The share of days in a column of days. The others, such as `April 2027`, are mistakes. */
const DAYS_SHARE = 0.9

/** Whether nearly all texts are days, and none is a moment: a single time of day among days is one. */
function areDays(texts: readonly CountedText[], fit: number, filled: number): boolean {
  if (fit === filled) return true
  return fit >= filled * DAYS_SHARE && !texts.some(({ text }) => dayAlone(text) === null && isMomentText(text))
}

/** The number of texts of which one has to fit before all are counted. */
const SOME_TEXTS = 200

/** Returns true if so many of all values decide what a column holds. */
export function isMost(count: number, all: number): boolean {
  return count > all / 2
}

/** The number of rows whose text fits. */
export function countOf(texts: readonly CountedText[], holds: (text: string) => boolean): number {
  return texts.reduce((sum, { text, count }) => (holds(text) ? sum + count : sum), 0)
}

export function isMoment({ kind }: Column): boolean {
  return kind === 'date' || kind === 'date-time' || kind === 'worded-date'
}
