import type { Column } from './column.ts'
import type { TableContent } from './read-rows.ts'
import {
  ACTIVE_NAMES,
  bareName,
  CANCELLED_NAMES,
  EVENT_NAMES,
  HIDDEN_NAMES,
  isGoodState,
  isNamed,
  isOffState,
  named,
  STATUS_NAMES,
} from './field-names.ts'
import { type Line, counted, listed, OPEN, quoted } from './line.ts'
import { isNo, isYes } from '../domain/flag-words.ts'
import { howMany } from '../domain/printable.ts'

export function showOnWebOf(columns: readonly Column[], taken: Set<Column>): Line {
  const few = withFewTexts(columns, 4).filter(({ texts }) => !texts.some(({ text }) => /^https?:/.test(text)))
  const hidden = few.find((one) => !taken.has(one) && isNamed(one, HIDDEN_NAMES))
  const notHidden = hidden === undefined ? null : unmarkedLine('showOnWeb', hidden, true)
  if (hidden !== undefined && notHidden !== null) {
    taken.add(hidden)
    return notHidden
  }
  const column = named(few, EVENT_NAMES.ShowOnWeb, taken)
  const yes = column === null ? [] : wordsIn(column, isYes)
  if (column !== null && yes.length > 0) {
    taken.add(column)
    return oneOfLine('showOnWeb', column, yes)
  }
  const meant = column ?? hidden
  const held = meant === undefined ? few.filter((one) => !taken.has(one) && isFlag(one)) : [meant]
  const question = 'Which events are for the web? Write { COLUMN: [VALUE] }, or null for all.'
  return { key: 'showOnWeb', value: OPEN, evidence: [question, ...held.map((one) => `${heldBy(one)}.`)].join(' ') }
}

function withFewTexts(columns: readonly Column[], most: number): readonly Column[] {
  return columns.filter(({ texts }) => texts.length > 0 && texts.length <= most)
}

/** Returns true if a column says yes or no, and not the same in every row. */
function isFlag(column: Column): boolean {
  const varies = column.texts.length > 1 || hasBlank(column)
  const answers = wordsIn(column, isYes).length + wordsIn(column, isNo).length
  return varies && answers === column.texts.length && !isNamed(column, `${CANCELLED_NAMES} ${ACTIVE_NAMES}`)
}

/** Proposes which rows are active, by a column that marks cancelled rows or active ones, or has a state for each. */
export function activeOf({ columns, rows, examined }: TableContent, taken: Set<Column>, list: 'event' | 'venue'): Line {
  const few = withFewTexts(columns, 8)
  const cancelled = named(few, CANCELLED_NAMES, taken)
  const active = named(few, ACTIVE_NAMES, taken)
  const states = few.find((one) => !taken.has(one) && /stat(?:us|ut)$/.test(bareName(one.name)))
  const column = cancelled ?? active ?? named(few, STATUS_NAMES, taken) ?? states ?? null
  if (column === null) {
    const evidence = `no column marks ${list === 'event' ? 'events' : 'venues'} as inactive`
    return { key: 'active', value: 'null', evidence }
  }
  taken.add(column)
  // Rows that were not examined may have other words, which a condition by exclusion would let pass.
  const isWhole = (examined ?? rows) === rows
  const line =
    column === cancelled ? unmarkedLine('active', column, isWhole) : stateLine(column, column === active, isWhole)
  const question = 'Which rows are active? Write { COLUMN: [VALUE] }, { COLUMN: { not: [VALUE] } }, or null for all.'
  return line ?? { key: 'active', value: OPEN, evidence: `${question} ${heldBy(column)}.` }
}

/** Proposes to exclude the rows that a column marks. If no word means no, any word is a mark, because hiding is safe. */
function unmarkedLine(key: string, column: Column, isWhole: boolean): Line | null {
  const [yes, no] = [wordsIn(column, isYes), wordsIn(column, isNo)]
  const { cells, filled, texts } = column
  if (hasBlank(column) && !isWhole) return null
  if (no.length === 0) return hasBlank(column) ? conditionLine(key, column, 'blank', cells.length - filled) : null
  if (yes.length === 0 || yes.length + no.length < texts.length) return null
  return hasBlank(column) ? noneOfLine(key, column, yes) : oneOfLine(key, column, no)
}

/** Proposes to exclude the words for what is off, if all others are known to mean that it is on. */
function stateLine(column: Column, isCalledActive: boolean, isWhole: boolean): Line | null {
  const on = wordsIn(column, (text) => isGoodState(text) || (isCalledActive && isYes(text)))
  const off = wordsIn(column, (text) => isOffState(text) || (isCalledActive && isNo(text)))
  if (on.length + off.length < column.texts.length) return null
  if (!isCalledActive || on.length === 0) return off.length > 0 && isWhole ? noneOfLine('active', column, off) : null
  // A blank cell next to yes and no is ambiguous: ask.
  return hasBlank(column) && off.length > 0 ? null : oneOfLine('active', column, on)
}

function hasBlank({ cells, filled }: Column): boolean {
  return filled < cells.length
}

function wordsIn({ texts }: Column, isMeant: (text: string) => boolean): readonly string[] {
  return texts.flatMap(({ text }) => (isMeant(text) ? [text] : []))
}

function heldBy(column: Column): string {
  const held = column.texts.map(({ text }) => quoted(text)).join(', ')
  return `${column.name} contains ${held}${hasBlank(column) ? ' or is blank' : ''}`
}

function oneOfLine(key: string, column: Column, words: readonly string[]): Line {
  return conditionLine(key, column, listed(words), rowsWith(column, words))
}

function noneOfLine(key: string, column: Column, words: readonly string[]): Line {
  return conditionLine(key, column, `{ not: ${listed(words)} }`, column.cells.length - rowsWith(column, words))
}

function conditionLine(key: string, column: Column, value: string, passing: number): Line {
  const rows = howMany(column.cells.length, 'row')
  const evidence = `${counted(passing)} of ${rows} match${passing === 1 ? 'es' : ''}; ${heldBy(column)}`
  return { key, value: `{ ${quoted(column.name)}: ${value} }`, evidence }
}

function rowsWith({ cells }: Column, words: readonly string[]): number {
  return cells.filter((cell) => cell !== null && words.includes(cell.text)).length
}
