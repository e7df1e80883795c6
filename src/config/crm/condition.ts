import { trimWhiteSpace } from '../../domain/white-space.ts'
import { type PROBLEM, type Place, showName } from '../config-problem.ts'
import { type Key, type ValueSchema, REFERENCE, ValueProblem, isNull, orReference, scalarOf, wholeKey } from '../key.ts'
import type { Condition, ConditionPart } from './sources.ts'
import type { MapTree, Tree } from '../tree.ts'
import { isName } from '../values.ts'

const CONDITION = 'must be a list of values in [ ] (texts, numbers, true or false), blank, or { not: [VALUE] }'
const HELD =
  'a mapping of columns to their values, such as { status: [1, 2] }, { cancelled: blank } or { state: { not: [x] } }'

const VALUE: ValueSchema = { type: ['string', 'number', 'boolean'], pattern: /\S/.source }
const VALUES: ValueSchema = { type: 'array', minItems: 1, items: orReference(VALUE) }
const NOT: ValueSchema = { type: 'object', properties: { not: VALUES }, required: ['not'], additionalProperties: false }

/** A condition on the rows of a list. */
export const wherever: Key<Condition> = wholeKey(
  HELD,
  { type: 'object', minProperties: 1, additionalProperties: { anyOf: [{ const: 'blank' }, VALUES, NOT, REFERENCE] } },
  conditionOf,
)

/** The keys `active` and `showOnWeb`. Absent means the stock condition; null means none. */
export function condition(description: string): Key<Condition | null | undefined> {
  return wherever.orNull().override('the stock condition').says(description)
}

function conditionOf(node: Tree, place: Place): Condition | typeof PROBLEM | null {
  if (node.kind !== 'map' || node.entries.size === 0) return null
  const parts: ConditionPart[] = []
  for (const [column, inner] of node.entries) {
    const part = isName(column) ? partOf(column, inner) : null
    if (part === null) return null
    if (part instanceof ValueProblem) return place.in(column, inner).refuse(inner, part.message, part.isHidden)
    parts.push(part)
  }
  return parts
}

/** Parses one column's condition; `null` if it is invalid or an open question. */
function partOf(column: string, node: Tree): ConditionPart | ValueProblem | null {
  if (writtenText(node) === 'blank') return { column, blank: true }
  const not = onlyEntries(node, ['not'])?.get('not')
  const list = not ?? node
  if (writtenText(list) === '?') return null
  const items = list.kind === 'list' ? list.items : []
  const values = items.map((item) => scalarOf(item)?.value ?? null)
  if (items.some(isNull) || values.some((value) => typeof value === 'string' && trimWhiteSpace(value) === '')) {
    return new ValueProblem(not === undefined ? blankListed(column) : BLANK_PASSES, true)
  }
  if (values.length === 0 || !values.every((value) => value !== null)) return new ValueProblem(CONDITION)
  return not === undefined ? { column, oneOf: values } : { column, noneOf: values }
}

function blankListed(column: string): string {
  return `lists a blank value; if the cell must be blank, write ${showName(column)}: blank, without [ ]`
}

const BLANK_PASSES = 'lists a blank value; blank cells always pass { not: [VALUE] }, so list only the other values'

/** The entries of a mapping that has at least one of these keys and no others. */
function onlyEntries(node: Tree | undefined, keys: readonly string[]): MapTree['entries'] | null {
  if (node?.kind !== 'map' || node.entries.size === 0) return null
  return node.entries.keys().every((key) => keys.includes(key)) ? node.entries : null
}

function writtenText(node: Tree | undefined): string | null {
  const value = scalarOf(node)?.value
  return typeof value === 'string' ? value : null
}
