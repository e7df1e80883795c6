/** Something that can be served and is most likely a mistake all the same. */
export interface Oddity {
  readonly column: string
  /** A sentence without its beginning, and without a CRM value but an id: `is before Start`. */
  readonly what: string
  readonly count: number
  /** What was found first, and where: CRM content, for people only. */
  readonly example: string
  /** Where that is; null for the column as a whole. */
  readonly where: string | null
}
