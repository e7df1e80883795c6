/** What a cell should have held instead. `faults` has the words for it. */
export type Expected =
  | { readonly kind: 'guid'; readonly mayBeBlank: boolean }
  /** Any text or number: ids are derived from it. */
  | { readonly kind: 'id' }
  | { readonly kind: 'text' | 'texts' | 'scalar' | 'blank' | 'any-date-time' | 'year-1-to-9999' }
  | ExpectedNumber
  /** `words`: the further words of `crm.texts` for yes and no; null if there are none. */
  | { readonly kind: 'flag'; readonly words: readonly string[] | null }
  | { readonly kind: 'links'; readonly asJson: boolean }
  /** `formats`: those of `crm.texts.dates`. */
  | { readonly kind: 'date-time'; readonly formats: readonly string[] }
  /** The name of a time zone in this column. */
  | { readonly kind: 'zone'; readonly column: string }
  /** A condition holds for these values alone, or for all but these. */
  | { readonly kind: 'one-of' | 'none-of'; readonly values: readonly string[] }
  /** A row that is a JSON object, and one with less nesting. */
  | { readonly kind: 'object' | 'shallow-object' }
  /** What Excel should have stored in the cell. */
  | { readonly kind: 'stored'; readonly instead: 'of-formula' | 'of-index' | 'of-error' }

export interface ExpectedNumber {
  readonly kind: 'decimal' | 'integer'
  /** The decimal sign of `crm.texts`; null if none is set, so numbers have no separators. */
  readonly sign: '.' | ',' | null
  /** The marks of `crm.texts.currency`. */
  readonly currency: readonly string[]
}
