// The words for faults. In: why rows are withheld. Out: sentences, remedies and groups for check, explain, the
// dashboard and the log.

import { type Expected, type RowFault, type Withheld, type WithheldFault, isOnPurpose } from '../domain/withheld.ts'
import { unreachable } from '../domain/unreachable.ts'
import { type FaultCount, FaultCounts } from '../domain/fault-counts.ts'
import type { RecordList } from '../records/record-list.ts'
import { expectedWords } from './expected-words.ts'
import { insteadOf } from './remedy.ts'

export interface WithheldWords {
  /** Why the row is not served: a sentence without its subject. */
  readonly reason: string
  readonly remedy: string
}

/** Explains to an admin why a row is withheld. Contains the value found, as JSON, so it must not go to a log. */
export function withheldWords({ also = [], ...first }: Withheld): WithheldWords {
  const words = [first, ...also].map(faultWords)
  return {
    reason: words.map(({ reason }) => reason).join(', and '),
    remedy: words.map(({ remedy }) => remedy).join(' '),
  }
}

/** As `withheldWords`, for a single fault. */
export function faultWords({ fault, column, expected, found }: RowFault): WithheldWords {
  const name = column ?? 'the row'
  const what = expected === null ? null : expectedWords(expected)
  const shown = found === null ? '' : `; found ${found}`
  switch (fault) {
    case 'no-id':
      return {
        reason: `has no valid id in ${name}${shown}`,
        remedy: expected?.kind === 'id' ? `Give it an id in ${name}.` : `Give it an id: ${what ?? 'a GUID'}.`,
      }
    case 'duplicate-id':
      return {
        reason: `has the id of another row in ${name}${shown}`,
        remedy: 'Remove one of the two rows, or give one of them another id.',
      }
    case 'unreadable':
      return {
        reason: `has a value in ${name} that cannot be read${what === null ? '' : `: expected ${what}`}${shown}`,
        remedy: `Correct ${name}${found === null || expected === null || name.includes(' + ') ? '' : orderFor(found, expected)}.`,
      }
    case 'missing':
      return { reason: `has nothing in ${name}`, remedy: `Fill in ${name}${what === null ? '' : `: ${what}`}.` }
    case 'inactive':
      return { reason: `is not active${because(column, shown)}`, remedy: 'Activate it, if it should be on the web.' }
    case 'not-shown':
      return {
        reason: `is not marked to be shown on the web${because(column, shown)}`,
        remedy: 'Mark it to be shown, if it should be on the web.',
      }
    case 'too-large':
      return {
        reason: 'is larger than 256 KB',
        remedy: 'Remove everything from it that is not a field, such as a document.',
      }
    default:
      return unreachable(fault)
  }
}

function orderFor(found: string, expected: Expected): string {
  const order = insteadOf(textFound(found), expected)
  return order === null ? '' : `: ${order}`
}

function because(column: string | null, shown: string): string {
  return column === null ? '' : ` (${column}${shown})`
}

type HeldFaults = Pick<RecordList<unknown>, 'faults' | 'unidentified'>

/** Counts the faults of a list's withheld rows: mistakes first, then by number of rows. */
export function faultCounts({ faults, unidentified }: HeldFaults): readonly FaultCount[] {
  const all = new FaultCounts()
  all.addAll(faults)
  all.addAll(unidentified.faults)
  return [...all].toSorted(
    (left, right) => Number(isOnPurpose(left)) - Number(isOnPurpose(right)) || right.count - left.count,
  )
}

/** Counts a list's withheld rows by their first fault. */
export function countWithheld(list: HeldFaults): Readonly<Record<WithheldFault, number>> {
  const counts = {
    inactive: 0,
    'not-shown': 0,
    missing: 0,
    unreadable: 0,
    'no-id': 0,
    'duplicate-id': 0,
    'too-large': 0,
  }
  for (const { fault, first } of faultCounts(list)) counts[fault] += first
  return counts
}

/** Returns the text that `showCell` shows as JSON; other values are returned unchanged. */
export function textFound(shown: string): string {
  if (!/^"(?:[^"\\]|\\.)*"$/.test(shown)) return shown
  return String(JSON.parse(shown))
}
