import { describe, expect, it } from 'bun:test'
import fc from 'fast-check'
import type { TagSet } from '../records/held-row.ts'
import { TagSets, tally } from './tag-sets.ts'

describe('sets of tags', () => {
  it('are counted by tag, however rows came and went, in the most frequent spelling', () => {
    const tag = fc.constantFrom('Folk', 'FOLK', 'folk', 'Talk', 'Café', 'CAFÉ', 'Straße', 'STRASSE', '')
    const step = fc.tuple(fc.boolean(), fc.array(tag, { maxLength: 4 }))
    fc.assert(
      fc.property(fc.array(step, { maxLength: 60 }), fc.integer({ min: 1, max: 6 }), (steps, most) => {
        const sets = new TagSets()
        const held: { readonly set: TagSet; readonly tags: readonly string[] }[] = []
        for (const [comes, tags] of steps) {
          const gone = comes ? undefined : held.shift()
          if (gone === undefined) held.push({ set: sets.hold(tags), tags })
          else sets.release(gone.set)
        }
        const rows = new Map<TagSet, number>()
        for (const { set } of held) rows.set(set, (rows.get(set) ?? 0) + 1)
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
        expect(tally(rows, most)).toEqual(expected.slice(0, most))
      }),
    )
  })

  it('are one for all rows with the same tags, and are forgotten with the last of these', () => {
    const sets = new TagSets()
    const one = sets.hold(['Folk', 'Talk', 'Folk'])
    expect(sets.hold(['Folk', 'Talk'])).toBe(one)
    expect(one.words).toEqual(['folk', 'talk'])
    sets.release(one)
    expect(sets.sizeBytes).toBeGreaterThan(0)
    sets.release(one)
    expect(sets.sizeBytes).toBe(0)
  })
})
