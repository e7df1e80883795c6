import type { JsonValue } from '../../domain/json-value.ts'
import type { Rest } from '../../time/waiting.ts'
import type { Cell } from './cell.ts'
import { type JsonBounds, JsonFault, numberCell, plainNumber, readJson } from './read-json.ts'

export type ParsedCell = Parsed<Cell>

type Parsed<Value> =
  | { readonly ok: true; readonly cell: Value }
  /** The text stops being valid JSON at `offset`. */
  | { readonly ok: false; readonly reason: 'syntax'; readonly offset: number; readonly expected: string }
  | { readonly ok: false; readonly reason: 'depth' }

/** Up to this length JSON.parse is faster, and the worst case costs little. */
const LARGE = 4096

/**
 * May find the beginning of a number that a float would change: with a fraction, an exponent, more than 15 digits or a
 * negative zero. It may be inside a string.
 */
const MAY_BE_FRAGILE = /(?:^|[:[,])\s*(?:-0|-?\d+[.eE]|-?\d{16})/

/** Parses JSON without losing a digit: a number that a float would change becomes a `DecimalText`. Never throws. */
export function parseCell(text: string): ParsedCell {
  if (text.length > LARGE || MAY_BE_FRAGILE.test(text)) return parseAtOnce(text)
  try {
    // oxlint-disable-next-line typescript/consistent-type-assertions, typescript/no-unsafe-type-assertion -- JSON holds nothing else
    return { ok: true, cell: JSON.parse(text) as Cell }
  } catch (cause) {
    // JSON.parse does not give the position, and does not tell deep nesting from a syntax error.
    if (cause instanceof SyntaxError || cause instanceof RangeError) return parseAtOnce(text)
    throw new Error('JSON cannot be read', { cause })
  }
}

function parseAtOnce(text: string, bounds?: JsonBounds): ParsedCell {
  const reading = readJson(text, numberCell, bounds)
  let step = stepOf(reading)
  while (step === null) step = stepOf(reading)
  return step
}

async function parsedInSlices<Value>(reading: Generator<void, Value, void>, rest: Rest): Promise<Parsed<Value>> {
  for (;;) {
    const step = stepOf(reading)
    if (step !== null) return step
    const resting = rest()
    if (resting !== null) await resting
  }
}

function stepOf<Value>(reading: Generator<void, Value, void>): Parsed<Value> | null {
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

/**
 * More than any CRM answer has. An object with a million members is slow to build, a list of millions is slow for the
 * garbage collector, and a text of 15 MB is slow to copy.
 */
const BOUNDS: JsonBounds = { depth: 64, members: 16_384, items: 500_000, textLength: 4 * 1_048_576 }
/** Texts up to this length are parsed without a pause, and deep nesting in them costs too little to matter. */
const SHORT = 65_536

/**
 * Parses JSON from an untrusted source, such as a row, without a pause. Stops at the first value that exceeds a bound.
 */
export function parseShallow(text: string): ParsedCell {
  return text.length > SHORT ? parseAtOnce(text, BOUNDS) : parseCell(text)
}

/** As `parseShallow`, for texts of any length: pauses between parts. */
export async function parseShallowInSlices(text: string, rest: Rest): Promise<ParsedCell> {
  return text.length > SHORT ? parsedInSlices(readJson(text, numberCell, BOUNDS), rest) : parseCell(text)
}

/** As `parseShallowInSlices`, to plain values; `null` also for a text that is not JSON. */
export async function parsePlain(text: string, rest: Rest): Promise<JsonValue> {
  const bounds = text.length > SHORT ? BOUNDS : undefined
  const parsed = await parsedInSlices(readJson(text, plainNumber, bounds), rest)
  return parsed.ok ? parsed.cell : null
}
