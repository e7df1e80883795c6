import { describe, expect, it } from 'bun:test'
import fc from 'fast-check'
import { PackedTexts } from './packed-texts.ts'

const text = fc.oneof(fc.string({ unit: 'binary' }), fc.string({ maxLength: 300 }), fc.constant('x'.repeat(70_000)))

describe('PackedTexts', () => {
  it('gives back what was last written to each slot, whatever was written and removed in between', () => {
    const step = fc.tuple(fc.nat(7), fc.option(text, { freq: 4 }))
    fc.assert(
      fc.property(fc.array(step, { maxLength: 80 }), (steps) => {
        const texts = new PackedTexts()
        texts.grow(8)
        const oracle = new Map<number, string>()
        for (const [slot, written] of steps) {
          if (written === null) {
            texts.remove(slot)
            oracle.delete(slot)
            continue
          }
          expect(texts.write(slot, written)).toBe(written !== (oracle.get(slot) ?? ''))
          oracle.set(slot, written)
        }
        for (const [slot, written] of oracle) expect(texts.read(slot)).toBe(written)
      }),
    )
  })

  it('tells whether a write changed anything', () => {
    const texts = new PackedTexts()
    texts.grow(2)
    expect(texts.write(0, 'Ünïcode')).toBe(true)
    expect(texts.write(0, 'Ünïcode')).toBe(false)
    expect(texts.write(0, 'Unicode')).toBe(true)
    expect(texts.write(1, 'Unicode')).toBe(true)
  })

  it('has room for all at once where they are known to come, and only then', () => {
    const sizes = (slots: number): readonly number[] => {
      const texts = new PackedTexts()
      texts.grow(slots)
      const found = new Set<number>()
      for (let slot = 0; slot < Math.min(400, slots); slot++) {
        texts.write(slot, 'x'.repeat(300))
        found.add(texts.sizeBytes - slots * 9)
      }
      return [...found]
    }
    // 400 texts in some steps rather than in one for each third more, and hardly more than they take.
    expect(sizes(400).length).toBeLessThan(9)
    expect(sizes(400).at(-1) ?? 0).toBeLessThan(400 * 300 * 1.5)
    // A single long one among many slots takes no more than four times its length.
    expect(sizes(100_000)[0] ?? 0).toBeLessThan(300 * 4 + 300)
  })

  it('wastes less than it holds, however often a text changes', () => {
    const texts = new PackedTexts()
    texts.grow(1)
    for (let round = 0; round < 10_000; round++) texts.write(0, `${round}`.padStart(200, '.'))
    expect(texts.sizeBytes).toBeLessThan(2000)
    expect(texts.read(0)).toBe('9999'.padStart(200, '.'))
  })

  it('keeps the texts of its slots when it grows', () => {
    const texts = new PackedTexts()
    texts.grow(1)
    texts.write(0, 'first')
    texts.grow(3)
    texts.write(2, 'third')
    expect([texts.read(0), texts.read(1), texts.read(2)]).toEqual(['first', '', 'third'])
  })
})
