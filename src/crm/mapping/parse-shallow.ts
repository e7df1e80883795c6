import type { JsonBounds } from './read-json.ts'
import { type ParsedCell, parseAtOnce, parseCell, parseLargeCell } from './parse-cell.ts'

/** More than any CRM answer has. An object of a million members is slow to build, and a text of 15 MB to copy. */
const BOUNDS: JsonBounds = { depth: 64, members: 16_384, textLength: 4 * 1_048_576 }
/** Texts up to this length are parsed without a pause, and deep nesting in them costs too little to matter. */
const SHORT = 65_536

/** Parses JSON from an untrusted source at once, such as a row. What exceeds a bound is refused where it does so. */
export function parseShallow(text: string): ParsedCell {
  return text.length > SHORT ? parseAtOnce(text, BOUNDS) : parseCell(text)
}

/** As `parseShallow`, for texts of any length: pauses between parts. */
export async function parseShallowInSlices(text: string, rest: () => Promise<unknown> | null): Promise<ParsedCell> {
  return text.length > SHORT ? parseLargeCell(text, null, rest, BOUNDS) : parseCell(text)
}
