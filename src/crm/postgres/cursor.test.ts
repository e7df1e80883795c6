import { describe, expect, it } from 'bun:test'
import fc from 'fast-check'
import { cursorOf, newestOf, positionAfter, positionOf } from './cursor.ts'

const SECOND = 1_000_000
const NOW = 1_795_000_000 * SECOND
const read = { server: 'a #1', newest: NOW, rows: 1, serverNow: NOW + SECOND }

describe('the position of a list', () => {
  it('goes through a cursor unchanged', () => {
    const numbers = fc.integer({ min: 0, max: 2 ** 52 })
    fc.assert(
      fc.property(fc.string(), numbers, numbers, fc.option(numbers), (server, newest, seenAt, from) => {
        const position = { server, newest, seenAt, from: from ?? -Infinity }
        expect(positionOf(cursorOf(position))).toEqual(position)
      }),
    )
  })

  it('begins with everything where nothing was seen', () => {
    expect(positionAfter(null, { ...read, newest: 0 }).from).toBe(-Infinity)
  })

  it('goes back five seconds behind the newest stamp', () => {
    expect(positionAfter(null, read).from).toBe(NOW - 5 * SECOND)
  })

  it('stays there while nothing changes', () => {
    const first = positionAfter(null, read)
    expect(positionAfter(first, { ...read, newest: 0, rows: 0, serverNow: NOW + 100 * SECOND }).from).toBe(first.from)
  })

  it('moves on with the clock where very many rows would be read again each time', () => {
    const first = positionAfter(null, { ...read, rows: 100_000 })
    const later = positionAfter(first, { ...read, rows: 100_000, serverNow: NOW + 11 * SECOND })
    expect(later.from).toBe(NOW + 5 * SECOND)
    // And never back: the next read finds few rows.
    expect(positionAfter(later, { ...read, newest: 0, rows: 0, serverNow: NOW + 12 * SECOND }).from).toBe(later.from)
  })

  it('never moves back', () => {
    const reads = fc.array(fc.record({ newest: fc.nat(1e9), rows: fc.nat(1000), pause: fc.nat(1e7) }))
    fc.assert(
      fc.property(reads, (all) => {
        let position = positionAfter(null, read)
        let serverNow = NOW
        for (const { newest, rows, pause } of all) {
          serverNow += pause
          const next = positionAfter(position, { server: 'a #1', newest: NOW + newest, rows, serverNow })
          expect(next.from).toBeGreaterThanOrEqual(position.from)
          position = next
        }
      }),
    )
  })

  it('is not carried away by a stamp from the future', () => {
    expect(newestOf(NOW, NOW + 16 * 3600 * SECOND, NOW)).toBe(NOW)
    expect(newestOf(NOW, Infinity, NOW)).toBe(NOW)
    expect(newestOf(NOW, NOW + SECOND, NOW)).toBe(NOW + SECOND)
  })
})
