import { expect, it } from 'bun:test'
import fc from 'fast-check'
import { guidOf } from '../../test/model/records.ts'
import { readPosition, writePosition } from './list-query.ts'

it('a position is read as it was written, before 1970 too, to a tenth of a microsecond', () => {
  const start = fc.record({
    ms: fc.integer({ min: -62_135_596_800_000, max: 253_402_300_799_999 }),
    ticks: fc.integer({ min: 0, max: 9999 }),
  })
  fc.assert(
    fc.property(start, fc.integer({ min: 1, max: 1e9 }), (at, number) => {
      const position = { start: at, id: guidOf(number) }
      expect(readPosition('events', writePosition('events', position))).toEqual(position)
      expect(readPosition('venues', writePosition('events', position))).toBeNull()
    }),
  )
})
