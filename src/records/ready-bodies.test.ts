import { beforeEach, describe, expect, it } from 'bun:test'
import { textOf } from '../formats/body.ts'
import { ReadyBodies, ReadyPlaces } from './ready-bodies.ts'

const MB = 1024 * 1024

describe('ready bodies with a ceiling of 8 MB', () => {
  let ready: ReadyBodies
  let places: ReadyPlaces
  beforeEach(() => {
    ready = new ReadyBodies(8 * MB)
    places = new ReadyPlaces()
    places.grow(100_000)
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

  it('are overwritten when the ring is full, the oldest first, and never become another body', () => {
    const bodies = 20_000
    for (let place = 0; place < bodies; place++) ready.keep(places, place, `${place}:`.padEnd(1000, '.'))
    const kept = Array.from({ length: bodies }, (_, place) => read(place))
    const first = kept.findIndex((text) => text !== null)
    // Six segments of 1 MB, including the one being written.
    expect(first).toBeGreaterThan(bodies - 6400)
    expect(first).toBeLessThan(bodies - 5200)
    for (let place = first; place < bodies; place++) expect(kept[place]).toStartWith(`${place}:`)
  })

  it('drop the oldest large bodies first, and never keep one larger than their ceiling', () => {
    for (let place = 0; place < 4; place++) ready.keep(places, place, `${place}`.padEnd(MB, '.'))
    expect([0, 1, 2, 3].map((place) => read(place)?.slice(0, 1) ?? null)).toEqual([null, null, '2', '3'])
    ready.keep(places, 4, 'x'.repeat(2 * MB + 1))
    expect(read(4)).toBeNull()
    expect(read(3)).not.toBeNull()
  })

  it('reduce the room for large bodies in favour of pages of lists', () => {
    for (const place of [2, 3]) ready.keep(places, place, `${place}`.padEnd(MB, '.'))
    // Half of 2 MB, however often the room is requested.
    expect([ready.makeRoomForPages(), ready.makeRoomForPages()]).toEqual([MB, MB])
    expect([read(2), read(3)?.slice(0, 1)]).toEqual([null, '3'])
    ready.keep(places, 4, 'x'.repeat(MB))
    expect([read(3), read(4)?.slice(0, 1)]).toEqual([null, 'x'])
    ready.endPages()
    ready.keep(places, 5, 'y'.repeat(MB))
    expect([read(4)?.slice(0, 1), read(5)?.slice(0, 1)]).toEqual(['x', 'y'])
  })

  it('are forgotten with their record', () => {
    ready.keep(places, 4, 'small')
    ready.keep(places, 5, 'x'.repeat(MB))
    places.forget(4, 4)
    expect([read(4), read(5)]).toEqual([null, null])
    ready.keep(places, 5, 'new')
    expect(read(5)).toBe('new')
  })
})
