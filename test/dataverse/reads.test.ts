import { afterEach, beforeEach, describe, expect, it } from 'bun:test'
import { parseGuid } from '../../src/domain/guid.ts'
import type { Environment } from './environment.ts'
import { eventValues, fill, idOf, openEnvironment } from './environment.ts'
import { refusal } from './reply.ts'
import type { Rig } from './rig.ts'
import { rigOf } from './rig.ts'

let environment: Environment
let rig: Rig

beforeEach(async () => {
  environment = await openEnvironment()
  rig = rigOf(environment.standIn)
})

afterEach(async () => {
  await rig.crm.close()
  environment.standIn.close()
})

const event = (number: number): ReturnType<typeof rig.replica.events.list.get> => {
  const id = parseGuid(idOf(number))
  return id === null ? null : rig.replica.events.list.get(id)
}

const load = async (): Promise<void> => {
  expect(await rig.replica.venues.refresh.attempt()).toEqual({ ok: true })
  expect(await rig.replica.events.refresh.attempt()).toEqual({ ok: true })
}

describe('a list in Dataverse', () => {
  it('is read in full by pages of 1,000, then by what has changed since', async () => {
    fill(environment, 2500)
    await load()
    expect(rig.replica.events.list.served).toBe(2500)
    const full = environment.standIn.reads.filter(({ path }) => path.includes('events'))
    expect(full.length).toBe(3)
    for (const { headers } of full) expect(headers['prefer']).toBe('odata.track-changes,odata.maxpagesize=1000')
    environment.events.change(idOf(7), { msevtmgt_name: 'Moved' })
    environment.events.change(idOf(8), { statecode: 1 })
    environment.events.change(idOf(9), { msevtmgt_publishstatus: 100_000_004 })
    environment.events.remove(idOf(10))
    environment.events.put(idOf(9999), eventValues(9999))
    await load()
    expect(event(7)?.Name).toBe('Moved')
    expect([8, 9, 10].map(event)).toEqual([null, null, null])
    expect(event(9999)?.Name).toBe('Event 9999')
    const changes = environment.standIn.reads.filter(({ path }) => path.includes('events')).slice(3)
    expect(changes.length).toBe(1)
    expect(changes[0]?.headers['prefer']).toBe('odata.maxpagesize=1000')
  })

  it('gives an event as the contract has it', async () => {
    fill(environment, 1)
    await load()
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
    await load()
    for (const { path } of environment.standIn.reads) expect(path).not.toContain('wifi')
  })

  it('starts again where the link is refused', async () => {
    fill(environment, 3)
    await load()
    environment.events.oldestKnown = Number.POSITIVE_INFINITY
    environment.events.remove(idOf(2))
    await load()
    expect(event(2)).toBeNull()
  })

  it('goes on after 429 between two pages', async () => {
    fill(environment, 1500)
    environment.standIn.trap('skiptoken', {
      kind: 'reply',
      reply: refusal(429, '0x80072322', 'Number of requests exceeded', { 'retry-after': '1' }),
    })
    await load()
    expect(rig.replica.events.list.served).toBe(1500)
  })
})
