import { beforeEach, describe, expect, it } from 'bun:test'
import fc from 'fast-check'
import { guidOf } from '../../test/model/records.ts'
import { textOf } from '../domain/body.ts'
import { type Shape, SHAPES } from '../formats/media-types.ts'
import { ReadyBodies } from './ready-bodies.ts'
import { HeldRow } from './held-row.ts'

const MB = 1024 * 1024

function rowsOf(count: number): readonly HeldRow[] {
  return Array.from({ length: count }, (_, number) => new HeldRow(guidOf(number)))
}

/** Keeps a body of 1,000 bytes for each row. */
function fill(ready: ReadyBodies, rows: readonly HeldRow[]): void {
  for (const row of rows) ready.keep(row, 'json', `${row.id}:`.padEnd(1000, '.'))
}

function readable(ready: ReadyBodies, rows: readonly HeldRow[]): number {
  return rows.filter((row) => ready.read(row, 'json') !== null).length
}

describe('ready bodies with a ceiling of 8 MB', () => {
  let ready: ReadyBodies
  beforeEach(() => {
    ready = new ReadyBodies(8 * MB)
  })

  it('are read back unchanged, with any length and script, and the same entity tag', () => {
    const texts = ['', '{"Name":"Gala"}', '音楽 Café', 'x'.repeat(64 * 1024 + 1), 'é'.repeat(MB / 4)]
    const rows = rowsOf(texts.length)
    for (const [at, row] of rows.entries()) {
      const made = ready.keep(row, 'xml', texts[at] ?? '')
      expect([textOf(made.body), ready.read(row, 'xml'), ready.read(row, 'json')]).toEqual([
        texts[at] ?? '',
        made,
        null,
      ])
      expect(ready.read(row, 'xml')?.etag).toBe(made.etag)
    }
  })

  it('give way to newer ones: half of the room at a time, those that were not requested again', () => {
    const rows = rowsOf(20_000)
    const [asked] = rows
    if (asked === undefined) throw new Error('there are rows')
    ready.keep(asked, 'json', 'asked again and again')
    for (const row of rows.slice(1)) {
      fill(ready, [row])
      expect(ready.read(asked, 'json')).not.toBeNull()
    }
    expect(ready.count.bytes).toBeLessThanOrEqual(8 * MB)
    expect(ready.count.bytes).toBeGreaterThan(4 * MB)
    expect(rows.slice(-3000).every(({ bodies }) => bodies !== null)).toBe(true)
    expect(rows.slice(1, 10_000).some(({ bodies }) => bodies !== null)).toBe(false)
  })

  it('count what is held, if a longer body of a row displaces its other ones', () => {
    const [row = new HeldRow(guidOf(1))] = rowsOf(1)
    ready.keep(row, 'json', 'x'.repeat(MB))
    ready.keep(row, 'xml', 'x'.repeat(1.5 * MB))
    ready.keep(row, 'hal-json', 'x'.repeat(1.25 * MB))
    const longer = ready.keep(row, 'json', 'x'.repeat(1.75 * MB))
    expect([ready.read(row, 'xml'), ready.read(row, 'json')]).toEqual([null, longer])
    expect(ready.count.bytes).toBe(longer.sizeBytes)
    ready.forget(row)
    expect(ready.count.bytes).toBe(0)
  })

  it('are not kept if one would take more than a quarter', () => {
    const [row = new HeldRow(guidOf(1))] = rowsOf(1)
    expect(ready.keep(row, 'json', 'x'.repeat(2 * MB + 1)).body).toHaveLength(2 * MB + 1)
    expect([ready.read(row, 'json'), ready.count.bytes]).toEqual([null, 0])
  })

  it('take no more than the ceiling, with pages of lists and after it was lowered', () => {
    const rows = rowsOf(10_000)
    fill(ready, rows)
    ready.makeRoomForPages()
    // A sixteenth for each list, however often the room is requested.
    expect(ready.pagesBytes).toBe(MB / 2)
    ready.makeRoomForPages()
    fill(ready, rows)
    expect(ready.count.bytes).toBeLessThanOrEqual(7 * MB)
    ready.endPages()
    ready.limitTo(1 * MB)
    expect(ready.count.bytes).toBeLessThanOrEqual(1 * MB)
    fill(ready, rows)
    expect(ready.count.bytes).toBeLessThanOrEqual(1 * MB)
    ready.limitTo(64 * MB)
    fill(ready, rows)
    expect(readable(ready, rows)).toBe(10_000)
  })

  it('are forgotten with their record, and all at once', () => {
    const rows = rowsOf(1000)
    fill(ready, rows)
    const [first = new HeldRow(guidOf(0)), ...others] = rows
    ready.forget(first)
    expect([ready.read(first, 'json'), readable(ready, others)]).toEqual([null, 999])
    ready.clear()
    expect([readable(ready, rows), ready.count.bytes]).toEqual([0, 0])
  })

  it('are counted as hits, and as misses when they are made', () => {
    const [row = new HeldRow(guidOf(1))] = rowsOf(1)
    ready.keep(row, 'json', 'small')
    ready.keep(row, 'xml', 'x'.repeat(MB))
    for (const shape of ['json', 'json', 'xml', 'hal-xml'] as const) ready.read(row, shape)
    expect(ready.count).toMatchObject({ limitBytes: 8 * MB, hits: 3, misses: 2 })
  })
})

describe('ready bodies', () => {
  it('never return another body, whatever is kept, changed and limited', () => {
    const shape = fc.constantFrom<Shape>(...SHAPES)
    const step = fc.oneof(
      { weight: 8, arbitrary: fc.tuple(fc.constant('keep'), fc.nat(200), fc.integer({ min: 0, max: 70_000 }), shape) },
      { weight: 2, arbitrary: fc.tuple(fc.constant('forget'), fc.nat(200), fc.constant(0), shape) },
      { weight: 1, arbitrary: fc.tuple(fc.constant('limit'), fc.integer({ min: 2, max: 12 }), fc.constant(0), shape) },
      { weight: 1, arbitrary: fc.tuple(fc.constant('clear'), fc.constant(0), fc.constant(0), shape) },
    )
    fc.assert(
      fc.property(fc.array(step, { size: 'max', maxLength: 600 }), (steps) => {
        const ready = new ReadyBodies(4 * MB)
        const rows = rowsOf(201)
        const written = new Map<string, string>()
        for (const [number, [what, at, size, its]] of steps.entries()) {
          const row = rows[at]
          if (row === undefined) continue
          if (what === 'clear') ready.clear()
          else if (what === 'limit') ready.limitTo(at * MB)
          else if (what === 'forget') {
            ready.forget(row)
            for (const each of SHAPES) written.delete(`${at} ${each}`)
          } else if (ready.read(row, its) === null) {
            const text = written.get(`${at} ${its}`) ?? `${number}.`.padEnd(size, '.')
            written.set(`${at} ${its}`, text)
            expect(textOf(ready.keep(row, its, text).body)).toBe(text)
          }
          const { bytes, limitBytes } = ready.count
          expect(bytes).toBeLessThanOrEqual(limitBytes)
          for (let place = 0; place < rows.length; place += 7) {
            const held = rows[place]?.bodies?.byShape.json
            if (held !== undefined && textOf(held.body) !== written.get(`${place} json`))
              throw new Error(`row ${place} has another body`)
          }
        }
        // What is counted is what the rows hold.
        const held = rows.reduce((sum, { bodies }) => sum + (bodies?.sizeBytes ?? 0), 0)
        expect(held).toBe(ready.count.bytes)
      }),
      { numRuns: 60 },
    )
  })
})
