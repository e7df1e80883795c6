/** Why a row of the CRM is not served. */
export type WithheldFault = 'no-id' | 'duplicate-id' | 'unreadable' | 'missing' | 'inactive' | 'not-shown'

/** A row that is not served, and what an admin needs to correct it. */
export interface Withheld {
  readonly fault: WithheldFault
  /** The column at fault, as the CRM names it; null where the row as a whole is meant. */
  readonly column: string | null
  /** Where the row stands, such as `events.json, row 3` or `crm.public_events, id 17`. */
  readonly where: string
  /** What was expected, as the end of a sentence; null where nothing is wrong but the row's state. */
  readonly expected: string | null
  /** What was found, cut to some 80 characters. CRM content: for `check` and `explain` only, never for a log. */
  readonly found: string | null
}
