import { afterEach, describe, expect, it } from 'bun:test'
import { existsSync, readdirSync } from 'node:fs'
import { join } from 'node:path'
import type { Runtime } from '../support/child.ts'
import { eventually } from '../support/eventually.ts'
import { FilesDirectory } from '../support/files-directory.ts'
import { serve } from '../support/marquee-process.ts'
import { RUNTIMES } from '../support/depth.ts'

interface ListStatus {
  readonly served: number
  readonly answers: boolean
  readonly shrunk: { since: string; until: string; absent: number; unreadable: number } | null
}

const directories: FilesDirectory[] = []
afterEach(() => {
  for (const directory of directories.splice(0)) directory.remove()
})

const DAY_MS = 86_400_000

function idOf(number: number): string {
  return `00000000-0000-4000-8000-${String(number).padStart(12, '0')}`
}

/** So many events; those after the first `readable` begin at a date that is none. */
function events(count: number, readable = count, Name = 'Tosca'): string {
  const rows = Array.from({ length: count }, (_, index) => ({
    Id: idOf(index + 1),
    Name,
    Start: index < readable ? '2036-07-12T19:30:00Z' : '12.07.2036 19:30',
    Finish: '2036-07-12T21:30:00Z',
    ShowOnWeb: true,
  }))
  return JSON.stringify(rows)
}

function directoryOf(freshness: object): FilesDirectory {
  const settings = {
    operations: { port: 0 },
    freshness: { maxAge: '2s', refreshEvery: '200ms', ...freshness },
  }
  const directory = new FilesDirectory(settings, { events: events(31), venues: '[]' })
  directories.push(directory)
  return directory
}

async function started(runtime: Runtime, directory: FilesDirectory) {
  const { child, listening } = await serve(runtime, directory.configuration)
  const get = (number: number): Promise<Response> => fetch(`${listening.address}api/events/${idOf(number)}`)
  const operations = listening.operations ?? ''
  const ask = (path: string, method = 'GET'): Promise<Response> => fetch(`${operations}${path}`, { method })
  const list = async (): Promise<ListStatus> => {
    const { lists } = JSON.parse(await (await ask('status')).text()) as { lists: { events: ListStatus } }
    return lists.events
  }
  await eventually(list, ({ served }) => served > 0)
  const untilShrunk = async (): Promise<NonNullable<ListStatus['shrunk']>> => {
    const { shrunk } = await eventually(list, (now) => now.shrunk !== null)
    if (shrunk === null) throw new Error('it is shrunk')
    return shrunk
  }
  /** The answer, once it is older than the maximum age. */
  const untilOld = (number: number): Promise<Response> =>
    eventually(
      () => get(number),
      ({ status, headers }) => status !== 200 || Number(headers.get('age')) >= 3,
    )
  return { child, get, ask, list, untilShrunk, untilOld }
}

describe.each(RUNTIMES)('the shrink guard on %s', (runtime) => {
  it('serves the old list past the maximum age, says so everywhere, and goes on after a restart until it is accepted', async () => {
    const directory = directoryOf({})
    const first = await started(runtime, directory)
    directory.write('events', events(31, 5, 'Fidelio'))
    const shrunk = await first.untilShrunk()
    expect(shrunk).toMatchObject({ absent: 0, unreadable: 26 })
    expect(Date.parse(shrunk.until) - Date.parse(shrunk.since)).toBe(DAY_MS)
    const old = await first.untilOld(31)
    expect([old.status, old.headers.get('cache-control')]).toEqual([200, 'public, max-age=0'])
    expect(await old.text()).toContain('Tosca')
    expect(await (await first.get(1)).text()).toContain('Fidelio')
    expect((await first.ask('ready')).status).toBe(200)
    expect(await (await first.ask('metrics')).text()).toContain('marquee_shrink_guard_engaged{list="events"} 1')
    expect(await (await first.ask(`explain/${idOf(31)}`)).text()).toContain('12.07.2036 19:30')
    const told = first.child.stdout.split('\n').filter((line) => line.includes('"event":"shrunk"'))
    expect(told).toHaveLength(1)
    expect(told[0]).toContain('"level":"error"')
    const { until } = JSON.parse(told[0] ?? '{}') as { until: string }
    const later = await first.untilShrunk()
    expect([later.since, later.until, until]).toEqual([shrunk.since, shrunk.until, shrunk.until])
    await first.child.stop()

    const second = await started(runtime, directory)
    expect(await second.untilShrunk()).toMatchObject({ unreadable: 26 })
    expect((await second.untilShrunk()).since).toBe(shrunk.since)
    const answer = await eventually(
      () => second.get(31),
      ({ status }) => status === 200,
    )
    expect(Number(answer.headers.get('age'))).toBeGreaterThanOrEqual(3)
    expect(answer.headers.get('cache-control')).toBe('public, max-age=0')
    expect((await second.ask('ready')).status).toBe(200)
    expect(await (await second.ask('status')).text()).not.toContain('12.07.2036')
    expect(await (await second.ask('accept', 'POST')).text()).toBe('{"accepted":["events"]}')
    expect((await eventually(second.list, (now) => now.shrunk === null && now.answers)).served).toBe(5)
    await eventually(
      () => second.get(31),
      ({ status }) => status === 404,
    )
    await second.child.stop()
  })

  it.each(['SIGKILL', 'SIGTERM'] as const)('holds a list again after a %s within 2 s of its file', async (signal) => {
    const directory = directoryOf({ refreshEvery: '50ms' })
    const first = await started(runtime, directory)
    // Nothing can be held again that no snapshot has. The one that is being written has a longer name.
    const snapshots = join(directory.path, '.marquee')
    await eventually(
      async () => (existsSync(snapshots) ? readdirSync(snapshots) : []),
      (names) => names.some((name) => name.endsWith('.snapshot')),
    )
    directory.write('events', events(5))
    const { since } = await first.untilShrunk()
    first.child.signal(signal)
    await first.child.exited

    const second = await started(runtime, directory)
    const shrunk = await second.untilShrunk()
    expect([shrunk.absent, (await second.list()).served]).toEqual([26, 31])
    // A kill may come before the snapshot that says since when.
    if (signal === 'SIGTERM') expect(shrunk.since).toBe(since)
    expect(Date.parse(shrunk.since)).toBeGreaterThanOrEqual(Date.parse(since))
    await second.child.stop()
  })

  it('ends after its time with 502, and believes a list that is long again', async () => {
    const directory = directoryOf({ shrinkGuard: '15s' })
    const { child, untilShrunk, untilOld, get, ask, list } = await started(runtime, directory)
    directory.write('events', events(5))
    expect(await untilShrunk()).toMatchObject({ absent: 26, unreadable: 0 })
    expect((await untilOld(31)).status).toBe(200)
    await eventually(
      () => get(31),
      ({ status }) => status === 502,
    )
    const ready = await ask('ready')
    expect([ready.status, (await list()).shrunk?.absent]).toEqual([503, 26])
    expect(ready.headers.get('retry-after')).toMatch(/^[1-9]\d*$/)
    directory.write('events', events(31))
    expect(await eventually(list, ({ shrunk }) => shrunk === null)).toMatchObject({ served: 31, answers: true })
    expect((await get(31)).status).toBe(200)
    await child.stop()
  })

  it('answers 502 past the maximum age where it is 0s, and believes everything where it is off', async () => {
    const none = directoryOf({ shrinkGuard: '0s' })
    const strict = await started(runtime, none)
    none.write('events', events(31, 5))
    await strict.untilShrunk()
    await eventually(
      () => strict.get(31),
      ({ status }) => status === 502,
    )
    await strict.child.stop()
    const off = directoryOf({ shrinkGuard: 'off' })
    const trusting = await started(runtime, off)
    off.write('events', events(31, 5))
    await eventually(
      () => trusting.get(31),
      ({ status }) => status === 404,
    )
    expect((await trusting.list()).served).toBe(5)
    await trusting.child.stop()
  })

  it('holds an emptied list of three venues, and says it loudly once the operator has accepted that', async () => {
    const venueOf = (number: number): string => idOf(100 + number)
    const venues = [1, 2, 3].map((number) => ({ Id: venueOf(number), Name: `Hall ${number}` }))
    const rows = JSON.parse(events(3)) as object[]
    const named = rows.map((row, index) => ({ ...row, VenueId: venueOf(index + 1) }))
    const directory = directoryOf({})
    directory.write('events', JSON.stringify(named))
    directory.write('venues', JSON.stringify(venues))
    const { child, listening } = await serve(runtime, directory.configuration)
    const venueStatus = async (): Promise<number> =>
      (await fetch(`${listening.address}api/events/${idOf(1)}/venue`)).status
    await eventually(venueStatus, (status) => status === 200)
    directory.write('venues', '[]')
    const told = await child.line((line) => line.includes('"event":"shrunk"'))
    expect(told).toContain("3 of 3 venues are missing from the CRM's list")
    expect(await venueStatus()).toBe(200)
    await fetch(`${listening.operations}accept`, { method: 'POST' })
    await eventually(venueStatus, (status) => status === 404)
    const warned = await child.line((line) => line.includes('matches no venue: the list of venues is empty'))
    expect(warned).toContain('"count":3')
    const { lists } = (await (await fetch(`${listening.operations}status`)).json()) as {
      lists: { venues: { servesNothing: boolean }; events: { suspicious: { what: string }[] } }
    }
    expect(lists.venues.servesNothing).toBe(true)
    expect(lists.events.suspicious.map(({ what }) => what).join()).toContain('matches no venue')
    expect(await child.stop()).toBe(0)
  })
})
