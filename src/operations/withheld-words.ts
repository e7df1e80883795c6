import { unreachable } from '../domain/unreachable.ts'
import type { Withheld } from '../domain/withheld.ts'

export interface WithheldWords {
  /** Why the row is not served, as a sentence without its subject. */
  readonly reason: string
  /** What an admin can do about it. */
  readonly remedy: string
}

/** Says in an admin's words why a row is withheld. With what was found in it, as JSON: never for a log. */
export function withheldWords({ fault, column, expected, found }: Withheld): WithheldWords {
  const name = column ?? 'the row'
  const shown = found === null ? '' : `; found ${found}`
  switch (fault) {
    case 'no-id':
      return { reason: `has no valid id in ${name}${shown}`, remedy: `Give it an id: ${expected ?? 'a GUID'}.` }
    case 'duplicate-id':
      return {
        reason: `has the id of another row in ${name}${shown}`,
        remedy: 'Remove one of the two rows, or give one of them another id.',
      }
    case 'unreadable':
      return {
        reason: `has a value in ${name} that cannot be read${expected === null ? '' : `: ${expected} is expected`}${shown}`,
        remedy: `Correct ${name}.`,
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

function because(column: string | null, shown: string): string {
  return column === null ? '' : ` (${column}${shown})`
}
