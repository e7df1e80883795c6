import { describe, expect, it } from 'bun:test'
import fc from 'fast-check'
import { NumberText } from './cell.ts'
import { parseCell } from './parse-cell.ts'

/** The slow way, for every text: each number by its source, a float only where that is what its source wrote. */
function oracle(text: string): unknown {
  const keep = (_key: string, value: unknown, context?: { readonly source?: string }): unknown => {
    if (typeof value !== 'number') return value
    const source = context?.source ?? ''
    return Number.isSafeInteger(value) && String(value) === source ? value : new NumberText(source)
  }
  return JSON.parse(text, keep)
}

function parsed(text: string): unknown {
  const result = parseCell(text)
  return result.ok ? result.cell : result.reason
}

describe('reading JSON without losing a digit', () => {
  it.each([
    ['{"Price":12.50}', { Price: new NumberText('12.50') }],
    ['{ "Price" : 1e2 , "Name":"x" }', { Price: new NumberText('1e2'), Name: 'x' }],
    ['{"Price":-0}', { Price: new NumberText('-0') }],
    ['{"Price":9007199254740993}', { Price: new NumberText('9007199254740993') }],
    ['{"Price":9007199254740991}', { Price: 9007199254740991 }],
    ['{"Price":1.0,"Price":1}', { Price: 1 }],
    ['{"Price":1.0,"Pr\\u0069ce":1}', { Price: 1 }],
    ['{"Price":1,"Price":1.0}', { Price: new NumberText('1.0') }],
    ['{"Tags":[1.50]}', { Tags: [new NumberText('1.50')] }],
    ['{"Name":"a, 1.5, b","Price":1}', { Name: 'a, 1.5, b', Price: 1 }],
    ['{"Name":"{\\"Price\\":1.5}","Price":2.0}', { Name: '{"Price":1.5}', Price: new NumberText('2.0') }],
    ['{"a":":1.5","b":",\\"c\\":1.5,"}', { a: ':1.5', b: ',"c":1.5,' }],
    ['1.50', new NumberText('1.50')],
    ['{"Price":1.5', 'syntax'],
    ['', 'syntax'],
  ])('reads %s', (text, expected) => {
    expect(parsed(text)).toEqual(expected)
  })

  it('keeps a column that is called __proto__ a column', () => {
    const row = parsed('{"__proto__":1.50,"Name":"x"}')
    expect(Object.keys(row as object)).toEqual(['__proto__', 'Name'])
    expect(Object.getPrototypeOf(row)).toBe(Object.prototype)
  })

  it('equals a reviver that looks at every number, whatever stands in the strings', () => {
    const number = fc.oneof(
      fc.constantFrom('0', '-0', '1.50', '12', '1e3', '-1E-7', '0.1', '123456789012345', '1234567890123456', '-0.0'),
      fc.double({ noNaN: true, noDefaultInfinity: true }).map((value) => JSON.stringify(value)),
    )
    const piece = fc.constantFrom(
      '"',
      '\\',
      ',',
      ':',
      '{',
      '}',
      '[',
      ']',
      '1.5',
      ' ',
      'Price',
      '"Price":1.5,',
      'é',
      '-0',
    )
    const string = fc.array(piece, { maxLength: 8 }).map((pieces) => JSON.stringify(pieces.join('')))
    const name = fc.oneof(fc.constantFrom('"Price"', '"a"', '"__proto__"', '"b c"'), string)
    const space = fc.constantFrom('', ' ', '\n\t')
    const value = fc.letrec<{ value: string }>((tie) => ({
      value: fc.oneof(
        { maxDepth: 2 },
        number,
        string,
        fc.constantFrom('null', 'true'),
        fc.array(tie('value'), { maxLength: 3 }).map((items) => `[${items.join(',')}]`),
        fc
          .array(fc.tuple(name, space, tie('value'), space), { maxLength: 4 })
          .map(
            (members) =>
              `{${members.map(([key, left, item, right]) => `${key}${left}:${right}${item}${left}`).join(',')}}`,
          ),
      ),
    })).value
    fc.assert(
      fc.property(value, (text) => {
        expect(parsed(text)).toEqual(oracle(text))
      }),
      { numRuns: 3000 },
    )
  })

  it('gives up on a depth that the runtime cannot walk, and lives', () => {
    const deep = `{"Links":${'['.repeat(500_000)}1.5${']'.repeat(500_000)}}`
    expect(typeof parseCell(deep).ok).toBe('boolean')
  })
})
