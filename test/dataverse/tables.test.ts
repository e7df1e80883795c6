import { beforeEach, describe, expect, it } from 'bun:test'
import { fill, idOf } from './environment.ts'
import { eventIn, Fixture, load } from './fixture.ts'
import { refusal } from './reply.ts'
import type { Rig, RigOptions } from './rig.ts'
import type { Trap } from './stand-in.ts'

const environment = new Fixture()

async function loaded(options: RigOptions = {}): Promise<Rig> {
  const rig = await environment.rig(options)
  await load(rig)
  return rig
}

const noticesOf = ({ observations }: Rig): readonly string[] =>
  observations.flatMap((seen) => (seen.kind === 'crm-noticed' ? [seen.message] : []))

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
    expect(noticesOf(rig)).toEqual([
      'events: the table msevtmgt_events has no change tracking: it is read in full each time; switch on "Track changes" in the table\'s properties',
    ])
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

  it('takes no more than a third of 5,000 requests in five minutes', async () => {
    environment.stoppedAt = environment.time.now()
    fill(environment, 500)
    environment.standIn.query.largestPage = 10
    const rig = await loaded({ freshness: { maxAgeMs: 10_000 } })
    const before = reads('events?')
    environment.aheadMs = 8500
    expect(await rig.replica.events.refresh.attempt()).toEqual({ ok: true })
    expect(reads('events?')).toBe(before)
    // 50 requests, of 180 ms each.
    environment.aheadMs = 9500
    expect(await rig.replica.events.refresh.attempt()).toEqual({ ok: true })
    expect(reads('events?')).toBe(before + 50)
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
    expect(noticesOf(rig).map((notice) => notice.split(':')[1])).toEqual([
      ' the table msevtmgt_venues has no change tracking',
      ' the table msevtmgt_events has no change tracking',
    ])
    expect(rig.crm.events.reportsChanges).toBe(false)
  })
})

describe('a table whose links to changes are refused again and again', () => {
  const refuse = (): Trap => {
    const reply = refusal(400, '0x80044352', 'Version stamp associated with the client has expired.')
    return environment.standIn.trap(/events.*deltatoken/, { kind: 'reply', reply }, Number.POSITIVE_INFINITY)
  }
  it('is not said to have no change tracking after three refused links', async () => {
    fill(environment, 30)
    const rig = await loaded()
    refuse().times = 3
    for (let refresh = 1; refresh <= 8; refresh++)
      expect(await rig.replica.events.refresh.attempt()).toEqual({ ok: true })
    expect(noticesOf(rig)).toEqual([])
    expect(rig.crm.events.reportsChanges).toBe(true)
  })
})

describe('availability', () => {
  it('is read by its own columns alone, where sales do not touch the row', async () => {
    fill(environment, 20)
    const rig = await loaded({ settings: { availability: true } })
    environment.events.change(idOf(3), { msevtmgt_registrationcount: 100 }, false)
    await rig.replica.events.refresh.attempt()
    expect(eventIn(rig, 3)?.TicketsAvailable).toBe(0)
    const { path = '', headers } =
      environment.standIn.reads.find((read) => read.headers['prefer'] === 'odata.maxpagesize=5000') ?? {}
    expect(path).toContain('?$select=msevtmgt_eventid,msevtmgt_maximumeventcapacity,msevtmgt_registrationcount')
    expect(headers?.['prefer']).toBe('odata.maxpagesize=5000')
  })
})

describe('requests', () => {
  it('are few at once', async () => {
    fill(environment, 3000)
    environment.standIn.latencyMs = 10
    const rig = await loaded({ settings: { availability: true } })
    const { events, venues } = rig.replica
    await Promise.all([events, venues].flatMap((list) => [list.refresh.attempt(), list.audit.attempt()]))
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
    environment.aheadMs = 28_000
    expect((await rig.replica.events.refresh.attempt()).ok).toBe(false)
    expect(environment.standIn.reads.length).toBe(before)
    environment.aheadMs = 30_500
    expect((await rig.replica.events.refresh.attempt()).ok).toBe(true)
  })
})

describe('the audit', () => {
  it('finds what the change tracking does not report', async () => {
    fill(environment, 20)
    const rig = await loaded()
    environment.events.change(idOf(3), { msevtmgt_name: 'Renamed by a plug-in' }, false)
    await rig.replica.events.refresh.attempt()
    expect(eventIn(rig, 3)?.Name).toBe('Event 3')
    await rig.replica.events.audit.attempt()
    expect(eventIn(rig, 3)?.Name).toBe('Renamed by a plug-in')
  })
})
