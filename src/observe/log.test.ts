import { describe, expect, it } from 'bun:test'
import { Log } from './log.ts'
import { readEnded } from '../../test/support/read-ended.ts'

const START_MS = Date.UTC(2026, 10, 21)

function aLog(isTerminal: boolean) {
  const lines: string[] = []
  const clock = { ms: START_MS }
  const log = new Log({ out: (line) => void lines.push(line), isTerminal, now: () => clock.ms })
  return { log, lines, clock }
}

const FAILED = readEnded({ outcome: 'unreachable', message: 'the CRM did not answer' })

describe('the log', () => {
  it('holds lines back until the first line of the start-up is out', () => {
    const { log, lines } = aLog(false)
    log.write(readEnded({ changed: 2 }))
    expect(lines).toEqual([])
    log.begin()
    log.write(readEnded({ changed: 3 }))
    expect(lines.map((line) => (JSON.parse(line) as { changed: number }).changed)).toEqual([2, 3])
  })

  it('reports how many lines did not fit before the start-up was out', () => {
    const { log, lines } = aLog(false)
    for (let line = 0; line < 1003; line++) log.write(readEnded({ changed: 1 }))
    log.begin()
    expect([lines.length, JSON.parse(lines.at(-1) ?? '')]).toMatchObject([1001, { event: 'lines-lost', lines: 3 }])
  })

  it('writes JSON lines to a machine: time, level, event, a sentence, and its parts', () => {
    const { log, lines } = aLog(false)
    log.begin()
    log.write(readEnded({ changed: 2 }))
    expect(JSON.parse(lines[0] ?? '')).toEqual({
      time: '2026-11-21T00:00:00.000Z',
      level: 'info',
      event: 'read-ended',
      message: 'events: 4 served, 1 withheld, 2 changed; read 5 rows in 12 ms (full)',
      list: 'events',
      read: 'full',
      outcome: 'ok',
      durationMs: 12,
      rows: 5,
      changed: 2,
      served: 4,
      withheld: 1,
    })
  })

  it('warns of a read that took more than ten rows and left none, as deletions named by the CRM may', () => {
    const { log, lines } = aLog(false)
    log.begin()
    const [none, some] = [
      { served: 0, withheld: 0 },
      { served: 1, withheld: 0 },
    ]
    for (const read of [
      { ...none, changed: 11 },
      { ...none, changed: 10 },
      { ...some, changed: 11 },
    ]) {
      log.write(readEnded(read))
    }
    expect(lines.map((line) => (JSON.parse(line) as { level: string }).level)).toEqual(['warn', 'info', 'info'])
  })

  it('writes sentences to a person', () => {
    const { log, lines } = aLog(true)
    log.begin()
    const faults = [{ column: 'Beginn', fault: 'unreadable', count: 5 }] as const
    const until = '2026-11-22T00:00:00.000Z'
    log.write({ kind: 'shrunk', list: 'events', absent: 60, unreadable: 5, records: 100, faults, until })
    expect(lines).toEqual([
      "  2026-11-21T00:00:00.000Z  error  60 of 100 events are missing from the CRM's list and 5 of 100 events became unreadable (most: Beginn unreadable (5)). Marquee does not believe this, and serves the old list until 2026-11-22T00:00:00.000Z; then callers get 502. If the CRM is right, run `./marquee accept`",
    ])
  })

  it('promises no old list whose age is unknown', () => {
    const { log, lines } = aLog(true)
    log.begin()
    log.write({ kind: 'shrunk', list: 'events', absent: 60, unreadable: 0, records: 100, faults: [], until: null })
    expect(lines).toEqual([
      "  2026-11-21T00:00:00.000Z  error  60 of 100 events are missing from the CRM's list. Marquee does not believe this, and cannot serve the old list, because its age is unknown after the restart: callers get 502. If the CRM is right, run `./marquee accept`; otherwise correct its list",
    ])
  })

  it('writes no line for a read without changes', () => {
    const { log, lines } = aLog(false)
    log.begin()
    log.write(readEnded({}))
    expect(lines).toEqual([])
  })

  it('escapes control characters in column names', () => {
    for (const isTerminal of [true, false]) {
      const { log, lines } = aLog(isTerminal)
      log.begin()
      log.write({ kind: 'columns-ignored', list: 'events', columns: ['\u001b[2J\u009b31m\n\u202eeman'] })
      expect(lines.join('')).not.toMatch(/[\x00-\x1f\x7f-\x9f\u202e]/)
      expect(lines.join('')).toContain('eman')
    }
  })

  it('cuts long lines, for any number and length of columns', () => {
    const { log, lines } = aLog(false)
    log.begin()
    log.write({ kind: 'columns-ignored', list: 'events', columns: Array(5000).fill('x'.repeat(5000)) })
    expect(lines[0]?.length).toBeLessThan(5000)
    expect(lines[0]).toContain('and 4980 more')
  })

  it('includes the trace id of a request if it has one', () => {
    const { log, lines } = aLog(false)
    log.begin()
    const request = {
      method: 'GET',
      path: '/api/events/x',
      route: '/api/events/{id}',
      status: 400,
      type: 'none',
    } as const
    log.write({ kind: 'request-answered', request: { ...request, durationMs: 0.12345, traceId: 'abc' } })
    log.write({ kind: 'request-answered', request: { ...request, durationMs: 1, traceId: null } })
    expect(lines.map((line) => (JSON.parse(line) as { traceId?: string }).traceId)).toEqual(['abc', undefined])
    expect(lines[0]).toContain('"durationMs":0.123')
  })
})

describe('an outage in the log', () => {
  it('is logged once, then every ten minutes, and its end once', () => {
    const { log, lines, clock } = aLog(true)
    log.begin()
    for (let second = 0; second < 1500; second += 10) {
      clock.ms = START_MS + second * 1000
      log.write(FAILED)
    }
    clock.ms = START_MS + 1_500_000
    log.write(readEnded({}))
    log.write(readEnded({}))
    expect(lines.map((line) => line.slice(2 + 24 + 2))).toEqual([
      'warn   the events could not be read (unreachable): the CRM did not answer',
      'warn   still: the events could not be read (unreachable): the CRM did not answer (61 failed reads in 600 s)',
      'warn   still: the events could not be read (unreachable): the CRM did not answer (121 failed reads in 1200 s)',
      'info   the events are read again, after 150 failed reads in 1500 s',
    ])
  })

  it('has one beginning, one end and one count, for all kinds of failed reads', () => {
    const { log, lines } = aLog(true)
    log.begin()
    for (const kind of ['changes', 'full', 'changes', 'full'] as const) {
      log.write(readEnded({ kind, outcome: 'unreachable', message: 'the CRM did not answer' }))
    }
    for (const kind of ['changes', 'full', 'changes'] as const) log.write(readEnded({ kind }))
    log.write(readEnded({ outcome: 'unreachable', message: 'the CRM did not answer' }))
    log.write(readEnded({}))
    expect(lines.map((line) => line.slice(2 + 24 + 2))).toEqual([
      'warn   the events could not be read (unreachable): the CRM did not answer',
      'info   the events are read again, after 4 failed reads in 0 s',
      'warn   the events could not be read (unreachable): the CRM did not answer',
      'info   the events are read again, after 1 failed read in 0 s',
    ])
  })

  it('is logged once while the CRM asks for pauses, however long each is', () => {
    const { log, lines } = aLog(true)
    log.begin()
    for (const pause of [10, 20, 40, 35])
      log.write(
        readEnded({ outcome: 'throttled', message: `crm.example asks for a pause (503) until 09:00:${pause} UTC` }),
      )
    log.write(FAILED)
    expect(lines.map((line) => line.slice(2 + 24 + 2))).toEqual([
      'warn   the events could not be read (throttled): crm.example asks for a pause (503) until 09:00:10 UTC',
      'warn   the events could not be read (unreachable): the CRM did not answer',
    ])
  })

  it('adds what to do about a mistake to what was found, whatever that ends with', () => {
    const { log, lines } = aLog(true)
    log.begin()
    for (const message of ['there is no table crm.e', 'there is no table crm.e; did you mean crm.v?'])
      log.write(readEnded({ outcome: 'misconfigured', message }))
    const ends = lines.map((line) => /crm\..*?[.?] Marquee tries again/.exec(line)?.[0])
    expect(ends).toEqual(['crm.e. Marquee tries again', 'crm.e; did you mean crm.v? Marquee tries again'])
  })

  it('ends when changes are read again, although full reads in their place failed too; an audit must succeed itself', () => {
    const { log, lines } = aLog(true)
    log.begin()
    const failed = { outcome: 'unreachable', message: 'the CRM did not answer' } as const
    for (const kind of ['changes', 'changes', 'changes', 'full'] as const) log.write(readEnded({ kind, ...failed }))
    log.write(readEnded({ kind: 'changes' }))
    expect(lines.at(-1)?.slice(2 + 24 + 2)).toBe('info   the events are read again, after 4 failed reads in 0 s')
    log.write(readEnded({ ...failed, isAudit: true }))
    const { length } = lines
    log.write(readEnded({ kind: 'changes' }))
    expect(lines).toHaveLength(length)
    log.write(readEnded({ isAudit: true }))
    expect(lines.at(-1)?.slice(2 + 24 + 2)).toBe('info   the events are read again, after 1 failed read in 0 s')
  })

  it('logs once that a file is waited for, which is not a failure', () => {
    const { log, lines } = aLog(true)
    log.begin()
    for (const missing of [3, 2, 1]) {
      const message = `events.csv may be half-written: it lacks ${missing}`
      log.write(readEnded({ outcome: 'waiting', message }))
    }
    log.write(readEnded({ changed: 2 }))
    expect(lines.map((line) => line.slice(2 + 24 + 2))).toEqual([
      'warn   the events stay as they are: events.csv may be half-written: it lacks 3',
      'info   events: 4 served, 1 withheld, 2 changed; read 5 rows in 12 ms (full)',
    ])
  })

  it('is logged again if its cause changes, and separately for each list and kind of read', () => {
    const { log, lines } = aLog(true)
    log.begin()
    log.write(FAILED)
    log.write(readEnded({ outcome: 'refused', message: 'the secret is wrong' }))
    log.write(readEnded({ list: 'venues', outcome: 'unreachable', message: 'the CRM did not answer' }))
    log.write(readEnded({ kind: 'changes', outcome: 'unreachable', message: 'the CRM did not answer' }))
    expect(lines).toHaveLength(4)
  })
})
