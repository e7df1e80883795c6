import type { Guid } from './guid.ts'
import { trimWhiteSpace } from './white-space.ts'

/** Why a row of the CRM is not served. */
export type WithheldFault = 'no-id' | 'duplicate-id' | 'unreadable' | 'missing' | 'inactive' | 'not-shown'

/** What keeps a row from being served. */
export interface RowFault {
  readonly fault: WithheldFault
  /** The column at fault, as the CRM names it; null where the row as a whole is meant. */
  readonly column: string | null
  /** What was expected, as the end of a sentence; null where nothing is wrong but the row's state. */
  readonly expected: string | null
  /** What was found, cut to some 80 characters. CRM content: for `check` and `explain` only, never for a log. */
  readonly found: string | null
}

/** A row that is not served, and what an admin needs to correct it. */
export interface Withheld extends RowFault {
  /** Where the row stands, such as `events.json, row 3` or `crm.public_events, id 17`. */
  readonly where: string
  /** What else is wrong with it. */
  readonly also?: readonly RowFault[]
  /** What it is called, cut to 80 characters, where it is called anything. CRM content, as `found` is. */
  readonly name?: string
}

/** A row whose id another row has. */
export interface RepeatedRow {
  readonly id: Guid
  /** The CRM's own id, from which the id was derived; null or absent if the id is the CRM's own. */
  readonly idText?: string | null
}

const LONGEST_SHOWN = 80

/** Such a row as it is withheld, told by what stands in its cell: a derived id stands in none. */
export function rowRepeated({ id, idText = null }: RepeatedRow, column: string, where: string): Withheld {
  const found = idText === null ? id : JSON.stringify(trimWhiteSpace(idText).slice(0, LONGEST_SHOWN).toWellFormed())
  return { fault: 'duplicate-id', column, where, expected: `an ${column} that no other row has`, found }
}

/** Faults that are no mistake: the CRM says that the row is not for the web. */
export function isOnPurpose({ fault }: Pick<RowFault, 'fault'>): boolean {
  return fault === 'inactive' || fault === 'not-shown'
}

/** Whether the CRM says that the row is not for the web, whatever else is wrong with it. */
export function isMeant({ also = [], ...first }: Withheld): boolean {
  return [first, ...also].some(isOnPurpose)
}
