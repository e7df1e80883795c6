import { describe, expect, it } from 'bun:test'
import { NO_BODY, Signing, encodeEntry } from '../../src/cluster/entries.ts'
import { StoreFailure, commandLimitMs } from '../../src/cluster/store.ts'
import { UnusableLog } from '../../src/cluster/unusable-log.ts'
import { planSeeds } from '../support/depth.ts'
import { begun, MAX_AGE_MS, follower, must, token } from './directed.ts'
import { Fleet } from './fleet.ts'
import { override } from '../model/override.ts'

const SEEDS = planSeeds(3)

/** What an operator, or somebody who has no key, does to the log. */
const MISCHIEF: Readonly<Record<string, (fleet: Fleet) => void>> = {
  'takes no entry any more': ({ store }) => store.stick('1795000000000-0'),
  'takes no entry any more, and lost its end': ({ store }) => {
    store.stick('1795000000000-0')
    store.loseTail(1)
  },
  'takes no entry any more, and has none': ({ store }) => {
    store.stick('1795000000000-0')
    store.clear()
  },
  'ends with an entry that is too large to be read': ({ store }) =>
    store.swell({ id: `${topTerm(store.log)}-999999`, h: '', b: null, s: null }),
  'ends with an entry above which there is none': ({ store }) =>
    store.forge({ id: `${Number.MAX_SAFE_INTEGER}-0`, h: '{}', b: null, s: 'x' }),
}

function topTerm(log: Fleet['store']['log']): number {
  return Number(log?.at(-1)?.id.split('-')[0] ?? 1)
}

describe.each(Object.entries(MISCHIEF))('a log that %s (instances: What a follower accepts)', (_, deed) => {
  const setting = { ...token, readersWhenLost: 1 }

  it('is replaced by who leads it: nobody gets 502, and the reason is told', async () => {
    for (const seed of SEEDS) {
      const fleet = new Fleet(setting, seed)
      const first = await begun(fleet)
      const second = await follower(fleet)
      await fleet.pass(MAX_AGE_MS)
      deed(fleet)
      await must(fleet, () => fleet.news['log-replaced'] === 1, MAX_AGE_MS)
      await must(
        fleet,
        () => second.cluster.member.role === 'follower' && second.cluster.member.isConnected,
        MAX_AGE_MS / 2,
      )
      expect(fleet.answers(second)).toBeTrue()
      await fleet.pass(MAX_AGE_MS)
      expect([first.cluster.member.role, fleet.answers(second)]).toEqual(['leader', true])
      expect(fleet.log.join()).toContain('"log-unusable"')
      expect(fleet.news['log-replaced']).toBe(1)
      expect(fleet.checker.wrong).toEqual([])
    }
  })

  it('is replaced by the next one where its leader is gone, and by those that begin then', async () => {
    for (const seed of SEEDS) {
      for (const isAnyoneLeft of [true, false]) {
        const fleet = new Fleet(setting, seed)
        const first = await begun(fleet)
        const second = await follower(fleet)
        await fleet.pass(MAX_AGE_MS)
        fleet.kill(first)
        deed(fleet)
        if (!isAnyoneLeft) fleet.kill(second)
        const third = fleet.start()
        await must(fleet, () => fleet.answers(third), 3 * MAX_AGE_MS)
        await must(fleet, () => fleet.instances.every((one) => fleet.answers(one)), MAX_AGE_MS)
        expect(fleet.checker.wrong).toEqual([])
      }
    }
  })
})

describe('a log with a claim of an epoch above which there is none, or one more, that is not refused', () => {
  it.each([1, 2])('is gone on from or replaced: %d below the highest safe integer', async (below) => {
    for (const seed of SEEDS) {
      const fleet = new Fleet({ ...token, readersWhenLost: 1 }, seed)
      await begun(fleet)
      const second = await follower(fleet)
      await fleet.pass(MAX_AGE_MS)
      const position = { epoch: Number.MAX_SAFE_INTEGER - below, number: 0, claimId: 'f'.repeat(16) }
      const head = { kind: 'claim', instance: 'nobody', version: '0.1.0', newLog: false, after: null } as const
      fleet.store.forge(encodeEntry({ position, head, body: NO_BODY }, new Signing('model', fleet.key)))
      await must(fleet, () => fleet.leader === null, MAX_AGE_MS)
      await must(fleet, () => fleet.leader !== null, MAX_AGE_MS)
      await fleet.pass(2 * MAX_AGE_MS)
      expect(fleet.instances.map(({ cluster }) => cluster.member.role).toSorted()).toEqual(['follower', 'leader'])
      expect(second.cluster.member.position?.epoch).toBe(below === 1 ? 1 : Number.MAX_SAFE_INTEGER - 1)
      expect(fleet.answers(await follower(fleet))).toBeTrue()
      expect(fleet.checker.wrong).toEqual([])
    }
  })
})

/** How long the entry is in the log before it is deleted. */
const DELETED_AFTER_MS = [200, 1000, 2000]

describe('a log whose last entry is deleted while its leader examines it', () => {
  it('is replaced after one silence: during a second one, followers would become too old to answer', async () => {
    for (const seed of SEEDS) {
      for (const deletedAfterMs of DELETED_AFTER_MS) {
        const fleet = new Fleet({ ...token, readersWhenLost: 1 }, seed)
        const first = await begun(fleet)
        const second = await follower(fleet)
        await fleet.pass(MAX_AGE_MS)
        const id = '1795000000000-0'
        fleet.store.forge({ id, h: '{}', b: null, s: 'x' })
        await fleet.pass(deletedAfterMs)
        fleet.store.log = fleet.store.log?.filter((entry) => entry.id !== id) ?? null
        fleet.store.stick(id)
        const { lengthMs } = first.cluster.member.election
        await must(fleet, () => fleet.news['log-replaced'] === 1, lengthMs + 6 * token.heartbeatMs - deletedAfterMs)
        expect(first.cluster.member.role).toBe('leader')
        await must(fleet, () => second.cluster.member.role === 'follower' && fleet.answers(second), MAX_AGE_MS / 2)
        expect(fleet.checker.wrong).toEqual([])
      }
    }
  })
})

/** When the entry goes, against the end of the silence, ms: before, during and after the last wait. */
const GONE_ABOUT_MS = [-700, -500, -400, -300, -200, -100, 0, 100, 200, 300, 400, 500]

describe('a log whose last entry was not believed, and is lost just before the log would be dropped', () => {
  it('is used again: its leader drops nothing that can be read', async () => {
    for (const seed of SEEDS) {
      let used = 0
      for (const goneAboutMs of GONE_ABOUT_MS) {
        const fleet = new Fleet({ ...token, readersWhenLost: 1 }, seed)
        const first = await begun(fleet)
        await follower(fleet)
        await fleet.pass(MAX_AGE_MS)
        fleet.store.forge({ id: `${topTerm(fleet.store.log)}-999999`, h: '{}', b: null, s: 'x' })
        await must(fleet, () => first.cluster.member.log.trouble !== null, MAX_AGE_MS)
        await fleet.pass(first.cluster.member.election.lengthMs + goneAboutMs)
        if (fleet.news['log-replaced'] === undefined) used++
        fleet.store.loseTail(1)
        await fleet.pass(MAX_AGE_MS)
        expect(first.cluster.member.role).toBe('leader')
        expect(fleet.checker.wrong).toEqual([])
      }
      expect(used).toBeGreaterThan(3)
    }
  })
})

describe('a log that ends with an entry too large to be read', () => {
  it('is replaced after the time limit of a command and one silence: it is read again during the silence', async () => {
    for (const seed of SEEDS) {
      const short = { maxAgeMs: 10_000, refreshEveryMs: 5000, heartbeatMs: 100, readersWhenLost: 1 }
      const fleet = new Fleet({ ...token, ...short }, seed)
      const first = await begun(fleet)
      const second = await follower(fleet)
      await fleet.pass(short.maxAgeMs)
      fleet.store.swell({ id: `${topTerm(fleet.store.log)}-999999`, h: '', b: null, s: null })
      const mostMs = commandLimitMs(short) + first.cluster.member.election.lengthMs + 6 * short.heartbeatMs
      await must(fleet, () => fleet.news['log-replaced'] === 1, mostMs)
      await must(fleet, () => second.cluster.member.role === 'follower' && fleet.answers(second), short.maxAgeMs / 4)
      expect([first.cluster.member.role, fleet.checker.wrong]).toEqual(['leader', []])
    }
  })
})

describe('a log that ends with an entry that comes too late, while no other connection can be opened', () => {
  it('is not replaced: whether the entry comes is not known', async () => {
    for (const seed of SEEDS) {
      const fleet = new Fleet({ ...token, readersWhenLost: 1 }, seed)
      const first = await begun(fleet)
      await fleet.pass(MAX_AGE_MS)
      const { log, options, election } = first.cluster.member
      fleet.store.swell({ id: `${topTerm(fleet.store.log)}-999999`, h: '', b: null, s: null })
      await must(fleet, () => log.unusable.why !== null, MAX_AGE_MS)
      let opened = 0
      const undo = override(options.store, 'connect', (original) => () => {
        if (opened++ > 0) throw new StoreFailure('late', 'the store did not answer')
        return original()
      })
      await fleet.pass(2 * (commandLimitMs(token) + election.lengthMs))
      expect(fleet.news['log-replaced']).toBeUndefined()
      undo()
      await must(fleet, () => fleet.news['log-replaced'] === 1, MAX_AGE_MS)
      expect(fleet.checker.wrong).toEqual([])
    }
  })
})

/** All that instances read of the log comes too late for a while, and what they ask in a word does not. */
async function readsTooSlowly(seed: number): Promise<Fleet> {
  const fleet = new Fleet(token, seed)
  await begun(fleet)
  const second = await follower(fleet)
  const undo = override(fleet.store, 'isEndless', () => () => true)
  await fleet.pass(3 * MAX_AGE_MS)
  undo()
  await fleet.until(() => fleet.checker.wrongs > 0 || fleet.answers(second), 2 * MAX_AGE_MS)
  return fleet
}

describe('a log that somebody leads', () => {
  it('is dropped by none that is slow, or cannot read a part of it', async () => {
    for (const seed of SEEDS) {
      const fleet = await readsTooSlowly(seed)
      expect(fleet.news['log-replaced']).toBeUndefined()
      expect(fleet.checker.wrong).toEqual([])
    }
  })

  it('is where nobody looks whether it moves', async () => {
    const undo = override(UnusableLog.prototype, 'look', () => () => Promise.resolve('abandoned'))
    try {
      for (const seed of SEEDS) expect((await readsTooSlowly(seed)).checker.wrong.join()).toContain('drops a log')
    } finally {
      undo()
    }
  })
})
