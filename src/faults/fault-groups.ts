import type { Expected, RowFault, WithheldFault, WithheldRow } from '../domain/withheld.ts'
import { byGravity, expectedWords, insteadOf, isAmountInWords, isNothing, JOINT, textFound } from './fault-words.ts'
import type { TextKeyFor } from '../proposal/text-keys.ts'
import { unreachable } from '../domain/unreachable.ts'
import { faultKey } from '../domain/fault-counts.ts'

/** Rows with the same fault in the same column, as `check --json` prints them. */
export interface FaultGroup {
  readonly kind: 'event' | 'venue'
  readonly column: string | null
  readonly fault: WithheldFault
  readonly count: number
  /** The most frequent values, in descending order. */
  readonly found: readonly { readonly value: string; readonly count: number }[]
  readonly examples: readonly { readonly where: string; readonly id: string | null }[]
  readonly remedy: string
}

const MOST_FOUND = 10
const MOST_EXAMPLES = 10

/** Groups all faults of these rows: mistakes first, then by number of rows. */
export function faultGroups(
  kind: 'event' | 'venue',
  rows: readonly WithheldRow[],
  textKeyFor: TextKeyFor,
): readonly FaultGroup[] {
  const faults = rows.flatMap(({ id, withheld }) => {
    const { where, also = [] } = withheld
    return [withheld, ...also].map((fault) => ({ fault, example: { where, id } }))
  })
  const groups = Map.groupBy(faults, ({ fault }) => faultKey(fault.fault, fault.column))
  return [...groups.values()]
    .flatMap((same) => {
      const [first] = same
      if (first === undefined) return []
      const { column, fault } = first.fault
      const found = mostFrequent(same.flatMap((one) => foundIn(one.fault)))
      const examples = same.slice(0, MOST_EXAMPLES).map(({ example }) => example)
      const remedy = remedyOf(first.fault, found, textKeyFor)
      return [{ kind, column, fault, count: same.length, found, examples, remedy }]
    })
    .toSorted(byGravity)
}

function foundIn({ found }: RowFault): string[] {
  return found === null || found === 'null' ? [] : [textFound(found)]
}

function mostFrequent(values: readonly string[]): FaultGroup['found'] {
  return Array.from(
    Map.groupBy(values, (value) => value),
    ([value, same]) => ({ value, count: same.length }),
  )
    .toSorted((left, right) => right.count - left.count)
    .slice(0, MOST_FOUND)
}

function remedyOf({ fault, column, expected }: RowFault, found: FaultGroup['found'], textKeyFor: TextKeyFor): string {
  const name = column ?? 'the rows'
  const isExpected = expected === null ? '' : ` (expected: ${expectedWords(expected)})`
  switch (fault) {
    case 'no-id':
      if (expected?.kind !== 'guid') return `Give each row an id in ${name} that no other row has.`
      return `Give each row a GUID in ${name} that no other row has${found.length === 0 ? '' : `, or ${TAKE_IDS}`}.`
    case 'duplicate-id':
      return 'Remove the copies, or give each row an id that no other has.'
    case 'unreadable': {
      if (expected?.kind === 'json')
        return 'Correct these rows: they are not valid JSON, in which an unknown value is null.'
      // The value found is several cells joined, so no single cell can be corrected to it.
      if (name.includes(JOINT))
        return `Correct ${apart(name)}, which are read together${isExpected}${keyEnd(found, expected, textKeyFor)}`
      const orders = Map.groupBy(found, ({ value }) => insteadOf(value, expected))
      orders.delete(null)
      const parts = Array.from(orders, ([order, same]) => `${order} for ${same.map(shownValue).join(', ')}`)
      const some = parts.length > 2 ? [...parts.slice(0, 1), 'and so on'] : parts
      const end = expected?.kind === 'guid' ? `, or ${TAKE_IDS}.` : keyEnd(found, expected, textKeyFor, name)
      return `Correct ${name}${parts.length === 0 ? isExpected : `: ${some.join(', ')}`}${end}`
    }
    case 'missing':
      if (name.includes(JOINT)) return `Fill in ${apart(name)}, which are read together.`
      return `Fill in ${name}${expected === null ? '' : `: ${expectedWords(expected)}`}. Check that the column exists and is spelt exactly like this.`
    case 'inactive':
      return orderForCondition(name, expected) ?? 'Activate the rows that should be on the web.'
    case 'not-shown':
      return (
        orderForCondition(name, expected) ??
        `To publish a row, write ${expected === null ? 'yes' : expectedWords(expected)} in ${name}; the column must be spelt exactly like this.`
      )
    case 'too-large':
      return 'Remove everything from these rows that is not a field, such as documents.'
    default:
      return unreachable(fault)
  }
}

function shownValue({ value }: FaultGroup['found'][number]): string {
  return JSON.stringify(value)
}

function apart(joined: string): string {
  return joined.split(JOINT).join(' and ')
}

const TAKE_IDS =
  'set crm.idNamespace to a UUID of your own, which takes any text or number as an id and gives every record a new address'

function keyEnd(
  found: FaultGroup['found'],
  expected: Expected | null,
  textKeyFor: TextKeyFor,
  column: string | null = null,
): string {
  const values = found.map(({ value }) => value)
  const key = expected === null ? null : textKeyFor(values, expected)
  const source = column === null || expected === null ? null : sourceFor(column, values, expected)
  const keys = [key, source].filter((each) => each !== null)
  return keys.length === 0 ? '.' : `, or ${keys.join(' and ')}.`
}

const MOST_WORDS = 3

/** Returns the source that reads words, or several amounts, as a number; `null` if neither is found. */
function sourceFor(column: string, values: readonly string[], expected: Expected): string | null {
  if (expected.kind !== 'decimal' && expected.kind !== 'integer') return null
  const { kind, subtractedFrom } = expected
  const words = values.filter((value) => !/\d/.test(value)).slice(0, MOST_WORDS)
  const hasAmounts = kind === 'decimal' && values.some(isAmountInWords)
  if (words.length === 0 && !hasAmounts) return null
  // More than any capacity leaves 0.
  const nothing = subtractedFrom === undefined ? '0' : '2147483647'
  const pairs = words.map((word) => `${JSON.stringify(word)}: ${isNothing(word, kind) ? nothing : 'NUMBER'}`)
  if (subtractedFrom !== undefined) {
    const columns = [subtractedFrom, column].map((name) => JSON.stringify(name)).join(', ')
    const end = pairs.some((pair) => pair.endsWith(nothing)) ? ', which leaves 0 tickets' : ''
    return `read it with { subtract: [${columns}], values: { ${pairs.join(', ')} } }${end}`
  }
  const keys = [
    ...(hasAmounts ? ['pick: least'] : []),
    ...(pairs.length > 0 ? [`values: { ${pairs.join(', ')} }`] : []),
  ]
  return `read it with { column: ${JSON.stringify(column)}, ${keys.join(', ')} }${hasAmounts ? ', which finds the lowest amount' : ''}`
}

function orderForCondition(column: string, expected: Expected | null): string | null {
  if (expected?.kind === 'blank') return `Empty ${column} in the rows that should be on the web.`
  if (expected?.kind !== 'none-of') return null
  return `In the rows that should be on the web, leave ${column} blank or write another value than ${expected.values.join(', ')}.`
}
