import { describe, expect, it } from 'bun:test'
import fc from 'fast-check'
import { decodeArray } from './known-table.ts'

describe('an array of PostgreSQL', () => {
  it.each([
    ['{}', []],
    ['{a}', ['a']],
    ['{a,b}', ['a', 'b']],
    ['{"a,b","c}"}', ['a,b', 'c}']],
    ['{"say \\"hi\\"","back\\\\slash"}', ['say "hi"', 'back\\slash']],
    ['{NULL,"NULL",null}', [null, 'NULL', 'null']],
    ['{""}', ['']],
    [
      '{{a,b},{c,d}}',
      [
        ['a', 'b'],
        ['c', 'd'],
      ],
    ],
    ['[0:1]={a,b}', ['a', 'b']],
    ['{ü,😀}', ['ü', '😀']],
  ] as const)('%s', (text, list) => {
    expect(decodeArray(text)).toEqual(list)
  })

  it('stays a text if it has no braces, as vectors have none', () => {
    expect(decodeArray('1 2 3')).toBe('1 2 3')
  })

  it('gives back what its quoting hides', () => {
    const written = (item: string | null) => (item === null ? 'NULL' : `"${item.replace(/["\\]/g, '\\$&')}"`)
    const items = fc.array(fc.option(fc.string({ unit: 'grapheme' })))
    fc.assert(fc.property(items, (list) => expect(decodeArray(`{${list.map(written).join(',')}}`)).toEqual(list)))
  })
})
