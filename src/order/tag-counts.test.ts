import { describe, expect, it } from 'bun:test'
import fc from 'fast-check'
import { foldTag } from '../domain/fold-tag.ts'
import type { TagSet } from '../records/held-row.ts'
import { tally } from './tag-counts.ts'

function setOf(tags: readonly string[]): TagSet {
  const written = [...new Set(tags)]
  return { key: tags.join(), written, words: [...new Set(written.map(foldTag))] }
}

describe('sets of tags', () => {
  it('are counted by tag, in the most frequent spelling', () => {
    const tag = fc.constantFrom('Folk', 'FOLK', 'folk', 'Talk', 'Café', 'CAFÉ', 'Straße', 'STRASSE', '')
    const tagsOfRows = fc.array(fc.array(tag, { maxLength: 4 }), { maxLength: 60 })
    fc.assert(
      fc.property(tagsOfRows, fc.integer({ min: 1, max: 6 }), (all, most) => {
        const sets = new Map<string, TagSet>()
        const rows = new Map<TagSet, number>()
        for (const tags of all) {
          const set = sets.get(tags.join()) ?? setOf(tags)
          sets.set(set.key, set)
          rows.set(set, (rows.get(set) ?? 0) + 1)
        }
        const fold = (text: string): string => text.toUpperCase().toLowerCase()
        const counted = [...new Set(all.flatMap((tags) => tags.map(fold)))].filter((word) => word !== '')
        const spelt = (word: string): string => {
          const texts = all.flatMap((tags) => [...new Set(tags)].filter((each) => fold(each) === word))
          const times = (text: string): number => texts.filter((each) => each === text).length
          return texts.toSorted((a, b) => times(b) - times(a) || (a < b ? -1 : 1))[0] ?? ''
        }
        const expected = counted
          .map((word) => ({
            tag: spelt(word),
            count: all.filter((tags) => tags.some((each) => fold(each) === word)).length,
          }))
          .toSorted((a, b) => b.count - a.count || (a.tag < b.tag ? -1 : 1))
        expect(tally(rows, most)).toEqual(expected.slice(0, most))
      }),
    )
  })
})
