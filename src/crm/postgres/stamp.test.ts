import { describe, expect, it } from 'bun:test'
import fc from 'fast-check'
import { StampWindow, cursorAt, kinshipOf, microsOf, positionOf, serverOf, stampOf } from './stamp.ts'

describe('the stamp of a change', () => {
  it.each([
    ['1970-01-01 00:00:00+00', 0],
    ['1970-01-01 00:00:00.000001+00', 1],
    ['2026-11-21 02:58:17.5+00', 1795229897500000],
    ['2026-11-21 02:58:17.123456', 1795229897123456],
    ['2026-11-21', 1795219200000000],
    ['infinity', Infinity],
    ['-infinity', -Infinity],
    [null, -1],
    ['soon', -1],
  ] as const)('%p is %p µs', (text, micros) => {
    expect(microsOf(text)).toBe(micros)
  })

  it('is written so that it is read as the same microsecond', () => {
    // The range that a double represents exactly.
    const years1700To2255 = fc.integer({ min: -8_500_000_000_000_000, max: 9_000_000_000_000_000 })
    fc.assert(fc.property(years1700To2255, (micros) => microsOf(stampOf(micros)) === micros))
  })

  it('orders as the moments do', () => {
    expect(microsOf('2026-03-01 00:00:00+00')).toBeGreaterThan(microsOf('2026-02-28 23:59:59.999999+00'))
    expect(microsOf('0044-03-15 12:00:00+00 BC')).toBeLessThan(microsOf('0001-01-01 00:00:00+00'))
  })
})

const SECOND = 1_000_000
const NOW = 1_795_000_000 * SECOND
const FEW = 200

/** Where the next read begins after a read that found these times. */
function nextAfter(stamps: Iterable<number>, before = -Infinity, now = NOW): number {
  const window = new StampWindow(before, now)
  for (const stamp of stamps) window.add(stamp)
  return window.next
}

function* times(count: number, stampAt: (index: number) => number): Generator<number, void> {
  for (let index = 0; index < count; index++) yield stampAt(index)
}

describe('the stamps that a read of changes looks at', () => {
  it('are all, where none was seen before', () => {
    expect(nextAfter([])).toBe(-Infinity)
  })

  it('reach back five seconds behind the newest, that one included', () => {
    expect(nextAfter([NOW - 60 * SECOND, NOW - 20 * SECOND])).toBe(NOW - 25 * SECOND - 1)
  })

  it('stay where they are while nothing changes', () => {
    const first = nextAfter([NOW])
    expect(nextAfter([], first, NOW + 100 * SECOND)).toBe(first)
  })

  it('reach back no further than some hundred rows', () => {
    const spread = times(100_000, (index) => NOW - index)
    expect(nextAfter(spread)).toBe(NOW - FEW)
  })

  it('go on behind one stamp that more rows have', () => {
    const stamp = NOW - 3600 * SECOND
    expect(nextAfter(times(FEW, () => stamp))).toBe(stamp - 5 * SECOND - 1)
    expect(nextAfter(times(FEW + 1, () => stamp))).toBe(stamp)
    expect(nextAfter(times(1_000_000, () => stamp))).toBe(stamp)
    // A few newer ones do not change that.
    expect(nextAfter([...times(1000, () => stamp), stamp + 1])).toBe(stamp)
  })

  it('end a few seconds ahead of the clock, and what lies beyond moves nothing', () => {
    const window = new StampWindow(NOW - SECOND, NOW)
    expect(window.last).toBe(NOW + 5 * SECOND)
    expect(nextAfter([NOW - 20 * SECOND, NOW + SECOND, NOW + 3600 * SECOND, Infinity])).toBe(NOW - 25 * SECOND - 1)
  })

  it('move with a clock that shows an hour for the second time', () => {
    const before = nextAfter([NOW])
    const back = NOW - 3600 * SECOND
    expect(new StampWindow(before, back).after).toBe(back - 5 * SECOND)
    expect(nextAfter([back], before, back)).toBe(back - 5 * SECOND)
  })

  it('are never so many again, nor fewer than the seconds and rows allow, whatever was read', () => {
    const stamps = fc.array(fc.oneof(fc.integer({ min: -20, max: 20 }), fc.integer({ min: -2e7, max: 2e7 })), {
      maxLength: 1500,
      size: 'max',
    })
    fc.assert(
      fc.property(stamps, fc.integer({ min: -1e7, max: 0 }), (offsets, before) => {
        const seen = offsets.map((offset) => NOW + offset)
        const next = nextAfter(seen, NOW + before)
        const past = seen.filter((stamp) => stamp <= NOW).toSorted((left, right) => right - left)
        expect(past.filter((stamp) => stamp > next).length).toBeLessThanOrEqual(FEW)
        const [newest] = past
        const asFar = newest === undefined ? NOW + before : Math.max(NOW + before, newest - 5 * SECOND - 1)
        const within = past.filter((stamp) => stamp > asFar)
        expect(next).toBe(within.length > FEW ? Math.max(asFar, within[FEW] ?? 0) : asFar)
      }),
    )
  })
})

describe('the position of a list', () => {
  it('goes through a cursor unchanged', () => {
    const stamps = fc.option(fc.integer({ min: -(2 ** 52), max: 2 ** 52 }))
    fc.assert(
      fc.property(fc.string(), stamps, (server, after) => {
        const position = { server, after: after ?? -Infinity }
        expect(positionOf(cursorAt(position))).toEqual(position)
      }),
    )
  })

  it('is good on its connection, with a comparison for a later process, and not on another connection or server', () => {
    const server = serverOf('2026-11-22 06:00:00.1+00', 'abc', 1)
    expect(kinshipOf(server, serverOf('2026-11-22 06:00:00.1+00', 'abc', 1))).toBe('same')
    expect(kinshipOf(server, serverOf('2026-11-22 06:00:00.1+00', 'abd', 1))).toBe('earlier')
    expect(kinshipOf(server, serverOf('2026-11-22 06:00:00.1+00', 'abd', 3))).toBe('earlier')
    expect(kinshipOf(server, serverOf('2026-11-22 06:00:00.1+00', 'abc', 2))).toBe('other')
    expect(kinshipOf(server, serverOf('2026-11-22 06:00:00.2+00', 'abd', 1))).toBe('other')
    expect(kinshipOf(serverOf('', 'abc', 1), serverOf('', 'abd', 1))).toBe('other')
    expect(kinshipOf('of another release', server)).toBe('other')
  })
})
