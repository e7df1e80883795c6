import { beforeEach, describe, expect, it } from 'bun:test'
import type { EventRecord } from '../../src/domain/event.ts'
import { parseGuid } from '../../src/domain/guid.ts'
import { systemTime } from '../../src/time/time.ts'
import { eventValues, fill, idOf } from './environment.ts'
import { eventIn, Fixture, load } from './fixture.ts'
import { refusal } from './reply.ts'
import type { Rig } from './rig.ts'

const environment = new Fixture()
let rig: Rig

beforeEach(async () => {
  rig = await environment.rig()
})

const event = (number: number): EventRecord | null => eventIn(rig, number)

describe('a list in Dataverse', () => {
  it('is read in full by pages of 1,000, then by what has changed since', async () => {
    fill(environment, 2500)
    await load(rig)
    expect(rig.replica.events.list.served).toBe(2500)
    const full = environment.standIn.reads.filter(({ path }) => path.includes('events'))
    expect(full.length).toBe(3)
    for (const { headers } of full) expect(headers['prefer']).toBe('odata.track-changes,odata.maxpagesize=1000')
    environment.events.change(idOf(7), { msevtmgt_name: 'Moved' })
    environment.events.change(idOf(8), { statecode: 1 })
    environment.events.change(idOf(9), { msevtmgt_publishstatus: 100_000_004 })
    environment.events.remove(idOf(10))
    environment.events.put(idOf(9999), eventValues(9999))
    await load(rig)
    expect(event(7)?.Name).toBe('Moved')
    expect([8, 9, 10].map(event)).toEqual([null, null, null])
    expect(event(9999)?.Name).toBe('Event 9999')
    const changes = environment.standIn.reads.filter(({ path }) => path.includes('events')).slice(3)
    expect(changes.length).toBe(1)
    expect(changes[0]?.headers['prefer']).toBe('odata.maxpagesize=1000')
  })

  it('gives an event as the contract has it', async () => {
    fill(environment, 1)
    await load(rig)
    expect(event(1)).toMatchObject({
      Name: 'Event 1',
      VenueId: parseGuid(idOf(0x1_0001)),
      TicketCapacity: 100,
      TicketsAvailable: 90,
      Start: '2026-07-12T19:30:00+01:00',
      Finish: '2026-07-12T22:00:00+01:00',
      Price: '0',
      Tags: [],
    })
  })

  it('names what is asked for, and never all columns', async () => {
    fill(environment, 1)
    await load(rig)
    for (const { path } of environment.standIn.reads) expect(path).not.toContain('wifi')
  })

  it('knows all changes only once one page held all that a link told: a row may change again while others are paged', async () => {
    fill(environment, 40)
    await load(rig)
    const { standIn, events } = environment
    standIn.query.largestPage = 10
    // Ages are compared below, and the wall clock's are of whole milliseconds: a page takes longer than that.
    standIn.latencyMs = 20
    for (let number = 1; number <= 25; number++) events.change(idOf(number), { msevtmgt_name: 'Changed' })
    standIn.onAsked = (path) => {
      if (!path.includes('skiptoken')) return
      standIn.onAsked = () => {}
      events.change(idOf(24), { msevtmgt_name: 'Changed again' })
    }
    const before = standIn.reads.length
    expect(await rig.replica.events.refresh.attempt()).toEqual({ ok: true })
    expect([event(23)?.Name, event(24)?.Name]).toEqual(['Changed', 'Changed again'])
    expect(standIn.reads.length - before).toBe(4)
    // As old as the first of the pages.
    const ageMs = rig.replica.events.ageMs(systemTime.now()) ?? 0
    expect(ageMs).toBeGreaterThan(performance.now() - (standIn.reads.at(-4)?.atMs ?? 0))
  })

  it('vouches for nothing where more changes all the time than a page holds, and goes on with the next read', async () => {
    fill(environment, 40)
    await load(rig)
    const { standIn, events } = environment
    standIn.query.largestPage = 10
    let changes = 0
    const change = (): void => {
      changes++
      for (let number = 1; number <= 15; number++) {
        events.change(idOf(number), { msevtmgt_name: `Changed ${changes}` })
      }
    }
    change()
    standIn.onAsked = (path) => {
      if (path.includes('skiptoken')) change()
    }
    const [begun, before] = [systemTime.now(), standIn.reads.length]
    expect(await rig.replica.events.refresh.attempt()).toEqual({ ok: true })
    expect(rig.replica.events.isConfirmedSince(begun)).toBe(false)
    expect(standIn.reads.length - before).toBe(10)
    standIn.onAsked = () => {}
    expect(await rig.replica.events.refresh.attempt()).toEqual({ ok: true })
    expect(rig.replica.events.isConfirmedSince(begun)).toBe(true)
    expect(event(15)?.Name).toBe(`Changed ${changes}`)
    expect(standIn.reads.length - before).toBe(13)
  })

  it('does not vouch for changes of several pages that end without a link to go on from', async () => {
    fill(environment, 40)
    await load(rig)
    const { standIn, events } = environment
    standIn.query.largestPage = 10
    for (let number = 1; number <= 15; number++) events.change(idOf(number), { msevtmgt_name: 'Changed' })
    standIn.query.faults.withoutDeltaLink = true
    const message = 'events: msevtmgt_events: the last page of the changes has no link to continue from'
    const failure = { kind: 'broken', message, retryAfterMs: null } as const
    const begun = systemTime.now()
    expect(await rig.replica.events.refresh.attempt()).toEqual({ ok: false, failure })
    expect(rig.replica.events.isConfirmedSince(begun)).toBe(false)
    standIn.query.faults.withoutDeltaLink = false
    expect(await rig.replica.events.refresh.attempt()).toEqual({ ok: true })
    expect(event(15)?.Name).toBe('Changed')
    expect(rig.replica.events.isConfirmedSince(begun)).toBe(true)
  })

  it('with an id of its own is read in full where a row loses it, or goes: Dataverse tells deletions by the key', async () => {
    const Id = { kind: 'column', column: 'cr5_opensat', whenBlank: null, label: false } as const
    for (const number of [1, 2, 3])
      environment.events.put(idOf(number), eventValues(number, { cr5_opensat: idOf(100 + number) }))
    const own = await environment.rig({ settings: { events: { from: 'msevtmgt_events', fields: { Id } } } })
    const served = (): readonly (string | null)[] => [101, 102, 103].map((number) => eventIn(own, number)?.Name ?? null)
    await load(own)
    expect(served()).toEqual(['Event 1', 'Event 2', 'Event 3'])
    environment.events.change(idOf(2), { cr5_opensat: null })
    await load(own)
    expect(served()).toEqual(['Event 1', null, 'Event 3'])
    environment.events.remove(idOf(1))
    await load(own)
    expect(served()).toEqual([null, null, 'Event 3'])
  })

  it('starts again where the link is refused', async () => {
    fill(environment, 3)
    await load(rig)
    environment.events.oldestKnown = Number.POSITIVE_INFINITY
    environment.events.remove(idOf(2))
    await load(rig)
    expect(event(2)).toBeNull()
  })

  it('goes on after 429 between two pages', async () => {
    fill(environment, 1500)
    environment.standIn.trap('skiptoken', {
      kind: 'reply',
      reply: refusal(429, '0x80072322', 'Number of requests exceeded', { 'retry-after': '2' }),
    })
    await load(rig)
    expect(rig.replica.events.list.served).toBe(1500)
    const said = rig.observations.flatMap((seen) => (seen.kind === 'read-paused' ? [seen.why] : []))
    expect(said.map((why) => why.replace(/:\d+ /, ' '))).toEqual(['127.0.0.1 asks for fewer requests (429)'])
  })
})
