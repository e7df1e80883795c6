import { Buffer } from 'node:buffer'
import { describe, expect, it } from 'bun:test'
import { EMPTY_GUID } from '../../src/domain/guid.ts'
import { Replica } from '../../src/sync/replica.ts'
import { StoreFailure } from '../../src/cluster/store.ts'
import { Publisher } from '../../src/cluster/publisher.ts'
import { guidOf } from '../model/records.ts'
import { begun, MAX_AGE_MS, follower, must, token } from './directed.ts'
import { Fleet } from './fleet.ts'
import { override } from '../model/override.ts'
import { planSeeds } from '../support/depth.ts'

const SEEDS = planSeeds(5)

describe('an empty store', () => {
  it('is claimed within four heartbeats by one of those that find nothing in it', async () => {
    for (const seed of SEEDS) {
      const fleet = new Fleet({ ...token, instances: 5 }, seed)
      fleet.begin()
      await must(fleet, () => fleet.leader !== null, 4 * token.heartbeatMs)
      expect(fleet.news['became-leader']).toBe(1)
      await must(fleet, () => fleet.instances.every((instance) => fleet.answers(instance)), MAX_AGE_MS)
      expect(fleet.news['became-leader']).toBe(1)
    }
  })

  it('goes to those that hold something, where it was emptied under them and another begins just then', async () => {
    for (const seed of SEEDS) {
      const fleet = new Fleet(token, seed)
      const first = await begun(fleet)
      const second = await follower(fleet)
      await fleet.pass(MAX_AGE_MS / 2)
      fleet.kill(first)
      fleet.store.empty()
      const third = fleet.start()
      await must(fleet, () => second.cluster.member.role === 'leader', MAX_AGE_MS)
      await must(fleet, () => third.cluster.member.role === 'follower' && fleet.answers(third), 2 * MAX_AGE_MS)
      expect(fleet.checker.wrong).toEqual([])
      expect(fleet.news['resynced']).toBeUndefined()
    }
  })
})

/** What somebody writes who has no key. */
function writeJunk(fleet: Fleet, many: number): void {
  for (let index = 0; index < many; index++) {
    fleet.store.nonces.set(index.toString(16).padStart(16, '0'), '{"nonce":"{}","s":"x"}')
  }
}

describe('nonces that nobody believes (instances: Security)', () => {
  it('are said once, dropped, and take no age from a follower', async () => {
    for (const many of [2000, 9000]) {
      const fleet = new Fleet({ ...token, fullReadEveryMs: 100 * MAX_AGE_MS }, 1)
      const first = await begun(fleet)
      const second = await follower(fleet)
      await fleet.pass(MAX_AGE_MS)
      const snapshots = fleet.news['snapshot-written']
      const [real] = [...fleet.store.nonces.keys()]
      const held = new Map(fleet.store.nonces)
      fleet.store.nonces.clear()
      // They stand before those of the instances.
      writeJunk(fleet, many)
      for (const [name, text] of held) fleet.store.nonces.set(name, text)
      const refused = (): string | null => first.cluster.member.publisher?.refusedNonces ?? null
      await must(
        fleet,
        () => refused() === `${many.toLocaleString('en')} nonces of instances: those that do not change are dropped`,
        5000,
      )
      await must(fleet, () => fleet.store.nonces.size === 2, 40_000)
      await must(fleet, () => refused() === null, 2 * token.heartbeatMs)
      expect(fleet.store.nonces.has(real ?? '')).toBeTrue()
      expect(second.cluster.served.events.ageMs(second.machine.peek()) ?? Infinity).toBeLessThan(MAX_AGE_MS / 2)
      expect(fleet.log.filter((line) => line.includes('nonces-refused'))).toEqual([
        expect.stringContaining(`${many.toLocaleString('en')} nonces of instances`) as string,
      ])
      expect(fleet.news['snapshot-written']).toBe(snapshots)
      const late = await follower(fleet)
      expect(late.cluster.member.heartbeat?.instances).toBe(3)
    }
  })
})

describe('more nonces than instances can have', () => {
  it('are dropped all at once, and cost the followers a few heartbeats', async () => {
    const fleet = new Fleet({ ...token, fullReadEveryMs: 100 * MAX_AGE_MS }, 1)
    const first = await begun(fleet)
    const second = await follower(fleet)
    await fleet.pass(MAX_AGE_MS)
    writeJunk(fleet, 300_000)
    await must(
      fleet,
      () => first.cluster.member.publisher?.refusedNonces?.startsWith('there are more than') === true,
      5000,
    )
    await must(fleet, () => fleet.store.nonces.size === 2, 2 * token.heartbeatMs)
    await fleet.pass(MAX_AGE_MS / 5)
    expect(second.cluster.served.events.ageMs(second.machine.peek()) ?? Infinity).toBeLessThan(MAX_AGE_MS / 5)
    expect(first.cluster.member.role).toBe('leader')
    expect(first.cluster.member.publisher?.refusedNonces).toBeNull()
  })
})

describe('an instance that is gone (instances: Without the store)', () => {
  it('is not counted, and its place is that of another, once it stood still for 2 s', async () => {
    for (const seed of SEEDS) {
      const fleet = new Fleet({ ...token, readersWhenLost: 2 }, seed)
      const first = await begun(fleet)
      const second = await follower(fleet)
      const third = await follower(fleet)
      await must(fleet, () => first.cluster.member.candidates[0] === second.cluster.member.instance, MAX_AGE_MS)
      fleet.kill(second)
      await must(fleet, () => third.cluster.member.candidates[0] === third.cluster.member.instance, 5000)
      expect(third.cluster.member.heartbeat?.instances).toBe(2)
      fleet.store.state = 'down'
      fleet.store.breakConnections()
      await must(fleet, () => third.cluster.member.role === 'standalone', MAX_AGE_MS)
    }
  })

  it('takes its nonce away as its last word, whatever it was', async () => {
    for (const seed of SEEDS) {
      const fleet = new Fleet(token, seed)
      const first = await begun(fleet)
      const second = await follower(fleet)
      const third = await follower(fleet)
      for (const one of [second, first]) {
        await must(fleet, () => fleet.store.nonces.has(one.cluster.member.instance), MAX_AGE_MS)
        fleet.end(one)
        await must(fleet, () => !fleet.store.nonces.has(one.cluster.member.instance), 2000)
      }
      await must(fleet, () => third.cluster.member.role === 'leader', MAX_AGE_MS)
      await fleet.pass(MAX_AGE_MS)
      expect([...fleet.store.nonces.keys()]).toEqual([third.cluster.member.instance])
    }
  })
})

describe('a maximum age that a reload made much shorter', () => {
  it('is kept by heartbeats that are shorter from then on', async () => {
    for (const seed of SEEDS) {
      const fleet = new Fleet(token, seed)
      const first = await begun(fleet)
      const second = await follower(fleet)
      await fleet.pass(MAX_AGE_MS)
      const before = second.cluster.member.position?.number ?? 0
      for (const one of [first, second]) one.heartbeat.ms = 50
      await fleet.pass(5000)
      expect((second.cluster.member.position?.number ?? 0) - before).toBeGreaterThan(80)
      expect(second.cluster.served.venues.ageMs(second.machine.peek()) ?? Infinity).toBeLessThan(
        token.refreshEveryMs + 200,
      )
      expect(fleet.checker.wrong).toEqual([])
    }
  })
})

describe('a maximum age that is too short for the reads of the leader (instances: Who reads the CRM)', () => {
  it('is told of once, also where a reload made it so', async () => {
    const fleet = new Fleet(token, 1)
    await begun(fleet)
    const second = await follower(fleet)
    const { settings } = second.cluster.member.options
    const told = () => fleet.log.filter((line) => line.includes('max-age-too-short'))
    for (const maxAgeMs of [MAX_AGE_MS, 2 * token.refreshEveryMs - 1, MAX_AGE_MS, 2 * token.refreshEveryMs - 1]) {
      Object.assign(settings, { maxAgeMs })
      await fleet.pass(10 * token.heartbeatMs)
    }
    expect(told()).toHaveLength(2)
    expect(told()[0]).toContain(`at which the leader reads (${token.refreshEveryMs / 1000} s)`)
  })
})

describe('an instance with a smaller maximum age (instances: Who reads the CRM)', () => {
  it('leaves the reading to one whose heartbeats are longer than its own silence', async () => {
    for (const seed of SEEDS) {
      const fleet = new Fleet(token, seed)
      const first = await begun(fleet)
      fleet.start(undefined, { maxAgeMs: 1500, refreshEveryMs: 400, heartbeatMs: 75 })
      await fleet.pass(3 * MAX_AGE_MS)
      expect(first.cluster.member.role).toBe('leader')
      expect(fleet.news['became-leader']).toBe(1)
    }
  })
})

describe('a claim of one who reads alone by the time that it is heard of (instances: Taking over)', () => {
  it('is not followed up: what was told before it is not in the rows that are read here', async () => {
    const fleet = new Fleet(token, 1)
    await begun(fleet)
    const second = await follower(fleet)
    fleet.store.state = 'down'
    fleet.store.breakConnections()
    const { member } = second.cluster
    member.claims({ epoch: 2, number: 0, claimId: '00' }, false)
    await must(fleet, () => second.cluster.member.role === 'standalone', MAX_AGE_MS)
    expect(member.state.kind).toBe('standalone')
  })
})

describe('an instance that holds nothing any more', () => {
  it('leaves an empty store to those that hold something: it has seen what was written', async () => {
    for (const seed of SEEDS) {
      const fleet = new Fleet(token, seed)
      const first = await begun(fleet)
      const [second, third] = [await follower(fleet), await follower(fleet)]
      await fleet.pass(MAX_AGE_MS / 2)
      fleet.kill(first)
      fleet.store.empty()
      const { member } = third.cluster
      if (member.target === null) throw new Error('it follows')
      member.lose(member.target, 'the plan says so')
      await must(fleet, () => second.cluster.member.role === 'leader', MAX_AGE_MS)
      expect(fleet.news['resynced']).toBe(1)
      expect(fleet.checker.wrong).toEqual([])
    }
  })
})

describe('a store that is lost', () => {
  it('is not told of where a connection is cut now and then, and the next one works', async () => {
    const fleet = new Fleet(token, 1)
    await begun(fleet)
    await follower(fleet)
    for (let cut = 0; cut < 3; cut++) {
      await fleet.pass(MAX_AGE_MS)
      fleet.store.breakConnections()
    }
    await fleet.pass(MAX_AGE_MS)
    expect(fleet.news['store-lost']).toBeUndefined()
    expect(fleet.checker.wrong).toEqual([])
  })

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
      await fleet.pass(4 * MAX_AGE_MS)
      const [told, ...more] = lost().slice(before)
      expect(told).toContain(why)
      expect(more).toEqual([])
    }
    fleet.store.state = 'up'
    await must(fleet, () => fleet.news['store-found'] === 2, 2 * MAX_AGE_MS)
  })

  it.each(['what is asked of the log', 'what is written to the log'])(
    'is told of once where it takes connections and nonces, and refuses %s',
    async (what) => {
      const fleet = new Fleet(token, 1)
      const first = await begun(fleet)
      await follower(fleet)
      await fleet.pass(MAX_AGE_MS)
      const before = { ...fleet.news }
      const refuse = (): never => {
        throw new StoreFailure('refused', 'the key is of another application')
      }
      const stops = [override(fleet.store, 'append', () => refuse)]
      if (what === 'what is asked of the log') stops.push(override(fleet.store, 'after', () => refuse))
      fleet.kill(first)
      fleet.store.onTop = what === 'what is asked of the log' ? refuse : () => {}
      await fleet.pass(4 * MAX_AGE_MS)
      expect([fleet.news['store-lost'], fleet.news['store-found']]).toEqual([1, before['store-found']])
      for (const stop of stops) stop()
      fleet.store.onTop = () => {}
      await must(fleet, () => fleet.news['store-found'] === (before['store-found'] ?? 0) + 1, 2 * MAX_AGE_MS)
    },
  )
})

describe('a store that is full (instances: Without the store)', () => {
  it('is trimmed and tidied by the leader, although it takes no nonce either', async () => {
    const fleet = new Fleet({ ...token, fullReadEveryMs: 100 * MAX_AGE_MS }, 1)
    const first = await begun(fleet)
    await follower(fleet)
    const { store } = fleet
    store.blobs.delete('snapshot')
    await must(fleet, () => fleet.news['snapshot-written'] === 2, 62_000)
    await fleet.pass(31_000)
    const [begins] = store.log ?? []
    // A former leader left it.
    store.snapshots.set('0-7', '1')
    store.blobs.set('snapshot:0-7:0', Buffer.from('its only chunk'))
    store.isFull = true
    await must(fleet, () => !store.blobs.has('snapshot:0-7:0') && !store.snapshots.has('0-7'), 5 * token.heartbeatMs)
    expect(store.log?.[0]?.id).not.toBe(begins?.id)
    store.isFull = false
    await must(
      fleet,
      () => first.cluster.member.isConnected && first.cluster.member.publisher?.unsent === 0,
      MAX_AGE_MS,
    )
    expect(first.cluster.member.role).toBe('leader')
    expect(fleet.answers(await follower(fleet))).toBeTrue()
    expect(fleet.checker.wrong).toEqual([])
  })
})

/** The next trim of the log makes room. */
function fill({ store }: Fleet): () => void {
  store.isFull = true
  return override(
    store,
    'trimBefore',
    (original) =>
      function trimBefore(this: Fleet['store'], id) {
        original.call(this, id)
        store.isFull = false
      },
  )
}

describe('a store that is full and has no leader (instances: Without the store)', () => {
  it('gets one, which trims the log first, as soon as that makes room', async () => {
    for (const seed of SEEDS) {
      const fleet = new Fleet({ ...token, readersWhenLost: 1 }, seed)
      const first = await begun(fleet)
      const second = await follower(fleet)
      await fleet.pass(MAX_AGE_MS)
      const undo = fill(fleet)
      fleet.kill(first)
      await must(fleet, () => second.cluster.member.role === 'leader', MAX_AGE_MS)
      undo()
      await fleet.pass(MAX_AGE_MS)
      expect([second.cluster.member.isConnected, fleet.answers(second)]).toEqual([true, true])
      expect(fleet.checker.wrong).toEqual([])
    }
  })

  it('gets one that begins then, although a heartbeat passes before it has loaded the snapshot', async () => {
    for (const seed of SEEDS) {
      const fleet = new Fleet({ ...token, readersWhenLost: 1 }, seed)
      const first = await begun(fleet)
      await fleet.pass(MAX_AGE_MS)
      const undo = fill(fleet)
      fleet.kill(first)
      const second = fleet.start(undefined, { heartbeatMs: 50, storeDelayMs: 150 })
      await must(fleet, () => second.cluster.member.role === 'leader', 3 * MAX_AGE_MS)
      undo()
      expect(fleet.checker.wrong).toEqual([])
    }
  })
})

describe('a store that is back after an outage, and full (instances: Without the store)', () => {
  const outage = async (fleet: Fleet, ms: number): Promise<void> => {
    fleet.store.state = 'down'
    fleet.store.breakConnections()
    await fleet.pass(ms)
    fleet.store.state = 'up'
  }

  it('keeps its leader, which is back within an election time', async () => {
    for (const seed of SEEDS) {
      const fleet = new Fleet({ ...token, readersWhenLost: 1 }, seed)
      const first = await begun(fleet)
      const second = await follower(fleet)
      await fleet.pass(MAX_AGE_MS)
      const { lengthMs } = second.cluster.member.election
      const undo = fill(fleet)
      first.machine.stop(2.9 * lengthMs)
      await outage(fleet, 2 * lengthMs)
      await fleet.pass(MAX_AGE_MS)
      undo()
      expect([first.cluster.member.role, fleet.news['became-leader']]).toEqual(['leader', 1])
      expect(second.cluster.member.isConnected).toBeTrue()
      expect(fleet.checker.wrong).toEqual([])
    }
  })

  it('gets no new log from an instance that reads the CRM alone, until there is room', async () => {
    for (const seed of SEEDS) {
      const fleet = new Fleet({ ...token, readersWhenLost: 2 }, seed)
      const first = await begun(fleet)
      const second = await follower(fleet)
      await fleet.pass(MAX_AGE_MS)
      fleet.kill(first)
      const undo = fill(fleet)
      await outage(fleet, MAX_AGE_MS)
      await fleet.pass(MAX_AGE_MS)
      undo()
      expect([second.cluster.member.role, fleet.answers(second)]).toEqual(['standalone', true])
      fleet.store.isFull = false
      await must(fleet, () => second.cluster.member.role === 'leader', MAX_AGE_MS)
      expect(fleet.checker.wrong).toEqual([])
    }
  })
})

describe('a key that is not that of the others (instances: What a follower accepts)', () => {
  it('has a log and a leader of its own, which takes nothing from the others', async () => {
    for (const seed of SEEDS) {
      const fleet = new Fleet(token, seed)
      const first = await begun(fleet)
      const second = await follower(fleet)
      const third = fleet.start('a key that is not that of the others')
      await must(fleet, () => third.cluster.member.role === 'leader' && fleet.answers(third), MAX_AGE_MS)
      await fleet.pass(2 * MAX_AGE_MS)
      expect([first.cluster.member.role, second.cluster.member.role]).toEqual(['leader', 'follower'])
      expect(fleet.news['became-leader']).toBe(2)
      expect(fleet.checker.wrong).toEqual([])
    }
  })

  it('costs nothing where all were stopped and all begin with it: nobody waits for what the old one left', async () => {
    for (const seed of SEEDS) {
      const fleet = new Fleet(token, seed)
      await begun(fleet)
      await follower(fleet)
      for (const one of fleet.instances) fleet.kill(one)
      fleet.key = 'the next key, which is long enough too'
      const started = [fleet.start(), fleet.start()]
      await must(fleet, () => started.every((one) => fleet.answers(one)), MAX_AGE_MS / 2)
      expect(fleet.checker.wrong).toEqual([])
    }
  })
})

describe('the snapshot in the store (instances: The snapshot)', () => {
  it('has the lists that were read by then, and is made again as soon as the other one is', async () => {
    let letGo = (): void => {}
    const hold = (original: () => void) =>
      function start(this: Replica) {
        void this.events.reader.turns.hold().then((go) => (letGo = go))
        original.call(this)
      }
    const undo = override(Replica.prototype, 'start', hold)
    try {
      for (const seed of SEEDS) {
        const fleet = new Fleet(token, seed)
        fleet.begin()
        await must(fleet, () => fleet.store.blobs.has('snapshot'), 15_000)
        const [replica] = fleet.instances[0]?.replicas ?? []
        expect(replica?.venues.list.served).toBeGreaterThan(0)
        const late = fleet.start()
        await must(fleet, () => late.cluster.member.role === 'follower', MAX_AGE_MS)
        letGo()
        await must(fleet, () => replica?.events.isLoaded === true, MAX_AGE_MS)
        await must(fleet, () => fleet.news['snapshot-written'] === 2, 2 * token.heartbeatMs)
        await must(fleet, () => fleet.answers(late), 5 * token.heartbeatMs)
        expect(fleet.checker.wrong).toEqual([])
      }
    } finally {
      undo()
    }
  })

  it('is made again where a part of it is gone, though nobody asks for it', async () => {
    const fleet = new Fleet({ ...token, fullReadEveryMs: 3_600_000 }, 1)
    await begun(fleet)
    for (const isGone of [(name: string) => name !== 'snapshot', (name: string) => name === 'snapshot']) {
      const before = fleet.news['snapshot-written'] ?? 0
      const gone = [...fleet.store.blobs.keys()].find(isGone)
      fleet.store.blobs.delete(gone ?? '')
      await must(fleet, () => (fleet.news['snapshot-written'] ?? 0) > before, 62_000)
    }
  })

  it('is not said to be missing, nor the leader, by a follower that will load it again in a while', async () => {
    const fleet = new Fleet(token, 1)
    await begun(fleet)
    const second = await follower(fleet)
    await fleet.pass(MAX_AGE_MS)
    const { member } = second.cluster
    second.machine.stop(2000)
    await fleet.pass(1000)
    // The stopped one has not read it yet.
    const { log } = fleet.store
    fleet.store.log = log?.filter((_, at) => at !== log.length - 1) ?? null
    await must(fleet, () => second.cluster.member.role === 'waiting', 10_000)
    const told = new Set<string | null>()
    while (second.cluster.member.role === 'waiting') {
      told.add(member.trouble)
      await fleet.pass(50)
    }
    expect([...told]).toEqual([null])
    expect(second.cluster.member.role).toBe('follower')
    expect(fleet.checker.wrong).toEqual([])
  })

  it('is no longer asked for by a follower that loads it: the leader would write another meanwhile', async () => {
    const fleet = new Fleet({ ...token, fullReadEveryMs: 3_600_000 }, 1)
    await begun(fleet)
    const second = await follower(fleet)
    await fleet.pass(MAX_AGE_MS)
    second.machine.stop(2000)
    await fleet.pass(1000)
    const { log } = fleet.store
    fleet.store.log = log?.slice(-1) ?? null
    await must(fleet, () => second.cluster.member.role === 'waiting', 10_000)
    const wanted: boolean[] = []
    const { blobs } = fleet.store
    const get = blobs.get.bind(blobs)
    blobs.get = (name) => {
      if (name.startsWith('snapshot:')) wanted.push(second.cluster.member.resync.needsSnapshot)
      return get(name)
    }
    await must(fleet, () => second.cluster.member.role === 'follower', 20_000)
    expect(wanted).toContain(false)
    expect(wanted).not.toContain(true)
  })

  it('is made again where a part of it is too large to be read, and somebody begins', async () => {
    for (const part of ['snapshot', 'snapshot:']) {
      const fleet = new Fleet({ ...token, fullReadEveryMs: 3_600_000 }, 1)
      await begun(fleet)
      const name = [...fleet.store.blobs.keys()].findLast((key) => key.startsWith(part)) ?? ''
      fleet.store.endlessKeys.add(part === 'snapshot' ? part : name)
      const late = fleet.start()
      await must(fleet, () => fleet.answers(late), MAX_AGE_MS)
      expect(fleet.log.join()).toContain('could not be read: the store did not answer within')
      expect(fleet.checker.wrong).toEqual([])
    }
  })

  it('is in the way of no election where it is too large to be read, and all begin', async () => {
    for (const part of ['snapshot', 'snapshot:']) {
      const fleet = new Fleet({ ...token, fullReadEveryMs: 3_600_000 }, 1)
      const first = await begun(fleet)
      const name = [...fleet.store.blobs.keys()].findLast((key) => key.startsWith(part)) ?? ''
      fleet.store.endlessKeys.add(part === 'snapshot' ? part : name)
      fleet.kill(first)
      const both = [fleet.start(), fleet.start()]
      await must(fleet, () => both.every((one) => fleet.answers(one)), 3 * MAX_AGE_MS)
      expect(fleet.checker.wrong).toEqual([])
    }
  })

  it('is listed in a list that is dropped where it is too large to be read', async () => {
    const fleet = new Fleet({ ...token, fullReadEveryMs: 3_600_000 }, 1)
    const first = await begun(fleet)
    fleet.store.endlessKeys.add('snapshots')
    await must(fleet, () => !fleet.store.endlessKeys.has('snapshots'), 5 * 60_000)
    await fleet.pass(MAX_AGE_MS)
    expect([first.cluster.member.role, first.cluster.member.isConnected]).toEqual(['leader', true])
    expect(fleet.checker.wrong).toEqual([])
  })

  it('is waited for by rows where the log would get too long, and nothing is called younger meanwhile', async () => {
    const fleet = new Fleet(token, 1)
    await begun(fleet)
    const second = await follower(fleet)
    const before = fleet.news['snapshot-written'] ?? 0
    fleet.store.blobs.delete('snapshot')
    await must(fleet, () => (fleet.news['snapshot-written'] ?? 0) > before, 75_000)
    let isBumped = false
    const undo = override(
      Publisher.prototype,
      'heartbeat',
      (original) =>
        function heartbeat(this: Publisher, session) {
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
      const heartbeats = (): number => Number(second.cluster.member.position?.number)
      const [beganAt, beganAge] = [heartbeats(), second.cluster.served.events.ageMs(second.machine.peek()) ?? 0]
      await fleet.pass(4000)
      expect(heartbeats()).toBeGreaterThan(beganAt + 4)
      expect(rows).toBe(0)
      expect(second.cluster.served.events.ageMs(second.machine.peek()) ?? 0).toBeGreaterThan(beganAge + 3900)
      // The next snapshot may be made 10 s after the last one.
      await must(fleet, () => rows > 0, 10_000)
      await must(fleet, () => fleet.news['snapshot-written'] === before + 2, 1000)
      await must(fleet, () => (second.cluster.served.events.ageMs(second.machine.peek()) ?? 0) < 2500 + 3000, 10_000)
      expect(fleet.checker.wrong).toEqual([])
    } finally {
      undo()
    }
  })
})

describe('a snapshot that is loaded (instances: The snapshot)', () => {
  it('gives way after each thousand rows', async () => {
    const fleet = new Fleet({ ...token, fullReadEveryMs: 100 * MAX_AGE_MS }, 1)
    const told = { at: 0, untold: false, lateByMs: 0, silent: false }
    for (let number = 30; number < 4000; number++) {
      fleet.tables.venues.create(guidOf(0x1000 + number), EMPTY_GUID, told)
    }
    await begun(fleet)
    expect((await follower(fleet)).slices).toBeGreaterThanOrEqual(3)
  }, 600_000)
})

/** A list is read in full for the first time while the leader waits for a store that is slow. */
async function loadedWithinAHeartbeat(seed: number): Promise<readonly string[]> {
  const slow = { storeDelayMs: 300, latencyMs: 100, changeEveryMs: 100, refreshEveryMs: 2500 }
  const fleet = new Fleet({ ...token, ...slow, fullReadEveryMs: 100 * MAX_AGE_MS, inspectEveryMs: 500 }, seed)
  await begun(fleet)
  const late = fleet.start()
  await fleet.until(() => fleet.checker.wrongs > 0 || fleet.answers(late), 4 * MAX_AGE_MS)
  await fleet.pass(MAX_AGE_MS)
  return fleet.checker.wrong
}

describe('a snapshot that is begun while the leader waits for the store (instances: The snapshot)', () => {
  it('lacks nothing that the log does not tell', async () => {
    for (const seed of planSeeds(20)) expect(await loadedWithinAHeartbeat(seed)).toEqual([])
  }, 600_000)
})
