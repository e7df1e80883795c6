import { describe, expect, it } from 'bun:test'
import fc from 'fast-check'
import { TextEncoder } from 'node:util'
import { judge } from './judge.ts'
import type { Question } from './questions.ts'
import type { Reply } from './remote-service.ts'

const QUESTION: Question = { method: 'GET', path: '/api/events/x', accept: '*/*', weight: 1 }

function reply(type: string, body: string, more: Partial<Reply> = {}): Reply {
  const headers = { 'content-type': `${type}; charset=utf-8`, etag: '"1"' }
  return { status: 200, problem: null, headers, body: new TextEncoder().encode(body), ...more }
}

function judgementOf(type: string, old: string, fresh: string): readonly string[] {
  const { class: kind, findings } = judge(QUESTION, reply(type, old), reply(type, fresh))
  return [kind, ...findings.map(({ what, at }) => `${what} at ${at}`)]
}

/** A record of any values, as both formats can carry it. */
const text = fc
  .string({ unit: 'grapheme', maxLength: 12 })
  .filter((some) => !/[\u0000-\u001f\u007f-\u009f\ufffe\uffff]/.test(some))
const number = fc
  .tuple(fc.integer({ min: -9999, max: 9999 }), fc.integer({ min: 0, max: 3 }))
  .map(([whole, zeros]) => `${whole}${zeros === 0 ? '' : `.5${'0'.repeat(zeros)}`}`)
const record = fc.record({
  name: fc.option(text),
  price: number,
  tags: fc.array(text, { maxLength: 4 }),
  links: fc.uniqueArray(fc.stringMatching(/^[a-z]{1,6}$/), { minLength: 1, maxLength: 4 }),
})

type Sample = typeof record extends fc.Arbitrary<infer Value> ? Value : never

function json({ name, price, tags, links }: Sample): string {
  const linked = links.map((rel) => `{"Rel":"${rel}","Href":"~/x/${rel}","Title":null}`)
  return `{"Name":${JSON.stringify(name)},"Price":${price},"Tags":${JSON.stringify(tags)},"_links":[${linked.join(',')}]}`
}

function escaped(some: string): string {
  return some.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;')
}

function xml({ name, price, tags, links }: Sample): string {
  const named = name === null ? '<Name i:nil="true" />' : `<Name>${escaped(name)}</Name>`
  const linked = links.map((rel) => `<Link rel="${rel}" href="~/x/${rel}"></Link>`).join('')
  const tagged = tags.map((tag) => `<d:string>${escaped(tag)}</d:string>`).join('')
  return `<Event xmlns:i="http://www.w3.org/2001/XMLSchema-instance" xmlns="urn:e"><Links>${linked}</Links>${named}<Price>${price}</Price><Tags xmlns:d="urn:a">${tagged}</Tags></Event>`
}

/** Ways to write the same JSON. */
const JSON_FORMS: readonly (readonly [what: string, rewrite: (body: string) => string])[] = [
  ['white space', (body) => body.replace(/^\{"Name":/, '{ "Name" :\n')],
  ['white space', (body) => `${body}\n`],
  [
    "number's zeros",
    (body) =>
      body.replace(
        /"Price":(-?\d+)(\.\d+)?/,
        (_, whole: string, rest?: string) => `"Price":${whole}${rest === undefined ? '.00' : `${rest}0`}`,
      ),
  ],
  ["number's zeros", (body) => body.replace(/"Price":(-?[\d.]+)/, '"Price":$1e0')],
  ['order of members', (body) => body.replace(/^\{("Name":.*),("Price":[^,]*),/, '{$2,$1,')],
  ['escapes', (body) => body.replace('~/x/', String.raw`~\/x/`)],
]

const XML_FORMS: readonly (readonly [what: string, rewrite: (body: string) => string])[] = [
  ['white space', (body) => body.replace('<Links>', '\n  <Links>')],
  ['white space', (body) => body.replace('</Price>', '</Price >')],
  ['XML declaration', (body) => `<?xml version="1.0" encoding="utf-8"?>${body}`],
  ['order of attributes', (body) => body.replaceAll(/(rel="\w+") (href="[^"]*")/g, '$2 $1')],
  ['namespace prefixes', (body) => body.replaceAll('d:string', 'd2p1:string').replace('xmlns:d=', 'xmlns:d2p1=')],
  ['empty elements', (body) => body.replaceAll('></Link>', ' />')],
  ['comments', (body) => body.replace('<Links>', '<!-- x --><Links>')],
  ['escapes', (body) => body.replace('~/x/', '~&#x2F;x/')],
  [
    "number's zeros",
    (body) =>
      body.replace(
        /<Price>(-?\d+)(\.\d+)?/,
        (_, whole: string, rest?: string) => `<Price>${whole}${rest === undefined ? '.0' : `${rest}0`}`,
      ),
  ],
]

describe('bodies with the same meaning', () => {
  it.each(JSON_FORMS.map(([what, rewrite], index) => [what, index, rewrite] as const))(
    'JSON of any record, written with other %s (%i)',
    (what, _, rewrite) => {
      fc.assert(
        fc.property(record, (sample) => {
          const body = json(sample)
          expect(judgementOf('application/json', rewrite(body), body)).toEqual([
            'sameMeaning',
            expect.stringContaining(`${what} at /`),
          ])
          expect(judgementOf('application/json', body, body)).toEqual(['sameBytes'])
        }),
      )
    },
  )

  it.each(XML_FORMS.map(([what, rewrite], index) => [what, index, rewrite] as const))(
    'XML of any record, written with other %s (%i)',
    (what, _, rewrite) => {
      fc.assert(
        fc.property(record, (sample) => {
          const body = xml(sample)
          expect(judgementOf('text/xml', rewrite(body), body)).toEqual([
            'sameMeaning',
            expect.stringContaining(`${what} at /`),
          ])
          expect(judgementOf('text/xml', body, body)).toEqual(['sameBytes'])
        }),
      )
    },
  )

  it('any harmless rewritings together are never different', () => {
    fc.assert(
      fc.property(record, fc.subarray([...JSON_FORMS]), fc.subarray([...XML_FORMS]), (sample, some, others) => {
        const rewritten = some.reduce((body, [, rewrite]) => rewrite(body), json(sample))
        expect(judgementOf('application/hal+json', rewritten, json(sample))[0]).toBe(
          some.length === 0 ? 'sameBytes' : 'sameMeaning',
        )
        const rewrittenXml = others.reduce((body, [, rewrite]) => rewrite(body), xml(sample))
        expect(judgementOf('application/xml', rewrittenXml, xml(sample))[0]).toBe(
          others.length === 0 ? 'sameBytes' : 'sameMeaning',
        )
      }),
    )
  })
})

describe('bodies with another meaning', () => {
  it('any one value that differs is told once, with its path', () => {
    const changes: readonly (readonly [what: RegExp, change: (sample: Sample) => Sample])[] = [
      [
        /^(?:another text|null here|null in the old service) at \/Name$/,
        (sample) => ({ ...sample, name: sample.name === null ? 'x' : `${sample.name}x` }),
      ],
      [/^another number at \/Price$/, (sample) => ({ ...sample, price: String(Number(sample.price) + 10_000) })],
      [
        /^only here at \/Tags(?:\/(?:string\/)?\d+|\/string)?$/,
        (sample) => ({ ...sample, tags: [...sample.tags, 'one more'] }),
      ],
      [
        /^missing here at \/(?:_links\/\d+|Links\/Link(?:\/\d+)?)$/,
        (sample) => ({ ...sample, links: sample.links.slice(1) }),
      ],
      [
        /^missing here at \/(?:_links\/\d+|Links\/Link(?:\/\d+)?)$/,
        (sample) => ({ ...sample, links: sample.links.slice(0, -1) }),
      ],
    ]
    fc.assert(
      fc.property(record, fc.constantFrom(...changes), (sample, [what, change]) => {
        for (const [type, write] of [
          ['text/json', json],
          ['text/xml', xml],
        ] as const) {
          const [kind, ...found] = judgementOf(type, write(sample), write(change(sample)))
          expect([kind, found.length]).toEqual(['different', 1])
          expect(found[0]).toMatch(what)
        }
      }),
    )
  })

  it.each([
    ['a number that became a text', '{"Price":12.50}', '{"Price":"12.50"}', 'another type at /Price'],
    ['the noise of a float', '{"Price":0.30000000000000004}', '{"Price":0.3}', 'rounded as a float at /Price'],
    [
      'digits beyond a float',
      '{"Price":79228162514264337593543950335}',
      '{"Price":79228162514264337593543950334}',
      'rounded as a float at /Price',
    ],
    [
      'another offset of the same instant',
      '{"Start":"2036-07-12T18:30:00+00:00"}',
      '{"Start":"2036-07-12T19:30:00+01:00"}',
      'another offset at /Start',
    ],
    [
      'the same wall time elsewhere',
      '{"Start":"2036-07-12T19:30:00+02:00"}',
      '{"Start":"2036-07-12T19:30:00+01:00"}',
      'another offset at /Start',
    ],
    [
      'another instant',
      '{"Start":"2036-07-12T19:30:00+01:00"}',
      '{"Start":"2036-07-12T20:30:00+01:00"}',
      'another time at /Start',
    ],
    ['a name with a slash', '{"a/b~":1}', '{"a/b~":2}', 'another number at /a~1b~0'],
    ['another order of a list', '{"Tags":["a","b"]}', '{"Tags":["b","a"]}', 'another text at /Tags/0'],
    ['no JSON at all', '<p>', '{}', 'not JSON at 0 at /'],
    ['a member called __proto__', '{"__proto__":1}', '{}', 'missing here at /__proto__'],
  ])('%s', (_, old, fresh, what) => {
    expect(judgementOf('application/json', old, fresh).slice(0, 2)).toEqual(['different', what])
  })

  it.each([
    [
      'a null that became empty',
      '<E xmlns:i="http://www.w3.org/2001/XMLSchema-instance"><N i:nil="true"/></E>',
      '<E xmlns:i="http://www.w3.org/2001/XMLSchema-instance"><N></N></E>',
      'null in the old service at /N',
    ],
    ['another namespace', '<E xmlns="urn:a"><N>1</N></E>', '<E xmlns="urn:b"><N>1</N></E>', 'another text at /xmlns'],
    ['another root', '<E><N>1</N></E>', '<F><N>1</N></F>', 'another text at /'],
    [
      'another order of elements, which .NET does not read',
      '<E><N>1</N><M>2</M></E>',
      '<E><M>2</M><N>1</N></E>',
      'another order of elements at /',
    ],
    ['another order of equal elements', '<E><T>a</T><T>b</T></E>', '<E><T>b</T><T>a</T></E>', 'another text at /T/0'],
    ['blanks in a text', '<E><N> a</N></E>', '<E><N>a</N></E>', 'another text at /N'],
    ['a text of blanks alone', '<E><N> </N></E>', '<E><N></N></E>', 'another text at /N'],
    ['a name that looks like a number', '<E><Name>1.0</Name></E>', '<E><Name>1.00</Name></E>', 'another text at /Name'],
    ['XML that is not closed', '<E><N>', '<E><N></N></E>', 'not XML at 1:6: unclosed tag: N at /'],
  ])('%s', (_, old, fresh, what) => {
    expect(judgementOf('application/xml', old, fresh).slice(0, 2)).toEqual(['different', what])
  })
})

describe('answers as a whole', () => {
  const body = '{}'
  const good = reply('application/json', body)
  const withType = (type: string): Reply => reply('x', body, { headers: { 'content-type': type, etag: '"1"' } })

  it.each<[string, Reply, Reply, readonly string[]]>([
    [
      'another status',
      reply('application/json', body, { status: 404 }),
      good,
      ['different', 'another status: 404, here 200 at status'],
    ],
    ['a charset in other letters', withType('Application/JSON;charset="UTF-8"'), good, ['sameBytes']],
    [
      'another charset',
      withType('application/json; charset=utf-16'),
      good,
      ['different', 'another charset at Content-Type'],
    ],
    ['no ETag here', good, withType('application/json; charset=utf-8'), ['sameBytes']],
    [
      'no ETag',
      reply('x', body, { headers: { 'content-type': 'application/json; charset=utf-8' } }),
      good,
      ['different', 'missing ETag at ETag'],
    ],
    [
      'an ETag of other bytes',
      reply('x', body, { headers: { 'content-type': 'application/json; charset=utf-8', etag: 'W/"2"' } }),
      good,
      ['sameBytes'],
    ],
    ['a byte order mark', reply('application/json', `\ufeff${body}`), good, ['different', 'byte order mark at /']],
    [
      'bytes that are not UTF-8',
      reply('application/json', '', { body: Uint8Array.of(0x7b, 0xff, 0x7d) }),
      good,
      ['different', 'not UTF-8 at /'],
    ],
    [
      'no answer',
      { status: 0, problem: 'x did not answer', headers: {}, body: new Uint8Array() },
      good,
      ['different', 'no answer of the old service at status'],
    ],
    [
      'an error of the same status, as Marquee writes it',
      reply('application/json', '{"Message":"x"}', { status: 404 }),
      reply('application/problem+json', '{}', { status: 404 }),
      ['intended', 'errors are problem details at Content-Type'],
    ],
  ])('%s', (_, old, fresh, expected) => {
    const { class: kind, findings } = judge(QUESTION, old, fresh)
    expect([kind, ...findings.map(({ what, at }) => `${what} at ${at}`)]).toEqual([...expected])
  })

  it('takes another type for intended only if the old service sent one that q=0 excludes', () => {
    const [old, fresh] = [reply('text/xml', '<E/>'), reply('application/json', '{}')]
    const classOf = (accept: string): string => judge({ ...QUESTION, accept }, old, fresh).class
    expect(classOf('text/xml;q=0, application/json;q=0.5')).toBe('intended')
    expect(classOf('text/*;q=0.0')).toBe('intended')
    expect(classOf('text/*;q=0, text/xml;q=0.1')).toBe('different')
    expect(classOf('text/xml, application/json')).toBe('different')
  })
})
