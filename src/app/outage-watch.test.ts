import { expect, it } from 'bun:test'
import { formatter } from '../../test/model/records.ts'
import { VirtualTime } from '../../test/model/virtual-time.ts'
import type { ReportedState } from '../cluster/beat.ts'
import { FollowedLists, UNREAD } from '../cluster/followed-lists.ts'
import { OwnTicks } from '../cluster/ticks.ts'
import { ListMaker } from '../records/row-records.ts'
import { type Watched, OutageWatch } from './outage-watch.ts'

const SETTINGS = { maxAgeMs: 1000, staleIfErrorMs: 0, shrinkGuardMs: 0, refreshEveryMs: 500, fullReadEveryMs: 60_000 }
const LOST = 'redis://store.example.org: connection refused'
const WELL: ReportedState = { ...UNREAD, whole: true, ageMs: 0, auditedMs: 0 }
const CRM_DOWN = { ...WELL, lastError: 'the CRM is down' }
const FROM = { epoch: 1, seq: 1, token: 'a1' }

/** Returns what is said of each list when a follower's lists are past the maximum age. */
async function saidOf(
  states: { readonly events: ReportedState; readonly venues: ReportedState },
  link: { readonly isLost: boolean },
  member: ReturnType<Watched['cluster']>,
  { waitForMs, quietMs } = { waitForMs: 100, quietMs: 900 },
): Promise<readonly string[]> {
  const time = new VirtualTime(1)
  const lists = new FollowedLists({
    lists: new ListMaker(formatter).make(),
    time,
    ticks: new OwnTicks('aa00000000000001', time),
    heartbeat: { ms: 100 },
    link,
    from: FROM,
  })
  lists.events.tell(states.events)
  lists.venues.tell(states.venues)
  for (const list of [lists.events, lists.venues]) {
    list.isReached = true
    list.confirm(time.now())
  }
  const lines: string[] = []
  const watch = new OutageWatch(
    () => ({ lists, settings: SETTINGS, waitForMs, cluster: () => member }),
    (seen) => {
      if (seen.kind === 'answers-stopped') lines.push(`${seen.list}: ${seen.why}`)
    },
    time,
  )
  watch.start()
  await time.pass(quietMs)
  expect(lines).toEqual([])
  await time.pass(5000)
  watch.stop()
  return lines
}

it('names the store as the reason where an instance that follows is cut off from it, whatever its leader said before', async () => {
  const states = { events: WELL, venues: CRM_DOWN }
  const lines = await saidOf(states, { isLost: true }, { role: 'follower', connected: false, lastError: LOST })
  expect(lines).toEqual([`events: ${LOST}`, `venues: ${LOST}`])
})

it('names the failure of a list while the store is there, and where an instance reads for itself', async () => {
  const states = { events: CRM_DOWN, venues: WELL }
  const following = { role: 'follower', connected: true, lastError: null } as const
  expect(await saidOf(states, { isLost: false }, following)).toEqual([
    'events: the CRM is down',
    'venues: the current read has not finished',
  ])
  const alone = { role: 'standalone', connected: false, lastError: LOST } as const
  expect((await saidOf(states, { isLost: false }, alone))[0]).toBe('events: the CRM is down')
})

it('says nothing while callers still wait for a read that has begun', async () => {
  const following = { role: 'follower', connected: true, lastError: null } as const
  const waits = { waitForMs: 3000, quietMs: 3900 }
  const lines = await saidOf({ events: WELL, venues: WELL }, { isLost: false }, following, waits)
  expect(lines).toHaveLength(2)
})
