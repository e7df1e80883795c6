import { describe, expect, it } from 'bun:test'
import { MemoryStore } from '../../test/support/memory-store.ts'
import { systemWire } from '../../test/support/system-wire.ts'
import { systemTime } from '../time/time.ts'
import { Session } from './store.ts'
import { UnusableLog } from './unusable-log.ts'

const SILENCE_MS = 10_000

describe('a log of which the last entry did not arrive before the silence was over', () => {
  it.each([
    [true, 'changed'],
    [false, 'abandoned'],
  ] as const)('is asked for it once more: it arrives (%p), so the log is %s', async (arrivesLater, fate) => {
    const connect = () => new MemoryStore().connect(systemWire)
    const { signal } = new AbortController()
    const session = await Session.open({ connect }, systemTime, 1000, signal)
    let nowMs = 0
    const time = { ...systemTime, now: () => ({ monotonicMs: nowMs, wallMs: nowMs }) }
    const asked: boolean[] = []
    const arrives = async () => {
      asked.push(nowMs >= SILENCE_MS && arrivesLater)
      return asked.at(-1) === true
    }
    const log = new UnusableLog(
      time,
      () => SILENCE_MS,
      arrives,
      () => {},
    )
    log.found('an entry could not be read', () => Promise.resolve(false), true)
    for (let at = 0; at < 5; at++) expect(await log.look(session, 1, true, signal)).toBe('waits')
    expect(asked).toEqual([false])
    nowMs = SILENCE_MS
    expect(await log.look(session, 1, true, signal)).toBe('waits')
    expect(await log.look(session, 1, true, signal)).toBe(fate)
    expect(asked).toEqual([false, arrivesLater])
  })
})
