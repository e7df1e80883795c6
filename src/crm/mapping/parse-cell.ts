import type { Cell } from './cell.ts'
import { JsonFault, numberCell, readJson } from './read-json.ts'

export type ParsedCell =
  | { readonly ok: true; readonly cell: Cell }
  /** No JSON from `offset` on. */
  | { readonly ok: false; readonly reason: 'syntax'; readonly offset: number; readonly expected: string }
  | { readonly ok: false; readonly reason: 'depth' }

/** Up to this length JSON.parse is faster, and what a text of no good shape can cost is little. */
const LARGE = 4096

/** Reads JSON without losing a digit: what a float would not keep as written becomes a `DecimalText`. Never throws. */
export function parseCell(text: string): ParsedCell {
  try {
    if (text.length > LARGE) return parseAtOnce(text)
    const fragile = findFragileNumbers(text)
    if (fragile === 'anywhere') return { ok: true, cell: asCell(JSON.parse(text, keepDigits)) }
    const cell = asCell(JSON.parse(text))
    if (fragile.length > 0) restoreDigits(cell, fragile)
    return { ok: true, cell }
  } catch (cause) {
    // JSON.parse does not say where, nor does it tell a number too many from a text that is not JSON.
    if (cause instanceof SyntaxError || cause instanceof RangeError) return parseAtOnce(text)
    throw new Error('JSON cannot be read', { cause })
  }
}

/**
 * The same of a text of any length and shape, resting between its parts.
 *
 * @param wanted the members of large objects that are kept besides some hundred others
 */
export async function parseLargeCell(
  text: string,
  wanted: ReadonlySet<string>,
  rest: () => Promise<unknown> | null,
): Promise<ParsedCell> {
  const reading = readJson(text, wanted)
  for (;;) {
    const step = stepOf(reading)
    if (step !== null) return step
    const resting = rest()
    if (resting !== null) await resting
  }
}

function parseAtOnce(text: string): ParsedCell {
  const reading = readJson(text, null)
  let step = stepOf(reading)
  while (step === null) step = stepOf(reading)
  return step
}

/** What became of it; null where there is more to read. */
function stepOf(reading: Generator<void, Cell, void>): ParsedCell | null {
  try {
    const step = reading.next()
    return step.done === true ? { ok: true, cell: step.value } : null
  } catch (cause) {
    if (cause instanceof JsonFault)
      return { ok: false, reason: 'syntax', offset: cause.offset, expected: cause.expected }
    if (cause instanceof RangeError) return { ok: false, reason: 'depth' }
    throw new Error('JSON cannot be read', { cause })
  }
}

function keepDigits(_key: string, value: unknown, context?: { readonly source?: string }): unknown {
  return typeof value === 'number' && context?.source !== undefined ? numberCell(context.source) : value
}

function restoreDigits(row: Cell, fragile: readonly FragileNumber[]): void {
  for (const { name, source } of fragile) Object.defineProperty(row, name, { value: numberCell(source) })
}

function asCell(parsed: unknown): Cell {
  // oxlint-disable-next-line typescript/consistent-type-assertions, typescript/no-unsafe-type-assertion -- JSON holds nothing else
  return parsed as Cell
}

/** A number that a float would not keep as written, as the value of a name. */
interface FragileNumber {
  readonly name: string
  readonly source: string
}

/**
 * The numbers of a JSON text that a float would not keep as written: with a fraction, an exponent, more than 15 digits
 * or the sign of zero. `anywhere` where this cannot tell them from the inside of a string or of another object; then a
 * reviver has to, at four times the cost. In nearly every row it can: a price beside its plain name.
 */
function findFragileNumbers(text: string): readonly FragileNumber[] | 'anywhere' {
  if (text.charCodeAt(0) === OPEN_OBJECT && !MAY_BE_FRAGILE.test(text)) return NONE
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

// Where the value of a member or an item may begin so: asked first, for it takes a third of the time.
const MAY_BE_FRAGILE = /[:[,]\s*(?:-0|-?\d+[.eE]|-?\d{16})/

// Captured where it is the value of a name of letters, digits and underscores. Where the JSON is valid, that is never
// part of a string: a quote within one is escaped, and after one that closes it comes no letter.
const FRAGILE =
  /(?:^|[{,]\s*"(\w+)"\s*:|[:[,])\s*(-0|-?\d{16,}|-?\d+(?:\.\d+(?:[eE][-+]?\d+)?|[eE][-+]?\d+))(?=\s*(?:[,}\]]|$))/g
