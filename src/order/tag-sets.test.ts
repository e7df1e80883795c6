import { describe, expect, it } from 'bun:test'
import fc from 'fast-check'
import { slowness } from '../../test/support/machine-speed.ts'
import { unpackTags } from '../records/packing.ts'
import { TagSets } from './tag-sets.ts'

const SLOWNESS = await slowness()
const pack = (tags: readonly string[]): string => [tags.length, ...tags].join('\u0000')

describe('sets of tags', () => {
  it('are counted by tag, however rows came and went, in the most frequent spelling', () => {
    const tag = fc.constantFrom('Folk', 'FOLK', 'folk', 'Talk', 'Café', 'CAFÉ', 'Straße', 'STRASSE', '')
    const step = fc.tuple(fc.boolean(), fc.array(tag, { maxLength: 4 }))
    fc.assert(
      fc.property(fc.array(step, { maxLength: 60 }), fc.integer({ min: 1, max: 6 }), (steps, most) => {
        const sets = new TagSets(unpackTags)
        const held: { readonly set: number; readonly tags: readonly string[] }[] = []
        for (const [comes, tags] of steps) {
          const gone = comes ? undefined : held.shift()
          if (gone === undefined) held.push({ set: sets.hold(pack(tags)), tags })
          else sets.release(gone.set)
        }
        const rows = new Uint32Array(sets.count)
        for (const { set } of held) rows[set] = (rows[set] ?? 0) + 1
        const fold = (text: string): string => text.toUpperCase().toLowerCase()
        const counted = [...new Set(held.flatMap(({ tags }) => tags.map(fold)))].filter((word) => word !== '')
        const spelt = (word: string): string => {
          const all = held.flatMap(({ tags }) => [...new Set(tags)].filter((each) => fold(each) === word))
          const times = (text: string): number => all.filter((each) => each === text).length
          return all.toSorted((a, b) => times(b) - times(a) || (a < b ? -1 : 1))[0] ?? ''
        }
        const expected = counted
          .map((word) => ({
            tag: spelt(word),
            count: held.filter(({ tags }) => tags.some((each) => fold(each) === word)).length,
          }))
          .toSorted((a, b) => b.count - a.count || (a.tag < b.tag ? -1 : 1))
        expect(sets.tally(rows, most)).toEqual(expected.slice(0, most))
      }),
    )
  })

  it.each([
    ['all at once', undefined],
    ['as they are met', 0],
  ])('are found by their tags, %s, while a row has them', (_, mostHolders) => {
    const tag = fc.constantFrom('Folk', 'FOLK', 'Talk', 'Café', 'CAFÉ', 'Free')
    const step = fc.tuple(fc.boolean(), fc.array(tag, { maxLength: 3 }))
    fc.assert(
      fc.property(fc.array(step, { maxLength: 60 }), fc.array(tag, { minLength: 1, maxLength: 2 }), (steps, asked) => {
        const sets = new TagSets(unpackTags, mostHolders)
        const held: { readonly set: number; readonly tags: readonly string[] }[] = []
        for (const [comes, tags] of steps) {
          const gone = comes ? undefined : held.shift()
          if (gone === undefined) held.push({ set: sets.hold(pack(tags)), tags })
          else sets.release(gone.set)
        }
        const wanted = new Set(asked.map((each) => each.toLowerCase()))
        const tagCodes = Uint32Array.from(held.flatMap(({ set }) => [set * 2, set * 2 + 1]))
        const fitsOf = (tags: readonly string[], available: boolean): Uint8Array | null => {
          const found = sets.matching(tags, available)
          found?.settle?.(tagCodes, 0, tagCodes.length)
          return found?.fits ?? null
        }
        const [free, all, withTickets] = [fitsOf(asked, true), fitsOf(asked, false), fitsOf([], true)]
        for (const { set, tags } of held) {
          const fits = tags.some((each) => wanted.has(each.toLowerCase())) ? 1 : 0
          expect([all?.[set * 2] ?? 0, all?.[set * 2 + 1] ?? 0]).toEqual([fits, fits])
          expect([free?.[set * 2] ?? 0, free?.[set * 2 + 1] ?? 0]).toEqual([0, fits])
          expect([withTickets?.[set * 2], withTickets?.[set * 2 + 1]]).toEqual([0, 1])
        }
        if (!held.some(({ tags }) => tags.some((each) => wanted.has(each.toLowerCase())))) expect(all).toBeNull()
      }),
      { numRuns: 1000 },
    )
  })

  it('without the tag cost a query nothing, even if each event has its own set', () => {
    const sets = new TagSets(unpackTags)
    for (let event = 0; event < 100_000; event++) sets.hold(pack([`Artist ${event}`, 'Music']))
    let bestMs = Infinity
    for (let round = 0; round < 30; round++) {
      const begun = performance.now()
      expect(sets.matching(['artist 99999', 'artist 5'], false)?.fits.length).toBe(200_000)
      bestMs = Math.min(bestMs, performance.now() - begun)
    }
    expect(bestMs).toBeLessThan(SLOWNESS)
  })

  it('are not all examined if nearly all have one of hundreds of wanted tags', () => {
    const sets = new TagSets(unpackTags)
    for (let event = 0; event < 20_000; event++) {
      const artists = Array.from({ length: 12 }, (_, at) => `Artist ${(event * (at + 7)) % 500}`)
      sets.hold(pack([...artists, `Only ${event}`]))
    }
    const asked = Array.from({ length: 500 }, (_, number) => `Artist ${number}`)
    let bestMs = Infinity
    for (let round = 0; round < 30; round++) {
      const begun = performance.now()
      expect(sets.matching(asked, false)?.settle).not.toBeNull()
      bestMs = Math.min(bestMs, performance.now() - begun)
    }
    expect(bestMs).toBeLessThan(SLOWNESS)
  })
})
