import { describe, expect, it } from 'bun:test'
import type { Time } from '../time/time.ts'
import { ElectionTimer, electionTimeoutMs, type ElectionView, isTurn } from './election.ts'

const seenBy = (instance: string, candidates = ['a']) => ({ instance, candidates, isNew: false })

describe('a silence (instances: Who reads the CRM)', () => {
  it('is half a refresh or a quarter of the maximum age, and four heartbeats at least', () => {
    expect(electionTimeoutMs({ maxAgeMs: 30_000, refreshEveryMs: 5000 }, 500)).toBe(2500)
    expect(electionTimeoutMs({ maxAgeMs: 4000, refreshEveryMs: 5000 }, 200)).toBe(1000)
    expect(electionTimeoutMs({ maxAgeMs: 1000, refreshEveryMs: 100 }, 50)).toBe(200)
  })

  function silence(): { time: { ms: number }; election: ElectionTimer } {
    const time = { ms: 0 }
    const clock: Time = {
      now: () => ({ monotonicMs: time.ms, wallMs: 0 }),
      after: () => () => {},
      random: () => 0,
    }
    return { time, election: new ElectionTimer(clock, () => ({ maxAgeMs: 30_000, refreshEveryMs: 5000 }), { ms: 500 }) }
  }

  it("is four of the leader's heartbeats where those are longer, and of the longest default before one was heard", () => {
    const clock: Time = { now: () => ({ monotonicMs: 0, wallMs: 0 }), after: () => () => {}, random: () => 0 }
    const one = new ElectionTimer(clock, () => ({ maxAgeMs: 1500, refreshEveryMs: 500 }), { ms: 75 })
    expect(one.lengthMs).toBe(2000)
    one.heartbeats(300)
    expect(one.lengthMs).toBe(1200)
    one.heartbeats(50)
    expect(one.lengthMs).toBe(300)
  })

  it('begins again with whatever is heard, and is not waited for where the leader has said that it goes', () => {
    const { time, election: one } = silence()
    time.ms = 2499
    one.heard()
    time.ms = 4998
    expect(one.isOver(seenBy('a'))).toBeFalse()
    time.ms = 4999
    expect(one.isOver(seenBy('a'))).toBeTrue()
    one.vacant()
    expect(one.isOver(seenBy('a'))).toBeTrue()
    expect(one.isOver(seenBy('b', ['a', 'b']))).toBeFalse()
    one.heard()
    expect(one.isOver(seenBy('a'))).toBeFalse()
  })
})

/** Candidate `a` of two; the log may be silent for 2.5 s. */
const CALM: ElectionView = {
  silentMs: 0,
  isVacant: false,
  timeoutMs: 2500,
  ownHeartbeatMs: 100,
  heartbeatMs: 500,
  candidates: ['a', 'b'],
  instance: 'a',
  isNew: false,
  chance: 0.5,
}

describe('the turn to claim (instances: Who reads the CRM)', () => {
  const cases: readonly (readonly [string, Partial<ElectionView>, number])[] = [
    ['the first candidate, after the silence', {}, 2500],
    ['the second candidate, a heartbeat later', { instance: 'b' }, 3000],
    ['an instance that is no candidate, at random after them', { instance: 'c' }, 2500 + 1000 + 1250],
    ['one that draws 0, right after them', { instance: 'c', chance: 0 }, 2500 + 1000],
    ['anyone if there are no candidates', { candidates: [] }, 2500 + 1250],
    ['the first candidate once the leader leaves, at once', { isVacant: true }, 0],
    ['the second candidate then, a heartbeat later', { isVacant: true, instance: 'b' }, 500],
    ['another instance then, at random', { isVacant: true, instance: 'c' }, 1000 + 1250],
    ['one that has seen nothing, after two to three heartbeats of its own', { isNew: true }, 250],
    ['one that has seen nothing and draws 0', { isNew: true, chance: 0 }, 200],
  ]
  for (const [name, seen, afterMs] of cases) {
    it(`is that of ${name}`, () => {
      if (afterMs > 0) expect(isTurn({ ...CALM, ...seen, silentMs: afterMs - 1 })).toBeFalse()
      expect(isTurn({ ...CALM, ...seen, silentMs: afterMs })).toBeTrue()
    })
  }
})
