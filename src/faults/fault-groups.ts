import { type RowFault, type WithheldFault, type WithheldRow, type Expected, isOnPurpose } from '../domain/withheld.ts'
import { expectedWords, textFound, insteadOf } from './fault-words.ts'
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
/** Once this many different values are counted, further ones are ignored. */
const MOST_VALUES = 10_000

interface Tally {
  readonly fault: RowFault
  count: number
  readonly values: Map<string, number>
  readonly examples: { readonly where: string; readonly id: string | null }[]
}

/** Groups all faults of these rows: mistakes first, then by number of rows. */
export function faultGroups(
  kind: 'event' | 'venue',
  rows: Iterable<WithheldRow>,
  textKeyFor: TextKeyFor,
): readonly FaultGroup[] {
  const tallies = new Map<string, Tally>()
  for (const { id, withheld } of rows) {
    const { where, also = [] } = withheld
    for (const fault of [withheld, ...also]) {
      const key = faultKey(fault.fault, fault.column)
      const tally = tallies.get(key) ?? { fault, count: 0, values: new Map<string, number>(), examples: [] }
      tallies.set(key, tally)
      tally.count++
      if (tally.examples.length < MOST_EXAMPLES) tally.examples.push({ where, id })
      if (fault.found === null || fault.found === 'null') continue
      const value = textFound(fault.found)
      const { values } = tally
      if (values.size < MOST_VALUES || values.has(value)) values.set(value, (values.get(value) ?? 0) + 1)
    }
  }
  return [...tallies.values()]
    .toSorted(
      (left, right) => Number(isOnPurpose(left.fault)) - Number(isOnPurpose(right.fault)) || right.count - left.count,
    )
    .map((tally) => groupOf(kind, tally, textKeyFor))
}

function groupOf(
  kind: FaultGroup['kind'],
  { fault, count, values, examples }: Tally,
  textKeyFor: TextKeyFor,
): FaultGroup {
  const found = [...values]
    .toSorted(([, left], [, right]) => right - left)
    .slice(0, MOST_FOUND)
    .map(([value, times]) => ({ value, count: times }))
  const { column } = fault
  const remedy = remedyOf(fault, found, textKeyFor)
  return { kind, column, fault: fault.fault, count, found, examples, remedy }
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
      // The value found is several cells joined, so no single cell can be corrected to it.
      if (name.includes(JOINT))
        return `Correct ${apart(name)}, which are read together${isExpected}${keyEnd(found, expected, textKeyFor)}`
      const orders = new Map<string, string[]>()
      for (const { value } of found) {
        const order = insteadOf(value, expected)
        if (order !== null) orders.set(order, [...(orders.get(order) ?? []), JSON.stringify(value)])
      }
      const told = Array.from(orders, ([order, values]) => `${order} for ${values.join(', ')}`)
      const [first, second] = told
      const end = expected?.kind === 'guid' ? `, or ${TAKE_IDS}.` : keyEnd(found, expected, textKeyFor)
      if (first === undefined) return `Correct ${name}${isExpected}${end}`
      if (second === undefined || told.length === 2) return `Correct ${name}: ${told.join(', ')}${end}`
      return `Correct ${name}: ${first}, and so on${end}`
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

const JOINT = ' + '

function apart(joined: string): string {
  return joined.split(JOINT).join(' and ')
}

const TAKE_IDS =
  'set crm.idNamespace to a UUID of your own, which takes any text or number as an id and gives every record a new address'

function keyEnd(found: FaultGroup['found'], expected: Expected | null, textKeyFor: TextKeyFor): string {
  const values = found.map(({ value }) => value)
  const key = expected === null ? null : textKeyFor(values, expected)
  return key === null ? '.' : `, or ${key}.`
}

function orderForCondition(column: string, expected: Expected | null): string | null {
  if (expected?.kind === 'blank') return `Empty ${column} in the rows that should be on the web.`
  if (expected?.kind !== 'none-of') return null
  return `In the rows that should be on the web, leave ${column} blank or write another value than ${expected.values.join(', ')}.`
}
