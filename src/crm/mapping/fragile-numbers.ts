/** A number that a float would not keep as written, as the value of a name. */
export interface FragileNumber {
  readonly name: string
  readonly source: string
}

/**
 * The numbers of a JSON text that a float would not keep as written: with a fraction, an exponent, more than 15 digits
 * or the sign of zero. `anywhere` where this cannot tell them from the inside of a string or of another object; then a
 * reviver has to, at four times the cost. In nearly every row it can: a price beside its plain name.
 */
export function findFragileNumbers(text: string): readonly FragileNumber[] | 'anywhere' {
  FRAGILE.lastIndex = 0
  let match = FRAGILE.exec(text)
  if (match === null) return NONE
  if (text.charCodeAt(0) !== OPEN_OBJECT || text.includes('{', 1)) return 'anywhere'
  const found: FragileNumber[] = []
  for (; match !== null; match = FRAGILE.exec(text)) {
    const [, name, source] = match
    if (name === undefined || source === undefined) return 'anywhere'
    // Of a name given twice the last counts, be it a number or not.
    if (text.includes(`"${name}"`, FRAGILE.lastIndex)) return 'anywhere'
    found.push({ name, source })
  }
  // An escape may spell such a name once more, in letters that are not seen here.
  return ESCAPED_LETTER.test(text) ? 'anywhere' : found
}

const NONE: readonly FragileNumber[] = []
const OPEN_OBJECT = 0x7b
const ESCAPED_LETTER = /\\u00[2-7]/

// Captured where it is the value of a name of letters, digits and underscores. Where the JSON is valid, that is never
// part of a string: a quote within one is escaped, and after one that closes it comes no letter.
const FRAGILE =
  /(?:^|[{,]\s*"(\w+)"\s*:|[:[,])\s*(-0|-?\d{16,}|-?\d+(?:\.\d+(?:[eE][-+]?\d+)?|[eE][-+]?\d+))(?=\s*(?:[,}\]]|$))/g
