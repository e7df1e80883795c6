import { type Column, isMoment, rowsOf } from './column.ts'
import { EVENT_NAMES, named } from './field-names.ts'
import { type Line, counted, example, lineOf, OPEN, quoted } from './line.ts'
import { howMany } from '../domain/printable.ts'

/**
 * Returns true if the column has a different value in each row, apart from a few blank ones such as a sum below the
 * list.
 */
export function hasOneEach({ isDistinct, filled, rows }: Column): boolean {
  const blank = rows - filled
  return isDistinct && (blank === 0 || (rows > 3 && blank <= Math.max(1, rows * 0.02)))
}

export function idField(columns: readonly Column[], linked: Column | null = null): Column | null {
  const unique = columns.filter(hasOneEach)
  const [first] = columns
  const called = first !== undefined && unique.includes(first) && ENDS_WITH_ID.test(first.name) ? first : null
  return linked ?? unique.find(({ isGuid }) => isGuid) ?? named(unique, EVENT_NAMES.Id) ?? called
}

/** Matches the name of a first column such as `Perf. ID`, `Show No.` and `showId`. */
const ENDS_WITH_ID = /(?:(?<!\p{L})(?:[Ii][Dd]|[Nn][Rr]|[Nn][Oo]|[Nn][º°]|№)|\p{Ll}I[dD])\.?$/u

/** Returns true if a column may be the id although its name does not say so: its values differ, and no field fits. */
function mayBeId(column: Column): boolean {
  if (!hasOneEach(column) || isMoment(column) || column.kind === 'time') return false
  return Object.values(EVENT_NAMES).every((names) => named([column], names) === null)
}

export function idLine(id: Column | null, columns: readonly Column[]): Line {
  if (id === null) {
    // Ids come first in nearly all lists. Further on, counts may differ by chance.
    const [first] = columns
    if (first !== undefined && mayBeId(first)) {
      const evidence = `Is it ${first.name}? It has a different value in each row. Name the column here.`
      return { key: 'Id', value: OPEN, evidence }
    }
    const question = 'Which column has a different value in each row? Name it here'
    return { key: 'Id', value: OPEN, evidence: `${question}${candidatesFor(columns)}` }
  }
  const { rows, filled, isGuid, others } = id
  const blank = rows === filled ? '' : ` in ${howMany(rows, 'row')}`
  const compared =
    others === 0 ? '' : `, of which ${counted(filled - others)} ${filled - others === 1 ? 'was' : 'were'} compared`
  const evidence = `${howMany(filled, 'different value')}${blank}${compared}${isGuid ? ', all GUIDs' : ''}; ${example(id)}`
  return lineOf('Id', id, evidence)
}

const SOME = 3

/**
 * Describes candidates for the id: columns with such a name, those with the most different values, and a pair that is
 * unique together.
 */
function candidatesFor(columns: readonly Column[]): string {
  const filled = columns.filter((column) => column.filled > column.rows / 2 && column.others === 0)
  const byDistinct = filled.toSorted((left, right) => right.distinct - left.distinct)
  const called = named(filled, EVENT_NAMES.Id)
  const all = [...new Set([...(called === null ? [] : [called]), ...byDistinct])]
  const facts = all
    .slice(0, SOME)
    .map(({ name, distinct, rows }) => `${name} has ${howMany(distinct, 'different value')} in ${howMany(rows, 'row')}`)
  const pair = filled.some(hasOneEach) ? null : joinedId(all)
  const joined = pair === null ? '' : `; or { join: [${pair.map(({ name }) => quoted(name)).join(', ')}] }`
  return facts.length === 0 ? '' : ` (${facts.join('; ')})${joined}`
}

function joinedId(columns: readonly Column[]): readonly Column[] | null {
  const some = columns.slice(0, SOME + 2)
  for (const [index, left] of some.entries()) {
    for (const right of some.slice(index + 1)) {
      const texts = rowsOf([left, right]).map((row) => row.join(' '))
      if (texts.length === left.rows && new Set(texts).size === texts.length) return [left, right]
    }
  }
  return null
}
