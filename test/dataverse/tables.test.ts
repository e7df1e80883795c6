import { beforeEach, describe, expect, it } from 'bun:test'
import { containing } from './containing.ts'
import { fill, idOf } from './environment.ts'
import { eventIn, Fixture, load } from './fixture.ts'
import { json, refusal } from './reply.ts'
import type { Rig, RigOptions } from './rig.ts'
import type { Trap } from './stand-in.ts'

const environment = new Fixture()

async function loaded(options: RigOptions = {}): Promise<Rig> {
  const rig = environment.rig(options)
  await load(rig)
  return rig
}

const reads = (part: string): number => environment.standIn.reads.filter(({ path }) => path.includes(part)).length

describe('a table without change tracking', () => {
  beforeEach(() => {
    environment.events.changeTracking = false
    fill(environment, 30)
  })

  it('is read in full only, which is said once, by table', async () => {
    const rig = await loaded()
    environment.events.remove(idOf(1))
    for (environment.aheadMs of [20_000, 40_000, 60_000]) {
      await rig.replica.events.refresh.attempt()
      expect(rig.replica.events.list.served).toBe(29)
    }
    const said = rig.observations.filter(({ kind }) => kind === 'no-change-tracking')
    expect(said).toEqual([{ kind: 'no-change-tracking', list: 'events', table: 'msevtmgt_events' }])
  })

  it('is read as often as the maximum age needs, not with every refresh', async () => {
    const rig = await loaded()
    const before = reads('msevtmgt_events')
    for (let seconds = 5; seconds <= 60; seconds += 5) {
      environment.aheadMs = seconds * 1000
      expect(await rig.replica.events.refresh.attempt()).toEqual({ ok: true })
      expect(rig.replica.events.ageMs(environment.time.now())).toBeLessThan(30_000)
    }
    expect(reads('msevtmgt_events') - before).toBe(4)
  })

  it('is read no more often than the limits allow, and what they do not allow is said', async () => {
    fill(environment, 500)
    environment.standIn.query.largestPage = 10
    const rig = await loaded({ freshness: { maxAgeMs: 0 } })
    const attempt = await rig.replica.events.refresh.attempt()
    expect(attempt).toMatchObject({
      ok: false,
      failure: { kind: 'throttled', message: containing('change tracking') },
    })
    environment.aheadMs = 10_000
    expect(await rig.replica.events.refresh.attempt()).toEqual({ ok: true })
  })

  it('shares the limits with the other one, and counts reads that fail', async () => {
    const { standIn } = environment
    environment.stoppedAt = environment.time.now()
    environment.venues.changeTracking = false
    fill(environment, 500)
    standIn.query.largestPage = 10
    const { events, venues } = (await loaded({ freshness: { maxAgeMs: 0 } })).replica
    const throttled = { ok: false, failure: { kind: 'throttled' } }
    expect(await venues.refresh.attempt()).toMatchObject(throttled)
    environment.aheadMs = 20_000
    let pages = 0
    const isFor = (path: string): boolean => path.includes('skiptoken') && ++pages === 40
    standIn.traps.push({ times: 1, isFor, fault: { kind: 'truncated' } })
    // 41 requests, and the one for the venues: each costs 200 ms.
    expect(await events.refresh.attempt()).toMatchObject({ ok: false, failure: { kind: 'broken', retryAfterMs: 8400 } })
    expect(await events.refresh.attempt()).toMatchObject(throttled)
    expect(await venues.refresh.attempt()).toEqual({ ok: true })
    environment.aheadMs = 28_400
    expect(await events.refresh.attempt()).toEqual({ ok: true })
  })

  it('is read again soon after a failure, however large the other one is', async () => {
    const { standIn } = environment
    environment.stoppedAt = environment.time.now()
    environment.venues.changeTracking = false
    fill(environment, 500)
    standIn.query.largestPage = 10
    const { events, venues } = (await loaded({ freshness: { maxAgeMs: 0 } })).replica
    environment.aheadMs = 60_000
    expect(await events.refresh.attempt()).toEqual({ ok: true })
    standIn.traps.push({ times: 1, isFor: (path) => path.includes('venue'), fault: { kind: 'truncated' } })
    const attempt = await venues.refresh.attempt()
    expect(attempt).toMatchObject({ ok: false, failure: { kind: 'broken' } })
    expect(attempt.ok ? null : attempt.failure.retryAfterMs).toBeNull()
  })

  it('takes no rest after a read that was not believed', async () => {
    const rig = await loaded()
    environment.events.visible = new Set([idOf(1)])
    environment.aheadMs = 16_000
    expect(await rig.replica.events.refresh.attempt()).toMatchObject({ ok: false, failure: { kind: 'shrunk' } })
    environment.aheadMs = 17_000
    expect(await rig.replica.events.refresh.attempt()).toMatchObject({ ok: false, failure: { kind: 'shrunk' } })
    environment.events.visible = null
    environment.aheadMs = 18_000
    expect((await rig.replica.events.refresh.attempt()).ok).toBe(true)
  })

  it('is asked again later, for it may have been switched on', async () => {
    const rig = await loaded()
    environment.events.changeTracking = true
    environment.aheadMs = 901_000
    await rig.replica.events.refresh.attempt()
    const before = reads('deltatoken')
    await rig.replica.events.refresh.attempt()
    expect(reads('deltatoken')).toBe(before + 1)
  })

  it('is known by a read that ends without a link, too', async () => {
    environment.events.changeTracking = true
    environment.standIn.query.faults.withoutDeltaLink = true
    const rig = await loaded()
    expect(rig.observations.filter(({ kind }) => kind === 'no-change-tracking').length).toBe(2)
    expect(rig.crm.events.reportsChanges).toBe(false)
    const examined = await rig.crm.examine?.()
    expect(examined?.warnings.map((warning) => warning.slice(0, 47))).toEqual(
      ['the table msevtmgt_events has no change tracking', 'the table msevtmgt_venues has no change tracking'].map(
        (warning) => warning.slice(0, 47),
      ),
    )
  })
})

describe('a table whose links to changes are refused again and again', () => {
  const refuse = (): Trap => {
    const reply = refusal(400, '0x80044352', 'Version stamp associated with the client has expired.')
    return environment.standIn.trap(/events.*deltatoken/, { kind: 'reply', reply }, Number.POSITIVE_INFINITY)
  }
  const told = ({ observations }: Rig): readonly unknown[] =>
    observations.filter(({ kind }) => kind === 'no-change-tracking' || kind === 'changes-unreadable')

  it('is not said to have no change tracking after three refused links', async () => {
    fill(environment, 30)
    const rig = await loaded()
    refuse().times = 3
    for (let refresh = 1; refresh <= 8; refresh++)
      expect(await rig.replica.events.refresh.attempt()).toEqual({ ok: true })
    expect(told(rig)).toEqual([])
    expect(rig.crm.events.reportsChanges).toBe(true)
  })

  it('is read in full from the fifth on, and nobody says that it has no change tracking', async () => {
    fill(environment, 30)
    const rig = await loaded()
    refuse()
    for (let refresh = 1; refresh <= 6; refresh++) {
      expect(rig.crm.events.reportsChanges).toBe(refresh <= 5)
      expect(await rig.replica.events.refresh.attempt()).toEqual({ ok: true })
    }
    expect(told(rig)).toEqual([{ kind: 'changes-unreadable', list: 'events', table: 'msevtmgt_events' }])
    const warnings = (await rig.crm.examine?.())?.warnings.join() ?? ''
    expect(warnings).toContain('has change tracking whose links cannot be followed')
    expect(warnings).not.toContain('has no change tracking')
  })

  it('is read in full at once where a link fails as the one before it did, whatever the fault', async () => {
    fill(environment, 30)
    const rig = await loaded()
    const { refresh, audit } = rig.replica.events
    const reply = refusal(500, '0x80040216', 'An unexpected error occurred.')
    environment.standIn.trap(/events.*deltatoken/, { kind: 'reply', reply }, Number.POSITIVE_INFINITY)
    // By itself no proof: the CRM as a whole may be out, until a full read succeeds.
    expect((await refresh.attempt()).ok).toBe(false)
    expect(await audit.attempt()).toEqual({ ok: true })
    for (let failures = 1; failures < 5; failures++) {
      expect(rig.crm.events.reportsChanges).toBe(true)
      expect(await refresh.attempt()).toEqual({ ok: true })
    }
    expect(rig.crm.events.reportsChanges).toBe(false)
    expect(reads('deltatoken')).toBe(5)
  })

  it('is tried again later, when one more refusal is enough and is not told again', async () => {
    fill(environment, 30)
    const rig = await loaded()
    const refusals = refuse()
    for (let refresh = 1; refresh <= 5; refresh++) await rig.replica.events.refresh.attempt()
    for (environment.aheadMs of [901_000, 902_000])
      expect(await rig.replica.events.refresh.attempt()).toEqual({ ok: true })
    expect(rig.crm.events.reportsChanges).toBe(false)
    expect(told(rig).length).toBe(1)
    refusals.times = 0
    for (environment.aheadMs of [1_810_000, 1_811_000])
      expect(await rig.replica.events.refresh.attempt()).toEqual({ ok: true })
    expect(rig.crm.events.reportsChanges).toBe(true)
  })
})

describe('availability at its own pace', () => {
  it('is read by its own columns alone, where sales do not touch the row', async () => {
    fill(environment, 20)
    const rig = await loaded({ settings: { availability: { everyMs: 2000 } } })
    environment.events.change(idOf(3), { msevtmgt_registrationcount: 100 }, false)
    await rig.replica.events.refresh.attempt()
    expect(eventIn(rig, 3)?.TicketsAvailable).toBe(90)
    await rig.replica.events.availability.attempt()
    expect(eventIn(rig, 3)?.TicketsAvailable).toBe(0)
    const { path = '', headers } = environment.standIn.reads.at(-1) ?? {}
    expect(path).toContain('?$select=msevtmgt_eventid,msevtmgt_maximumeventcapacity,msevtmgt_registrationcount')
    expect(headers?.['prefer']).toBe('odata.maxpagesize=5000')
  })

  it('has pages of its own size, which is named and reduced if one is too large', async () => {
    fill(environment, 20)
    const { events } = (await loaded({ settings: { availability: { everyMs: 2000 } } })).replica
    const reply = json({ value: [], padding: ' '.repeat(17_000_000) })
    environment.standIn.trap('events', { kind: 'reply', reply })
    const message = 'msevtmgt_events: a page of 5000 rows is too large; the next attempt requests pages of 500'
    expect(await events.availability.attempt()).toMatchObject({ ok: false, failure: { kind: 'too-large', message } })
    expect(await events.availability.attempt()).toEqual({ ok: true })
    expect(await events.refresh.attempt()).toEqual({ ok: true })
    const sizes = environment.standIn.reads.slice(-2).map(({ headers }) => headers['prefer'])
    expect(sizes).toEqual(['odata.maxpagesize=500', 'odata.maxpagesize=1000'])
  })
})

describe('requests', () => {
  it('are few at once', async () => {
    fill(environment, 3000)
    environment.standIn.latencyMs = 10
    const rig = await loaded({ settings: { availability: { everyMs: 2000 } } })
    const { events, venues } = rig.replica
    await Promise.all(
      [events, venues].flatMap((list) => [list.refresh.attempt(), list.audit.attempt(), list.availability.attempt()]),
    )
    expect(environment.standIn.mostAtOnce).toBeLessThanOrEqual(3)
    expect(environment.standIn.mostAtOnce).toBeGreaterThan(1)
  })

  it('that were refused for the environment’s sake are not sent again before their time', async () => {
    fill(environment, 3)
    const rig = await loaded()
    const reply = refusal(429, '0x80072322', 'exceeded', { 'retry-after': '30' })
    environment.standIn.trap('venues', { kind: 'reply', reply })
    await rig.replica.venues.refresh.attempt()
    const before = environment.standIn.reads.length
    environment.aheadMs = 29_000
    expect((await rig.replica.events.refresh.attempt()).ok).toBe(false)
    expect(environment.standIn.reads.length).toBe(before)
    environment.aheadMs = 30_500
    expect((await rig.replica.events.refresh.attempt()).ok).toBe(true)
  })
})

describe('the audit', () => {
  it('finds what the change tracking does not report, and tells it as drift', async () => {
    fill(environment, 20)
    const rig = await loaded()
    environment.events.change(idOf(3), { msevtmgt_name: 'Renamed by a plug-in' }, false)
    await rig.replica.events.refresh.attempt()
    expect(eventIn(rig, 3)?.Name).toBe('Event 3')
    await rig.replica.events.audit.attempt()
    expect(eventIn(rig, 3)?.Name).toBe('Renamed by a plug-in')
    await rig.replica.events.refresh.attempt()
    expect(rig.observations.find(({ kind }) => kind === 'drift-found')).toMatchObject({ byColumn: { Name: 1 } })
  })
})
