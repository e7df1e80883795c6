import { type JsonValue, isJsonList } from '../../domain/json-value.ts'
import type { Rest } from '../../time/waiting.ts'
import { type Cell, isList } from './cell.ts'
import { type JsonBounds, JsonFault, numberCell, plainNumber, readJson } from './read-json.ts'

export type ParsedCell = Parsed<Cell>

type Parsed<Value> =
  | { readonly ok: true; readonly cell: Value }
  /** The text stops being valid JSON at `offset`. */
  | { readonly ok: false; readonly reason: 'syntax'; readonly offset: number; readonly expected: string }
  | { readonly ok: false; readonly reason: 'depth' }

/** Up to this length JSON.parse is faster, and the worst case costs little. */
const LARGE = 4096

/** Parses JSON without losing a digit: a number that a float would change becomes a `DecimalText`. Never throws. */
export function parseCell(text: string): ParsedCell {
  const fragile = text.length > LARGE ? null : fragileMembers(text)
  if (fragile === null) return parseAtOnce(text)
  try {
    // oxlint-disable-next-line typescript/consistent-type-assertions, typescript/no-unsafe-type-assertion -- JSON holds nothing else
    const cell = JSON.parse(text) as Cell
    for (const { name, source } of fragile) Object.defineProperty(cell, name, { value: numberCell(source) })
    return { ok: true, cell }
  } catch (cause) {
    // JSON.parse does not give the position, and does not tell deep nesting from a syntax error.
    if (cause instanceof SyntaxError || cause instanceof RangeError) return parseAtOnce(text)
    throw new Error('JSON cannot be read', { cause })
  }
}

interface FragileMember {
  readonly name: string
  readonly source: string
}

/**
 * Finds the numbers of a JSON text that a float would change: with a fraction, an exponent, more than 15 digits or a
 * negative zero. Returns `null` if they may be anywhere but in members of one flat object, as in most rows.
 */
function fragileMembers(text: string): readonly FragileMember[] | null {
  if (!MAY_BE_FRAGILE.test(text)) return NONE
  FRAGILE.lastIndex = 0
  let match = FRAGILE.exec(text)
  // A time with a fraction of a second only looks like such a number.
  if (match === null) return NONE
  // The same name may be written again with escapes, which the search does not see.
  if (text.charCodeAt(0) !== OPEN_OBJECT || text.includes('{', 1) || ESCAPED_LETTER.test(text)) return null
  const found: FragileMember[] = []
  for (; match !== null; match = FRAGILE.exec(text)) {
    const [, name, source] = match
    // If a name occurs twice, the last one counts, even if it is not a number.
    if (name === undefined || source === undefined || text.includes(`"${name}"`, FRAGILE.lastIndex)) return null
    found.push({ name, source })
  }
  return found
}

const NONE: readonly FragileMember[] = []
const OPEN_OBJECT = 0x7b
const ESCAPED_LETTER = /\\u00[2-7]/

// Matches the possible beginning of a fragile number. Tested first because it takes a third of the time.
const MAY_BE_FRAGILE = /(?:^|[:[,])\s*(?:-0|-?\d+[.eE]|-?\d{16})/

// Captures the value of a name of letters, digits and underscores. In valid JSON the match is never inside a string: a
// quote in a string is escaped, and no letter follows a closing quote.
const FRAGILE =
  /(?:[{,]\s*"(\w+)"\s*:|^|[:[,])\s*(-0|-?\d{16,}|-?\d+(?:\.\d+(?:[eE][-+]?\d+)?|[eE][-+]?\d+))(?=\s*(?:[,}\]]|$))/g

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

/** Texts up to this length are parsed at once if that loses no digit: at the worst it takes some 30 ms. */
const QUICK = 1_048_576

/** As `parseShallowInSlices`, to plain values; `null` also for a text that is not JSON. */
export async function parsePlain(text: string, rest: Rest): Promise<JsonValue> {
  const quick = text.length > QUICK ? undefined : parsePlainAtOnce(text)
  if (quick !== undefined) return isWithin(quick, BOUNDS.depth) ? quick : null
  const bounds = text.length > SHORT ? BOUNDS : undefined
  const parsed = await parsedInSlices(readJson(text, plainNumber, bounds), rest)
  return parsed.ok ? parsed.cell : null
}

/** A fragile number, after the name of its member where it has one. */
const FRAGILE_PLAIN =
  /([{,]\s*"[\w@.]+"\s*:\s*|^\s*|[:[,]\s*)(-0|-?[1-9]\d{15,}|-?(?:0|[1-9]\d*)(?:\.\d+(?:[eE][-+]?\d+)?|[eE][-+]?\d+))(?=\s*(?:[,}\]]|$))/g

/** Parses JSON with `JSON.parse`, which is three times as fast; `undefined` if it could lose digits, or is no JSON. */
function parsePlainAtOnce(text: string): JsonValue | undefined {
  let isSafe = true
  const quoted = !MAY_BE_FRAGILE.test(text)
    ? text
    : text.replaceAll(FRAGILE_PLAIN, (match: string, before: string, source: string) => {
        // As of `FRAGILE`: only after a name it is certainly not within a text.
        if (!before.includes('"')) isSafe = false
        return typeof plainNumber(source) === 'number' ? match : `${before}"${source}"`
      })
  if (!isSafe) return undefined
  try {
    // oxlint-disable-next-line typescript/consistent-type-assertions, typescript/no-unsafe-type-assertion -- JSON holds nothing else
    return JSON.parse(quoted) as JsonValue
  } catch {
    return undefined
  }
}

function isWithin(value: JsonValue, depth: number): boolean {
  if (typeof value !== 'object' || value === null) return true
  if (depth === 0) return false
  if (isJsonList(value)) return value.every((inner) => isWithin(inner, depth - 1))
  for (const name in value) if (!isWithin(value[name] ?? null, depth - 1)) return false
  return true
}

/**
 * Returns the list that a text writes as JSON or as Python does: `["Rock","Indie/Folk"]`, `['Rock', 'Pop']`, `[]`. Returns
 * `null` for any other text.
 */
export function writtenList(text: string): readonly Cell[] | null {
  // Nearly no text begins like this, and parsing costs a thousand times more than the test.
  if (!/^\s*\[/.test(text) || !/\]\s*$/.test(text)) return null
  const parsed = parseShallow(text)
  if (parsed.ok) return isList(parsed.cell) ? parsed.cell : null
  return pythonList(text.trim().slice(1, -1))
}

/** Matches a text in brackets or braces, and one that begins with a bracket and a quote. */
const LIKE_LIST = /^\s*(?:\[[^\]]*\]\s*$|\{[^}]*\}\s*$|[[({]\s*[a-z]?["'“])/i

/** Whether a text that writes no list looks as if it did. */
export function looksLikeList(text: string): boolean {
  return LIKE_LIST.test(text)
}

/** Matches one item and the comma after it. No part of it can match in two ways, so it takes linear time. */
const ITEM = /\s*(?:'((?:[^'\\]|\\[^])*)'|"((?:[^"\\]|\\[^])*)"|(None|True|False|-?\d+(?:\.\d+)?))\s*(,|$)/y

function pythonList(inner: string): readonly Cell[] | null {
  const items: Cell[] = []
  let at = 0
  while (at < inner.length) {
    ITEM.lastIndex = at
    const match = ITEM.exec(inner)
    if (match === null) return inner.slice(at).trim() === '' ? items : null
    const [whole, single, double, bare] = match
    items.push(bare === 'None' ? null : (bare ?? unescaped(single ?? double ?? '')))
    at += whole.length
  }
  return items
}

/** Matches an escape of Python's: a code of 2, 4 or 8 hexadecimal digits, or one letter or sign. */
const ESCAPE = /\\(?:x([\da-fA-F]{2})|u([\da-fA-F]{4})|U([\da-fA-F]{8})|([^]))/g
const ESCAPED_SIGNS: ReadonlyMap<string, string> = new Map([
  ['n', '\n'],
  ['r', '\r'],
  ['t', '\t'],
])

function unescaped(text: string): string {
  return text.replaceAll(ESCAPE, (_, two?: string, four?: string, eight?: string, sign?: string) => {
    const code = Number.parseInt(two ?? four ?? eight ?? '', 16)
    if (sign !== undefined) return ESCAPED_SIGNS.get(sign) ?? sign
    return code > 0x10_ff_ff ? '\ufffd' : String.fromCodePoint(code)
  })
}
