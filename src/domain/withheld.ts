import type { Guid } from './guid.ts'
import { trimWhiteSpace } from './white-space.ts'

/** What a cell should have held instead. `faults` has the words for it. */
export type Expected =
  | { readonly kind: 'guid'; readonly mayBeBlank: boolean }
  /** Any text or number: ids are derived from it. */
  | { readonly kind: 'id' }
  | { readonly kind: 'text' | 'texts' | 'scalar' | 'blank' | 'any-date-time' | 'year-1-to-9999' | 'zone' }
  | ExpectedNumber
  /** `words`: the further words of `crm.texts` for yes and no; null if there are none. */
  | { readonly kind: 'flag'; readonly words: readonly string[] | null }
  | { readonly kind: 'links'; readonly asJson: boolean }
  /** `formats`: those of `crm.texts.dates`. */
  | { readonly kind: 'date-time'; readonly formats: readonly string[] }
  /** A condition holds for these values alone, or for all but these. */
  | { readonly kind: 'one-of' | 'none-of'; readonly values: readonly string[] }
  /** A row that is JSON, one that is a JSON object, and one with less nesting. */
  | { readonly kind: 'json' | 'object' | 'shallow-object' }
  /** What Excel should have stored in the cell, or a database in the column. */
  | { readonly kind: 'stored'; readonly instead: 'of-formula' | 'of-index' | 'of-error' | 'of-money' }

export interface ExpectedNumber {
  readonly kind: 'decimal' | 'integer'
  /** The decimal sign of `crm.texts`; null if none is set, so numbers have no separators. */
  readonly sign: '.' | ',' | null
  /** The marks of `crm.texts.currency`. */
  readonly currency: readonly string[]
  /** The column from which the number is subtracted; absent if it is not. */
  readonly subtractedFrom?: string
}

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

/** Why a value is suspicious. `faults` has the words. */
export type SuspicionCode =
  | 'above'
  | 'before'
  | 'blank-column'
  | 'blank-price'
  | 'blank-time'
  | 'contradicts'
  | 'coordinate'
  | 'fraction'
  | 'hidden-row'
  | 'html'
  | 'list'
  | 'long'
  | 'midnight-days'
  | 'midnight-finish'
  | 'midnight-start'
  | 'negative'
  | 'no-address'
  | 'no-column'
  | 'no-time'
  | 'skipped-time'
  | 'sold-out'
  | 'status'
  | 'unread-cancelled'
  | 'unread-sold-out'
  | 'unreadable-copy'

export interface SuspicionKind {
  readonly column: string
  readonly code: SuspicionCode
  /** What the words name besides the column, such as another column; absent if nothing. */
  readonly of?: string
}

/** What is suspicious in the rows that are served. */
export interface FoundSuspicion extends SuspicionKind {
  readonly count: number
  /** The first value; `null` for the column as a whole. */
  readonly first: { readonly where: string; readonly found: string } | { readonly id: Guid } | null
}

/** A value that is served but is most likely a mistake. */
export interface Suspicion {
  readonly column: string
  /** A predicate without CRM values other than ids and words of Status: `is before Start`. */
  readonly what: string
  readonly count: number
  /** The first value found, or the reason for the suspicion. CRM content: for people only, never for a log. */
  readonly example: string
  /** The row of the example; `null` for the column as a whole. */
  readonly where: string | null
}
