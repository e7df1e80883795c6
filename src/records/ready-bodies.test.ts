import { beforeEach, describe, expect, it } from 'bun:test'
import fc from 'fast-check'
import { textOf } from '../domain/body.ts'
import { ReadyBodies, ReadyPlaces } from './ready-bodies.ts'

const MB = 1024 * 1024

/** Keeps bodies of 1000 bytes at these places. */
function fill(ready: ReadyBodies, places: ReadyPlaces, from: number, to: number): void {
  for (let place = from; place < to; place++) ready.keep(places, place, `${place}:`.padEnd(1000, '.'))
}

describe('ready bodies with a ceiling of 8 MB', () => {
  let ready: ReadyBodies
  let places: ReadyPlaces
  beforeEach(() => {
    ready = new ReadyBodies(8 * MB)
    places = new ReadyPlaces(ready)
    places.resize(100_000)
  })

  const read = (place: number): string | null => {
    const body = ready.read(places, place)
    return body === null ? null : textOf(body)
  }

  it('are read back unchanged, with any length and script', () => {
    const texts = ['', '{"Name":"Gala"}', '音楽 Café', 'x'.repeat(64 * 1024 + 1), 'é'.repeat(MB / 2)]
    for (const [place, text] of texts.entries()) expect(textOf(ready.keep(places, place, text))).toBe(text)
    for (const [place, text] of texts.entries()) expect(read(place)).toBe(text)
    expect(read(99)).toBeNull()
  })

  it('are overwritten at the ceiling, the oldest first, and never become another body', () => {
    const bodies = 20_000
    fill(ready, places, 0, bodies)
    const kept = Array.from({ length: bodies }, (_, place) => read(place))
    const first = kept.findIndex((text) => text !== null)
    // Eight segments of 1 MB, including the one being written.
    expect(first).toBeGreaterThan(bodies - 8 * 1049)
    expect(first).toBeLessThan(bodies - 7 * 1048)
    for (let place = first; place < bodies; place++) expect(kept[place]).toStartWith(`${place}:`)
    expect(ready.count.bytes).toBe(8 * MB)
  })

  it('are dropped in their order, large or not, and never kept if one would take more than a quarter', () => {
    fill(ready, places, 0, 100)
    for (let place = 100; place < 108; place++) ready.keep(places, place, `${place}`.padEnd(MB, '.'))
    expect([0, 100, 107].map((place) => read(place)?.slice(0, 3) ?? null)).toEqual([null, '100', '107'])
    ready.keep(places, 108, 'x'.repeat(2 * MB + 1))
    expect(read(108)).toBeNull()
    expect(read(100)).not.toBeNull()
    expect(ready.count.bytes).toBe(8 * MB)
  })

  it('are dropped, large ones too, when the ceiling is lowered', () => {
    for (const place of [0, 1]) ready.keep(places, place, `${place}`.padEnd(MB, '.'))
    expect(ready.count.bytes).toBe(2 * MB)
    ready.limitTo(1 * MB)
    expect([read(0), read(1)?.slice(0, 1)]).toEqual([null, '1'])
  })

  it('take no more than the ceiling, small and large ones and pages of lists together', () => {
    fill(ready, places, 0, 10_000)
    ready.keep(places, 10_000, 'x'.repeat(MB))
    expect(ready.count.bytes).toBe(8 * MB)
    ready.makeRoomForPages()
    // A sixteenth for each list, however often the room is requested.
    expect([ready.pagesBytes, ready.count.bytes]).toEqual([MB / 2, 7 * MB])
    ready.makeRoomForPages()
    fill(ready, places, 0, 10_000)
    expect(ready.count.bytes).toBe(7 * MB)
    ready.endPages()
    fill(ready, places, 0, 10_000)
    expect(ready.count.bytes).toBe(8 * MB)
  })

  it('are forgotten with their record', () => {
    ready.keep(places, 4, 'small')
    ready.keep(places, 5, 'x'.repeat(MB))
    places.forget(4, 4)
    expect([read(4), read(5)]).toEqual([null, null])
    expect(ready.count.bytes).toBe(MB)
    ready.keep(places, 5, 'new')
    expect(read(5)).toBe('new')
  })

  it('are counted as hits, and as misses when they are made', () => {
    ready.keep(places, 4, 'small')
    ready.keep(places, 5, 'x'.repeat(MB))
    for (const place of [4, 4, 5, 6]) read(place)
    expect(ready.count).toMatchObject({ limitBytes: 8 * MB, hits: 3, misses: 2 })
  })
})

describe('ready bodies with a ceiling of 64 MB', () => {
  let ready: ReadyBodies
  let places: ReadyPlaces
  beforeEach(() => {
    ready = new ReadyBodies(64 * MB)
    places = new ReadyPlaces(ready)
    places.resize(100_000)
  })

  const readable = (from: number, to: number): number => {
    let count = 0
    for (let place = from; place < to; place++) if (ready.read(places, place) !== null) count++
    return count
  }

  it('take no memory before they are requested', () => {
    expect(ready.count.bytes).toBe(0)
  })

  it('give memory back as the lists shrink, and keep the bodies that are left', () => {
    fill(ready, places, 0, 60_000)
    expect(ready.count.bytes).toBe(58 * MB)
    for (let place = 0; place < 50_000; place += 4) places.forget(place, 4)
    // As much again as the bodies that are left take, and 8 MB.
    expect(ready.count.bytes).toBeLessThan(30 * MB)
    expect(readable(50_000, 60_000)).toBe(10_000)
    places.forget(50_000, 10_000)
    expect(ready.count.bytes).toBeLessThanOrEqual(8 * MB)
  })

  it('of records that change again and again do not fill it up, and take no others with them', () => {
    fill(ready, places, 0, 20_000)
    for (let round = 0; round < 100; round++) {
      places.forget(0, 2000)
      fill(ready, places, 0, 2000)
    }
    expect(ready.count.bytes).toBeLessThan(50 * MB)
    expect(readable(0, 20_000)).toBe(20_000)
  })

  it('are limited at once by a lower ceiling, the newest left, and may grow again with a higher one', () => {
    fill(ready, places, 0, 60_000)
    ready.limitTo(16 * MB)
    expect(ready.count).toMatchObject({ limitBytes: 16 * MB, bytes: 16 * MB })
    expect(readable(50_000, 60_000)).toBe(10_000)
    fill(ready, places, 0, 60_000)
    expect(ready.count.bytes).toBe(16 * MB)
    ready.limitTo(64 * MB)
    fill(ready, places, 0, 60_000)
    expect(ready.count.bytes).toBeGreaterThan(57 * MB)
  })

  it('are shared by both lists, and given up together when other lists are served', () => {
    const others = new ReadyPlaces(ready)
    others.resize(100_000)
    fill(ready, places, 0, 40_000)
    fill(ready, others, 0, 40_000)
    expect(ready.count.bytes).toBe(64 * MB)
    // The oldest are the first list's.
    expect(readable(0, 10_000)).toBe(0)
    expect(ready.read(others, 0)).not.toBeNull()
    ready.keep(others, 0, 'x'.repeat(MB))
    ready.clear()
    expect(ready.count.bytes).toBe(0)
    expect(readable(0, 40_000)).toBe(0)
    // Bodies that were given up are not counted a second time.
    places.forget(0, 40_000)
    others.forget(0, 40_000)
    fill(ready, places, 0, 10_000)
    expect(readable(0, 10_000)).toBe(10_000)
  })
})

describe('ready bodies', () => {
  it('never return another body, whatever is kept, changed and limited', () => {
    const step = fc.oneof(
      { weight: 6, arbitrary: fc.tuple(fc.constant('keep'), fc.nat(400), fc.integer({ min: 0, max: 70_000 })) },
      { weight: 2, arbitrary: fc.tuple(fc.constant('forget'), fc.nat(400), fc.integer({ min: 1, max: 40 })) },
      { weight: 1, arbitrary: fc.tuple(fc.constant('limit'), fc.integer({ min: 2, max: 12 }), fc.constant(0)) },
      { weight: 1, arbitrary: fc.tuple(fc.constant('clear'), fc.constant(0), fc.constant(0)) },
    )
    fc.assert(
      fc.property(fc.array(step, { size: 'max', maxLength: 600 }), (steps) => {
        const ready = new ReadyBodies(4 * MB)
        const places = new ReadyPlaces(ready)
        places.resize(512)
        const written = new Map<number, string>()
        for (const [number, [what, at, size]] of steps.entries()) {
          if (what === 'clear') ready.clear()
          else if (what === 'limit') ready.limitTo(at * MB)
          else if (what === 'forget') {
            places.forget(at, size)
            for (let place = at; place < at + size; place++) written.delete(place)
          } else if (ready.read(places, at) === null) {
            const text = written.get(at) ?? `${number}.`.padEnd(size, '.')
            written.set(at, text)
            expect(textOf(ready.keep(places, at, text))).toBe(text)
          }
          const { bytes, limitBytes } = ready.count
          expect(bytes).toBeLessThanOrEqual(limitBytes)
          for (let place = 0; place < 512; place += 7) {
            const body = ready.read(places, place)
            if (body !== null && textOf(body) !== written.get(place)) throw new Error(`place ${place} has another body`)
          }
        }
      }),
      { numRuns: 60 },
    )
  })
})
