import { describe, expect, it } from 'bun:test'
import { Buffer } from 'node:buffer'
import { randomBytes } from 'node:crypto'
import type { Time } from '../time/time.ts'
import { OwnNonces, SeenNonces } from './nonces.ts'
import { Signing } from './entries.ts'

const NOTES = { version: '0.1.0', isFit: true, needsSnapshot: false, heartbeatMs: 500, accepts: null }
const signing = new Signing('fingerprint', 'k'.repeat(32))

function clock(): Time & { ms: number } {
  return {
    ms: 1000,
    now() {
      return { monotonicMs: this.ms, wallMs: this.ms }
    },
    after: () => () => {},
    random: () => 0,
  }
}

describe('the echoed nonce (instances: How old)', () => {
  it('tells when it was noted, for each of the last hundred', () => {
    const time = clock()
    const own = new OwnNonces('aa00000000000001', randomBytes, time, signing)
    const seen = new SeenNonces(signing, time, { ms: 500 })
    const pairs = Array.from({ length: 101 }, () => {
      time.ms += 10
      seen.take(new Map([[own.instance, own.next(NOTES)]]))
      return seen.pairs()
    })
    expect(pairs.map((body) => own.notedIn(body)?.monotonicMs ?? null)).toEqual([
      null,
      ...Array.from({ length: 100 }, (_, index) => 1020 + index * 10),
    ])
  })

  it('tells nothing where it is of another, or was never written', () => {
    const time = clock()
    const [own, other] = ['aa00000000000001', 'aa00000000000002'].map(
      (name) => new OwnNonces(name, randomBytes, time, signing),
    )
    const seen = new SeenNonces(signing, time, { ms: 500 })
    if (own === undefined || other === undefined) throw new Error('there are two')
    seen.take(new Map([[other.instance, other.next(NOTES)]]))
    expect(own.notedIn(seen.pairs())).toBeNull()
    expect(own.notedIn(Buffer.from(`${own.instance}0123456789abcdef`, 'hex'))).toBeNull()
  })

  it('is dropped where it stood still for 30 s, or four of its heartbeats, and not before', () => {
    for (const [heartbeatMs, livesMs] of [
      [500, 30_000],
      [60_000, 240_000],
    ] as const) {
      const time = clock()
      const own = new OwnNonces('aa00000000000001', randomBytes, time, signing)
      const seen = new SeenNonces(signing, time, { ms: 500 })
      const nonces = new Map([[own.instance, own.next({ ...NOTES, heartbeatMs })]])
      expect(seen.take(nonces)).toEqual([])
      time.ms += livesMs
      expect(seen.take(nonces)).toEqual([])
      time.ms += 1
      expect(seen.take(nonces)).toEqual([own.instance])
      // The nonce was verified before, so it does not count as a stranger's.
      expect([seen.size, seen.strange]).toEqual([0, 0])
    }
  })

  it('is not counted, named or asked by where it stood still for 2 s, or four heartbeats where they are longer, its own or those of the leader', () => {
    for (const [heartbeatMs, ownHeartbeatMs, livesMs] of [
      [50, 50, 2000],
      [1000, 50, 4000],
      [50, 3000, 12_000],
    ] as const) {
      const time = clock()
      const seen = new SeenNonces(signing, time, { ms: heartbeatMs })
      const [dead, alive] = ['aa00000000000001', 'aa00000000000002'].map(
        (name) => new OwnNonces(name, randomBytes, time, signing),
      )
      if (dead === undefined || alive === undefined) throw new Error('there are two')
      const last = dead.next({ ...NOTES, heartbeatMs: ownHeartbeatMs, needsSnapshot: true, version: '0.0.9' })
      const take = (ms: number): unknown => {
        time.ms += ms
        seen.take(
          new Map([...[dead.instance].map((name) => [name, last] as const), [alive.instance, alive.next(NOTES)]]),
        )
        return [seen.size, seen.fit('', 9).length, seen.needsSnapshot, seen.versions.length]
      }
      take(0)
      expect(take(livesMs)).toEqual([2, 2, true, 2])
      expect(take(1)).toEqual([1, 1, false, 1])
      expect(seen.fit('', 9)).toEqual([alive.instance])
    }
  })

  const junkOf = (length: number, text = 'junk'): ReadonlyMap<string, string> =>
    new Map(Array.from({ length }, (_, index) => [index.toString(16).padStart(16, '0'), text]))

  it('is dropped like others where it is not believed and stands still', () => {
    const time = clock()
    const seen = new SeenNonces(signing, time, { ms: 500 })
    const junk = junkOf(10_000)
    for (const ms of [...Array<number>(10).fill(0), 30_000]) {
      time.ms += ms
      expect(seen.take(junk)).toEqual([])
      expect([seen.strange, seen.size, seen.pairs().length]).toEqual([10_000, 0, 0])
    }
    time.ms += 1
    expect(seen.take(junk)).toHaveLength(10_000)
    seen.take(new Map())
    expect(seen.strange).toBe(0)
  })

  it('is dropped at once where it is far larger than one of ours', () => {
    const seen = new SeenNonces(signing, clock(), { ms: 500 })
    expect(seen.take(junkOf(2, 'x'.repeat(5000)))).toHaveLength(2)
  })

  it('is ignored where it is forged or broken', () => {
    const time = clock()
    const seen = new SeenNonces(signing, time, { ms: 500 })
    const forged = new OwnNonces('aa00000000000001', randomBytes, time, new Signing('fingerprint', 'other'.repeat(8)))
    const moved = new OwnNonces('aa00000000000002', randomBytes, time, signing)
    seen.take(
      new Map([
        [forged.instance, forged.next(NOTES)],
        ['aa00000000000003', moved.next(NOTES)],
        ['aa00000000000004', '{'],
        ['aa00000000000005', 'null'],
      ]),
    )
    expect(seen.size).toBe(0)
  })

  it('names the fit ones, the first that came first, and whether one needs a snapshot', () => {
    const time = clock()
    const seen = new SeenNonces(signing, time, { ms: 500 })
    const names = ['aa00000000000003', 'aa00000000000001', 'aa00000000000002', 'aa00000000000004']
    const all = names.map((name) => new OwnNonces(name, randomBytes, time, signing))
    const write = (needsSnapshot: boolean): void => {
      seen.take(
        new Map(
          all.map((own) => [
            own.instance,
            own.next({ ...NOTES, needsSnapshot, isFit: own.instance !== 'aa00000000000001' }),
          ]),
        ),
      )
    }
    write(true)
    expect(seen.needsSnapshot).toBeTrue()
    write(false)
    expect(seen.needsSnapshot).toBeFalse()
    expect(seen.fit('aa00000000000003', 1)).toEqual(['aa00000000000002'])
    expect(seen.fit('', 9)).toEqual(['aa00000000000003', 'aa00000000000002', 'aa00000000000004'])
  })
})
