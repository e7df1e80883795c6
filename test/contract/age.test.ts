import { afterAll, beforeAll, describe, expect, it } from 'bun:test'
import type { Answer, Call } from '../../src/http/call.ts'
import type { Moment, Time } from '../../src/time/time.ts'
import { assembledFrom } from './in-process.ts'
import { FilesDirectory } from '../support/files-directory.ts'
import { EVENT, LISTS, NEVER } from './rows.ts'

/** Time that stands still until a test sets it. */
class StoppedTime implements Time {
  ms = 1_000_000
  now(): Moment {
    return { monotonicMs: this.ms, wallMs: this.ms }
  }
  after(): () => void {
    return () => {}
  }
  random(): number {
    return 0
  }
}

describe('Age and the rest of the maximum age (contract §1.3): a maximum age of 7 s, both lists read once, at 0 ms', () => {
  const directory = new FilesDirectory({ freshness: { maxAge: '7s' } }, LISTS)
  const time = new StoppedTime()
  const begun = time.ms
  let ask: (path: string) => Answer | Promise<Answer>
  beforeAll(async () => {
    const { replica, service } = await assembledFrom(directory.configuration, time)
    await Promise.all([replica.events.refresh.attempt(), replica.venues.refresh.attempt()])
    ask = (pathname) => service.answer({ method: 'GET', target: pathname, pathname, header: () => null } satisfies Call)
  })
  afterAll(() => directory.remove())

  const table = [
    [0, '0', 'public, max-age=7', 'max-age=5'],
    [1, '1', 'public, max-age=6', 'max-age=5'],
    [999, '1', 'public, max-age=6', 'max-age=5'],
    [1000, '1', 'public, max-age=6', 'max-age=5'],
    [1001, '2', 'public, max-age=5', 'max-age=5'],
    [2001, '3', 'public, max-age=4', 'max-age=4'],
    [6000, '6', 'public, max-age=1', 'max-age=1'],
    [6001, '7', 'public, max-age=0', 'max-age=0'],
    [7000, '7', 'public, max-age=0', 'max-age=0'],
  ] as const

  for (const [ageMs, age, ofRecord, ofError] of table) {
    it(`at ${ageMs} ms: Age ${age}, ${ofRecord}; a 404 ${ofError}`, () => {
      time.ms = begun + ageMs
      for (const path of [`/api/events/${EVENT}`, `/api/events/${EVENT}/venue`]) {
        // Not a promise: data within the maximum age is answered synchronously.
        expect(ask(path)).toMatchObject({ status: 200, fields: { values: { Age: age, 'Cache-Control': ofRecord } } })
      }
      for (const path of [`/api/events/${NEVER}`, `/api/venues/${NEVER}`]) {
        expect(ask(path)).toMatchObject({ status: 404, fields: { values: { 'Cache-Control': ofError } } })
      }
      // The data is not consulted, so its age does not count.
      for (const path of ['/nothing', '/api/events/null']) {
        expect(ask(path)).toMatchObject({ fields: { values: { 'Cache-Control': 'max-age=5' } } })
      }
    })
  }

  it('at 7001 ms, past the maximum age, every request waits for a read', () => {
    time.ms = begun + 7001
    expect(ask(`/api/events/${EVENT}`)).toBeInstanceOf(Promise)
    expect(ask(`/api/events/${NEVER}`)).toBeInstanceOf(Promise)
  })
})
