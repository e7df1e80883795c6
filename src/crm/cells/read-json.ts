import { DecimalText } from './cell.ts'

/** A syntax error in JSON: its position, and what was expected there. */
export class JsonFault extends SyntaxError {
  readonly offset: number
  readonly expected: string

  constructor(offset: number, expected: string) {
    super(`expected ${expected} at ${offset}`)
    this.offset = offset
    this.expected = expected
  }
}

const SLICE = 8192

/** Limits for JSON from an untrusted source. */
export interface JsonBounds {
  readonly depth: number
  /** Members of one object. */
  readonly members: number
  /** Items of one list. */
  readonly items: number
  /** Characters of one text, with its escapes. */
  readonly textLength: number
}

/** A parsed JSON value. `Digits` is the type of its numbers. */
export type ParsedJson<Digits> = null | boolean | string | Digits | ParsedJson<Digits>[] | JsonObject<Digits>
interface JsonObject<Digits> {
  [name: string]: ParsedJson<Digits>
}

/**
 * Parses JSON in time proportional to its length, whatever its shape, and keeps the digits of numbers. Yields
 * regularly. Throws a `JsonFault` if JSON.parse would throw, and a `RangeError` at the first value that exceeds a bound.
 * JSON.parse is faster, but its caller has to find numbers that a float would change.
 * @param numberOf reads a number from its source text
 * @param bounds limits; without them, only the nesting is limited
 */
export function* readJson<Digits>(
  text: string,
  numberOf: (source: string) => Digits,
  bounds: Partial<JsonBounds> = {},
): Generator<void, ParsedJson<Digits>, void> {
  const { depth = 4096, members = Infinity, items = Infinity, textLength = Infinity } = bounds
  // `inside` is the innermost list or object. If it is an object, `name` is the name of its current member and `count`
  // the number of its members. The stacks hold the same three of the lists and objects around it.
  const around: (ParsedJson<Digits>[] | JsonObject<Digits> | null)[] = []
  const names: string[] = []
  const counts: number[] = []
  let inside: ParsedJson<Digits>[] | JsonObject<Digits> | null = null
  let name = ''
  let count = 0
  let rested = 0
  let at = afterSpace(text, 0)
  // One loop with local variables: methods of an object took five times as long.
  for (;;) {
    if (at - rested > SLICE) {
      rested = at
      yield
    }
    if (inside !== null && !Array.isArray(inside)) {
      if (text.charCodeAt(at) !== QUOTE) throw new JsonFault(at, 'a name in double quotes')
      const end = endOfText(text, at, textLength)
      name = textOf(text, at, end)
      at = afterColon(text, end)
    }
    const first = text.charCodeAt(at)
    let value: ParsedJson<Digits>
    if (first === OPEN_LIST || first === OPEN_OBJECT) {
      const opened: ParsedJson<Digits>[] | JsonObject<Digits> = first === OPEN_LIST ? [] : {}
      at = afterSpace(text, at + 1)
      // The code of a closing bracket is its opening one's plus 2.
      if (text.charCodeAt(at) !== first + 2) {
        if (around.push(inside) > depth) throw new RangeError('the nesting is too deep')
        names.push(name)
        counts.push(count)
        inside = opened
        count = 0
        continue
      }
      at++
      value = opened
    } else if (first === QUOTE) {
      const end = endOfText(text, at, textLength)
      value = textOf(text, at, end)
      at = end
    } else {
      SCALAR.lastIndex = at
      if (!SCALAR.test(text)) throw new JsonFault(at, 'a value')
      const source = text.slice(at, SCALAR.lastIndex)
      at = SCALAR.lastIndex
      value = first < SMALL_F ? numberOf(source) : first === SMALL_N ? null : first === SMALL_T
    }
    // Stores the value and closes the lists and objects that end after it.
    for (;;) {
      at = afterSpace(text, at)
      if (inside === null) {
        if (at !== text.length) throw new JsonFault(at, 'nothing more')
        return value
      }
      let closing = CLOSE_OBJECT
      if (Array.isArray(inside)) {
        closing = CLOSE_LIST
        if (inside.length >= items) throw new RangeError('a list has too many items')
        inside.push(value)
      } else {
        count++
        if (count > members) throw new RangeError('an object has too many members')
        put(inside, name, value)
      }
      const next = text.charCodeAt(at)
      if (next === COMMA) {
        at = afterSpace(text, at + 1)
        break
      }
      if (next !== closing) throw new JsonFault(at, `a comma or ${String.fromCharCode(closing)}`)
      at++
      value = inside
      inside = around.pop() ?? null
      name = names.pop() ?? ''
      count = counts.pop() ?? 0
    }
  }
}

/** Converts a number's source text to a number if it is a safe integer, else to a `DecimalText`. */
export function numberCell(source: string): number | DecimalText {
  if (source.length > LONGEST_SAFE) return new DecimalText(source)
  const value = Number(source)
  return Number.isSafeInteger(value) && String(value) === source ? value : new DecimalText(source)
}

/**
 * Reads a number as a plain value: one that a float would change becomes its text, and so does every integer beyond
 * 2⁵³. Otherwise some ids of one column would be numbers and others texts.
 */
export function plainNumber(source: string): number | string {
  const number = Number(source)
  const isSafe = Number.isSafeInteger(number) || !Number.isInteger(number)
  return isSafe && String(number) === source ? number : source
}

const LONGEST_SAFE = 17

/** The position after the closing quote of the text whose opening quote is at `at`. */
function endOfText(text: string, at: number, longest: number): number {
  for (let end = at + 1; end - at <= longest; end++) {
    const code = text.charCodeAt(end)
    if (code === QUOTE) return end + 1
    if (code === BACKSLASH) end++
    // Neither a control character nor the end of the JSON, whose code is NaN.
    else if (!(code >= SPACE)) throw textFault(text, at + 1)
  }
  throw new RangeError('a text is too long')
}

function textOf(text: string, from: number, to: number): string {
  const inner = text.slice(from + 1, to - 1)
  if (!inner.includes('\\')) return inner
  try {
    return String(JSON.parse(text.slice(from, to)))
  } catch {
    throw textFault(text, from + 1)
  }
}

function textFault(text: string, from: number): JsonFault {
  for (let at = from; at < text.length; at++) {
    const code = text.charCodeAt(at)
    if (code < SPACE) return new JsonFault(at, 'the end of the text, or an escape such as \\n')
    if (code !== BACKSLASH) continue
    if (!ESCAPE.test(text.slice(at, at + 6)))
      return new JsonFault(at, 'an escape sequence of JSON, or \\\\ for a backslash')
    at++
  }
  return new JsonFault(text.length, 'a quote that closes the text')
}

function put<Digits>(into: JsonObject<Digits>, name: string, value: ParsedJson<Digits>): void {
  if (name !== '__proto__') into[name] = value
  // Plain assignment would set the prototype.
  else Object.defineProperty(into, name, { value, enumerable: true, configurable: true, writable: true })
}

function afterSpace(text: string, from: number): number {
  let at = from
  for (let code = text.charCodeAt(at); code === 0x20 || code === 0x0a || code === 0x0d || code === 0x09;) {
    code = text.charCodeAt(++at)
  }
  return at
}

function afterColon(text: string, from: number): number {
  const at = afterSpace(text, from)
  if (text.charCodeAt(at) !== COLON) throw new JsonFault(at, 'a colon after the name')
  return afterSpace(text, at + 1)
}

const SCALAR = /(?:-?(?:0|[1-9][0-9]*)(?:\.[0-9]+)?(?:[eE][-+]?[0-9]+)?|null|true|false)(?![0-9A-Za-z+.-])/y
const ESCAPE = /^\\(?:["\\/bfnrt]|u[0-9a-fA-F]{4})/
const SPACE = 0x20
const QUOTE = 0x22
const COMMA = 0x2c
const COLON = 0x3a
const OPEN_LIST = 0x5b
const BACKSLASH = 0x5c
const CLOSE_LIST = 0x5d
const SMALL_F = 0x66
const SMALL_N = 0x6e
const SMALL_T = 0x74
const OPEN_OBJECT = 0x7b
const CLOSE_OBJECT = 0x7d
