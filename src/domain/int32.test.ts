import { describe, expect, it } from 'bun:test'
import fc from 'fast-check'
import { parseInt32 } from './int32.ts'

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
    // A decimal would be rounded to 1; an integer is never rounded.
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
