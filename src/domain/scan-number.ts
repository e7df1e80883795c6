import { trimWhiteSpace } from './white-space.ts'

/** A decimal number as it was written: `digits` (no leading zeros, empty for zero) times ten to the minus `scale`. */
export interface ScannedNumber {
  readonly negative: boolean
  readonly digits: string
  /** Below zero where the exponent asks for more zeros than there are digits. */
  readonly scale: number
}

// Far beyond the length of any string, so a clamped exponent still decides as the whole one would; and exact in a float.
const EXPONENT_LIMIT = 1e12

/**
 * Reads `12.50`, `+.5`, `5.`, `1.5e-3` with blanks around, exactly and in one pass; null for anything else.
 * Written by hand because an expression with optional digits on both sides of an optional point backtracks.
 */
export function scanNumber(text: string): ScannedNumber | null {
  const bare = trimWhiteSpace(text)
  const sign = bare.charCodeAt(0)
  const start = sign === 0x2d || sign === 0x2b ? 1 : 0
  const pointAt = skipDigits(bare, start)
  const hasPoint = bare.charCodeAt(pointAt) === 0x2e
  const fractionFrom = hasPoint ? pointAt + 1 : pointAt
  const end = hasPoint ? skipDigits(bare, fractionFrom) : pointAt
  const fractionLength = end - fractionFrom
  if (pointAt - start + fractionLength === 0) return null
  const exponent = end === bare.length ? 0 : scanExponent(bare, end)
  if (exponent === null) return null
  const digits = hasPoint ? bare.slice(start, pointAt) + bare.slice(fractionFrom, end) : bare.slice(start, end)
  return { negative: sign === 0x2d, digits: withoutLeadingZeros(digits), scale: fractionLength - exponent }
}

function scanExponent(text: string, at: number): number | null {
  const mark = text.charCodeAt(at)
  if (mark !== 0x65 && mark !== 0x45) return null
  const sign = text.charCodeAt(at + 1)
  const start = sign === 0x2d || sign === 0x2b ? at + 2 : at + 1
  if (start === text.length || skipDigits(text, start) !== text.length) return null
  let exponent = 0
  for (let index = start; index < text.length && exponent < EXPONENT_LIMIT; index++) {
    exponent = exponent * 10 + text.charCodeAt(index) - 0x30
  }
  return sign === 0x2d ? -exponent : exponent
}

function skipDigits(text: string, from: number): number {
  let index = from
  while (index < text.length && isDigit(text.charCodeAt(index))) index++
  return index
}

function withoutLeadingZeros(digits: string): string {
  let start = 0
  while (digits.charCodeAt(start) === 0x30) start++
  return digits.slice(start)
}

function isDigit(code: number): boolean {
  return code >= 0x30 && code <= 0x39
}
