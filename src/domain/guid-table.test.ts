import { describe, expect, it } from 'bun:test'
import fc from 'fast-check'
import { parseGuid, GuidTable, guidText, hashWords, readGuidWords } from './guid.ts'

describe('readGuidWords and guidText', () => {
  it('read any GUID into four words and write it back', () => {
    fc.assert(
      fc.property(fc.uint8Array({ minLength: 16, maxLength: 16 }), (bytes) => {
        const id = parseGuid(Buffer.from(bytes).toString('hex'))
        if (id === null) return
        const words = new Uint32Array(4)
        readGuidWords(id, words)
        expect(guidText(words, 0)).toBe(id)
        expect([...words]).toEqual([0, 4, 8, 12].map((at) => Buffer.from(bytes).readUInt32BE(at)))
      }),
    )
  })
})

/** Few ids, some of them sequential as in a database: probes collide and slots are reused. */
const idNumber = fc.oneof(fc.integer({ min: 0, max: 60 }), fc.constantFrom(2 ** 31, 2 ** 32 - 1))

/** Rarely more than the slots in use. */
const roomFor = fc.oneof({ weight: 9, arbitrary: fc.constant(0) }, { weight: 1, arbitrary: fc.nat({ max: 100 }) })

describe('GuidTable', () => {
  it('has the same contents as a Map for any order of insertions and removals', () => {
    fc.assert(
      fc.property(fc.array(fc.tuple(fc.boolean(), idNumber, roomFor), { maxLength: 400 }), (steps) => {
        const table = new GuidTable()
        const oracle = new Map<number, number>()
        for (const [adds, number, slots] of steps) {
          table.reserve(slots)
          if (!adds) table.trim()
          const words = wordsOf(number)
          const slot = oracle.get(number)
          expect(table.find(words, hashWords(words, 0))).toBe(slot ?? -1)
          if (adds && slot === undefined) oracle.set(number, table.insert(words, hashWords(words, 0)))
          if (!adds && slot !== undefined) {
            table.remove(slot)
            oracle.delete(number)
          }
        }
        expect(new Set(oracle.values()).size).toBe(oracle.size)
        for (const [number, slot] of oracle) {
          const words = wordsOf(number)
          expect(table.find(words, hashWords(words, 0))).toBe(slot)
          expect(table.guid(slot)).toBe(guidText(words, 0))
        }
      }),
    )
  })

  it('gives back the room after the last slot in use, if that is more than half', () => {
    const table = new GuidTable()
    for (let number = 0; number < 100; number++) table.insert(wordsOf(number), hashWords(wordsOf(number), 0))
    const { sizeBytes } = table
    for (let slot = 10; slot < 100; slot++) table.remove(slot)
    table.remove(3)
    expect([table.trim(), table.slots, table.capacity]).toEqual([true, 10, 10])
    expect(table.sizeBytes).toBeLessThan(sizeBytes / 4)
    expect([table.trim(), table.find(wordsOf(9), hashWords(wordsOf(9), 0))]).toEqual([false, 9])
    expect(table.insert(wordsOf(200), hashWords(wordsOf(200), 0))).toBe(3)
  })

  it('makes room while it is being filled, but not if a slot is free', () => {
    const table = new GuidTable()
    for (let number = 0; number < 6; number++) table.insert(wordsOf(number), hashWords(wordsOf(number), 0))
    table.reserve(500)
    expect(table.capacity).toBe(500)
    for (let number = 0; number < 6; number++)
      expect(table.find(wordsOf(number), hashWords(wordsOf(number), 0))).toBe(number)
    table.remove(3)
    table.reserve(1000)
    expect(table.capacity).toBe(500)
  })

  it('reuses the slots of removed rows', () => {
    const table = new GuidTable()
    for (let round = 0; round < 1000; round++) {
      const words = wordsOf(round)
      table.remove(table.insert(words, hashWords(words, 0)))
    }
    expect(table.slots).toBe(1)
    expect(table.capacity).toBe(4)
  })
})

function wordsOf(number: number): Uint32Array {
  return Uint32Array.of(number, 0, number, 7)
}
