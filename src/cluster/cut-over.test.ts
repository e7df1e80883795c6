import { expect, it } from 'bun:test'
import { VirtualTime } from '../../test/model/virtual-time.ts'
import type { EventRecord } from '../domain/event.ts'
import { Formatter } from '../formats/format.ts'
import type { ListSource } from '../sync/port.ts'
import { Replica } from '../sync/replica.ts'
import { type ServedLists, Admissions } from '../sync/served-list.ts'
import { type Time, systemTime } from '../time/time.ts'
import type { ReportedState } from './beat.ts'
import { FollowedList, UNREAD } from './followed-lists.ts'
import { CutOver } from './cut-over.ts'
import { ListMaker } from '../records/row-records.ts'

const WHOLE: ReportedState = { ...UNREAD, whole: true, ageMs: 0, auditedMs: 0 }

const formatter = new Formatter(() => ({ basePath: '/', namespace: 'Marquee', links: { event: [], venue: [] } }))
const BOUNDS = { maxAgeMs: 30_000, staleIfErrorMs: 0, shrinkGuardMs: 86_400_000 }
const LIMITS = { waiting: 10, waitForMs: 3_600_000 }

function followed(
  isReached: boolean,
  time: Time = systemTime,
): ServedLists & { readonly events: FollowedList<EventRecord> } {
  const lists = new ListMaker(formatter).make()
  const events = new FollowedList(lists.events, WHOLE, time, { ms: 100 })
  const venues = new FollowedList(lists.venues, WHOLE, time, { ms: 100 })
  events.isReached = venues.isReached = isReached
  return { events, venues }
}

it('answers who waited for a list as soon as another that may be answered from has taken its place', async () => {
  const cutOver = new CutOver(followed(false), systemTime)
  const admissions = new Admissions(
    () => BOUNDS,
    () => LIMITS,
    systemTime,
  )
  const admitted = admissions.wait(() => [cutOver.served.events], systemTime.now())
  const next = followed(true)
  next.events.confirm(systemTime.now())
  expect(cutOver.offer(next)).toBe(true)
  expect((await admitted).ok).toBe(true)
})

it('answers who waits for a read that hangs as soon as another list may be answered from', async () => {
  const time = new VirtualTime(1)
  const hangs = <Item>(): ListSource<Item> => ({
    reportsChanges: true,
    repeatedId: 'serves-later',
    patienceMs: 10_000,
    // oxlint-disable-next-line require-yield -- it never comes to that
    async *read() {
      return await new Promise<never>(() => {})
    },
  })
  const replica = new Replica({
    crm: { events: hangs(), venues: hangs(), close: () => Promise.resolve() },
    lists: new ListMaker(formatter).make(),
    settings: () => ({ ...BOUNDS, refreshEveryMs: 5000, fullReadEveryMs: 900_000 }),
    limits: () => ({ memoryBytes: Infinity }),
    time,
    observe: () => {},
    pause: () => Promise.resolve(),
  })
  const cutOver = new CutOver(replica, time)
  const admitted = new Admissions(
    () => BOUNDS,
    () => LIMITS,
    time,
  ).wait(() => [cutOver.served.events], time.now())
  const next = followed(true, time)
  next.events.confirm(time.now())
  expect(cutOver.offer(next)).toBe(true)
  expect((await admitted).ok).toBe(true)
})

it('serves a list that tells what its leader told', () => {
  const cutOver = new CutOver(followed(false), systemTime)
  const before = cutOver.served.events
  expect([before.isLoaded, before.loadedAtMs, before.lastFailure]).toEqual([false, Number.POSITIVE_INFINITY, null])
  const next = followed(true)
  next.events.tell({ ...WHOLE, unidentified: [0, 2, 1], lastError: 'the CRM is down' })
  cutOver.offer(next)
  const current = cutOver.served.events
  expect([current.isLoaded, current.shrunk, current.list.withheldInAll]).toEqual([true, null, 3])
  expect(current.list.unidentified.counts.slice(0, 3)).toEqual([0, 2, 1])
  expect(current.lastFailure).toEqual({ kind: 'unreachable', message: 'the CRM is down' })
  expect([current.isFailing, current.isBackingOff]).toEqual([true, false])
  next.events.tell({ ...WHOLE, lastError: 'events.csv may be half-written', waiting: true, nextTryMs: 5000 })
  expect([current.isFailing, current.isBackingOff]).toEqual([false, false])
  expect(next.events.resumeState.failure).toMatchObject({ kind: 'waiting' })
  next.events.tell({ ...WHOLE, lastError: 'too short', shrunk: { forMs: 5000, absent: 12, unreadable: 3 } })
  expect([current.shrunk, current.lastFailure?.message]).toMatchObject([{ absent: 12, unreadable: 3 }, 'too short'])
  const since = current.shrunk?.since
  next.events.tell({ ...WHOLE, lastError: 'too short', shrunk: { forMs: 5900, absent: 12, unreadable: 3 } })
  expect(current.shrunk?.since).toEqual(since)
  next.events.tell({ ...WHOLE, lastError: 'too short', shrunk: { forMs: 0, absent: 12, unreadable: 3 } })
  expect(current.shrunk?.since).not.toEqual(since)
})
