import { describe, expect, it } from 'bun:test'
import fc from 'fast-check'
import { EMPTY_GUID, parseGuid, parseGuidOrEmpty } from './guid.ts'

const CANONICAL = '5f6c2a3e-8d0b-4c57-9e21-0a4b7d9c1e34'
const DIGITS = CANONICAL.replaceAll('-', '')

/** The white space of .NET's char.IsWhiteSpace (contract §1.1). */
const WHITE_SPACE = [
  ...'\t\n\v\f\r \u0085\u00a0\u1680\u2000\u2001\u2002\u2003\u2004\u2005\u2006\u2007\u2008\u2009\u200a\u2028\u2029\u202f\u205f\u3000',
]

describe('parseGuid (contract §1.1)', () => {
  it.each([
    CANONICAL,
    CANONICAL.toUpperCase(),
    '5F6c2A3e-8d0B-4c57-9E21-0a4b7d9C1e34',
    DIGITS,
    DIGITS.toUpperCase(),
    `{${CANONICAL}}`,
    `(${CANONICAL})`,
    `{${CANONICAL.toUpperCase()}}`,
    ` \t${CANONICAL}\r\n`,
    `\u00a0${DIGITS}\u3000`,
    ` {${CANONICAL}} `,
  ])('reads %j', (text) => expect<string | null>(parseGuid(text)).toBe(CANONICAL))

  it.each([
    '',
    ' ',
    'null',
    'NULL',
    `{${DIGITS}}`,
    `(${DIGITS})`,
    `{${CANONICAL})`,
    `(${CANONICAL}}`,
    `}${CANONICAL}{`,
    `[${CANONICAL}]`,
    `{ ${CANONICAL} }`,
    `{${CANONICAL}`,
    `"${CANONICAL}"`,
    CANONICAL.slice(1),
    `${CANONICAL}0`,
    CANONICAL.replace('a', 'g'),
    CANONICAL.replace('5', '\uff15'),
    CANONICAL.replaceAll('-', '_'),
    `5f6c2a3e8-d0b-4c57-9e21-0a4b7d9c1e34`,
    `{0x5f6c2a3e,0x8d0b,0x4c57,{0x9e,0x21,0x0a,0x4b,0x7d,0x9c,0x1e,0x34}}`,
    `\ufeff${CANONICAL}`,
    `\u200b${CANONICAL}`,
    `\u180e${CANONICAL}`,
    `\u0000${CANONICAL}`,
    ' '.repeat(36),
    '-'.repeat(36),
  ])('refuses %j', (text) => expect(parseGuid(text)).toBeNull())

  it.each([EMPTY_GUID, `{${EMPTY_GUID}}`, `(${EMPTY_GUID})`, '0'.repeat(32), ` ${EMPTY_GUID} `])(
    'refuses the empty GUID as %j, which parseGuidOrEmpty reads',
    (text) => {
      expect(parseGuid(text)).toBeNull()
      expect(parseGuidOrEmpty(text)).toBe(EMPTY_GUID)
    },
  )

  it.each(WHITE_SPACE)('removes surrounding %j, as .NET does', (space) => {
    expect<string | null>(parseGuid(`${space}${CANONICAL}${space}`)).toBe(CANONICAL)
  })

  it('reads every GUID in every form and any case', () => {
    const form = fc.constantFrom(
      (id: string) => id,
      (id: string) => `{${id}}`,
      (id: string) => `(${id})`,
      (id: string) => id.replaceAll('-', ''),
    )
    const space = fc.string({ unit: fc.constantFrom(...WHITE_SPACE), maxLength: 3 })
    fc.assert(
      fc.property(
        fc.uuid({ version: [1, 2, 3, 4, 5, 6, 7, 8] }),
        form,
        space,
        fc.infiniteStream(fc.boolean()),
        (id, wrap, pad, upper) => {
          const cased = [...wrap(id)].map((character) => (upper.next().value ? character.toUpperCase() : character))
          expect<string | null>(parseGuid(pad + cased.join('') + pad)).toBe(id)
        },
      ),
    )
  })

  it('agrees with an independent regular expression on near misses', () => {
    const nearMiss = fc.string({ unit: fc.constantFrom(...'0aAfFg-{}() '), minLength: 30, maxLength: 40 })
    const broken = fc.tuple(fc.nat(35), fc.constantFrom(...'0aAgG-{} \u0661')).map(([at, character]) => {
      return CANONICAL.slice(0, at) + character + CANONICAL.slice(at + 1)
    })
    fc.assert(
      fc.property(fc.oneof(nearMiss, broken), (text) => {
        const bare = text.trim()
        const hyphenated = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i
        const isGuid =
          hyphenated.test(bare) ||
          /^[0-9a-f]{32}$/i.test(bare) ||
          (/^(\{.*\}|\(.*\))$/.test(bare) && hyphenated.test(bare.slice(1, -1)))
        expect(parseGuidOrEmpty(text) !== null).toBe(isGuid)
      }),
      { numRuns: 1000 },
    )
  })
})
