import { describe, expect, it } from 'bun:test'
import fc from 'fast-check'
import { NdjsonParser } from './json-parsers.ts'

function run(text: string, size = 1000): unknown {
  const found: [string, number][] = []
  const parser = new NdjsonParser((chunk, from, to, number) => {
    found.push([chunk.toString('utf8', from, to).trim(), number])
    return null
  })
  const bytes = Buffer.from(text)
  for (let from = 0; from < bytes.length; from += size) {
    const piece = Buffer.from(bytes.subarray(from, from + size))
    const fault = parser.feed(piece)
    piece.fill('?')
    if (fault !== null) return fault
  }
  return parser.finish() ?? found
}

describe('reading NDJSON line by line', () => {
  it.each([
    ['\n', []],
    [' \t\r\n\r\n', []],
    ['{"a":1}', [['{"a":1}', 1]]],
    [
      '{"a":1}\r\n\r\n {"b":"é"}\n',
      [
        ['{"a":1}', 1],
        ['{"b":"é"}', 3],
      ],
    ],
    ['', { line: 1, problem: 'the file is empty; an empty list is one blank line' }],
  ])('reads %j', (text, expected) => {
    expect(run(text)).toEqual(expected)
  })

  it('finds the same lines wherever the chunks are cut', () => {
    fc.assert(
      fc.property(
        fc.array(fc.constantFrom('{', 'é', '\n', '\r', ' ', 'x')),
        fc.integer({ min: 1, max: 9 }),
        (pieces, size) => {
          const text = pieces.join('')
          expect(run(text, size)).toEqual(run(text))
        },
      ),
    )
  })

  it('keeps no more than 256 KB of a longer line, however long it is', () => {
    const sizes: number[] = []
    const parser = new NdjsonParser((_, from, to) => {
      sizes.push(to - from)
      return null
    })
    expect(parser.feed(Buffer.from('\n{'))).toBeNull()
    const piece = Buffer.alloc(1024 * 1024, 'x')
    for (let fed = 1; fed <= 20; fed++) expect(parser.feed(piece)).toBeNull()
    expect(parser.feed(Buffer.from('}\n{}\n'))).toBeNull()
    // One byte more than a row may have, and the end.
    expect(sizes).toEqual([256 * 1024 + 1 + '}'.length, 2])
  })
})
