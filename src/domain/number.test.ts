import { describe, expect, it } from 'bun:test'
import fc from 'fast-check'
import { parseDecimal, parseInt32, ZERO } from './number.ts'

const MAX = '79228162514264337593543950335'

/**
 * An independent oracle: an exact fraction of two BigInts. It tries every scale from 28 down until the value, rounded
 * once half to even, is below 2^96.
 */
function oracle(text: string): string | null {
  const match = /^[\t-\r \u0085\u00a0]*([+-]?)(?=\.?\d)(\d*)\.?(\d*)(?:e([+-]?\d+))?[\t-\r \u0085\u00a0]*$/i.exec(text)
  if (match === null) return null
  const [, sign = '', whole = '', fraction = '', exponentText = '0'] = match
  const exponent = Number(exponentText) - fraction.length
  const numerator = BigInt(whole + fraction) * 10n ** BigInt(Math.max(exponent, 0))
  const denominator = 10n ** BigInt(Math.max(-exponent, 0))
  for (let scale = Math.min(28, Math.max(-exponent, 0)); scale >= 0; scale--) {
    const scaled = numerator * 10n ** BigInt(scale)
    const floor = scaled / denominator
    const twice = 2n * (scaled % denominator)
    const isUp = twice > denominator || (twice === denominator && floor % 2n === 1n)
    const coefficient = isUp ? floor + 1n : floor
    if (coefficient >= 2n ** 96n) continue
    const digits = String(coefficient).padStart(scale + 1, '0')
    const written = scale === 0 ? digits : `${digits.slice(0, -scale)}.${digits.slice(-scale)}`
    return sign === '-' && coefficient !== 0n ? `-${written}` : written
  }
  return null
}

describe('parseDecimal (contract §2)', () => {
  it.each([
    ['12.50', '12.50'],
    ['10', '10'],
    ['10.0', '10.0'],
    ['0', '0'],
    ['0.0', '0.0'],
    ['0.00', '0.00'],
    ['0.0000001', '0.0000001'],
    ['-0.1276', '-0.1276'],
    ['-180', '-180'],
    [MAX, MAX],
    [`-${MAX}`, `-${MAX}`],
    ['1.5e1', '15'],
    ['1.50e1', '15.0'],
    ['-1E-7', '-0.0000001'],
    ['1e+3', '1000'],
    ['1.5e3', '1500'],
    ['.5', '0.5'],
    ['-.5', '-0.5'],
    ['5.', '5'],
    ['5.e1', '50'],
    ['+7.10', '7.10'],
    ['007.10', '7.10'],
    ['00', '0'],
    ['-0', '0'],
    ['-0.00', '0.00'],
    ['-00.0e-1', '0.00'],
    ['0e5', '0'],
    [' \t12.50\r\n', '12.50'],
    ['\u00a01\u3000', '1'],
  ])('writes %j as %s', (text, canonical) => expect<string | null>(parseDecimal(text)).toBe(canonical))

  it.each([
    ['0.00000000000000000000000000005', '0.0000000000000000000000000000', 'a tie goes to the even zero'],
    ['0.00000000000000000000000000015', '0.0000000000000000000000000002', 'a tie goes to the even two'],
    ['0.000000000000000000000000000050001', '0.0000000000000000000000000001', 'above the tie goes up'],
    ['-0.00000000000000000000000000004', '0.0000000000000000000000000000', 'a zero that came of rounding has no sign'],
    ['0.99999999999999999999999999999', '1.0000000000000000000000000000', 'the carry runs through'],
    ['1.00000000000000000000000000000000', '1.0000000000000000000000000000', 'surplus zeros are cut'],
    [`${MAX}.4`, MAX, 'no fraction fits beside 29 digits'],
    ['7922816251426433759354395033.45', '7922816251426433759354395033.4', 'one fraction digit beside 28, tie to even'],
    ['7922816251426433759354395033.55', '7922816251426433759354395034', 'that rounded up is beyond 96 bits'],
    ['7.9228162514264337593543950336', '7.922816251426433759354395034', 'one digit fewer where 96 bits are exceeded'],
    [
      '7.92281625142643375935439503350',
      '7.9228162514264337593543950335',
      'the largest coefficient at the largest scale',
    ],
    ['7.92281625142643375935439503345', '7.9228162514264337593543950334', 'a tie beside the largest coefficient'],
    // 28 places do not fit. Rounded to 28 places first (…55) and then again, the result would be …6.
    ['8.00000000000000000000000000549', '8.000000000000000000000000005', 'never rounded twice'],
    ['1e-28', '0.0000000000000000000000000001', 'the smallest'],
    ['1e-29', '0.0000000000000000000000000000', 'below the smallest'],
    ['0e-100', '0.0000000000000000000000000000', 'a zero of any scale'],
    ['1e28', '10000000000000000000000000000', 'a power that fits'],
  ])('rounds %s to %s: %s', (text, canonical) => expect<string | null>(parseDecimal(text)).toBe(canonical))

  it.each(['79228162514264337593543950336', `${MAX}.5`, '1e29', '8e28', '-8e28', '1e999999999', '9'.repeat(30)])(
    'cannot read %s, which is beyond 96 bits',
    (text) => expect(parseDecimal(text)).toBeNull(),
  )

  it.each([
    '',
    ' ',
    '.',
    '-',
    '+',
    'e1',
    '.e1',
    '1e',
    '1e+',
    '1e1.5',
    '1,000',
    '1 000',
    '1_000',
    '0x10',
    '1.2.3',
    '--1',
    '1-',
  ])('refuses %j', (text) => expect(parseDecimal(text)).toBeNull())

  it.each(['NaN', 'Infinity', '-Infinity', '£1', '1%', '\u0661', '1e\u0661', '\ufeff1', '(1)', 'null', '1f', '- 1'])(
    'refuses %j',
    (text) => expect(parseDecimal(text)).toBeNull(),
  )

  it('has a canonical zero', () => expect(parseDecimal('0')).toBe(ZERO))

  const digits = fc.string({ unit: fc.constantFrom(...'0001459'), maxLength: 40 })
  const numeral = fc
    .tuple(
      fc.constantFrom('', '-', '+'),
      digits,
      fc.constantFrom('', '.'),
      digits,
      fc.option(fc.integer({ min: -70, max: 70 }), { nil: null }),
    )
    .map(
      ([sign, whole, point, fraction, exponent]) =>
        `${sign}${whole}${point}${fraction}${exponent === null ? '' : `e${exponent}`}`,
    )
  const nearMax = fc
    .tuple(fc.bigInt({ min: 2n ** 96n - 30n, max: 2n ** 96n + 30n }), fc.nat(35), fc.stringMatching(/^[0459]{0,3}$/))
    .map(([coefficient, scale, tail]) => `${coefficient}${tail}e-${scale}`)

  it('agrees with exact fractions', () => {
    fc.assert(
      fc.property(fc.oneof(numeral, nearMax), (text) => expect<string | null>(parseDecimal(text)).toBe(oracle(text))),
      { numRuns: 3000 },
    )
  })

  it('agrees with exact fractions on texts that are hardly numbers', () => {
    const scribble = fc.string({ unit: fc.constantFrom(...'0159.-+eE '), maxLength: 9 })
    fc.assert(
      fc.property(scribble, (text) => expect<string | null>(parseDecimal(text)).toBe(oracle(text))),
      { numRuns: 3000 },
    )
  })

  it('leaves its own output unchanged', () => {
    fc.assert(
      fc.property(numeral, (text) => {
        const canonical = parseDecimal(text)
        if (canonical !== null) expect(parseDecimal(canonical)).toBe(canonical)
      }),
    )
  })

  it('reads megabytes of digits and of exponent exactly', () => {
    const many = 1_000_000
    expect(parseDecimal('9'.repeat(many))).toBeNull()
    expect(parseDecimal(`1e${'9'.repeat(many)}`)).toBeNull()
    expect(parseDecimal(`${'1'.repeat(many)}x`)).toBeNull()
    expect<string | null>(parseDecimal(`0.${'0'.repeat(many)}15e${many + 1}`)).toBe('1.5')
    expect<string | null>(parseDecimal(`0.${'3'.repeat(many)}`)).toBe(`0.${'3'.repeat(28)}`)
    expect<string | null>(parseDecimal(`0.5${'0'.repeat(many)}`)).toBe(`0.5${'0'.repeat(27)}`)
  })
})

describe('parseInt32', () => {
  it.each([
    ['42', 42],
    [' 42 ', 42],
    ['+42', 42],
    ['-42', -42],
    ['250.0', 250],
    ['250.', 250],
    ['1e3', 1000],
    ['1500E-2', 15],
    ['1.5e1', 15],
    ['007', 7],
    ['0', 0],
    ['-0', 0],
    ['-0.00', 0],
    ['0e999999999', 0],
    ['2147483647', 2147483647],
    ['-2147483648', -2147483648],
    ['2147483647.000', 2147483647],
    ['0.0000000001e10', 1],
    [`${'0'.repeat(100)}5`, 5],
  ])('reads %j as %i', (text, value) => expect(parseInt32(text)).toBe(value))

  it.each([
    '',
    ' ',
    '1,000',
    '1 000',
    '1_000',
    '1.000,0',
    '2147483648',
    '-2147483649',
    '1e10',
    '1e999999999',
    '0.5',
    '250.1',
    '1e-1',
    '0x10',
    'NaN',
    'Infinity',
    '1n',
    'true',
    '\u0661',
    // A decimal would be rounded to 1. An integer is never rounded.
    `1.${'0'.repeat(40)}1`,
    `0.${'9'.repeat(40)}`,
  ])('refuses %j', (text) => expect(parseInt32(text)).toBeNull())

  it('never gives minus zero, which JSON would write as 0 and Object.is would tell apart', () => {
    expect(Object.is(parseInt32('-0'), 0)).toBe(true)
  })

  it('agrees with BigInt arithmetic', () => {
    const text = fc.tuple(fc.bigInt({ min: -(2n ** 34n), max: 2n ** 34n }), fc.integer({ min: -12, max: 4 }))
    fc.assert(
      fc.property(text, ([mantissa, exponent]) => {
        const isIntegral = exponent >= 0 || mantissa % 10n ** BigInt(-exponent) === 0n
        const value = exponent >= 0 ? mantissa * 10n ** BigInt(exponent) : mantissa / 10n ** BigInt(-exponent)
        const isInt32 = isIntegral && BigInt.asIntN(32, value) === value
        expect(parseInt32(`${mantissa}e${exponent}`)).toBe(isInt32 ? Number(value) : null)
      }),
      { numRuns: 2000 },
    )
  })
})
