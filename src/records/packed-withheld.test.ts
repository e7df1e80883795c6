import { type Expected, FAULTS } from '../domain/withheld.ts'
import { describe, expect, it } from 'bun:test'
import fc from 'fast-check'
import { guidOf } from '../../test/model/records.ts'
import { PackedRows, packWithheld, unpackWithheld } from './packed-withheld.ts'

const text = fc.oneof(
  fc.string({ unit: 'binary' }),
  fc.constantFrom('\u0000', '\ud800', '"', 'é'.repeat(70_000), '0', guidOf(1)),
)
const expected = fc.constantFrom<Expected>(
  { kind: 'text' },
  { kind: 'one-of', values: ['"', '0', '\u0000'] },
  { kind: 'guid', mayBeBlank: true },
)
const fault = {
  fault: fc.constantFrom(...FAULTS),
  column: fc.option(text),
  expected: fc.option(expected),
  found: fc.option(text),
}
const withheld = fc.record(
  { ...fault, where: text, name: text, also: fc.array(fc.record(fault), { minLength: 1, maxLength: 3 }) },
  { requiredKeys: ['fault', 'column', 'expected', 'found', 'where'] },
)
const row = fc.record({ id: fc.option(fc.nat(50).map(guidOf)), withheld })

describe('packed withheld rows', () => {
  it('are read back unchanged and in order, whatever they contain', () => {
    fc.assert(
      fc.property(fc.array(row), (rows) => {
        const packed = new PackedRows()
        for (const { id, withheld: why } of rows) {
          expect(unpackWithheld(packWithheld(why))).toEqual(why)
          packed.add(id, why)
        }
        expect([...packed]).toEqual(rows)
        expect(packed.length).toBe(rows.length)
        const counts = [...packed.faults]
        expect(counts.reduce((sum, { first }) => sum + first, 0)).toBe(rows.length)
        for (const { fault: why, column, count } of counts) {
          const faults = rows.flatMap((one) => [one.withheld, ...(one.withheld.also ?? [])])
          expect(count).toBe(faults.filter((one) => one.fault === why && one.column === column).length)
        }
        for (const { id, withheld: why } of rows) {
          for (const sought of [id, why.found]) {
            if (sought === null || sought === '') continue
            const found = [...packed.holding(sought)].flatMap((chunk) => [...chunk])
            for (const one of rows) {
              if (one.id === sought || one.withheld.found === sought) expect(found).toContainEqual(one)
            }
          }
        }
      }),
      { numRuns: 300 },
    )
  })

  it('count the bytes they take, which are few if the rows are similar', () => {
    const packed = new PackedRows()
    const expectedId: Expected = { kind: 'guid', mayBeBlank: false }
    for (let index = 0; index < 100_000; index++) {
      packed.add(null, { fault: 'no-id', column: 'Id', where: `item ${index}`, expected: expectedId, found: 'nothing' })
    }
    expect(packed.sizeBytes).toBeGreaterThan(100_000 * 30)
    expect(packed.sizeBytes).toBeLessThan(100_000 * 60)
  })
})
