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
