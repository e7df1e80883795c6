import { describe, expect, it } from 'bun:test'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import ICAL from 'ical.js'
import { describeWithRedis } from '../cluster/needs-redis.ts'
import { type RealInstance, startInstance } from '../cluster/real-instance.ts'
import { Service } from '../snapshot/service.ts'
import { BOTH_RUNTIMES } from '../support/depth.ts'
import { eventually } from '../support/eventually.ts'
import { RedisServer } from '../support/redis-server.ts'

const HALL = { Id: '53b08621-ae96-444f-a44f-55d91d92cff9', Name: 'Lantern Hall', AddressCity: 'London' }
const CONCERT = {
  Id: '7e016ac6-5cee-4fd6-be12-faa34a6761ef',
  Name: 'Concert',
  VenueId: HALL.Id,
  Start: '2036-05-09T19:30:00Z',
  Finish: '2036-05-09T22:00:00Z',
  TicketCapacity: 100,
  TicketsAvailable: 50,
  Price: 12,
  ShowOnWeb: true,
}

interface Revised {
  readonly text: string
  readonly sinceMs: number
  readonly sequence: number
}

function revisedIn(text: string): Revised {
  const event = ICAL.Component.fromString(text).getFirstSubcomponent('vevent')
  const [stamp, modified] = ['dtstamp', 'last-modified'].map((name) => event?.getFirstPropertyValue(name))
  if (!(stamp instanceof ICAL.Time)) throw new Error(`no DTSTAMP in ${text}`)
  expect(String(modified)).toBe(String(stamp))
  return {
    text,
    sinceMs: stamp.toJSDate().getTime(),
    sequence: Number(event?.getFirstPropertyValue('sequence')),
  }
}

describe('the revisions of a calendar (RFC 5545 §3.8.7)', () => {
  it.each(BOTH_RUNTIMES)('say since when its text has been served, and rise with each move, on %s', async (runtime) => {
    const service = await Service.create({
      freshness: { maxAge: '0s' },
      feeds: { calendar: 'on', atom: 'on' },
      crm: { kind: 'files', directory: '.' },
    })
    const write = (event: object, venue: object = HALL): number => {
      writeFileSync(join(service.folder, 'venues.json'), JSON.stringify([venue]))
      writeFileSync(join(service.folder, 'events.json'), JSON.stringify([event]))
      return Math.floor(Date.now() / 1000) * 1000
    }
    const ask = async (): Promise<Revised> => {
      const { body } = await service.untilAnswered('/api/events.ics')
      // An event alone says the same.
      const { body: alone } = await service.untilAnswered(`/api/events/${CONCERT.Id}.ics`)
      const [subscribed, single] = [revisedIn(body), revisedIn(alone)]
      expect([single.sinceMs, single.sequence]).toEqual([subscribed.sinceMs, subscribed.sequence])
      // The entry and its feed say the same moment.
      const { body: atom } = await service.untilAnswered('/api/events.atom')
      const moments = Array.from(atom.matchAll(/<updated>([^<]+)/g), ([, moment = '']) => Date.parse(moment))
      expect(moments).toEqual([subscribed.sinceMs, subscribed.sinceMs])
      return subscribed
    }
    let writtenMs = write(CONCERT)
    let child = service.spawn(runtime)
    const expectSince = ({ sinceMs }: Revised): void => {
      expect(sinceMs).toBeGreaterThanOrEqual(writtenMs)
      expect(sinceMs).toBeLessThanOrEqual(Date.now())
    }
    const first = await ask()
    expectSince(first)

    // Calendars show neither tickets nor prices.
    write({ ...CONCERT, TicketsAvailable: 49, Price: 11 })
    expect((await ask()).text).toBe(first.text)

    const renamed = { ...CONCERT, Name: 'Concert (new hall)' }
    writtenMs = write(renamed)
    const afterName = await ask()
    expectSince(afterName)
    expect(afterName.text).toContain('SUMMARY:Concert (new hall)')
    expect(afterName.sequence).toBe(first.sequence)

    const moved = { ...renamed, Start: '2036-05-02T19:30:00Z', Finish: '2036-05-02T22:00:00Z' }
    writtenMs = write(moved)
    const afterMove = await ask()
    expectSince(afterMove)
    expect(afterMove.sequence).toBeGreaterThan(afterName.sequence)

    const [hall, telephone] = [{ ...HALL, AddressCity: 'Leeds' }, '+44 113 496 0000']
    writtenMs = write(moved, hall)
    const afterPlace = await ask()
    expectSince(afterPlace)
    expect(afterPlace.text).toContain('LOCATION:Lantern Hall\\, Leeds')
    expect(afterPlace.sequence).toBeGreaterThanOrEqual(afterMove.sequence)
    write(moved, { ...hall, Telephone: telephone })
    expect((await ask()).text).toBe(afterPlace.text)

    // A snapshot keeps all of it.
    await child.stop()
    child = service.spawn(runtime)
    expect((await ask()).text).toBe(afterPlace.text)

    writtenMs = write(moved, { ...hall, Id: '00000000-0000-4000-8000-000000000009' })
    const afterRemoval = await ask()
    expect(afterRemoval.text).not.toContain('LOCATION')
    expectSince(afterRemoval)
    expect(afterRemoval.sequence).toBeGreaterThan(afterPlace.sequence)
    await child.stop()
    service.remove()
  })
})

describeWithRedis('the calendars of two instances of a cluster', () => {
  it('are the same to the byte, whichever of them reads, also after the leader has ended', async () => {
    const store = await RedisServer.start()
    const folder = mkdtempSync(join(tmpdir(), 'marquee-revisions-'))
    const write = (event: object): void => writeFileSync(join(folder, 'events.json'), JSON.stringify([event]))
    writeFileSync(join(folder, 'venues.json'), JSON.stringify([HALL]))
    write(CONCERT)
    const settings = {
      crm: { kind: 'files', directory: folder },
      feeds: { calendar: 'on', atom: 'on' },
      freshness: { maxAge: '4s', refreshEvery: '500ms' },
      cluster: { url: store.url },
    }
    const leader = await startInstance('bun', settings)
    await eventually(
      () => leader.status(),
      (told) => told?.cluster.role === 'leader' && told.ready,
    )
    const follower = await startInstance('node', settings)
    const calendarOf = async ({ process }: RealInstance, holds: string): Promise<string> =>
      eventually(
        async () => (await fetch(`${process.listening.address}api/events.ics`)).text(),
        (text) => text.includes(holds),
      )
    const atomOf = async ({ process }: RealInstance): Promise<string> =>
      (await fetch(`${process.listening.address}api/events.atom`)).text()
    const expectSame = async (holds: string): Promise<Revised> => {
      const [own, followed] = [await calendarOf(leader, holds), await calendarOf(follower, holds)]
      expect(followed).toBe(own)
      const [atom, otherAtom] = await Promise.all([leader, follower].map(atomOf))
      expect(otherAtom).toBe(atom ?? '')
      expect(atom).toContain('<entry>')
      return revisedIn(followed)
    }
    try {
      const first = await expectSame('SUMMARY:Concert')
      write({ ...CONCERT, Name: 'Recital', Start: '2036-05-02T19:30:00Z' })
      const moved = await expectSame('SUMMARY:Recital')
      expect(moved.sequence).toBeGreaterThan(first.sequence)
      await leader.end()
      await eventually(
        () => follower.status(),
        (told) => told?.cluster.role === 'leader',
      )
      expect(await calendarOf(follower, 'SUMMARY:Recital')).toBe(moved.text)
      write({ ...CONCERT, Name: 'Recital' })
      const back = revisedIn(await calendarOf(follower, 'DTSTART:20360509'))
      expect(back.sequence).toBeGreaterThan(moved.sequence)
    } finally {
      await follower.end()
      await store.remove()
      rmSync(folder, { recursive: true, force: true })
    }
  })
})
