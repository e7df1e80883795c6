import { describe, expect, it } from 'bun:test'
import fc from 'fast-check'
import { UpdatedAtWindow, cursorAt, kinshipOf, microsOf, positionOf, serverOf, timestampText } from './updated-at.ts'

describe('an updatedAt', () => {
  it.each([
    ['0', 0],
    ['1e-06', 1],
    ['1795229897.123456', 1795229897123456],
    ['1795229897.5', 1795229897500000],
    ['-63517089600', -63517089600000000],
    ['Infinity', Infinity],
    ['-Infinity', -Infinity],
    [null, -1],
  ] as const)('%p s is %p µs', (seconds, micros) => {
    expect(microsOf(seconds)).toBe(micros)
  })

  it('keeps its microseconds from 1835 to 2106', () => {
    const micros = fc.integer({ min: -4_260_000_000_000_000, max: 4_290_000_000_000_000 })
    fc.assert(fc.property(micros, (given) => microsOf(String(given / 1_000_000)) === given))
  })

  it.each([
    [0, '1970-01-01 00:00:00.000000+00'],
    [1795229897123456, '2026-11-21 02:58:17.123456+00'],
    [-1, '1969-12-31 23:59:59.999999+00'],
    [Infinity, 'infinity'],
    [-Infinity, '-infinity'],
    [-63517089600000000, '-infinity'],
  ])('of %p µs is %s in a statement', (micros, text) => {
    expect(timestampText(micros)).toBe(text)
  })
})

const SECOND = 1_000_000
const NOW = 1_795_000_000 * SECOND
const FEW = 200

/** Where the next read begins after a read that found these times. */
function nextAfter(read: Iterable<number>, before = -Infinity, now = NOW): number {
  const window = new UpdatedAtWindow(before, now)
  for (const time of read) window.add(time, null)
  return window.next
}

function* times(count: number, timeAt: (index: number) => number): Generator<number, void> {
  for (let index = 0; index < count; index++) yield timeAt(index)
}

describe('the updatedAt window of a read of changes', () => {
  it('has no beginning if no change was seen yet', () => {
    expect(nextAfter([])).toBe(-Infinity)
  })

  it('begins five seconds before the newest change', () => {
    expect(nextAfter([NOW - 60 * SECOND, NOW - 20 * SECOND])).toBe(NOW - 25 * SECOND - 1)
  })

  it('stays where it is while nothing changes', () => {
    const first = nextAfter([NOW])
    expect(nextAfter([], first, NOW + 100 * SECOND)).toBe(first)
  })

  it('reaches back over no more than some hundred rows', () => {
    const spread = times(100_000, (index) => NOW - index)
    expect(nextAfter(spread)).toBe(NOW - FEW)
  })

  it('begins after a time that more rows than that share', () => {
    const time = NOW - 3600 * SECOND
    expect(nextAfter(times(FEW, () => time))).toBe(time - 5 * SECOND - 1)
    expect(nextAfter(times(FEW + 1, () => time))).toBe(time)
    expect(nextAfter(times(1_000_000, () => time))).toBe(time)
    // A few newer ones do not change that.
    expect(nextAfter([...times(1000, () => time), time + 1])).toBe(time)
  })

  it('ends a few seconds ahead of the clock, and later times do not move it', () => {
    const window = new UpdatedAtWindow(NOW - SECOND, NOW)
    expect(window.last).toBe(NOW + 5 * SECOND)
    expect(nextAfter([NOW - 20 * SECOND, NOW + SECOND, NOW + 3600 * SECOND, Infinity])).toBe(NOW - 25 * SECOND - 1)
  })

  it('follows a clock that is set back an hour', () => {
    const before = nextAfter([NOW])
    const back = NOW - 3600 * SECOND
    expect(new UpdatedAtWindow(before, back).after).toBe(back - 5 * SECOND)
    expect(nextAfter([back], before, back)).toBe(back - 5 * SECOND)
  })

  it('repeats as many rows as the limits of rows and seconds allow, and no more, whatever was read', () => {
    const offsetsOf = fc.array(fc.oneof(fc.integer({ min: -20, max: 20 }), fc.integer({ min: -2e7, max: 2e7 })), {
      maxLength: 1500,
      size: 'max',
    })
    fc.assert(
      fc.property(offsetsOf, fc.integer({ min: -1e7, max: 0 }), (offsets, before) => {
        const seen = offsets.map((offset) => NOW + offset)
        const next = nextAfter(seen, NOW + before)
        const past = seen.filter((time) => time <= NOW).toSorted((left, right) => right - left)
        expect(past.filter((time) => time > next).length).toBeLessThanOrEqual(FEW)
        const [newest] = past
        const asFar = newest === undefined ? NOW + before : Math.max(NOW + before, newest - 5 * SECOND - 1)
        const within = past.filter((time) => time > asFar)
        expect(next).toBe(within.length > FEW ? Math.max(asFar, within[FEW] ?? 0) : asFar)
      }),
    )
  })
})

describe('the position of a list', () => {
  it('goes through a cursor unchanged', () => {
    const micros = fc.option(fc.integer({ min: -(2 ** 52), max: 2 ** 52 }))
    fc.assert(
      fc.property(fc.string(), micros, (server, after) => {
        const position = { server, after: after ?? -Infinity }
        expect(positionOf(cursorAt(position))).toEqual(position)
      }),
    )
  })

  it('is valid on its own connection, needs an id scan in a later process or another lane, and is invalid on other connections and servers', () => {
    const at = (process: string, connection: number, lane = 'events', startedAt = '2026-11-22 06:00:00.1+00'): string =>
      serverOf(startedAt, `${process}.${lane}`, connection)
    const server = at('abc', 1)
    expect(kinshipOf(server, at('abc', 1))).toBe('same')
    expect(kinshipOf(server, at('abd', 1))).toBe('earlier')
    expect(kinshipOf(server, at('abd', 3))).toBe('earlier')
    expect(kinshipOf(at('abc', 1, 'audits'), server)).toBe('earlier')
    expect(kinshipOf(at('abc', 1, 'audits'), at('abc', 2))).toBe('earlier')
    expect(kinshipOf(server, at('abc', 2))).toBe('other')
    expect(kinshipOf(server, at('abd', 1, 'events', '2026-11-22 06:00:00.2+00'))).toBe('other')
    expect(kinshipOf('of another release', server)).toBe('other')
    // As releases before 0.1.0 wrote it.
    expect(kinshipOf('2026-11-22 06:00:00.1+00 #abc.1', at('abd', 1))).toBe('earlier')
  })
})
