import { afterAll, beforeAll, describe, expect, it } from 'bun:test'
import type { Answer, Call } from '../../src/http/call.ts'
import type { Moment, Time } from '../../src/time/time.ts'
import { EVENT, LISTS } from '../contract/rows.ts'
import { assembledFrom } from '../contract/in-process.ts'
import { FilesDirectory } from '../support/files-directory.ts'

/** Two clocks, each set by hand. */
class TwoClocks implements Time {
  monotonicMs = 1_000_000
  wallMs: number = Date.parse('2036-07-12T00:00:00Z')
  now(): Moment {
    return { monotonicMs: this.monotonicMs, wallMs: this.wallMs }
  }
  after(): () => void {
    return () => {}
  }
  random(): number {
    return 0
  }
}

const HOUR_MS = 3_600_000

describe('clocks that jump, a 30 s maximum age, both lists read once (architecture: Freshness)', () => {
  const directory = new FilesDirectory({ freshness: { maxAge: '30s' } }, LISTS)
  const time = new TwoClocks()
  let ask: () => Answer | Promise<Answer>
  beforeAll(async () => {
    const { replica, service } = await assembledFrom(directory.configuration, time)
    await Promise.all([replica.events.refresh.attempt(), replica.venues.refresh.attempt()])
    const call: Call = { method: 'GET', target: '', pathname: `/api/events/${EVENT}`, header: () => null }
    ask = () => service.answer(call)
  })
  afterAll(() => directory.remove())

  const at = (monotonicMs: number, wallMs: number): Answer | Promise<Answer> => {
    const before = { monotonicMs: time.monotonicMs, wallMs: time.wallMs }
    time.monotonicMs += monotonicMs
    time.wallMs += wallMs
    const answer = ask()
    Object.assign(time, before)
    return answer
  }

  it('a wall clock that is set back makes nothing younger', () => {
    expect(at(20_000, -HOUR_MS)).toMatchObject({ status: 200, fields: { values: { Age: '20' } } })
    expect(at(30_001, -HOUR_MS)).toBeInstanceOf(Promise)
  })

  it('a machine that slept, its monotonic clock with it: what is held is too old, and is read again', async () => {
    expect(at(10, HOUR_MS)).toBeInstanceOf(Promise)
    time.monotonicMs += 10
    time.wallMs += HOUR_MS
    expect(await ask()).toMatchObject({ status: 200, fields: { values: { Age: '0' } } })
  })

  it('a wall clock that is put forward and back again: one read too many, and no more', async () => {
    time.wallMs += HOUR_MS
    expect(await ask()).toMatchObject({ status: 200 })
    time.wallMs -= HOUR_MS
    expect(ask()).toMatchObject({ status: 200, fields: { values: { Age: '0' } } })
  })
})
