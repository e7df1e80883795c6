import { describe, expect, it } from 'bun:test'
import fc from 'fast-check'
import { JsonParser } from './json-parser.ts'
import { parseCell } from '../cells/parse-cell.ts'
import type { TakeRow, Taken } from './row-parser.ts'

interface Outcome {
  readonly items: readonly string[]
  readonly lines: readonly number[]
  readonly fault: Taken
}

/** Feeds a text in pieces, cut at `cuts`. */
function run(text: string, cuts: readonly number[] = []): Outcome {
  const items: string[] = []
  const lines: number[] = []
  const onRow: TakeRow = (chunk, from, to, line) => {
    items.push(chunk.toString('utf8', from, to))
    lines.push(line)
    return null
  }
  const parser = new JsonParser({ format: 'json', rows: null, onRow })
  return feedInPieces(parser, text, cuts, { items, lines })
}

function feedInPieces(parser: JsonParser, text: string, cuts: readonly number[], got: Omit<Outcome, 'fault'>): Outcome {
  const bytes = Buffer.from(text)
  const borders = [...new Set([0, ...cuts.map((cut) => cut % (bytes.length + 1)), bytes.length])].toSorted(
    (a, b) => a - b,
  )
  for (const [index, from] of borders.slice(0, -1).entries()) {
    const piece = Buffer.from(bytes.subarray(from, borders[index + 1]))
    const fault = parser.feed(piece)
    if (fault !== null) return { ...got, fault }
  }
  return { ...got, fault: parser.finish() }
}

/** As `run`, but goes on after torn items, which are marked. */
function runTorn(text: string, cuts: readonly number[]): Outcome {
  const [items, lines]: [string[], number[]] = [[], []]
  const take: TakeRow = (chunk, from, to, line) => {
    const item = chunk.toString('utf8', from, to)
    if (!parseCell(item).ok) return { line, problem: 'torn' }
    items.push(item)
    lines.push(line)
    return null
  }
  const parser = new JsonParser({
    format: 'json',
    rows: null,
    onRow: take,
    onTorn(line) {
      items.push('torn')
      lines.push(line)
      return null
    },
  })
  return feedInPieces(parser, text, cuts, { items, lines })
}

describe('finding the items of a JSON array in its bytes', () => {
  it.each([
    ['[]', [], []],
    [' [ ] \n', [], []],
    [
      '[{"a":1},\n{"a":"]}\\"{["}\n,3,null,"x",[1,[2]],-1.5e3]',
      ['{"a":1}', '{"a":"]}\\"{["}', '3', 'null', '"x"', '[1,[2]]', '-1.5e3'],
      [1, 2, 3, 3, 3, 3, 3],
    ],
    ['[\n\n{\n"a":\n1}\n,\n2\n]\n', ['{\n"a":\n1}', '2'], [3, 7]],
  ])('finds those of %j', (text, items, lines) => {
    expect(run(text)).toEqual({ items, lines, fault: null })
  })

  it.each([
    ['', 1, 'a list in [ ] is expected, but the file is empty'],
    ['{"a":1}', 1, 'a list in [ ] is expected; if this object contains it, set rows to its path, such as rows: events'],
    ['\n\n"x"', 3, 'a list in [ ] is expected'],
    ['[1,\n]', 2, 'expected an item after the comma, found ]'],
    ['[,1]', 1, 'expected an item, found ,'],
    ['[1,,1]', 1, 'expected an item, found ,'],
    ['[}', 1, 'expected an item, found }'],
    ['[1\n2]', 2, 'a comma or ] is expected after item 1'],
    ['["a""b"]', 1, 'a comma or ] is expected after item 1'],
    ['[1]\n\nx', 3, 'the file continues after the end of the list'],
    ['[1][2]', 1, 'the file continues after the end of the list'],
    ['[', 1, 'the file ends before the list does: ] is expected'],
    ['[1,\n2', 2, 'the file ends before the list does: ] is expected'],
    ['[1,\n', 2, 'the file ends before the list does: ] is expected'],
    ['[{"a":\n"x\n"}]', 2, 'a text is not closed by a quote on its line'],
  ])('refuses %j in line %d: %s', (text, line, problem) => {
    expect(run(text).fault).toEqual({ line, problem })
  })

  it('finds what JSON.parse finds, wherever the chunks are cut', () => {
    const spaced = fc.tuple(fc.array(fc.json({ noUnicodeString: false })), fc.constantFrom('', ' ', '\n', '\r\n\t'))
    fc.assert(
      fc.property(spaced, fc.array(fc.nat(), { maxLength: 12 }), ([items, space], cuts) => {
        const text = `${space}[${space}${items.join(`${space},${space}`)}${space}]${space}`
        const found = run(text, cuts)
        expect(found.fault).toBeNull()
        const whole: unknown = JSON.parse(text)
        expect(found.items.map((item): unknown => JSON.parse(item))).toEqual(whole as unknown[])
      }),
    )
  })

  it('divides a list with torn items alike wherever the chunks are cut, and finds the whole ones', () => {
    const whole = fc.nat(99).map((id) => `{"id":${id}}`)
    const torn = fc.constantFrom('{"id":', '{"id":1,"a":"x', '{"a":NaN}', '{"a":[1}}', '{"a":"\\"')
    const lists = fc.array(fc.oneof({ weight: 3, arbitrary: whole }, torn), { minLength: 1 })
    fc.assert(
      fc.property(lists, fc.nat(3), fc.array(fc.nat(), { maxLength: 8 }), (rows, margin, cuts) => {
        const text = `[\n${['{"id":0}', ...rows].map((row) => `${' '.repeat(margin)}${row}`).join(',\n')}\n]`
        const once = runTorn(text, [])
        expect(runTorn(text, cuts)).toEqual(once)
        expect(once.fault).toBeNull()
        const found = once.items.filter((item) => item !== 'torn')
        expect(found).toEqual(['{"id":0}', ...rows.filter((row) => parseCell(row).ok)])
      }),
    )
  })

  it.each(['[{', '[{"a":1', '[\n {', '[ {"a":"', '[{"a":1},', '[{"a":1}, {'])(
    'refuses %s, which ends too early',
    (text) => {
      expect(runTorn(text, []).fault).not.toBeNull()
      expect(runTorn(text, [1, 2]).fault).not.toBeNull()
    },
  )

  it('takes no list for whole that does not end, whatever is torn in it', () => {
    const noise = fc.array(fc.constantFrom('{', '}', '"', '\\', ',', ':', '1', '{"a":1}', 'é', ' ', '\n', '[1'))
    fc.assert(
      fc.property(noise, fc.array(fc.nat(), { maxLength: 6 }), (pieces, cuts) => {
        expect(runTorn(`[${pieces.join('')}`, cuts).fault).not.toBeNull()
      }),
      { numRuns: 2000 },
    )
  })

  it('says the same wherever the chunks are cut, of any text', () => {
    const noise = fc.array(fc.constantFrom('[', ']', '{', '}', '"', '\\', ',', ':', '1', 'a', 'é', ' ', '\n'))
    fc.assert(
      fc.property(noise, fc.array(fc.nat(), { maxLength: 6 }), (pieces, cuts) => {
        const text = `[${pieces.join('')}`
        expect(run(text, cuts)).toEqual(run(text))
      }),
      { numRuns: 1000 },
    )
  })

  it('finds the same items and faults however the bytes are cut, in NDJSON too', () => {
    const noise = fc.array(fc.constantFrom('{}', '[1]', '"a"', '1', ',', ', ', '\n', ']', '"', '{"a":2}'))
    const found = (format: 'json' | 'ndjson', text: string, size: number) => {
      const items: string[] = []
      const onRow: TakeRow = (chunk, from, to, line) => {
        const item = chunk.toString('utf8', from, to)
        items.push(`${line} ${item}`)
        return item.includes('2') ? { line, problem: 'two' } : null
      }
      const parser = new JsonParser({ format, rows: null, onRow })
      const bytes = Buffer.from(text)
      for (let from = 0; from < bytes.length; from += size) {
        const piece = Buffer.from(bytes.subarray(from, from + size))
        const fault = parser.feed(piece)
        if (fault !== null) return { items, fault }
      }
      return { items, fault: parser.finish() }
    }
    fc.assert(
      fc.property(noise, fc.integer({ min: 1, max: 20 }), (pieces, size) => {
        for (const format of ['json', 'ndjson'] as const) {
          const text = `${format === 'json' ? '[' : ''}${pieces.join('')}`
          expect(found(format, text, size)).toEqual(found(format, text, text.length))
        }
      }),
      { numRuns: 1000 },
    )
  })

  it('keeps no more than 256 KB of a larger item, and says where one begins that does not end', () => {
    const sizes: number[] = []
    const onRow: TakeRow = (_, from, to) => {
      sizes.push(to - from)
      return null
    }
    const parser = new JsonParser({ format: 'json', rows: null, onRow })
    const piece = Buffer.alloc(1024 * 1024, '1,')
    const feed = (text: string): void => expect(parser.feed(Buffer.from(text))).toBeNull()
    feed('[\n{"a":[')
    for (let fed = 1; fed <= 20; fed++) expect(parser.feed(piece)).toBeNull()
    feed('1]},\n{},\n{"a":[')
    expect(sizes).toEqual([256 * 1024 + 1 + '1]}'.length, 2])
    expect(parser.feed(piece)).toBeNull()
    const problem = 'item 3, which begins here, does not end; most likely a bracket or a quote is not closed'
    expect(parser.finish()).toEqual({ line: 4, problem })
  })
})

function linesOf(text: string, size = 1000): unknown {
  const found: [string, number][] = []
  const onRow: TakeRow = (chunk, from, to, number) => {
    found.push([chunk.toString('utf8', from, to).trim(), number])
    return null
  }
  const parser = new JsonParser({ format: 'ndjson', rows: null, onRow })
  const bytes = Buffer.from(text)
  for (let from = 0; from < bytes.length; from += size) {
    const piece = Buffer.from(bytes.subarray(from, from + size))
    const fault = parser.feed(piece)
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
    expect(linesOf(text)).toEqual(expected)
  })

  it('finds the same lines wherever the chunks are cut', () => {
    fc.assert(
      fc.property(
        fc.array(fc.constantFrom('{', 'é', '\n', '\r', ' ', 'x')),
        fc.integer({ min: 1, max: 9 }),
        (pieces, size) => {
          const text = pieces.join('')
          expect(linesOf(text, size)).toEqual(linesOf(text))
        },
      ),
    )
  })

  it('keeps no more than 256 KB of a longer line, however long it is', () => {
    const sizes: number[] = []
    const onRow: TakeRow = (_, from, to) => {
      sizes.push(to - from)
      return null
    }
    const parser = new JsonParser({ format: 'ndjson', rows: null, onRow })
    expect(parser.feed(Buffer.from('\n{'))).toBeNull()
    const piece = Buffer.alloc(1024 * 1024, 'x')
    for (let fed = 1; fed <= 20; fed++) expect(parser.feed(piece)).toBeNull()
    expect(parser.feed(Buffer.from('}\n{}\n'))).toBeNull()
    // One byte more than a row may have.
    expect(sizes).toEqual([256 * 1024 + 1, 2])
  })
})
