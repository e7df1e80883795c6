import type { Column } from './column.ts'
import { ACTIVE_NAMES, CANCELLED_NAMES, EVENT_NAMES, named, NO_WORDS, STATUS_NAMES, YES_WORDS } from './field-names.ts'
import { type Line, counted, OPEN, quoted } from './line.ts'

const FEW = 8

export function showOnWebOf(columns: readonly Column[], taken: Set<Column>): Line {
  const few = columns.filter(({ distinct }) => distinct <= 4)
  const column = named(few, EVENT_NAMES.ShowOnWeb, taken)
  const yes = column === null ? [] : wordsIn(column, YES_WORDS)
  if (column === null || yes.length === 0) {
    const evidence = 'which events are for the web? { COLUMN: [VALUE] }, or null for all'
    return { key: 'showOnWeb', value: OPEN, evidence }
  }
  taken.add(column)
  return conditionLine('showOnWeb', column, yes, `the column holds ${heldBy(column)}`)
}

/** Which rows are active: a column of cancellations says it the other way round. */
export function activeOf(columns: readonly Column[], taken: Set<Column>, list: 'event' | 'venue'): Line {
  const few = columns.filter(({ distinct, filled }) => filled > 0 && distinct <= FEW)
  const cancelled = named(few, CANCELLED_NAMES, taken)
  const column = cancelled ?? named(few, ACTIVE_NAMES, taken) ?? named(few, STATUS_NAMES, taken)
  if (column === null) {
    const evidence = `no column says that ${list === 'event' ? 'an event' : 'a venue'} is not active`
    return { key: 'active', value: 'null', evidence }
  }
  taken.add(column)
  const [yes, no] = [wordsIn(column, YES_WORDS), wordsIn(column, NO_WORDS)]
  const active = cancelled === null ? yes : no
  const held = `${column.name} holds ${heldBy(column)}`
  const isKnown = yes.length + no.length === column.distinct
  // A blank value is not among those that a condition can name.
  if (!isKnown || active.length === 0 || column.filled < column.rows) {
    const evidence = `which rows are active? { COLUMN: [VALUE] }, or null for all; ${held}`
    return { key: 'active', value: OPEN, evidence }
  }
  return conditionLine('active', column, active, held)
}

function wordsIn({ texts }: Column, words: ReadonlySet<string>): readonly string[] {
  return texts.flatMap(({ text }) => (words.has(text.toLowerCase()) ? [text] : []))
}

function heldBy({ texts }: Column): string {
  return texts.map(({ text }) => quoted(text)).join(', ')
}

function conditionLine(key: string, { name, texts, rows }: Column, wanted: readonly string[], held: string): Line {
  const count = texts.reduce((sum, one) => (wanted.includes(one.text) ? sum + one.count : sum), 0)
  const evidence = `${counted(count)} of ${counted(rows)} rows; ${held}`
  return { key, value: `{ ${quoted(name)}: [${wanted.map(quoted).join(', ')}] }`, evidence }
}
