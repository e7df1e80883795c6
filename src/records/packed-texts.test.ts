import { describe, expect, it } from 'bun:test'
import { Buffer } from 'node:buffer'
import fc from 'fast-check'
import { PackedTexts } from './packed-texts.ts'

const text = fc.oneof(fc.string({ unit: 'binary' }), fc.string({ maxLength: 300 }), fc.constant('x'.repeat(70_000)))

describe('PackedTexts', () => {
  it('returns the last text of each slot, for any order of writes and removals', () => {
    const step = fc.tuple(fc.nat(7), fc.option(text, { freq: 4 }), fc.boolean())
    fc.assert(
      fc.property(fc.array(step, { maxLength: 80 }), (steps) => {
        const texts = new PackedTexts()
        texts.resize(8)
        const oracle = new Map<number, string>()
        for (const [slot, written, asBytes] of steps) {
          if (written === null) {
            texts.remove(slot)
            oracle.delete(slot)
            continue
          }
          if (asBytes) {
            texts.remove(slot)
            texts.writeBytes(slot, Buffer.from(written))
            oracle.set(slot, Buffer.from(written).toString())
            continue
          }
          expect(texts.write(slot, written)).toBe(written !== (oracle.get(slot) ?? ''))
          oracle.set(slot, written)
        }
        for (const [slot, written] of oracle) expect(texts.read(slot)).toBe(written)
      }),
    )
  })

  it('reports whether a write changed the text', () => {
    const texts = new PackedTexts()
    texts.resize(2)
    expect(texts.write(0, 'Ünïcode')).toBe(true)
    expect(texts.write(0, 'Ünïcode')).toBe(false)
    expect(texts.write(0, 'Unicode')).toBe(true)
    expect(texts.write(1, 'Unicode')).toBe(true)
  })

  it('allocates room for all texts at once if the slots exist already, and only then', () => {
    const sizes = (slots: number): readonly number[] => {
      const texts = new PackedTexts()
      texts.resize(slots)
      const found = new Set<number>()
      for (let slot = 0; slot < Math.min(400, slots); slot++) {
        texts.write(slot, 'x'.repeat(300))
        found.add(texts.sizeBytes - slots * 9)
      }
      return [...found]
    }
    // The buffer grows in a few large steps, and ends little larger than the 400 texts.
    expect(sizes(400).length).toBeLessThan(9)
    expect(sizes(400).at(-1) ?? 0).toBeLessThan(400 * 300 * 1.5)
    // One long text among many slots takes at most four times its length.
    expect(sizes(100_000)[0] ?? 0).toBeLessThan(300 * 4 + 300)
  })

  it('wastes less than half, however often a text changes', () => {
    const texts = new PackedTexts()
    texts.resize(1)
    for (let round = 0; round < 10_000; round++) texts.write(0, `${round}`.padStart(200, '.'))
    expect(texts.sizeBytes).toBeLessThan(2000)
    expect(texts.read(0)).toBe('9999'.padStart(200, '.'))
  })

  it('keeps the texts of its slots when it grows', () => {
    const texts = new PackedTexts()
    texts.resize(1)
    texts.write(0, 'first')
    texts.resize(3)
    texts.write(2, 'third')
    expect([texts.read(0), texts.read(1), texts.read(2)]).toEqual(['first', '', 'third'])
  })
})
