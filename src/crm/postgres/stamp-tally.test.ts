import { describe, expect, it } from 'bun:test'
import type { Snapshot } from './read-session.ts'
import { microsOf } from './stamp.ts'
import { StampTally } from './stamp-tally.ts'

const NOON = '2026-11-21 12:00:00.000000+00'
const HOUR = 3_600_000_000

function snapshot(serverNow: string): Snapshot {
  return { begunAt: { monotonicMs: 0, wallMs: 0 }, sourceLagMs: 0, serverNow, server: 'a #1' }
}

describe('the stamps of a read', () => {
  it('are known as far as the newest of all pages, by the clock of the first', () => {
    const tally = new StampTally()
    tally.add([{ version: microsOf(NOON) - HOUR }, { version: microsOf(NOON) }], snapshot(NOON))
    tally.add([{ version: microsOf(NOON) - 2 * HOUR }], snapshot('2026-11-21 12:30:00.000000+00'))
    expect(tally.positionAfter(null)).toMatchObject({
      server: 'a #1',
      newest: microsOf(NOON),
      seenAt: microsOf(NOON),
    })
  })

  it('leave the server and its clock where there are none', () => {
    const tally = new StampTally()
    tally.add([], snapshot(NOON))
    expect(tally.positionAfter(null)).toEqual({ server: 'a #1', newest: 0, seenAt: microsOf(NOON), from: -Infinity })
  })
})
