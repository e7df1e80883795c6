import { describe, expect, it } from 'bun:test'
import fc from 'fast-check'
import { parseGuid } from '../../domain/guid.ts'
import type { Guid } from '../../domain/guid.ts'
import { DigestTable } from './digest-table.ts'

const guidOf = (number: number): Guid =>
  parseGuid(`5f6c2a3e-8d0b-4c57-9e21-${String(number).padStart(12, '0')}`) as Guid

// The lowest byte is the part's, the same for all; few of the next, so that many want the same bucket.
const digest = fc.tuple(fc.nat(2 ** 21 - 1), fc.nat(3)).map(([high, low]) => high * 2 ** 32 + low * 256)

describe('a table of digests', () => {
  it('finds what was stored last of each digest, and nothing else', () => {
    fc.assert(
      fc.property(fc.array(fc.tuple(digest, fc.nat(1000)), { maxLength: 200 }), digest, (stored, other) => {
        const table = new DigestTable()
        const expected = new Map<number, Guid>()
        for (const [of, number] of stored) {
          table.store(of, guidOf(number), 1, 0)
          expected.set(of, guidOf(number))
        }
        for (const [of, id] of expected) expect(table.guid(table.find(of))).toBe(id)
        expect(table.find(other) === -1).toBe(!expected.has(other))
      }),
    )
  })

  it('stays as large as what the last reads met, however much comes and goes', () => {
    const table = new DigestTable()
    for (let read = 1; read <= 100; read++) {
      for (let row = 0; row < 100; row++) table.store((read * 100 + row) * 256, guidOf(row), read, read - 1)
    }
    expect(table.sizeBytes).toBeLessThan(100 * 4 * 2 * 28)
    for (let row = 0; row < 100; row++) expect(table.guid(table.find((100 * 100 + row) * 256))).toBe(guidOf(row))
  })
})
