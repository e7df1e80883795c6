import { describe, expect, it } from 'bun:test'
import { begun, MAX_AGE_MS, follower, must, token } from './directed.ts'
import { Fleet } from './fleet.ts'
import { planSeeds } from '../support/depth.ts'

const SEEDS = planSeeds(20)
const setting = token

function loseStore(fleet: Fleet): void {
  fleet.store.health = 'down'
  fleet.store.breakConnections()
}

describe('a process that is started amid faults (instances: Goals)', () => {
  it('answers within three heartbeats where the store has just come back empty, or as it was: the leader is back by then', async () => {
    for (const isEmpty of [true, false]) {
      for (const seed of SEEDS) {
        const fleet = new Fleet(setting, seed)
        await begun(fleet)
        await follower(fleet)
        const saved = fleet.store.save()
        await fleet.pass(MAX_AGE_MS)
        loseStore(fleet)
        await fleet.pass(2 * MAX_AGE_MS)
        if (isEmpty) fleet.store.empty()
        else fleet.store.restore(saved)
        fleet.store.health = 'up'
        // What the process itself takes before it connects.
        await fleet.pass(300)
        const late = fleet.start()
        await must(fleet, () => fleet.answers(late), 3 * token.heartbeatMs)
        expect(fleet.checker.wrong).toEqual([])
      }
    }
  })

  it('does not wait until what it loaded and never answered from is outdone by a later read', async () => {
    for (const seed of SEEDS) {
      const fleet = new Fleet(setting, seed)
      const first = await begun(fleet)
      const saved = fleet.store.save()
      await fleet.pass(MAX_AGE_MS)
      loseStore(fleet)
      first.machine.stop(MAX_AGE_MS)
      fleet.store.restore(saved)
      fleet.store.health = 'up'
      const late = fleet.start()
      await must(fleet, () => late.cluster.member.target !== null, 1000)
      const { target } = late.cluster.member
      first.machine.wake()
      await must(fleet, () => fleet.answers(late), 3 * token.heartbeatMs)
      expect(late.cluster.member.target).not.toBe(target)
      expect(fleet.checker.wrong).toEqual([])
    }
  })

  it('waits for its first connection, however long a busy machine takes for it, and reads nothing', async () => {
    for (const seed of SEEDS) {
      const fleet = new Fleet(setting, seed)
      await begun(fleet)
      await fleet.pass(MAX_AGE_MS / 3)
      const late = fleet.start()
      late.machine.stop(3000)
      await must(fleet, () => late.cluster.member.role !== 'waiting', MAX_AGE_MS)
      expect([seed, late.replicas.length, fleet.checker.wrong]).toEqual([seed, 0, []])
    }
  })

  it('reads the CRM for itself after a silence where there is no store, and not before half the maximum age where it lost one', async () => {
    for (const seed of SEEDS) {
      const fleet = new Fleet(setting, seed)
      await begun(fleet)
      const second = await follower(fleet)
      await fleet.pass(MAX_AGE_MS / 3)
      loseStore(fleet)
      const third = fleet.start()
      await must(
        fleet,
        () => third.cluster.member.role === 'standalone',
        third.cluster.member.election.lengthMs + token.heartbeatMs,
      )
      expect(second.cluster.member.role).toBe('follower')
      await must(fleet, () => fleet.answers(third), MAX_AGE_MS / 3)
      await must(fleet, () => second.cluster.member.role === 'standalone', MAX_AGE_MS)
      expect(fleet.checker.wrong).toEqual([])
    }
  })
})
