import { describe, expect, it } from 'bun:test'
import fc from 'fast-check'
import { JsonFault, readJson } from './read-json.ts'

/** The first syntax error of a text; `null` if it is valid. */
function findJsonFault(text: string): { readonly offset: number; readonly expected: string } | null {
  const reading = readJson(text, Number)
  try {
    while (reading.next().done !== true);
    return null
  } catch (cause) {
    if (!(cause instanceof JsonFault)) throw cause
    return { offset: cause.offset, expected: cause.expected }
  }
}

describe('finding where a text ceases to be JSON', () => {
  it.each([
    ['', 0, 'a value'],
    ['{"a":1,}', 7, 'a name in double quotes'],
    ["{'a':1}", 1, 'a name in double quotes'],
    ['{a:1}', 1, 'a name in double quotes'],
    ['{"a" 1}', 5, 'a colon after the name'],
    ['{"a":}', 5, 'a value'],
    ['{"a":1 "b":2}', 7, 'a comma or }'],
    ['{"a":[1,2}', 9, 'a comma or ]'],
    ['{"a":[1,]}', 8, 'a value'],
    ['{"a":01}', 5, 'a value'],
    ['{"a":True}', 5, 'a value'],
    ['{"a":1} x', 8, 'nothing more'],
    ['{"a":"x\ty"}', 7, 'the end of the text, or an escape such as \\n'],
    ['{"a":"C:\\dir"}', 8, 'an escape sequence of JSON, or \\\\ for a backslash'],
    ['{"a":"x', 7, 'a quote that closes the text'],
    ['{"a":1', 6, 'a comma or }'],
  ])('finds that of %j at %d', (text, offset, expected) => {
    expect(findJsonFault(text)).toEqual({ offset, expected })
  })

  it('walks over all that JSON.parse takes, and stops in all that it refuses', () => {
    const noise = fc.array(
      fc.constantFrom(
        '[',
        ']',
        '{',
        '}',
        '"',
        '\\',
        ',',
        ':',
        '1',
        '-',
        '.',
        'e',
        'true',
        '"a"',
        '"a":',
        ' ',
        '\\u12',
        '\n',
      ),
      { maxLength: 12 },
    )
    const text = fc.oneof(
      fc.json(),
      noise.map((pieces) => pieces.join('')),
      fc.tuple(fc.json(), fc.nat(), fc.constantFrom('', ',', '"', '}', '1')).map(([json, at, extra]) => {
        const cut = at % (json.length + 1)
        return json.slice(0, cut) + extra + json.slice(cut + 1)
      }),
    )
    fc.assert(
      fc.property(text, (json) => {
        const isWhole = findJsonFault(json) === null
        let parses = true
        try {
          JSON.parse(json)
        } catch {
          parses = false
        }
        expect(isWhole).toBe(parses)
      }),
      { numRuns: 5000 },
    )
  })

  it('takes any length', () => {
    expect(findJsonFault(`${' '.repeat(1_000_000)}"${'x'.repeat(1_000_000)}"${' '.repeat(1_000_000)}!`)?.offset).toBe(
      3_000_002,
    )
    expect(findJsonFault(`${'1'.repeat(1_000_000)}!`)?.offset).toBe(1_000_000)
  })
})
