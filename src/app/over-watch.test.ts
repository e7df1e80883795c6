import { describe, expect, it } from 'bun:test'
import { eventOf, formatter, guidOf } from '../../test/model/records.ts'
import { VirtualTime } from '../../test/model/virtual-time.ts'
import type { DateTime } from '../domain/date-time.ts'
import type { Observation } from '../observe/observation.ts'
import { ListMaker } from '../records/row-records.ts'
import { OverWatch } from './over-watch.ts'

const HOUR_MS = 3_600_000

/** A watched list of events, and the number of rows that searches looked at. */
function scene() {
  const time = new VirtualTime(1)
  const { events } = new ListMaker(formatter).make()
  const looked = { rows: 0 }
  const rows = events.rows.bind(events)
  events.rows = function* lookedAt() {
    for (const row of rows()) {
      looked.rows++
      yield row
    }
  }
  const observed: Observation[] = []
  const served = { events: { list: events, isLoaded: true } } as never
  const watch = new OverWatch(
    () => served,
    (seen) => void observed.push(seen),
    time,
    () => Promise.resolve(),
  )
  watch.start()
  const isoAt = (hours: number): string => new Date(time.peek().wallMs + hours * HOUR_MS).toISOString()
  /** Serves an event that ends so many hours from now. */
  const serve = (number: number, endsInHours: number): void => {
    const id = guidOf(number)
    const times = { Start: dateTime(isoAt(endsInHours - 2)), Finish: dateTime(isoAt(endsInHours)) }
    events.serve(events.find(id) ?? events.insert(id), eventOf(id, times))
  }
  const remove = (number: number): void => {
    const row = events.find(guidOf(number))
    if (row !== null) events.remove(row)
  }
  return { time, events, watch, observed, looked, isoAt, serve, remove }
}

function dateTime(iso: string): DateTime {
  return iso.replace(/\.\d+Z$/, '+00:00') as DateTime
}

describe('OverWatch', () => {
  it('says once that all events are over and when the last one ended, until one is not', async () => {
    const { time, watch, observed, serve, isoAt } = scene()
    await time.pass(2000)
    expect([watch.overSinceMs, observed]).toEqual([null, []])
    serve(1, -48)
    serve(2, -24)
    const since = `${isoAt(-24).slice(0, 19)}.000Z`
    await time.pass(10_000)
    expect(watch.overSinceMs).toBe(Date.parse(since))
    expect(observed).toEqual([{ kind: 'all-over', count: 2, since }])
    serve(3, 24)
    await time.pass(2000)
    expect(watch.overSinceMs).toBeNull()
  })

  it('notices that the last event ends, or leaves the list', async () => {
    const { time, watch, serve, remove } = scene()
    serve(1, -48)
    serve(2, 1)
    serve(3, 5)
    await time.pass(2 * HOUR_MS)
    expect(watch.overSinceMs).toBeNull()
    remove(3)
    await time.pass(2000)
    expect(watch.overSinceMs).not.toBeNull()
    remove(1)
    remove(2)
    await time.pass(2000)
    expect(watch.overSinceMs).toBeNull()
  })

  it('follows a clock that is set forwards and back again, without looking at the rows again', async () => {
    const { time, watch, looked, serve } = scene()
    serve(1, 24)
    await time.pass(2000)
    time.setWallClock(24 * 365 * HOUR_MS)
    await time.pass(2000)
    expect(watch.overSinceMs).not.toBeNull()
    const { rows } = looked
    time.setWallClock(-24 * 365 * HOUR_MS)
    await time.pass(2000)
    expect(watch.overSinceMs).toBeNull()
    expect(looked.rows).toBe(rows)
  })

  it('looks at no row while nothing changes, and at few if one of many events is not over yet', async () => {
    const { time, watch, looked, serve } = scene()
    for (let number = 1; number <= 1000; number++) serve(number, number <= 500 ? -24 : 24)
    await time.pass(60_000)
    expect(looked.rows).toBeLessThan(100)
    for (let number = 501; number <= 1000; number++) serve(number, -24)
    await time.pass(2000)
    expect(watch.overSinceMs).not.toBeNull()
    const { rows } = looked
    await time.pass(HOUR_MS)
    expect(looked.rows).toBe(rows)
  })
})
