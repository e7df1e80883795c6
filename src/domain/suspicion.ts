/** A value that is served but is most likely a mistake. */
export interface Suspicion {
  readonly column: string
  /** A predicate without CRM values other than ids: `is before Start`. */
  readonly what: string
  readonly count: number
  /** The first value found, or the reason for the suspicion. CRM content: for people only, never for a log. */
  readonly example: string
  /** The row of the example; `null` for the column as a whole. */
  readonly where: string | null
}
