import { describe, expect, it } from 'bun:test'
import { EMPTY_GUID } from '../../src/domain/guid.ts'
import { Replica } from '../../src/replica/replica.ts'
import { StoreFailure } from '../../src/share/store.ts'
import { Publisher } from '../../src/share/publisher.ts'
import { guidOf } from '../model/records.ts'
import { begun, BOUND_MS, follower, must, token } from './directed.ts'
import { Fleet } from './fleet.ts'
import { override } from './mutants.ts'
import { planSeeds } from '../support/depth.ts'

const SEEDS = planSeeds(5)

describe('an empty store', () => {
  it('is claimed within four beats by one of those that find nothing in it', async () => {
    for (const seed of SEEDS) {
      const fleet = new Fleet({ ...token, instances: 5 }, seed)
      fleet.begin()
      await must(fleet, () => fleet.reader !== null, 4 * token.beatMs)
      expect(fleet.news['took-reading']).toBe(1)
      await must(fleet, () => fleet.instances.every((instance) => fleet.answers(instance)), BOUND_MS)
      expect(fleet.news['took-reading']).toBe(1)
    }
  }, 60_000)

  it('goes to those that hold something, where it was emptied under them and another begins just then', async () => {
    for (const seed of SEEDS) {
      const fleet = new Fleet(token, seed)
      const first = await begun(fleet)
      const second = await follower(fleet)
      await fleet.pass(BOUND_MS / 2)
      fleet.kill(first)
      fleet.store.empty()
      const third = fleet.start()
      await must(fleet, () => second.share.role === 'reader', BOUND_MS)
      await must(fleet, () => third.share.role === 'follower' && fleet.answers(third), 2 * BOUND_MS)
      expect(fleet.checker.wrong).toEqual([])
      expect(fleet.news['re-based']).toBeUndefined()
    }
  }, 60_000)
})

/** What somebody writes who has no key. */
function writeJunk(fleet: Fleet, many: number): void {
  for (let index = 0; index < many; index++) {
    fleet.store.marks.set(index.toString(16).padStart(16, '0'), '{"mark":"{}","s":"x"}')
  }
}

describe('marks that nobody believes (instances: Security)', () => {
  it('are said once, dropped, and take no age from a follower', async () => {
    for (const many of [2000, 9000]) {
      const fleet = new Fleet({ ...token, fullReadEveryMs: 100 * BOUND_MS }, 1)
      const first = await begun(fleet)
      const second = await follower(fleet)
      await fleet.pass(BOUND_MS)
      const bases = fleet.news['base-written']
      const [real] = [...fleet.store.marks.keys()]
      const held = new Map(fleet.store.marks)
      fleet.store.marks.clear()
      // They stand before those of the instances.
      writeJunk(fleet, many)
      for (const [name, text] of held) fleet.store.marks.set(name, text)
      const refused = (): string | null => first.share.member.publisher?.refusedMarks ?? null
      await must(fleet, () => refused() === `${many} marks of instances: those that stand still are dropped`, 5000)
      await must(fleet, () => fleet.store.marks.size === 2, 40_000)
      await must(fleet, () => refused() === null, 2 * token.beatMs)
      expect(fleet.store.marks.has(real ?? '')).toBeTrue()
      expect(second.share.served.events.ageMs(second.machine.peek()) ?? Infinity).toBeLessThan(BOUND_MS / 2)
      expect(fleet.log.filter((line) => line.includes('marks-refused'))).toEqual([
        expect.stringContaining(`${many} marks of instances`) as string,
      ])
      expect(fleet.news['base-written']).toBe(bases)
      const late = await follower(fleet)
      expect(late.share.member.beat?.instances).toBe(3)
    }
  }, 60_000)
})

describe('more marks than instances can have', () => {
  it('are dropped all at once, and cost the followers a few beats', async () => {
    const fleet = new Fleet({ ...token, fullReadEveryMs: 100 * BOUND_MS }, 1)
    const first = await begun(fleet)
    const second = await follower(fleet)
    await fleet.pass(BOUND_MS)
    writeJunk(fleet, 300_000)
    await must(
      fleet,
      () => first.share.member.publisher?.refusedMarks?.startsWith('there are more than') === true,
      5000,
    )
    await must(fleet, () => fleet.store.marks.size === 2, 2 * token.beatMs)
    await fleet.pass(BOUND_MS / 5)
    expect(second.share.served.events.ageMs(second.machine.peek()) ?? Infinity).toBeLessThan(BOUND_MS / 5)
    expect(first.share.role).toBe('reader')
    expect(first.share.member.publisher?.refusedMarks).toBeNull()
  }, 60_000)
})

describe('an instance that is gone (instances: Without the store)', () => {
  it('is not counted, and its place is that of another, once it stood still for 2 s', async () => {
    for (const seed of SEEDS) {
      const fleet = new Fleet({ ...token, readersWhenLost: 2 }, seed)
      const first = await begun(fleet)
      const second = await follower(fleet)
      const third = await follower(fleet)
      await must(fleet, () => first.share.member.standIns[0] === second.share.instance, BOUND_MS)
      fleet.kill(second)
      await must(fleet, () => third.share.member.standIns[0] === third.share.instance, 5000)
      expect(third.share.member.beat?.instances).toBe(2)
      fleet.store.state = 'down'
      fleet.store.breakConnections()
      await must(fleet, () => third.share.role === 'alone', BOUND_MS)
    }
  }, 60_000)

  it('takes its mark away as its last word, whatever it was', async () => {
    for (const seed of SEEDS) {
      const fleet = new Fleet(token, seed)
      const first = await begun(fleet)
      const second = await follower(fleet)
      const third = await follower(fleet)
      for (const one of [second, first]) {
        await must(fleet, () => fleet.store.marks.has(one.share.instance), BOUND_MS)
        fleet.end(one)
        await must(fleet, () => !fleet.store.marks.has(one.share.instance), 2000)
      }
      await must(fleet, () => third.share.role === 'reader', BOUND_MS)
      await fleet.pass(BOUND_MS)
      expect([...fleet.store.marks.keys()]).toEqual([third.share.instance])
    }
  }, 60_000)
})

describe('a maximum age that a reload made much shorter', () => {
  it('is kept by heartbeats that are shorter from then on', async () => {
    for (const seed of SEEDS) {
      const fleet = new Fleet(token, seed)
      const first = await begun(fleet)
      const second = await follower(fleet)
      await fleet.pass(BOUND_MS)
      const before = second.share.position?.number ?? 0
      for (const one of [first, second]) one.heartbeat.ms = 50
      await fleet.pass(5000)
      expect((second.share.position?.number ?? 0) - before).toBeGreaterThan(80)
      expect(second.share.served.venues.ageMs(second.machine.peek()) ?? Infinity).toBeLessThan(
        token.refreshEveryMs + 200,
      )
      expect(fleet.checker.wrong).toEqual([])
    }
  }, 60_000)
})

describe('an instance with a smaller bound (instances: Who reads the CRM)', () => {
  it('leaves the reading to one whose beats are longer than its own silence', async () => {
    for (const seed of SEEDS) {
      const fleet = new Fleet(token, seed)
      const first = await begun(fleet)
      fleet.start(undefined, { boundMs: 1500, refreshEveryMs: 400, beatMs: 75 })
      await fleet.pass(3 * BOUND_MS)
      expect(first.share.role).toBe('reader')
      expect(fleet.news['took-reading']).toBe(1)
    }
  }, 60_000)
})

describe('a claim of one who reads alone by the time that it is heard of (instances: Taking over)', () => {
  it('is not followed up: what was told before it is not in the rows that are read here', async () => {
    const fleet = new Fleet(token, 1)
    await begun(fleet)
    const second = await follower(fleet)
    fleet.store.state = 'down'
    fleet.store.breakConnections()
    const { member } = second.share
    member.claimed = { position: { term: 2, number: 0, reign: '00' }, anew: false }
    await must(fleet, () => second.share.role === 'alone', BOUND_MS)
    expect(member.claimed).toBeNull()
  }, 60_000)
})

describe('an instance that holds nothing any more', () => {
  it('leaves an empty store to those that hold something: it has seen what was written', async () => {
    for (const seed of SEEDS) {
      const fleet = new Fleet(token, seed)
      const first = await begun(fleet)
      const [second, third] = [await follower(fleet), await follower(fleet)]
      await fleet.pass(BOUND_MS / 2)
      fleet.kill(first)
      fleet.store.empty()
      const { member } = third.share
      if (member.target === null) throw new Error('it follows')
      member.lose(member.target, 'the plan says so')
      await must(fleet, () => second.share.role === 'reader', BOUND_MS)
      expect(fleet.news['re-based']).toBe(1)
      expect(fleet.checker.wrong).toEqual([])
    }
  }, 60_000)
})

describe('a store that is lost', () => {
  it('is told of once, and again where the reason is another', async () => {
    const fleet = new Fleet(token, 1)
    await begun(fleet)
    const lost = (): readonly string[] => fleet.log.filter((line) => line.includes('store-lost'))
    for (const [state, why] of [
      ['down', 'connection refused'],
      ['swallows', 'did not answer'],
    ] as const) {
      const before = lost().length
      fleet.store.state = state
      fleet.store.breakConnections()
      await fleet.pass(4 * BOUND_MS)
      const [told, ...more] = lost().slice(before)
      expect(told).toContain(why)
      expect(more).toEqual([])
    }
    fleet.store.state = 'up'
    await must(fleet, () => fleet.news['store-found'] === 2, 2 * BOUND_MS)
  })

  it.each(['what is asked of the log', 'what is written to the log'])(
    'is told of once where it takes connections and marks, and refuses %s',
    async (what) => {
      const fleet = new Fleet(token, 1)
      const first = await begun(fleet)
      await follower(fleet)
      await fleet.pass(BOUND_MS)
      const before = { ...fleet.news }
      const refuse = (): never => {
        throw new StoreFailure('refused', 'the key is of another application')
      }
      const stops = [override(fleet.store, 'append', () => refuse)]
      if (what === 'what is asked of the log') stops.push(override(fleet.store, 'after', () => refuse))
      fleet.kill(first)
      fleet.store.onTop = what === 'what is asked of the log' ? refuse : () => {}
      await fleet.pass(4 * BOUND_MS)
      expect([fleet.news['store-lost'], fleet.news['store-found']]).toEqual([1, before['store-found']])
      for (const stop of stops) stop()
      fleet.store.onTop = () => {}
      await must(fleet, () => fleet.news['store-found'] === (before['store-found'] ?? 0) + 1, 2 * BOUND_MS)
    },
  )
})

describe('a key that is not that of the others (instances: What a follower accepts)', () => {
  it('has a log and a leader of its own, which takes nothing from the others', async () => {
    for (const seed of SEEDS) {
      const fleet = new Fleet(token, seed)
      const first = await begun(fleet)
      const second = await follower(fleet)
      const third = fleet.start('a key that is not that of the others')
      await must(fleet, () => third.share.role === 'reader' && fleet.answers(third), BOUND_MS)
      await fleet.pass(2 * BOUND_MS)
      expect([first.share.role, second.share.role]).toEqual(['reader', 'follower'])
      expect(fleet.news['took-reading']).toBe(2)
      expect(fleet.checker.wrong).toEqual([])
    }
  }, 60_000)

  it('costs nothing where all were stopped and all begin with it: nobody waits for what the old one left', async () => {
    for (const seed of SEEDS) {
      const fleet = new Fleet(token, seed)
      await begun(fleet)
      await follower(fleet)
      for (const one of fleet.instances) fleet.kill(one)
      fleet.key = 'the next key, which is long enough too'
      const started = [fleet.start(), fleet.start()]
      await must(fleet, () => started.every((one) => fleet.answers(one)), BOUND_MS / 2)
      expect(fleet.checker.wrong).toEqual([])
    }
  }, 60_000)
})

describe('the base in the store (instances: The base)', () => {
  it('has the lists that were read by then, and is made again as soon as the other one is', async () => {
    let letGo = (): void => {}
    const hold = (original: () => void) =>
      function start(this: Replica) {
        void this.events.reader.hold().then((go) => (letGo = go))
        original.call(this)
      }
    const undo = override(Replica.prototype, 'start', hold)
    try {
      for (const seed of SEEDS) {
        const fleet = new Fleet(token, seed)
        fleet.begin()
        await must(fleet, () => fleet.store.blobs.has('base'), 15_000)
        const [replica] = fleet.instances[0]?.replicas ?? []
        expect(replica?.venues.list.served).toBeGreaterThan(0)
        const late = fleet.start()
        await must(fleet, () => late.share.role === 'follower', BOUND_MS)
        letGo()
        await must(fleet, () => replica?.events.isLoaded === true, BOUND_MS)
        await must(fleet, () => fleet.news['base-written'] === 2, 2 * token.beatMs)
        await must(fleet, () => fleet.answers(late), 5 * token.beatMs)
        expect(fleet.checker.wrong).toEqual([])
      }
    } finally {
      undo()
    }
  }, 60_000)

  it('is made again where a part of it is gone, though nobody asks for it', async () => {
    const fleet = new Fleet({ ...token, fullReadEveryMs: 3_600_000 }, 1)
    await begun(fleet)
    for (const isGone of [(name: string) => name !== 'base', (name: string) => name === 'base']) {
      const before = fleet.news['base-written'] ?? 0
      const gone = [...fleet.store.blobs.keys()].find(isGone)
      fleet.store.blobs.delete(gone ?? '')
      await must(fleet, () => (fleet.news['base-written'] ?? 0) > before, 62_000)
    }
  }, 60_000)

  it('is waited for by rows where the log would get too long, and nothing is called younger meanwhile', async () => {
    const fleet = new Fleet(token, 1)
    await begun(fleet)
    const second = await follower(fleet)
    const before = fleet.news['base-written'] ?? 0
    fleet.store.blobs.delete('base')
    await must(fleet, () => (fleet.news['base-written'] ?? 0) > before, 75_000)
    let isBumped = false
    const undo = override(
      Publisher.prototype,
      'beat',
      (original) =>
        function beat(this: Publisher, session) {
          if (!isBumped) this.sentBytes += 9 * 1024 * 1024
          isBumped = true
          return original.call(this, session)
        },
    )
    try {
      await fleet.pass(2000)
      expect(isBumped).toBeTrue()
      let rows = 0
      const { onAdded } = fleet.store
      fleet.store.onAdded = (entry, name) => {
        if (entry.h.includes('"rows"')) rows++
        onAdded(entry, name)
      }
      const beats = (): number => Number(second.share.position?.number)
      const [beganAt, beganAge] = [beats(), second.share.served.events.ageMs(second.machine.peek()) ?? 0]
      await fleet.pass(4000)
      expect(beats()).toBeGreaterThan(beganAt + 4)
      expect(rows).toBe(0)
      expect(second.share.served.events.ageMs(second.machine.peek()) ?? 0).toBeGreaterThan(beganAge + 3900)
      // The next base may be made 10 s after the last one.
      await must(fleet, () => rows > 0, 10_000)
      await must(fleet, () => fleet.news['base-written'] === before + 2, 1000)
      await must(fleet, () => (second.share.served.events.ageMs(second.machine.peek()) ?? 0) < 2500 + 3000, 10_000)
      expect(fleet.checker.wrong).toEqual([])
    } finally {
      undo()
    }
  }, 60_000)
})

describe('a base that is loaded (instances: The base)', () => {
  it('gives way after each thousand rows', async () => {
    const fleet = new Fleet({ ...token, fullReadEveryMs: 100 * BOUND_MS }, 1)
    const told = { at: 0, untold: false, lateByMs: 0, silent: false }
    for (let number = 30; number < 4000; number++) {
      fleet.tables.venues.create(guidOf(0x1000 + number), EMPTY_GUID, told)
    }
    await begun(fleet)
    expect((await follower(fleet)).slices).toBeGreaterThanOrEqual(3)
  }, 600_000)
})

/** A list is read in full for the first time while the reader waits for a store that is slow. */
async function loadedWithinABeat(seed: number): Promise<readonly string[]> {
  const slow = { storeDelayMs: 300, latencyMs: 100, changeEveryMs: 100, refreshEveryMs: 2500 }
  const fleet = new Fleet({ ...token, ...slow, fullReadEveryMs: 100 * BOUND_MS, inspectEveryMs: 500 }, seed)
  await begun(fleet)
  const late = fleet.start()
  await fleet.until(() => fleet.checker.wrongs > 0 || fleet.answers(late), 4 * BOUND_MS)
  await fleet.pass(BOUND_MS)
  return fleet.checker.wrong
}

describe('a base that is begun while the reader waits for the store (instances: The base)', () => {
  it('lacks nothing that the log does not tell', async () => {
    for (const seed of planSeeds(20)) expect(await loadedWithinABeat(seed)).toEqual([])
  }, 600_000)
})
