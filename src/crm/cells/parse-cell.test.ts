import fc from 'fast-check'
import { describe, expect, it } from 'bun:test'
import { CellFault, DecimalText, isList } from './cell.ts'
import { parseCell, parsePlain, parseShallow, parseShallowInSlices } from './parse-cell.ts'
import { JsonFault, numberCell, plainNumber, readJson } from './read-json.ts'
import { toLinksOfText } from '../mapping/conversions.ts'

/** A slow reference: parses each number from its source text. */
function oracle(text: string): unknown {
  const keep = (_key: string, value: unknown, context?: { readonly source?: string }): unknown => {
    if (typeof value !== 'number') return value
    const source = context?.source ?? ''
    return Number.isSafeInteger(value) && String(value) === source ? value : new DecimalText(source)
  }
  return JSON.parse(text, keep)
}

function parsed(text: string): unknown {
  const result = parseCell(text)
  return result.ok ? result.cell : result.reason
}

/** The result of JSON.parse with exact digits, or `syntax`. */
function expectedOf(text: string): unknown {
  try {
    return oracle(text)
  } catch {
    return 'syntax'
  }
}

/** The result of the parser for texts of any length. */
function readWhole(text: string, numberOf: (source: string) => unknown = numberCell): unknown {
  const reading = readJson(text, numberOf)
  try {
    for (;;) {
      const step = reading.next()
      if (step.done === true) return step.value
    }
  } catch (cause) {
    if (cause instanceof JsonFault) return 'syntax'
    throw cause
  }
}

/** Texts of JSON whose strings hold what looks like numbers and names. */
function jsonTexts() {
  const number = fc.oneof(
    fc.constantFrom('0', '-0', '1.50', '12', '1e3', '-1E-7', '0.1', '123456789012345', '1234567890123456', '-0.0'),
    fc.double({ noNaN: true, noDefaultInfinity: true }).map((value) => JSON.stringify(value)),
  )
  const piece = fc.constantFrom('"', '\\', ',', ':', '{', '}', '[', ']', '1.5', ' ', 'Price', '"Price":1.5,', 'é', '-0')
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
  return { value, piece, space }
}

describe('reading JSON without losing a digit', () => {
  it.each([
    ['{"Price":12.50}', { Price: new DecimalText('12.50') }],
    ['{ "Price" : 1e2 , "Name":"x" }', { Price: new DecimalText('1e2'), Name: 'x' }],
    ['{"Price":-0}', { Price: new DecimalText('-0') }],
    ['{"Price":9007199254740993}', { Price: new DecimalText('9007199254740993') }],
    ['{"Price":9007199254740991}', { Price: 9007199254740991 }],
    ['{"Price":1.0,"Price":1}', { Price: 1 }],
    ['{"Price":1.0,"Pr\\u0069ce":1}', { Price: 1 }],
    ['{"Price":1,"Price":1.0}', { Price: new DecimalText('1.0') }],
    ['{"Tags":[1.50]}', { Tags: [new DecimalText('1.50')] }],
    ['{"Name":"a, 1.5, b","Price":1}', { Name: 'a, 1.5, b', Price: 1 }],
    ['{"Name":"{\\"Price\\":1.5}","Price":2.0}', { Name: '{"Price":1.5}', Price: new DecimalText('2.0') }],
    ['{"a":":1.5","b":",\\"c\\":1.5,"}', { a: ':1.5', b: ',"c":1.5,' }],
    ['1.50', new DecimalText('1.50')],
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
    const { value, piece, space } = jsonTexts()
    fc.assert(
      fc.property(value, (text) => {
        expect(parsed(text)).toEqual(oracle(text))
        expect(readWhole(text)).toEqual(oracle(text))
      }),
      { numRuns: 3000 },
    )
    // Neither parser accepts invalid JSON.
    const broken = fc.tuple(value, fc.nat(), fc.nat({ max: 2 }), fc.oneof(piece, space, fc.string({ maxLength: 2 })))
    fc.assert(
      fc.property(broken, ([text, at, removed, added]) => {
        const from = at % (text.length + 1)
        const changed = text.slice(0, from) + added + text.slice(from + removed)
        expect([changed, readWhole(changed)]).toEqual([changed, expectedOf(changed)])
        expect([changed, parsed(changed)]).toEqual([changed, expectedOf(changed)])
      }),
      { numRuns: 5000 },
    )
  })

  it('reads plain values at once as it does in slices, valid JSON or not', () => {
    const { value, piece, space } = jsonTexts()
    const broken = fc.tuple(value, fc.nat(), fc.nat({ max: 2 }), fc.oneof(piece, space, fc.string({ maxLength: 2 })))
    return fc.assert(
      fc.asyncProperty(broken, async ([text, at, removed, added]) => {
        const from = at % (text.length + 1)
        for (const read of [text, text.slice(0, from) + added + text.slice(from + removed)]) {
          const slow = readWhole(read, plainNumber)
          const quick: unknown = await parsePlain(read, () => null)
          expect([read, quick]).toEqual([read, slow === 'syntax' ? null : slow])
        }
      }),
      { numRuns: 5000 },
    )
  })

  const TEXTS = [
    '"\u0001"',
    '"\\u0001"',
    '"a\tb"',
    '"a\\tb"',
    '"\\"',
    '"\\\\\\""',
    '"\u2028\ud800"',
    '"\\ud800"',
    '"a',
    '""',
  ]
  const NESTED = ['[1,]', '[1,2]', '{"a" 1}', '{"a":1,}', '{,}', '{"a":{"b":[[],{}]}}', '[}', '', '[', ']', '[1 2]']
  const WORDS = ['01', '-0', '1.', '1.0e-05', '+1', '1E+5', '-', '1e', '.5', '0x1', 'tru', ' true ', 'truee', 'null 1']

  it.each([...TEXTS, ...NESTED, ...WORDS].map((text) => [text]))(
    'tells %j as JSON.parse does, in a text of any length',
    (text) => {
      expect(readWhole(text)).toEqual(expectedOf(text))
      for (const padded of [text, text + ' '.repeat(5000)]) expect(parsed(padded)).toEqual(expectedOf(text))
    },
  )

  it('keeps the last member of a name, and one named __proto__ like any other', () => {
    const members = Array.from({ length: 1000 }, (_, index) => `"k${index}":${index}`).join(',')
    const row = readWhole(`{${members},"k7":"last","Id":1.50,"__proto__":2}`) as Record<string, unknown>
    expect(Object.keys(row)).toHaveLength(1002)
    expect([row['k7'], row['Id'], Object.getPrototypeOf(row)]).toEqual([
      'last',
      new DecimalText('1.50'),
      Object.prototype,
    ])
    expect(Object.hasOwn(row, '__proto__')).toBe(true)
  })

  it('reads a number as a plain value if a float keeps its digits, otherwise as its text', async () => {
    const text = '[7, 0.1, 9007199254740991, 9007199254740993, 9007199254740992, 1.50, -0, 1e3, {"__proto__": 2.0}]'
    for (const long of [text, text + ' '.repeat(1_100_000)]) {
      const read = await parsePlain(long, () => null)
      const expected =
        '[7,0.1,9007199254740991,"9007199254740993","9007199254740992","1.50","-0","1e3",{"__proto__":"2.0"}]'
      expect(JSON.stringify(read)).toBe(expected)
    }
    expect(await parsePlain('[1', () => null)).toBeNull()
  })

  it('rests while it reads a text of any length', async () => {
    let rests = 0
    const rest = (): null => {
      rests++
      return null
    }
    const text = `[${'1.50,'.repeat(200_000)}2]`
    const read = await parseShallowInSlices(text, rest)
    expect([read.ok && isList(read.cell) && read.cell.length, rests]).toEqual([200_001, 122])
  })

  it('gives up on a nesting that is too deep', () => {
    const deep = `{"Links":${'['.repeat(500_000)}1.5${']'.repeat(500_000)}}`
    expect(parseCell(deep)).toEqual({ ok: false, reason: 'depth' })
    expect(parseCell('['.repeat(4096) + ']'.repeat(4096)).ok).toBe(true)
  })
})

const LONG = '['.repeat(15_000_000)

it.each<readonly [what: string, read: () => unknown, comes: unknown]>([
  ['a text', () => parseShallowInSlices(LONG, () => null), { ok: false, reason: 'depth' }],
  ['objects', () => parseShallow('{"a":'.repeat(200_000)), { ok: false, reason: 'depth' }],
  ['a text at once', () => parseShallow(LONG), { ok: false, reason: 'depth' }],
  ['an answer', () => parsePlain(LONG, () => null), null],
  ['a short answer', () => parsePlain('[1,'.repeat(100_000), () => null), null],
  ['the text of a link', () => toLinksOfText(LONG) instanceof CellFault, true],
])('nesting without end is refused before it takes long: %s', async (_, read, comes) => {
  const before = process.cpuUsage()
  expect(await read()).toEqual(comes)
  // Processor time, as other processes may take most of the elapsed one.
  const { user, system } = process.cpuUsage(before)
  expect((user + system) / 1000).toBeLessThan(500)
})

it('a list of more items than any answer has is refused before the rest of it is read', async () => {
  const list = (items: number): string => `[${'1,'.repeat(items - 1)}1]`
  expect((await parseShallowInSlices(list(500_000), () => null)).ok).toBe(true)
  expect(parseShallow(list(500_001))).toEqual({ ok: false, reason: 'depth' })
})

it('long JSON is read that is 64 deep, whatever brackets its texts hold', () => {
  const text = JSON.stringify('[{"'.repeat(40_000))
  expect(parseShallow(`${'['.repeat(64)}${text}${']'.repeat(64)}`).ok).toBe(true)
  expect(parseShallow(`${'['.repeat(65)}${text}${']'.repeat(65)}`)).toEqual({ ok: false, reason: 'depth' })
})
