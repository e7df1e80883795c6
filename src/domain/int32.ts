import { scanNumber } from './scan-number.ts'

const MIN = -2_147_483_648
const MAX = 2_147_483_647

/**
 * The 32-bit integer a text writes: signed, blanks around, an integral fraction or an exponent; null for all else.
 *
 * @example parseInt32(' 1e3 ') // 1000
 */
export function parseInt32(text: string): number | null {
  const plain = plainNumber(text)
  if (plain !== -1) return plain
  const scanned = scanNumber(text)
  if (scanned === null) return null
  const { digits, negative } = scanned
  if (digits === '') return 0
  const integerDigits = digits.length - scanned.scale
  // Ten digits hold every int32, and none of a number's significant digits may be behind the point.
  if (integerDigits < 1 || integerDigits > 10) return null
  for (let index = integerDigits; index < digits.length; index++) if (digits.charCodeAt(index) !== 0x30) return null
  const size = Number(digits.slice(0, integerDigits).padEnd(integerDigits, '0'))
  const value = negative ? -size : size
  return value >= MIN && value <= MAX ? value : null
}

/** The number that one to nine digits and nothing else write, as most do; -1 for any other text. */
function plainNumber(text: string): number {
  if (text.length === 0 || text.length > 9) return -1
  let number = 0
  for (let index = 0; index < text.length; index++) {
    const code = text.charCodeAt(index)
    if (code < 0x30 || code > 0x39) return -1
    number = number * 10 + code - 0x30
  }
  return number
}
