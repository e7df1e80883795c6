import type { Expected } from './expected.ts'
import type { Guid } from './guid.ts'
import { trimWhiteSpace } from './white-space.ts'

/** Why Marquee withholds a row of the CRM. The order defines the numbers of faults in snapshots and in the log. */
export const FAULTS = ['no-id', 'duplicate-id', 'unreadable', 'missing', 'inactive', 'not-shown', 'too-large'] as const

export type WithheldFault = (typeof FAULTS)[number]

/** One fault of a row, without the row's location. */
export class RowFault {
  readonly fault: WithheldFault
  /** The column, or `null` for the whole row. */
  readonly column: string | null
  /** What was expected; `null` if only the row's state is the reason, or another process read the row. */
  readonly expected: Expected | null
  /** The value found, cut to about 80 characters. CRM content: for `check` and `explain` only, never for a log. */
  readonly found: string | null

  constructor(
    fault: WithheldFault,
    column: string | null,
    of: { readonly expected: Expected; readonly found: string | null } | null,
  ) {
    this.fault = fault
    this.column = column
    this.expected = of?.expected ?? null
    this.found = of?.found ?? null
  }
}

/** A withheld row, with all that an admin needs to correct it. */
export interface Withheld extends RowFault {
  /** The position of the row: `events.json, row 3` or `crm.public_events, id 17`. */
  readonly where: string
  /** Further faults of the same row. */
  readonly also?: readonly RowFault[]
  /** The record's name, cut to 80 characters, if it has one. CRM content, like `found`. */
  readonly name?: string
}

/** A withheld row and its id; `null` if it has none. */
export interface WithheldRow {
  readonly id: Guid | null
  readonly withheld: Withheld
}

/** A row with the id of another row. */
export interface RepeatedRow {
  readonly id: Guid
  /** The CRM's own id, from which the id was derived; null or absent if the id is the CRM's own. */
  readonly idText?: string | null
}

const LONGEST_SHOWN = 80

/** Withholds a row with a duplicate id. It shows the cell's own text, because a derived id occurs in no cell. */
export function rowRepeated({ id, idText = null }: RepeatedRow, column: string, where: string): Withheld {
  const found = idText === null ? id : JSON.stringify(trimWhiteSpace(idText).slice(0, LONGEST_SHOWN).toWellFormed())
  return { fault: 'duplicate-id', column, where, expected: null, found }
}

/** Returns true for faults that are the CRM's intention, not a mistake. */
export function isOnPurpose({ fault }: Pick<RowFault, 'fault'>): boolean {
  return fault === 'inactive' || fault === 'not-shown'
}

/** Returns true if any of the row's faults is on purpose. */
export function isMeant({ also = [], ...first }: Withheld): boolean {
  return [first, ...also].some(isOnPurpose)
}
