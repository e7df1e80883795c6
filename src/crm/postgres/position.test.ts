import { describe, expect, it } from 'bun:test'
import fc from 'fast-check'
import { cursorOf, positionOf } from './position.ts'

describe('the position of a list', () => {
  it('goes through a cursor unchanged', () => {
    const stamps = fc.option(fc.integer({ min: -(2 ** 52), max: 2 ** 52 }))
    fc.assert(
      fc.property(fc.string(), stamps, (server, after) => {
        const position = { server, after: after ?? -Infinity }
        expect(positionOf(cursorOf(position))).toEqual(position)
      }),
    )
  })
})
