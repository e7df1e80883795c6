import { expect, it } from 'bun:test'
import { randomBytes } from 'node:crypto'
import { formatter } from '../../test/model/records.ts'
import { settled, VirtualTime } from '../../test/model/virtual-time.ts'
import { Admissions } from '../sync/served-list.ts'
import { ListMaker } from '../records/row-records.ts'
import { type Ages, type Head, type ReportedState, NO_BODY, Signing } from './entries.ts'
import { FollowedList, FollowedLists, UNREAD } from './followed-lists.ts'
import { OwnNonces, SeenNonces } from './nonces.ts'

const POSITION = { epoch: 1, number: 1, claimId: '00' }
const WELL: ReportedState = { ...UNREAD, whole: true }
const NEW: Ages = { details: 0, availability: 0, audited: 0 }

it('turns nobody away for a read that failed before it has taken the heartbeat that came with it', async () => {
  const time = new VirtualTime(1)
  const signing = new Signing('fingerprint', null)
  const nonces = new OwnNonces('aa00000000000001', randomBytes, time, signing)
  const seen = new SeenNonces(signing, time, { ms: 500 })
  const lists = new ListMaker(formatter).make()
  const states = { events: WELL, venues: WELL }
  const following = new FollowedLists({
    lists,
    time,
    nonces,
    heartbeat: { ms: 500 },
    position: POSITION,
    until: POSITION,
    states,
  })
  const limits = { waiting: 10, waitForMs: 15_000 }
  const admissions = new Admissions({ maxAgeMs: 30_000, staleIfErrorMs: 0, shrinkGuardMs: 0 }, limits, time)
  let answered: boolean | null = null
  const ask = async (): Promise<void> => {
    answered = null
    answered = (await admissions.wait(() => [following.events], time.now())).ok
  }
  const take = async (head: Head, body = NO_BODY): Promise<void> => {
    const position = { ...POSITION, number: following.position.number + 1 }
    expect(await following.take({ position, head, body }, () => Promise.resolve(true))).toBeTrue()
    await settled()
  }
  const failed: Head = { kind: 'read', list: 'events', ...WELL, lastError: 'down', nextTryMs: 7000 }
  const asked = ask()
  await take(failed)
  expect(answered).toBeNull()
  seen.take(
    new Map([
      [
        nonces.instance,
        nonces.next({ version: '1', isFit: true, needsSnapshot: false, heartbeatMs: 500, accepts: null }),
      ],
    ]),
  )
  const told = {
    instance: 'b',
    instances: 1,
    candidates: [],
    versions: [],
    refreshEveryMs: 5000,
    heartbeatMs: 500,
    accepted: [],
  }
  await take({ kind: 'heartbeat', ages: { events: NEW, venues: NEW }, ...told }, seen.pairs())
  following.help()
  await asked
  expect(answered).toBeTrue()
  await time.pass(60_000)
  const refused = ask()
  await take(failed)
  following.help()
  await refused
  expect(answered).toBeFalse()
})

it('tells of a list what its leader tells: whether prices are read, which the rows do not say', () => {
  const time = new VirtualTime(1)
  const lists = new ListMaker(formatter).make()
  const link = { isLost: false }
  const followed = new FollowedList(lists.events, { ...WELL, readsPrice: true }, time, { ms: 500 }, link)
  expect([lists.events.readsPrice, followed.resumeState.readsPrice]).toEqual([true, true])
  followed.tell(WELL)
  expect([lists.events.readsPrice, followed.resumeState.readsPrice]).toEqual([false, false])
})
