import { describe, expect, it } from 'bun:test'
import fc from 'fast-check'
import { contentTypeOf, MEDIA_TYPES } from '../formats/media-types.ts'
import { readEnded } from '../../test/support/read-ended.ts'
import { ReadMeter, RequestMeter, typeLabel } from './telemetry.ts'
import { ROUTES } from './observation.ts'

describe('the request meter', () => {
  it('counts by route, status and media type', () => {
    const meter = new RequestMeter()
    meter.count('/api/events/{id}', 200, 'application/json; charset=utf-8', 0.02)
    meter.count('/api/events/{id}', 200, 'application/json; charset=utf-8', 0.02)
    meter.count('other', 404, 'application/problem+json', 3)
    meter.count('/api/venues/{id}', 204, undefined, 0)
    expect([...meter.counts()].filter(({ count }) => count > 0)).toEqual([
      { route: '/api/events/{id}', status: 200, type: 'application/json', count: 2 },
      { route: '/api/venues/{id}', status: 204, type: 'none', count: 1 },
      { route: 'other', status: 404, type: 'application/problem+json', count: 1 },
    ])
  })

  it('reports the failures of each route from the start, because an alert on a rise needs the 0 before it', () => {
    const statuses = [...new RequestMeter().counts()].map(({ route, status, count }) => [route, status, count])
    expect(statuses).toHaveLength(ROUTES.length * 2 * 2)
    expect(statuses).toContainEqual(['/api/venues/{id}', 502, 0])
  })

  it('puts a duration into the first bucket whose limit it does not exceed, as Prometheus reads `le`', () => {
    const meter = new RequestMeter()
    const { bounds, counts } = meter.durations
    for (const bound of bounds) meter.count('other', 404, undefined, bound * 1000)
    expect([...counts]).toEqual([...bounds.map(() => 1), 0])
    meter.count('other', 404, undefined, 1e9)
    expect(counts.at(-1)).toBe(1)
  })

  it('never grows and loses no request, for any input', () => {
    const request = fc.record({
      route: fc.constantFrom(...ROUTES),
      status: fc.integer({ min: 0, max: 999 }),
      type: fc.option(fc.string(), { nil: undefined }),
      ms: fc.double({ min: 0, max: 1e7, noNaN: true }),
    })
    fc.assert(
      fc.property(fc.array(request), (requests) => {
        const meter = new RequestMeter()
        for (const { route, status, type, ms } of requests) meter.count(route, status, type, ms)
        const counted = [...meter.counts()].reduce((sum, { count }) => sum + count, 0)
        expect(counted).toBe(requests.length)
        expect(meter.durations.counts.reduce((sum, count) => sum + count, 0)).toBe(requests.length)
      }),
    )
  })

  it('labels an answer by its media type alone', () => {
    const types = ['text/xml; charset=utf-8', 'application/problem+xml', undefined, 'x/y'].map(typeLabel)
    expect(types).toEqual(['text/xml', 'application/problem+xml', 'none', 'none'])
  })
})

it('measures reads and the delays of changes in seconds', () => {
  const meter = new ReadMeter(['events', 'venues'])
  meter.note(readEnded({ durationMs: 12.4 }))
  meter.note({ kind: 'changes-published', delaysMs: [250, 1500] })
  expect(meter.lists.get('events')?.durations.sum).toBeCloseTo(0.0124, 9)
  expect(meter.publishDelay.sum).toBeCloseTo(1.75, 9)
})

it('counts every offered type by its name', () => {
  expect(MEDIA_TYPES.map((type) => typeLabel(contentTypeOf[type]))).toEqual([...MEDIA_TYPES])
})
