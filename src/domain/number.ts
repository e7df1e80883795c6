import { trimWhiteSpace } from './white-space.ts'

declare const decimal: unique symbol

/**
 * A decimal number in canonical text: the digits and scale as sent, without an exponent, leading zeros or a plus sign
 * (contract §2).
 */
export type Decimal = string & { readonly [decimal]: true }

export const ZERO: Decimal = asDecimal('0')

// .NET's decimal: a 96-bit integer divided by ten to a scale of 28 at most (contract §2).
const MAX_COEFFICIENT = 2n ** 96n - 1n
const MAX_DIGITS = 29
const MAX_SCALE = 28

/**
 * Parses a decimal number. Fraction digits that do not fit are rounded once, half to even. `null` for a text that is
 * not a number or is outside the range of .NET's decimal (contract §2).
 *
 * @example parseDecimal(' 1.50e1 ') // '15.0'
 */
export function parseDecimal(text: string): Decimal | null {
  if (isPlainCanonical(text)) return asDecimal(text)
  const scanned = scanNumber(text)
  if (scanned === null) return null
  const { digits, negative } = scanned
  if (digits === '') return asDecimal(written(0n, Math.min(Math.max(scanned.scale, 0), MAX_SCALE), false))
  const integerDigits = digits.length - scanned.scale
  if (integerDigits > MAX_DIGITS) return null
  // As many fraction digits are kept as fit; one fewer if a coefficient of 29 digits exceeds 96 bits.
  const scale = Math.min(Math.max(scanned.scale, 0), MAX_SCALE, MAX_DIGITS - integerDigits)
  const coefficient = coefficientAt(digits, integerDigits + scale)
  if (coefficient <= MAX_COEFFICIENT) return asDecimal(written(coefficient, scale, negative))
  // Round again from the original digits: rounding twice would be wrong.
  return scale === 0 ? null : asDecimal(written(coefficientAt(digits, integerDigits + scale - 1), scale - 1, negative))
}

/** Returns the first `kept` digits, rounded half to even by the others, or padded with zeros. */
function coefficientAt(digits: string, kept: number): bigint {
  if (kept < 0) return 0n
  const head = BigInt(digits.slice(0, kept).padEnd(kept, '0'))
  return roundsUp(digits, kept) ? head + 1n : head
}

function roundsUp(digits: string, kept: number): boolean {
  const first = digits.charCodeAt(kept)
  if (first !== 0x35) return first > 0x35
  return /[1-9]/.test(digits.slice(kept + 1)) || (kept > 0 && digits.charCodeAt(kept - 1) % 2 === 1)
}

function written(coefficient: bigint, scale: number, negative: boolean): string {
  const padded = String(coefficient).padStart(scale + 1, '0')
  const point = padded.length - scale
  const plain = scale === 0 ? padded : `${padded.slice(0, point)}.${padded.slice(point)}`
  return negative && coefficient !== 0n ? `-${plain}` : plain
}

/** Matches what `parseDecimal` would write, but for zeros with a sign. Most numbers in a CRM are written so. */
const CANONICAL = /^-?(?:0|[1-9]\d*)(?:\.\d+)?$/

function isPlainCanonical(text: string): boolean {
  // A number of 28 digits is below 2^96 wherever its decimal point is.
  return text.length <= MAX_SCALE && CANONICAL.test(text) && !(text.startsWith('-') && Number(text) === 0)
}

function asDecimal(text: string): Decimal {
  // oxlint-disable-next-line typescript/consistent-type-assertions, typescript/no-unsafe-type-assertion -- the one place
  return text as Decimal
}

const MIN = -2_147_483_648
const MAX = 2_147_483_647

/**
 * Parses a 32-bit integer. Signs, surrounding white space, an integral fraction and an exponent are allowed. `null` for
 * any other text.
 *
 * @example parseInt32(' 1e3 ') // 1000
 */
export function parseInt32(text: string): number | null {
  // The most common form.
  if (/^\d{1,9}$/.test(text)) return Number(text)
  const scanned = scanNumber(text)
  if (scanned === null) return null
  const { digits, negative } = scanned
  if (digits === '') return 0
  const integerDigits = digits.length - scanned.scale
  // Every int32 fits into ten digits, and no significant digit may follow the decimal point.
  if (integerDigits < 1 || integerDigits > 10) return null
  for (let index = integerDigits; index < digits.length; index++) if (digits.charCodeAt(index) !== 0x30) return null
  const size = Number(digits.slice(0, integerDigits).padEnd(integerDigits, '0'))
  const value = negative ? -size : size
  return value >= MIN && value <= MAX ? value : null
}

/** A number as written: `digits` (without leading zeros, empty for zero) times ten to the minus `scale`. */
interface ScannedNumber {
  readonly negative: boolean
  readonly digits: string
  /** Negative if the exponent adds zeros beyond the digits. */
  readonly scale: number
}

// Larger than the length of any string, so a clamped exponent has the same effect as the original one. Exact as a
// float.
const EXPONENT_LIMIT = 1e12

// No digit can match in two places, so matching takes linear time.
const NUMBER = /^([+-]?)(\d*)(?:\.(\d*))?(?:[eE]([+-]?\d+))?$/

/** Parses `12.50`, `+.5`, `5.` or `1.5e-3`, with surrounding white space, without loss. `null` for any other text. */
function scanNumber(text: string): ScannedNumber | null {
  const match = NUMBER.exec(trimWhiteSpace(text))
  if (match === null) return null
  const { 1: sign, 2: whole = '', 3: fraction = '', 4: power = '0' } = match
  if (whole === '' && fraction === '') return null
  const exponent = Math.max(-EXPONENT_LIMIT, Math.min(Number(power), EXPONENT_LIMIT))
  const joined = whole + fraction
  const digits = joined.startsWith('0') ? joined.replace(/^0+/, '') : joined
  return { negative: sign === '-', digits, scale: fraction.length - exponent }
}
