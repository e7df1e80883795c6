import type { Column } from './column.ts'
import {
  ACTIVE_NAMES,
  bareName,
  CANCELLED_NAMES,
  EVENT_NAMES,
  GOOD_STATES,
  HIDDEN_NAMES,
  isNamed,
  named,
  NO_WORDS,
  OFF_STATES,
  STATUS_NAMES,
  YES_WORDS,
} from './field-names.ts'
import { type Line, counted, OPEN, quoted } from './line.ts'
import { howMany } from '../domain/printable.ts'

const FEW = 8
const STATE_NAMES = [...CANCELLED_NAMES, ...ACTIVE_NAMES]
const YES_OR_NO: ReadonlySet<string> = new Set([...YES_WORDS, ...NO_WORDS])

export function showOnWebOf(columns: readonly Column[], taken: Set<Column>): Line {
  const few = columns.filter(({ distinct, filled }) => filled > 0 && distinct <= 4)
  const column = named(few, EVENT_NAMES.ShowOnWeb, taken)
  const yes = column === null ? [] : wordsIn(column, YES_WORDS)
  const hidden = column === null ? named(few, HIDDEN_NAMES, taken) : null
  const line =
    column !== null && yes.length > 0
      ? conditionLine('showOnWeb', column, { oneOf: yes })
      : hidden === null
        ? null
        : markedLine('showOnWeb', hidden)
  if (line === null) {
    const held = (column === null ? few.filter((one) => !taken.has(one) && isFlag(one)) : [column])
      .map((one) => ` ${heldBy(one)}.`)
      .join('')
    return {
      key: 'showOnWeb',
      value: OPEN,
      evidence: `Which events are for the web? Write { COLUMN: [VALUE] }, or null for all.${held}`,
    }
  }
  const [read] = [column, hidden].filter((one) => one !== null)
  if (read !== undefined) taken.add(read)
  return line
}

/** Returns true if a column says yes or no, and not the same in every row. */
function isFlag(column: Column): boolean {
  const varies = column.distinct > 1 || column.filled < column.rows
  return varies && !isNamed(column, STATE_NAMES) && wordsIn(column, YES_OR_NO).length === column.distinct
}

/** Proposes which rows are active. A column of cancellations counts inversely. */
export function activeOf(columns: readonly Column[], taken: Set<Column>, list: 'event' | 'venue'): Line {
  const few = columns.filter(({ distinct, filled }) => filled > 0 && distinct <= FEW)
  const cancelled = named(few, CANCELLED_NAMES, taken)
  const active = cancelled === null ? named(few, ACTIVE_NAMES, taken) : null
  const column = cancelled ?? active ?? named(few, STATUS_NAMES, taken)
  if (column === null) {
    const evidence = `no column marks ${list === 'event' ? 'events' : 'venues'} as inactive`
    return { key: 'active', value: 'null', evidence }
  }
  taken.add(column)
  const line =
    column === cancelled
      ? markedLine('active', column)
      : ((column === active ? activeLine(column) : null) ?? stateLine(column))
  return line ?? openActive(column)
}

function openActive(column: Column): Line {
  const question = 'Which rows are active? Write { COLUMN: [VALUE] }, { COLUMN: { not: [VALUE] } }, or null for all.'
  return { key: 'active', value: OPEN, evidence: `${question} ${heldBy(column)}.` }
}

/**
 * Proposes a condition on a column that marks rows to hide. An unknown word counts as such a mark, because hiding is
 * safe.
 */
function markedLine(key: string, column: Column): Line | null {
  const [yes, no] = [wordsIn(column, YES_WORDS), wordsIn(column, NO_WORDS)]
  const isKnown = yes.length + no.length === column.distinct
  if (no.length === 0) return column.filled < column.rows ? conditionLine(key, column, 'blank') : null
  if (!isKnown || yes.length === 0) return null
  return conditionLine(key, column, column.filled < column.rows ? { not: yes } : { oneOf: no })
}

function activeLine(column: Column): Line | null {
  const [yes, no] = [wordsIn(column, YES_WORDS), wordsIn(column, NO_WORDS)]
  if (yes.length + no.length !== column.distinct) return null
  const hasBlank = column.filled < column.rows
  // A blank cell next to yes and no is ambiguous: ask.
  if (hasBlank && yes.length > 0 && no.length > 0) return null
  return conditionLine('active', column, yes.length > 0 ? { oneOf: yes } : { not: no })
}

/** Proposes to exclude the states in which an event is off, if all other states are known to mean that it is on. */
function stateLine(column: Column): Line | null {
  const off = wordsIn(column, OFF_STATES, bareName)
  const good = wordsIn(column, GOOD_STATES, bareName)
  const isKnown = off.length + good.length === column.distinct
  return off.length > 0 && isKnown ? conditionLine('active', column, { not: off }) : null
}

function wordsIn(
  { texts }: Column,
  words: ReadonlySet<string>,
  wordOf: (text: string) => string = (text) => text.trim().toLowerCase(),
): readonly string[] {
  return texts.flatMap(({ text }) => (words.has(wordOf(text)) ? [text] : []))
}

function heldBy({ name, texts, rows, filled }: Column): string {
  const held = texts.map(({ text }) => quoted(text)).join(', ')
  return `${name} contains ${held}${filled < rows ? ' or is blank' : ''}`
}

function listed(words: readonly string[]): string {
  return `[${words.map(quoted).join(', ')}]`
}

type Wanted = 'blank' | { readonly oneOf: readonly string[] } | { readonly not: readonly string[] }

function conditionLine(key: string, column: Column, wanted: Wanted): Line {
  const { name, texts, rows, filled } = column
  const count = (words: readonly string[]): number =>
    texts.reduce((sum, one) => (words.includes(one.text) ? sum + one.count : sum), 0)
  const [value, passing] =
    wanted === 'blank'
      ? ['blank', rows - filled]
      : 'oneOf' in wanted
        ? [listed(wanted.oneOf), count(wanted.oneOf)]
        : [`{ not: ${listed(wanted.not)} }`, rows - count(wanted.not)]
  const evidence = `${counted(passing)} of ${howMany(rows, 'row')} match${passing === 1 ? 'es' : ''}; ${heldBy(column)}`
  return { key, value: `{ ${quoted(name)}: ${value} }`, evidence }
}
