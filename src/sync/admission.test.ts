import { describe, expect, it } from 'bun:test'
import { settled, VirtualTime } from '../../test/model/virtual-time.ts'
import { FakeList } from '../../test/support/fake-list.ts'
import { formatter } from '../../test/model/records.ts'
import type { EventRecord } from '../domain/event.ts'
import { ListMaker } from '../records/row-records.ts'
import { type Admission, Admissions } from './served-list.ts'

function listOf(time: VirtualTime): FakeList<EventRecord> {
  return new FakeList(time, new ListMaker(formatter).make().events)
}

function scene(maxAgeMs: number, staleIfErrorMs = 0, limits = { waiting: 100, waitForMs: 10_000 }) {
  const time = new VirtualTime(1)
  const list = listOf(time)
  const admissions = new Admissions(
    () => ({ maxAgeMs, staleIfErrorMs, shrinkGuardMs: 60_000 }),
    () => limits,
    time,
  )
  const outcomeOf = (waits: Promise<Admission>): (() => Admission | null) => {
    let outcome: Admission | null = null
    void waits.then((admission) => (outcome = admission))
    return () => outcome
  }
  return { time, list, admissions, outcomeOf }
}

describe('Admissions', () => {
  it('answers at once up to the maximum age, and not 1 ms past it', async () => {
    const { time, list, admissions } = scene(1000)
    expect(admissions.ageNow(list)).toBe(-1)
    list.confirmedAt = time.now()
    await time.pass(999)
    expect(admissions.ageNow(list)).toBeCloseTo(999, 1)
    await time.pass(2)
    expect(admissions.ageNow(list)).toBe(-1)
  })

  it('gives a stale answer only if the reads fail, and only within staleIfError', async () => {
    const { time, list, admissions } = scene(1000, 500)
    list.confirmedAt = time.now()
    await time.pass(1499)
    expect(admissions.ageNow(list)).toBe(-1)
    list.isFailing = true
    expect(admissions.ageNow(list)).toBeCloseTo(1499, 1)
    await time.pass(2)
    expect(admissions.ageNow(list)).toBe(-1)
  })

  it('answers from a list that is not believed as long as the shrink guard says, even if staleIfError is longer', async () => {
    const { time, list, admissions } = scene(1000, 3_600_000)
    list.confirmedAt = time.now()
    list.shrunk = { since: time.now(), absent: 26, unreadable: 0 }
    list.isFailing = true
    await time.pass(59_000)
    expect(admissions.ageNow(list)).toBeCloseTo(59_000, 1)
    await time.pass(2000)
    expect(admissions.ageNow(list)).toBe(-1)
  })

  it('with a maximum age of 0 waits for a read that began after the request came', async () => {
    const { time, list, admissions, outcomeOf } = scene(0)
    void list.readOnce()
    await time.pass(50)
    const arrived = time.now()
    const outcome = outcomeOf(admissions.wait(() => [list], arrived))
    await time.pass(60)
    expect(outcome()).toBeNull()
    await time.pass(100)
    expect(outcome()).toMatchObject({ ok: true })
    expect(list.reads).toBe(2)
    expect(list.isConfirmedSince(arrived)).toBe(true)
  })

  it('answers after a read that took longer than the maximum age, because it began after the request came', async () => {
    const { time, list, admissions, outcomeOf } = scene(10)
    const outcome = outcomeOf(admissions.wait(() => [list], time.now()))
    await time.pass(120)
    expect(outcome()).toMatchObject({ ok: true })
    expect(list.reads).toBe(1)
  })

  it('turns away at once, with the time of the next try, while a list backs off', async () => {
    const { time, list, admissions } = scene(1000)
    list.isFailing = list.isBackingOff = true
    list.nextTryInMs = 7300
    expect(await admissions.wait(() => [list], time.now())).toEqual({ ok: false, retryAfterMs: 7300 })
    expect(list.reads).toBe(0)
  })

  it('turns away when the read it waited for fails, or answers stale if that is allowed', async () => {
    const refused = scene(1000)
    refused.list.outcome = 'fails'
    const refusal = refused.outcomeOf(refused.admissions.wait(() => [refused.list], refused.time.now()))
    await refused.time.pass(120)
    expect(refusal()).toMatchObject({ ok: false })
    const allowed = scene(1000, 60_000)
    allowed.list.confirmedAt = allowed.time.now()
    await allowed.time.pass(2000)
    allowed.list.outcome = 'fails'
    const answer = allowed.outcomeOf(allowed.admissions.wait(() => [allowed.list], allowed.time.now()))
    await allowed.time.pass(120)
    expect(answer()).toMatchObject({ ok: true, ageMs: expect.closeTo(2100, -1) as number })
  })

  it('does not read again and again if reads succeed and prove nothing', async () => {
    const { time, list, admissions, outcomeOf } = scene(1000)
    list.outcome = 'proves-nothing'
    list.nextTryInMs = 4000
    const outcome = outcomeOf(admissions.wait(() => [list], time.now()))
    await time.pass(9000)
    expect(outcome()).toEqual({ ok: false, retryAfterMs: 4000 })
    expect(list.reads).toBe(3)
  })

  it('limits the time and the number of waiting requests', async () => {
    const { time, list, admissions, outcomeOf } = scene(1000, 0, { waiting: 2, waitForMs: 60 })
    const first = outcomeOf(admissions.wait(() => [list], time.now()))
    const second = outcomeOf(admissions.wait(() => [list], time.now()))
    const third = outcomeOf(admissions.wait(() => [list], time.now()))
    await settled()
    list.nextTryInMs = 0
    expect(third()).toEqual({ ok: false, retryAfterMs: 1000 })
    expect(admissions.waiting).toBe(2)
    await time.pass(59)
    expect(first()).toBeNull()
    await time.pass(2)
    expect([first(), second()]).toEqual([third(), third()])
    expect(admissions.waiting).toBe(0)
  })

  it('counts the time that a request has already waited for another list', async () => {
    const { time, list, admissions, outcomeOf } = scene(1000)
    const arrived = time.now()
    await time.pass(9950)
    const outcome = outcomeOf(admissions.wait(() => [list], arrived))
    await time.pass(60)
    expect(outcome()).toMatchObject({ ok: false })
  })

  it('is as old as the older of two lists, and waits only for the one that is too old', async () => {
    const { time, list: venues, admissions, outcomeOf } = scene(1000)
    const events = listOf(time)
    venues.confirmedAt = time.now()
    await time.pass(600)
    const outcome = outcomeOf(admissions.wait(() => [events, venues], time.now()))
    await time.pass(120)
    expect(outcome()).toMatchObject({ ok: true, ageMs: expect.closeTo(700, -1) as number })
    expect([events.reads, venues.reads]).toEqual([1, 0])
  })
})
