import { describe, expect, it } from 'bun:test'
import fc from 'fast-check'
import Negotiator from 'negotiator'
import { type MediaType, MEDIA_TYPES } from '../formats/media-types.ts'
import { createNegotiator, LONGEST_KEPT, negotiate } from './negotiation.ts'

const JSON_TYPE = 'application/json'
const XML = 'application/xml'
const HAL_JSON = 'application/hal+json'
const HAL_XML = 'application/hal+xml'

type Example = readonly [accept: string | null, answer: MediaType]

const NOTHING_ASKED: readonly Example[] = [
  [null, JSON_TYPE],
  ['', JSON_TYPE],
  [' \t ', JSON_TYPE],
  [',', JSON_TYPE],
  [' , ,\t,', JSON_TYPE],
  ['image/png', JSON_TYPE],
  ['text/html, image/*;q=0.5', JSON_TYPE],
  ['application/json;q=0', JSON_TYPE],
  ['*/*;q=0', JSON_TYPE],
  ['*/*;q=0.000, text/*;q=0.', JSON_TYPE],
]

const ASKED: readonly Example[] = [
  ['application/json', JSON_TYPE],
  ['text/json', 'text/json'],
  ['application/xml', XML],
  ['text/xml', 'text/xml'],
  ['application/hal+json', HAL_JSON],
  ['application/hal+xml', HAL_XML],
  ['APPLICATION/Hal+XML', HAL_XML],
  ['TEXT/*', 'text/json'],
  ['application/*', JSON_TYPE],
  ['*/*', JSON_TYPE],
  ['application/xml;charset=utf-8', XML],
  ['application/hal+json;profile="a,b;c", application/xml;q=0.1', HAL_JSON],
  [',, application/xml ,', XML],
]

const WEIGHED: readonly Example[] = [
  ['application/json;q=0.5, application/xml;q=0.6', XML],
  ['application/xml;q=0.999, text/xml;q=1', 'text/xml'],
  ['application/xml;q=0.001, text/xml;q=0.002', 'text/xml'],
  ['application/hal+json;q=0.1, */*;q=0.9', JSON_TYPE],
  ['*/*, application/json;q=0', 'text/json'],
  ['application/*, application/json;q=0', XML],
  ['*/*, application/*;q=0', 'text/json'],
  ['*/*;q=0, text/xml;q=0.1', 'text/xml'],
  ['text/*;q=0.3, text/xml;q=0.2, */*;q=0.1', 'text/json'],
  ['*/*;q=1, application/json;q=0.1, text/json;q=0.1', XML],
  ['application/xml;Q=0.4, text/xml;Q=0.5', 'text/xml'],
  ['application/json;q=0.5;ext=1, application/xml;q=0.4', JSON_TYPE],
  ['application/xml;q=0.5;ext="q=0", text/xml;q=0.4', XML],
  ['application/xml;q=0.2, application/xml;q=0.8, text/xml;q=0.5', XML],
  ['application/xml;q=0, application/xml;q=0.8, text/xml;q=0.5', XML],
  ['application/xml;v=2;q=0.8, application/xml;q=0.2, text/xml;q=0.5', XML],
  ['text/*;q=0.2, text/*;q=0.8, application/xml;q=0.5', 'text/json'],
  ['application/xml;qq=0.1, application/json;q=0.9', XML],
]

const TIED: readonly Example[] = [
  ['application/xml, application/json', JSON_TYPE],
  ['application/hal+xml, text/xml, application/xml', XML],
  ['application/hal+xml, */*', HAL_XML],
  ['*/*, text/*', 'text/json'],
  ['text/*, application/hal+xml', HAL_XML],
  ['*/*;q=0.5, text/*;q=0.5, application/hal+json;q=0.5', HAL_JSON],
]

const CLIENTS: readonly Example[] = [
  ['text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8', XML],
  ['text/html,application/xhtml+xml,application/xml;q=0.9,image/avif,image/webp,image/png,*/*;q=0.8', XML],
  [
    'text/html,application/xhtml+xml,application/xml;q=0.9,image/avif,image/webp,image/apng,*/*;q=0.8,' +
      'application/signed-exchange;v=b3;q=0.7',
    XML,
  ],
  ['image/avif,image/webp,image/apng,image/svg+xml,image/*,*/*;q=0.8', JSON_TYPE],
  ['text/html, application/xhtml+xml, image/jxr, */*', JSON_TYPE],
  ['text/html, image/gif, image/jpeg, *; q=.2, */*; q=.2', JSON_TYPE],
  ['application/json, text/plain, */*', JSON_TYPE],
  ['application/prs.hal-forms+json;q=1.0, application/hal+json;q=0.9, application/json;q=0.7', HAL_JSON],
  ['application/hal+json, application/json;q=0.9, */*;q=0.1', HAL_JSON],
]

const WELL_FORMED: readonly string[] = [
  'a/b',
  'a/b;',
  'a/b;;',
  'a/b; ;\t; ',
  'a/b ; c=d\t;\te=f',
  'a/b;q=0',
  'a/b;q=0.',
  'a/b;q=0.000',
  'a/b;q=1.',
  'a/b;q=1.000',
  'a/b;q=0.5;',
  'a/b;q=0.5;x=y',
  'a/b;x=""',
  'a/b;x="\\"\\\\,;"',
  'a/b;x="\t \u00e9\\\u00ff"',
  "!#$%&'*+-.^_`|~09aZ/x",
  'a/*',
  'a/**',
  '*a/b',
  '*/*;x=y',
  '',
  ',',
]

const MALFORMED: readonly string[] = [
  'a/b;q=1.0000',
  'a/b;q=0.0000',
  'a/b;q=1.001',
  'a/b;q=.5',
  'a/b;q=2',
  'a/b;q=00',
  'a/b;q=0,5',
  'a/b;q=-0',
  'a/b;q=abc',
  'a/b;q=',
  'a/b;q',
  'a/b;q="0.5"',
  'a/b;q =0.5',
  'a/b;q= 0.5',
  'a/b;q=0.5 x',
  'a/b;q=0.5;q=0.7',
  'a/b;q=0.5;Q=0.5',
  'a/b;q=0.5;x',
  'a/b;x',
  'a/b;x=',
  'a/b;=x',
  'a/b;x=y z',
  'a/b;x=y=z',
  'a/b;x="y"z',
  'a/b;x="y',
  'a/b;x="y\\',
  'a/b;x="y\\"',
  'a/b;x="\u007f"',
  'a/b;x="\\\u0000"',
  'a/b;x="\n"',
  'a/b;x=\u00e9',
  '*',
  '*/json',
  '*/**',
  '**/*x y',
  'a',
  '/',
  'a/',
  '/b',
  'a /b',
  'a/ b',
  'a/b/c',
  'a/b c/d',
  'a\n/b',
  '(a)/b',
  '\u00e9/b',
  ';q=1',
]

describe('negotiate, by example (contract §1.4)', () => {
  it.each([...NOTHING_ASKED])('answers %p with %s, because no type matches', (accept, answer) => {
    expect(negotiate(accept)).toBe(answer)
  })
  it.each([...ASKED])('answers %p with %s, which matches', (accept, answer) => {
    expect(negotiate(accept)).toBe(answer)
  })
  it.each([...WEIGHED])('answers %p with %s, by weight and precedence', (accept, answer) => {
    expect(negotiate(accept)).toBe(answer)
  })
  it.each([...TIED])('answers %p with %s, although the weights are equal', (accept, answer) => {
    expect(negotiate(accept)).toBe(answer)
  })
  it.each([...CLIENTS])('answers %p, as clients send it, with %s', (accept, answer) => {
    expect(negotiate(accept)).toBe(answer)
  })
  it.each([...WELL_FORMED])('accepts %p beside a known type', (member) => {
    expect(negotiate(`text/xml, ${member}`)).toBe('text/xml')
    expect(negotiate(`${member}, text/xml`)).toBe('text/xml')
  })
  it.each([...MALFORMED])('answers application/json to any list that contains %p', (member) => {
    expect(negotiate(`text/xml, ${member}`)).toBe(JSON_TYPE)
    expect(negotiate(`${member}, text/xml`)).toBe(JSON_TYPE)
  })
})

interface Member {
  readonly range: string
  readonly thousandths: number
}

const RANGES = [...MEDIA_TYPES, 'application/*', 'text/*', '*/*', 'image/png', 'text/html', 'application/hal'] as const

const member: fc.Arbitrary<Member> = fc.record({
  range: fc.constantFrom(...RANGES),
  // Few values, to make ties common.
  thousandths: fc.constantFrom(0, 1, 200, 500, 999, 1000),
})
const members = fc.array(member, { maxLength: 8 })

function written({ range, thousandths }: Member): string {
  return `${range};q=${(thousandths / 1000).toFixed(3)}`
}

function listOf(list: readonly Member[]): string {
  return list.map(written).join(', ')
}

/** The rule as the contract words it: sort the allowed types by weight, then specificity, then preference. */
function byTheContract(list: readonly Member[]): MediaType {
  const offers = MEDIA_TYPES.map((mediaType, preference) => {
    const matching = [mediaType, `${mediaType.split('/')[0]}/*`, '*/*']
    const found = list.filter(({ range }) => matching.includes(range))
    const place = Math.min(...found.map(({ range }) => matching.indexOf(range)))
    const weights = found.filter(({ range }) => matching.indexOf(range) === place).map((each) => each.thousandths)
    return { mediaType, preference, place, weight: Math.max(0, ...weights) }
  })
  const allowed = offers.filter(({ weight }) => weight > 0)
  allowed.sort((a, b) => b.weight - a.weight || a.place - b.place || a.preference - b.preference)
  return allowed[0]?.mediaType ?? JSON_TYPE
}

// Fragments of headers, to make random headers often nearly right. No letters that could spell one of the six types.
// oxfmt-ignore
const PIECES = [
  'a/b', '*/*', 'a', '*', '/', ';', ';', ',', '=', 'q=', ';Q=', '0', '1', '0.5', '.', '000', '2',
  'x=', ';x=y', '"', '""', '\\', ' ', '\t', '\n', '\u007f', '\u00e9',
]
const noise = fc.string({ maxLength: 24, unit: fc.constantFrom(...PIECES) })

// RFC 9110 §12.5.1 and §5.6, transcribed. A weight may stand anywhere among the parameters, but only once.
const TOKEN = "[!#$%&'*+.^_`|~0-9A-Za-z-]+"
const QUOTED = String.raw`"(?:[\t \x21\x23-\x5b\x5d-\x7e\x80-\xff]|\\[\t \x21-\x7e\x80-\xff])*"`
const OTHER = `[ \\t]*;[ \\t]*(?:(?!q=)${TOKEN}=(?:${TOKEN}|${QUOTED}))?`
const WEIGHT = String.raw`[ \t]*;[ \t]*q=(?:0(?:\.\d{0,3})?|1(?:\.0{0,3})?)`
const RANGE = String.raw`(?:\*/\*|(?!\*/)${TOKEN}/${TOKEN})`
const MEMBER = `(?:${RANGE}(?:${OTHER})*(?:${WEIGHT}(?:${OTHER})*)?)?`
const GRAMMAR = new RegExp(`^[ \\t]*${MEMBER}(?:[ \\t]*,[ \\t]*${MEMBER})*[ \\t]*$`, 'i')

describe('negotiate, for any header', () => {
  it('answers as the contract words it (contract §1.4)', () => {
    fc.assert(fc.property(members, (list) => expect(negotiate(listOf(list))).toBe(byTheContract(list))))
  })

  it('answers one of the six to any text', () => {
    const text = fc.oneof(fc.string({ unit: 'binary' }), noise)
    fc.assert(fc.property(text, (accept) => expect(MEDIA_TYPES).toContain(negotiate(accept))))
  })

  it('recognizes malformed lists exactly as the grammar of RFC 9110 does', () => {
    fc.assert(
      fc.property(noise, (list) => {
        expect(negotiate(`text/xml,${list}`)).toBe(GRAMMAR.test(list) ? 'text/xml' : JSON_TYPE)
      }),
      { numRuns: 3000 },
    )
  })

  it('ignores the order of the ranges', () => {
    const shuffled = members.chain((list) =>
      fc.tuple(fc.constant(list), fc.shuffledSubarray(list, { minLength: list.length })),
    )
    fc.assert(fc.property(shuffled, ([list, other]) => expect(negotiate(listOf(other))).toBe(negotiate(listOf(list)))))
  })

  it('ignores the case of types and of q', () => {
    const cased = members.chain((list) => fc.tuple(fc.constant(listOf(list)), fc.mixedCase(fc.constant(listOf(list)))))
    fc.assert(fc.property(cased, ([accept, other]) => expect(negotiate(other)).toBe(negotiate(accept))))
  })

  it('ignores parameters, blanks, empty members and ranges of other types', () => {
    const extra = fc.constantFrom(';', ' ; a=b', ';\tqs=1', ';a="q=0, */*;\\""', ';level=1;x=y')
    const between = fc.constantFrom(',', ' ,\t', ',,', ', image/png, ', ',a/b;c="d,e";q=0.7,', ', application/jso, ')
    const decorated = fc.array(fc.tuple(member, extra, between, fc.boolean()), { maxLength: 8 })
    fc.assert(
      fc.property(decorated, (list) => {
        const plain = list.map(([each]) => each)
        const texts = list.map(([each, parameter, comma, first]) => {
          const text = written(each)
          return (first ? text.replace(';', `${parameter};`) : text + parameter) + comma
        })
        expect(negotiate(texts.join(''))).toBe(negotiate(listOf(plain)))
      }),
    )
  })
})

describe('negotiate, beside the negotiator package', () => {
  it('gives the same answer if all weights differ, which rules out ties', () => {
    const distinct = fc.uniqueArray(
      fc.record({ range: fc.constantFrom(...RANGES), thousandths: fc.integer({ min: 0, max: 1000 }) }),
      { maxLength: 10, selector: (each) => each.thousandths },
    )
    const header = distinct.chain((list) => fc.mixedCase(fc.constant(listOf(list))))
    fc.assert(
      fc.property(header, (accept) => {
        const [first] = new Negotiator({ headers: { accept } }).mediaTypes([...MEDIA_TYPES])
        expect(negotiate(accept)).toBe(MEDIA_TYPES.find((mediaType) => mediaType === first) ?? JSON_TYPE)
      }),
      { numRuns: 1000 },
    )
  })
})

describe('negotiate, against hostile headers', () => {
  const hostile: Readonly<Record<string, (length: number) => string>> = {
    'short ranges': (length) => 'a/b,'.repeat(length / 4),
    'ranges of ours': (length) => 'application/hal+xml;q=0.5, '.repeat(length / 27),
    'ranges that nearly match': (length) => 'application/hal+xmk,'.repeat(length / 20),
    semicolons: (length) => `a/b${';'.repeat(length)}`,
    'commas and blanks': (length) => ' ,\t'.repeat(length / 3),
    'blanks before each semicolon': (length) => `a/b${'   ;'.repeat(length / 4)}`,
    parameters: (length) => `a/b${';c=d'.repeat(length / 4)}`,
    'quoted quotes': (length) => `a/b;c="${'\\"'.repeat(length / 2)}"`,
    'an unclosed quote': (length) => `a/b;c="${'x'.repeat(length)}`,
    'many quotes, the last unclosed': (length) => `${'a/b;c="d,e",'.repeat(length / 12)}a/b;c="`,
    'one endless token': (length) => 'a'.repeat(length),
    'a fault at the very end': (length) => `${'*/*;q=0.1,'.repeat(length / 10)}*`,
  }

  it.each(Object.entries(hostile))('reads %s in linear time', (_, write) => {
    const [short, long] = [write(16_384), write(16 * 16_384)]
    // 16 times the length: about 16-fold for one pass, 256-fold if any part is read repeatedly.
    expect(fastest(long) / fastest(short)).toBeLessThan(100)
  })

  function fastest(accept: string): number {
    let least = Infinity
    for (let round = 0; round < 8; round++) {
      const started = process.hrtime.bigint()
      negotiate(accept)
      least = Math.min(least, Number(process.hrtime.bigint() - started))
    }
    return least
  }
})

function counting(ceiling: number): { ask: (accept: string | null) => MediaType; asked: string[] } {
  const asked: string[] = []
  const ask = createNegotiator(ceiling, (accept) => {
    asked.push(accept)
    return negotiate(accept)
  })
  return { ask, asked }
}

describe('createNegotiator', () => {
  it('answers as negotiate does, the first time and every other (contract §1.4)', () => {
    const header = fc.constantFrom(
      null,
      '',
      '*/*',
      'text/xml',
      'TEXT/XML',
      'text/*;q=0.5',
      '*/json',
      'a/b, text/xml',
      'text/xml;a="\u0142"',
    )
    fc.assert(
      fc.property(fc.array(header), fc.integer({ min: 1, max: 6 }), (headers, ceiling) => {
        const ask = createNegotiator(ceiling)
        for (const accept of headers) expect(ask(accept)).toBe(negotiate(accept))
      }),
    )
  })

  it('decides once for a repeated header', () => {
    const { ask, asked } = counting(8)
    for (let time = 0; time < 3; time++) expect(ask('application/hal+xml')).toBe('application/hal+xml')
    expect(asked).toEqual(['application/hal+xml'])
  })

  it('decides anew for a header in use only once in a flood that fills the cache', () => {
    const { ask, asked } = counting(8)
    for (let index = 0; index < 1000; index++) {
      ask('text/xml')
      ask(`a/b;c=${index}`)
    }
    expect(asked.filter((accept) => accept === 'text/xml').length).toBeLessThanOrEqual(1000 / 7 + 1)
  })

  it('never remembers more headers than its ceiling', () => {
    const { ask, asked } = counting(8)
    const flood = Array.from({ length: 100 }, (_, index) => `a/b;c=${index}`)
    for (const accept of flood) ask(accept)
    const before = asked.length
    for (const accept of flood.toReversed()) ask(accept)
    const remembered = flood.length - (asked.length - before)
    expect(remembered).toBeGreaterThanOrEqual(4)
    expect(remembered).toBeLessThanOrEqual(8)
  })

  it('remembers no header longer than its limit', () => {
    const { ask, asked } = counting(8)
    const longest = 'text/xml;a='.padEnd(LONGEST_KEPT, 'b')
    for (let time = 0; time < 2; time++) expect(ask(longest)).toBe('text/xml')
    expect(asked).toHaveLength(1)
    for (let time = 0; time < 2; time++) expect(ask(`${longest}b`)).toBe('text/xml')
    expect(asked).toHaveLength(3)
  })

  it('mistakes no header for one whose characters have the same low bytes', () => {
    const { ask } = counting(8)
    expect(ask('text/xm\u016c')).toBe('application/json')
    expect(ask('text/xml')).toBe('text/xml')
    expect(ask('text/xm\u016c')).toBe('application/json')
  })

  it('keeps no text alive that a header is a slice of', () => {
    const ask = createNegotiator(256)
    const megabyte = 1_000_000
    const before = heldBytes()
    for (let index = 0; index < 50; index++) {
      const request = Buffer.alloc(megabyte, `text/xml;a=${index};b=`).toString('latin1')
      ask(request.slice(0, 300))
    }
    expect(heldBytes() - before).toBeLessThan(10 * megabyte)
    // Used once more, to keep the negotiator itself alive until here.
    expect(ask('text/xml')).toBe('text/xml')
  })

  function heldBytes(): number {
    Bun.gc(true)
    return process.memoryUsage().heapUsed
  }
})
