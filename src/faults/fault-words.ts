// The words for faults. In: why rows are withheld. Out: sentences, remedies and groups, for check, explain, the
// dashboard and the log.

import { unreachable } from '../domain/unreachable.ts'
import { type RowFault, type Withheld, type WithheldFault, isOnPurpose } from '../domain/withheld.ts'
import { type FaultCount, FaultCounts } from '../records/fault-counts.ts'
import type { RecordList } from '../records/record-list.ts'
import { insteadOf, textFound } from './remedy.ts'

export interface WithheldWords {
  /** Why the row is not served, as a sentence without its subject. */
  readonly reason: string
  /** What an admin can do about it. */
  readonly remedy: string
}

/** Says in an admin's words why a row is withheld. With what was found in it, as JSON: never for a log. */
export function withheldWords({ also = [], ...first }: Withheld): WithheldWords {
  const words = [first, ...also].map(faultWords)
  return {
    reason: words.map(({ reason }) => reason).join(', and '),
    remedy: words.map(({ remedy }) => remedy).join(' '),
  }
}

/** The same of one fault. */
export function faultWords({ fault, column, expected, found }: RowFault): WithheldWords {
  const name = column ?? 'the row'
  const shown = found === null ? '' : `; found ${found}`
  switch (fault) {
    case 'no-id':
      return {
        reason: `has no valid id in ${name}${shown}`,
        remedy: expected === 'an id' ? `Give it an id in ${name}.` : `Give it an id: ${expected ?? 'a GUID'}.`,
      }
    case 'duplicate-id':
      return {
        reason: `has the id of another row in ${name}${shown}`,
        remedy: 'Remove one of the two rows, or give one of them another id.',
      }
    case 'unreadable':
      return {
        reason: `has a value in ${name} that cannot be read${expected === null ? '' : `: ${expected} is expected`}${shown}`,
        remedy: `Correct ${name}${found === null || expected === null || name.includes(' + ') ? '' : orderFor(found, expected)}.`,
      }
    case 'missing':
      return { reason: `has nothing in ${name}`, remedy: `Fill in ${name}${expected === null ? '' : `: ${expected}`}.` }
    case 'inactive':
      return { reason: `is not active${because(column, shown)}`, remedy: 'Activate it, if it should be on the web.' }
    case 'not-shown':
      return {
        reason: `is not marked to be shown on the web${because(column, shown)}`,
        remedy: 'Mark it to be shown, if it should be on the web.',
      }
    default:
      return unreachable(fault)
  }
}

function orderFor(found: string, expected: string): string {
  const order = insteadOf(textFound(found), expected)
  return order === null ? '' : `: ${order}`
}

function because(column: string | null, shown: string): string {
  return column === null ? '' : ` (${column}${shown})`
}

type HeldFaults = Pick<RecordList<unknown>, 'faults' | 'extras'>

/** What is wrong with the rows of a list that are withheld, and how many have each fault: mistakes first, the most frequent first. */
export function faultCounts({ faults, extras }: HeldFaults): readonly FaultCount[] {
  const all = new FaultCounts()
  all.addAll(faults)
  all.addAll(extras.faults)
  return [...all].toSorted(
    (left, right) => Number(isOnPurpose(left)) - Number(isOnPurpose(right)) || right.count - left.count,
  )
}

/** How many rows of a list are withheld for each reason, the first one where there are several. */
export function countWithheld(list: HeldFaults): Readonly<Record<WithheldFault, number>> {
  const counts = { inactive: 0, 'not-shown': 0, missing: 0, unreadable: 0, 'no-id': 0, 'duplicate-id': 0 }
  for (const { fault, first } of faultCounts(list)) counts[fault] += first
  return counts
}
