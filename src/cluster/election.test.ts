import { describe, expect, it } from 'bun:test'
import type { Time } from '../time/time.ts'
import { claimableAt, ElectionTimer, electionTimeoutMs } from './election.ts'

const at = (epoch: number, number: number, claimId = 'r'): { epoch: number; number: number; claimId: string } => ({
  epoch,
  number,
  claimId,
})

describe('a silence (instances: Who reads the CRM)', () => {
  it('is half a refresh or a quarter of the maximum age, and four heartbeats at least', () => {
    expect(electionTimeoutMs({ maxAgeMs: 30_000, refreshEveryMs: 5000 }, 500)).toBe(2500)
    expect(electionTimeoutMs({ maxAgeMs: 4000, refreshEveryMs: 5000 }, 200)).toBe(1000)
    expect(electionTimeoutMs({ maxAgeMs: 1000, refreshEveryMs: 100 }, 50)).toBe(200)
  })

  function silence(random: number): { time: { ms: number }; election: ElectionTimer } {
    const time = { ms: 0 }
    const clock: Time = {
      now: () => ({ monotonicMs: time.ms, wallMs: 0 }),
      after: () => () => {},
      random: () => random,
    }
    return { time, election: new ElectionTimer(clock, { maxAgeMs: 30_000, refreshEveryMs: 5000 }, { ms: 500 }) }
  }

  it('is over for the candidates first, a heartbeat apart, then for others at random', () => {
    const { time, election: one } = silence(0.5)
    const turns = ['a', 'b', 'c'].map((name) => {
      for (time.ms = 0; !one.isOver(name, ['a', 'b'], true);) time.ms += 50
      return time.ms
    })
    expect(turns).toEqual([2500, 3000, 2500 + 1000 + 1250])
  })

  it("is four of the leader's heartbeats where those are longer, and of the longest default before one was heard", () => {
    const clock: Time = { now: () => ({ monotonicMs: 0, wallMs: 0 }), after: () => () => {}, random: () => 0 }
    const one = new ElectionTimer(clock, { maxAgeMs: 1500, refreshEveryMs: 500 }, { ms: 75 })
    expect(one.lengthMs).toBe(2000)
    one.heartbeats(300)
    expect(one.lengthMs).toBe(1200)
    one.heartbeats(50)
    expect(one.lengthMs).toBe(300)
    one.heartbeats(null)
    expect(one.lengthMs).toBe(2000)
  })

  it('is two to three heartbeats where nothing was ever written', () => {
    for (const [random, overMs] of [
      [0, 1000],
      [0.5, 1250],
    ] as const) {
      const { time, election: one } = silence(random)
      time.ms = overMs - 1
      expect(one.isOver('a', [], false, true)).toBeFalse()
      time.ms = overMs
      expect(one.isOver('a', [], false, true)).toBeTrue()
    }
  })

  it('begins again with whatever is heard, and is not waited for where the leader has said that it goes', () => {
    const { time, election: one } = silence(0)
    time.ms = 2499
    one.heard()
    time.ms = 4998
    expect(one.isOver('a', ['a'], true)).toBeFalse()
    time.ms = 4999
    expect(one.isOver('a', ['a'], true)).toBeTrue()
    one.vacant()
    expect(one.isOver('a', ['a'], true)).toBeTrue()
    expect(one.isOver('b', ['a', 'b'], true)).toBeFalse()
    one.heard()
    expect(one.isOver('a', ['a'], true)).toBeFalse()
  })
})

describe('what may be claimed (instances: Who reads the CRM)', () => {
  const cases = [
    ['the end of the log is held', at(2, 5), at(2, 5), false, { newLog: false, after: null }],
    ['the log goes on', at(2, 6), at(2, 5), false, null],
    ['the log has gone back', at(2, 4), at(2, 5), false, { newLog: true, after: at(2, 5) }],
    ['the log has gone back an epoch', at(1, 9), at(2, 5), false, { newLog: true, after: at(2, 5) }],
    ['its end is of another claim', at(2, 5, 'other'), at(2, 5), false, { newLog: true, after: at(2, 5) }],
    ['there is no log', null, at(2, 5), false, { newLog: true, after: at(2, 5) }],
    ['nothing is held, and there is no log', null, null, false, { newLog: true, after: null }],
    ['more is held than was in the log', at(2, 5), at(2, 5), true, { newLog: true, after: at(2, 5) }],
  ] as const
  for (const [name, top, held, isAlone, claim] of cases) {
    it(`is right where ${name}`, () => expect(claimableAt(top, held, isAlone)).toEqual(claim))
  }
})
