import { describe, expect, it } from 'bun:test'
import type { Guid } from '../../src/domain/guid.ts'
import { FollowedList } from '../../src/cluster/followed-lists.ts'
import { override } from '../model/override.ts'
import { guidOf } from '../model/records.ts'
import { planSeeds } from '../support/depth.ts'
import { begun, follower, MAX_AGE_MS, must, token } from './directed.ts'
import { Fleet } from './fleet.ts'
import type { Instance } from './instance.ts'

const setting = { ...token, fullReadEveryMs: MAX_AGE_MS, shrinkGuardMs: 20 * MAX_AGE_MS }
const VENUE = guidOf(0x1000 + 31)
const told = (at: number) => ({ at, untold: false, lateByMs: 0, silent: false })

/** Whether callers who ask for the venue of an event get 404, although nobody has read whether it exists. */
function denies({ cluster, admissions }: Instance, event: Guid): boolean {
  const { events, venues } = cluster.served
  if (events.list.get(event)?.VenueId !== VENUE || venues.list.serves(VENUE)) return false
  return ![venues, events].some((list) => admissions.isGuessing(list))
}

/**
 * The shrink guard holds the venues, and no read of them ends when an event refers to a new one. Then the leader is
 * killed. Returns how often an instance denied the new venue.
 */
async function denials(seed: number): Promise<number> {
  const fleet = new Fleet(setting, seed)
  const [first, second] = [await begun(fleet), await follower(fleet)]
  const { tables, time } = fleet
  fleet.history.end()
  await fleet.pass(MAX_AGE_MS)
  const [event] = tables.events.shown()
  if (event === undefined) throw new Error('there are no events')
  const [kept] = tables.venues.shown()
  tables.venues.visible = new Set(kept === undefined ? [] : [kept.id])
  await must(fleet, () => second.cluster.served.venues.shrunk !== null, 4 * MAX_AGE_MS)
  await fleet.until(() => false, 2 * MAX_AGE_MS)
  let denied = 0
  const pass = async (isSo: () => boolean): Promise<void> => {
    const look = (): boolean => {
      for (const instance of fleet.instances) if (denies(instance, event.id)) denied++
      return isSo()
    }
    await must(fleet, look, 2 * MAX_AGE_MS)
  }
  for (const instance of [first, second]) fleet.cutFromCrm(instance, ['venues'])
  tables.venues.create(VENUE, guidOf(0), told(time.trueMs))
  tables.events.change(event, { venue: VENUE }, told(time.trueMs))
  await pass(() => second.cluster.served.events.list.get(event.id)?.VenueId === VENUE)
  const untilMs = time.trueMs + 2000
  await pass(() => time.trueMs > untilMs)
  fleet.kill(first)
  await pass(() => second.cluster.member.role === 'leader')
  const endMs = time.trueMs + MAX_AGE_MS / 3
  await pass(() => time.trueMs > endMs)
  return denied
}

describe('a list that was left behind (instances: The age, proved)', () => {
  it('is said to be so with the rows that refer to what it lacks, and by the next leader', async () => {
    for (const seed of planSeeds(20)) expect([seed, await denials(seed)]).toEqual([seed, 0])
  }, 600_000)

  it('would deny a venue if the beat alone said so', async () => {
    const putRight = override(FollowedList.prototype, 'leaveBehind', () => () => {})
    try {
      expect(await denials(1)).toBeGreaterThan(0)
    } finally {
      putRight()
    }
  }, 600_000)
})
