import type { Column } from './column.ts'
import { ACTIVE_NAMES, CANCELLED_NAMES, EVENT_NAMES, NO_WORDS, STATUS_NAMES, YES_WORDS } from './field-names.ts'
import type { Line } from './line.ts'
import { counted, OPEN, quoted } from './line.ts'
import { named } from './named.ts'

export function showOnWebOf(columns: readonly Column[], taken: Set<Column>): Line {
  const column = named(
    columns.filter(({ distinct }) => distinct <= 4),
    EVENT_NAMES['ShowOnWeb'],
    taken,
  )
  const values = column === null ? [] : [...new Set(column.filled)]
  const yes = values.filter((value) => YES_WORDS.has(value.toLowerCase()))
  if (column === null || yes.length === 0) {
    const evidence = 'which events are for the web? { COLUMN: [VALUE] }, or null for all'
    return { key: 'showOnWeb', value: OPEN, evidence }
  }
  taken.add(column)
  const evidence = `${counted(column.filled.filter((value) => yes.includes(value)).length)} of ${counted(column.values.length)} rows; the column holds ${values.map(quoted).join(', ')}`
  return { key: 'showOnWeb', value: `{ ${quoted(column.name)}: [${yes.map(quoted).join(', ')}] }`, evidence }
}

/** Which rows are active: a column of cancellations says it the other way round. */
export function activeOf(columns: readonly Column[], taken: Set<Column>, list: 'event' | 'venue'): Line {
  const few = columns.filter(({ distinct, filled }) => filled.length > 0 && distinct <= FEW)
  const cancelled = named(few, CANCELLED_NAMES, taken)
  const column = cancelled ?? named(few, ACTIVE_NAMES, taken) ?? named(few, STATUS_NAMES, taken)
  if (column === null)
    return {
      key: 'active',
      value: 'null',
      evidence: `no column says that ${list === 'event' ? 'an event' : 'a venue'} is not active`,
    }
  taken.add(column)
  const values = [...new Set(column.filled)]
  const isKnown = values.every((value) => YES_WORDS.has(value.toLowerCase()) || NO_WORDS.has(value.toLowerCase()))
  const active = values.filter((value) => (cancelled === null ? YES_WORDS : NO_WORDS).has(value.toLowerCase()))
  const held = `${column.name} holds ${values.map(quoted).join(', ')}`
  // A blank value is not among those that a condition can name.
  if (!isKnown || active.length === 0 || column.filled.length < column.values.length) {
    return {
      key: 'active',
      value: OPEN,
      evidence: `which rows are active? { COLUMN: [VALUE] }, or null for all; ${held}`,
    }
  }
  const count = column.filled.filter((value) => active.includes(value)).length
  const evidence = `${counted(count)} of ${counted(column.values.length)} rows; ${held}`
  return { key: 'active', value: `{ ${quoted(column.name)}: [${active.map(quoted).join(', ')}] }`, evidence }
}

const FEW = 8
